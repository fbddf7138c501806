"""A list of commands, run one after the other, that goes on after a kill where it was.

`state.json` in the folder holds what is done, `logs/` what each command printed, and `index.html`
where it all stands.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from atomic_files import write_whole
from rearrange.errors import UserError
from skills.command import write_json
from ver.collect.processes import die_with_parent

LOOK_S = 2.0  # how often the log of a running job is looked at
TELL_S = 60.0  # how often a line is told where there is no terminal
TAIL_BYTES = 4096
DONE, RUNNING, FAILED, WAITING = "done", "running", "failed", "waiting"
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#0f172a;max-width:920px;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem;
border-bottom:1px solid #e2e8f0;vertical-align:top}td.number{text-align:right}
code{font-size:.8rem;overflow-wrap:anywhere;color:#475569}
.running{font-weight:600}.failed{color:#b91c1c}.waiting{color:#94a3b8}
"""


@dataclass(frozen=True)
class Job:
    """One command.

    Attributes:
        name: Of its log, and in the state: letters, digits, _ and -.
        arguments: Of Python: ("-m", "skills.train", "pick").
    """

    name: str
    arguments: tuple[str, ...]


@dataclass
class Progress:
    """State of the jobs of a folder, by name."""

    path: Path
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> Progress:
        """Read an earlier run's state; raises UserError where the file is broken."""
        path = folder / "state.json"
        try:
            entries = json.loads(path.read_text()) if path.exists() else {}
            for each in entries.values():
                _ = each["command"], each["seconds"], each["status"]
        except (ValueError, TypeError, KeyError, AttributeError):
            raise UserError(f"{path} is broken: delete it to run all jobs again") from None
        return cls(path, entries)

    def is_done(self, job: Job) -> bool:
        """Return whether a job has ended well, with the same command as today."""
        entry = self.entries.get(job.name, {})
        return entry.get("status") == DONE and entry.get("command") == list(job.arguments)

    def note(self, job: Job, status: str, seconds: float = 0.0) -> None:
        """Write what has become of a job; seconds are added to those of before."""
        entry = self.entries.get(job.name, {})
        before = entry.get("seconds", 0.0) if entry.get("command") == list(job.arguments) else 0.0
        self.entries[job.name] = {
            "command": list(job.arguments),
            "status": status,
            "seconds": round(before + seconds, 1),
        }
        write_json(self.path, self.entries)


def run_jobs(jobs: Sequence[Job], folder: Path, title: str) -> int:
    """Run all jobs that are not done.

    Returns:
        0; the exit status of the first job that failed; 128 and its number after a signal.

    Raises:
        UserError: Another process runs the jobs of this folder.
    """
    with _alone(folder), _signals() as received:
        progress = Progress.read(folder)
        for index, job in enumerate(jobs):
            if progress.is_done(job):
                continue
            progress.note(job, RUNNING)
            _write_page(jobs, progress, folder, title)
            begin = time.monotonic()
            status = _run(job, folder, f"[{index + 1}/{len(jobs)}] {job.name}", received)
            progress.note(job, FAILED if status else DONE, time.monotonic() - begin)
            _write_page(jobs, progress, folder, title)
            if received:
                _tell(f"stopped in {job.name}: the same command goes on from here")
                return 128 + received[0]
            if status:
                log = _log(folder, job)
                _tell(f"{job.name} failed ({log}): {last_line(log)}")
                return status
    return 0


def last_line(log: Path) -> str:
    """The last line that a command printed, of what it drew over itself the last version."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read().decode(errors="replace").replace("\r", "\n").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _run(job: Job, folder: Path, label: str, received: list[int]) -> int:
    """Run a job to its end, telling its last line meanwhile; a signal is passed on once."""
    log = _log(folder, job)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        # A session of its own: it gets a terminal's Ctrl-C from here, and only once.
        process = subprocess.Popen(
            [sys.executable, *job.arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=partial(die_with_parent, os.getpid()),
        )
        begin, told, passed_on = time.monotonic(), -TELL_S, 0
        while True:
            try:
                status = process.wait(LOOK_S if not received else 0.1)
                break
            except subprocess.TimeoutExpired:
                pass
            if len(received) > passed_on:
                passed_on = len(received)
                process.send_signal(received[-1])
            seconds = time.monotonic() - begin
            if sys.stderr.isatty():
                _draw(f"{label} {_clock(seconds)} {last_line(log)}")
            elif seconds - told >= TELL_S:
                told = seconds
                _tell(f"{label} {_clock(seconds)} {last_line(log)}")
    ending = "done" if status == 0 else f"exit status {status}"
    _tell(f"{label} {_clock(time.monotonic() - begin)} {ending}")
    return abs(status)


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # goes with the process
        except BlockingIOError:
            raise UserError(
                f"another process runs the jobs of {folder}: wait for its end, or take another folder"
            ) from None
        yield


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Signals that asked to stop, as they come in."""
    received: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = {n: signal.signal(n, lambda n, _: received.append(n)) for n in numbers}
    try:
        yield received
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _write_page(jobs: Sequence[Job], progress: Progress, folder: Path, title: str) -> None:
    rows = []
    for job in jobs:
        entry = progress.entries.get(job.name, {})
        status = DONE if progress.is_done(job) else entry.get("status", WAITING)
        if status == DONE and not progress.is_done(job):
            status = WAITING  # its command has changed
        log = _log(folder, job)
        minutes = f"{entry['seconds'] / 60:.1f}" if status in (DONE, FAILED) else ""
        told = escape(last_line(log)) if status in (RUNNING, FAILED) else ""
        name = f'<a href="logs/{log.name}">{job.name}</a>' if log.exists() else job.name
        rows.append(
            f'<tr class="{status}"><td>{name}</td><td>{status}</td>'
            f'<td class="number">{minutes}</td><td><code>{told}</code></td></tr>'
        )
    total = sum(entry["seconds"] for entry in progress.entries.values()) / 3600
    write_whole(
        folder / "index.html",
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><meta http-equiv="refresh" content="30">'
        f'<link rel="icon" href="data:,"><title>{escape(title)}</title><style>{STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1><p>{total:.2f} hours so far</p><table>"
        "<tr><th>job</th><th>status</th><th>minutes</th><th></th></tr>"
        + "\n".join(rows)
        + "</table></body></html>\n",
    )


def _log(folder: Path, job: Job) -> Path:
    return folder / "logs" / f"{job.name}.log"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"


def _draw(line: str) -> None:
    """Write over the line before, cut to the terminal's width."""
    width = os.get_terminal_size(sys.stderr.fileno()).columns
    print(f"\r\x1b[K{line[: width - 1]}", end="", file=sys.stderr, flush=True)


def _tell(line: str) -> None:
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{line}", file=sys.stderr, flush=True)
