"""A list of commands, some at once, that goes on after a kill where it was.

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

LOOK_S = 0.1  # how often it is looked whether a job has ended
DRAW_S = 2.0  # how often a terminal's line is drawn anew
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
        after: Names of jobs that have to be done before; where one of them runs again, so does this.
    """

    name: str
    arguments: tuple[str, ...]
    after: tuple[str, ...] = ()


def torchrun(processes: int) -> tuple[str, ...]:
    """Arguments of Python that start a program in several processes of this machine; the program's follow."""
    # A free port, so that two runs on one machine do not meet
    free = ("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0")
    return ("-m", "torch.distributed.run", "--nproc-per-node", str(processes), *free)


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
                _ = each["command"], each["status"], each["seconds"] + each.get("turn", 0) + 0.0
        except (ValueError, TypeError, KeyError, AttributeError):
            raise UserError(f"{path} is broken: delete it to run all jobs again") from None
        return cls(path, entries)

    def done(self, jobs: Sequence[Job]) -> set[str]:
        """Return the jobs that have ended well, with the commands of today and after those before them.

        Args:
            jobs: All, none before one that it comes after.
        """
        found: set[str] = set()
        for job in jobs:
            entry = self.entries.get(job.name, {})
            same = entry.get("status") == DONE and entry.get("command") == list(job.arguments)
            in_turn = all(self._turn(name) < self._turn(job.name) for name in job.after)
            if same and in_turn and found.issuperset(job.after):
                found.add(job.name)
        return found

    def _turn(self, name: str) -> int:
        """Number, growing with time, of the last good end of a job; 0: there was none."""
        return self.entries.get(name, {}).get("turn", 0)

    def note(self, job: Job, status: str, seconds: float = 0.0) -> None:
        """Write what has become of a job; seconds are added to those of before."""
        entry = self.entries.get(job.name, {})
        before = entry.get("seconds", 0.0) if entry.get("command") == list(job.arguments) else 0.0
        told = {"command": list(job.arguments), "status": status}
        if status == DONE:
            told["turn"] = 1 + max(map(self._turn, self.entries))
        self.entries[job.name] = told | {"seconds": round(before + seconds, 1)}
        write_json(self.path, self.entries)


class RunningJob:
    """A job's process.

    Args:
        job: What it carries out.
        folder: Of all jobs.
        label: How lines call it.
        processors: That it may use; empty: all.
    """

    def __init__(self, job: Job, folder: Path, label: str, processors: Sequence[int]) -> None:
        self.job, self.label, self.processors = job, label, processors
        self.log = _log(folder, job)
        self.begin, self._told = time.monotonic(), -TELL_S
        self.stopped = False  # by a signal from here
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as output:
            # A session of its own: it gets a terminal's Ctrl-C from here, and only once.
            self.process = subprocess.Popen(
                [sys.executable, *job.arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(_enter, os.getpid(), processors),
            )

    @property
    def line(self) -> str:
        """Line that tells how far it is."""
        return f"{self.label} {_clock(time.monotonic() - self.begin)} {last_line(self.log)}"

    def tell(self) -> None:
        """Print where it stands, now and then."""
        if time.monotonic() - self._told >= TELL_S:
            self._told = time.monotonic()
            _tell(self.line)

    def ended(self) -> int | None:
        """Return its exit status as a number from 0 on, once it has one, and tell of it."""
        status = self.process.poll()
        if status is not None:
            ending = "done" if status == 0 else f"exit status {status}"
            _tell(f"{self.label} {_clock(time.monotonic() - self.begin)} {ending}")
        return None if status is None else abs(status)


@dataclass
class Jobs:
    """Jobs that are carried out in a folder, some at once.

    Attributes:
        all: In the order in which they begin, as far as those that come before them are done.
        folder: Of logs and state.
        title: Of the page.
        at_once: How many run at once; each has as many of this process's processors, if there are enough.
    """

    all: Sequence[Job]
    folder: Path
    title: str
    at_once: int = 1

    def run(self) -> int:
        """Run all that are not done; see `run_jobs`."""
        _check_order(self.all)
        with _alone(self.folder), _signals() as received:
            self.progress = Progress.read(self.folder)
            for job in self.all:
                if self.progress.entries.get(job.name, {}).get("status") == RUNNING:
                    self.progress.note(job, WAITING)  # it was killed with all others
            self.running: list[RunningJob] = []
            self.free = _shares(self.at_once)
            self._drawn = -DRAW_S
            failed, passed_on = 0, 0
            while True:
                if not failed and not received:
                    self._begin_jobs()
                if not self.running:
                    break
                time.sleep(LOOK_S)
                if len(received) > passed_on:
                    passed_on = len(received)
                    self._stop(received[-1])
                self._show()
                for job in list(self.running):
                    status = job.ended()
                    if status is None:
                        continue
                    self._settle(job, status)
                    if status and not failed and not received:
                        failed = status
                        _tell(f"{job.job.name} failed ({job.log}): {last_line(job.log)}")
                        self._stop(signal.SIGTERM)
            if received:
                _tell("stopped: the same command goes on from here")
                return 128 + received[0]
            return failed

    def _begin_jobs(self) -> None:
        """Begin what can be, as far as there are processors for it."""
        done = self.progress.done(self.all)
        under_way = {each.job.name for each in self.running}
        for index, job in enumerate(self.all):
            if not self.free:
                break
            if job.name in done | under_way or not done.issuperset(job.after):
                continue
            self.progress.note(job, RUNNING)
            label = f"[{index + 1}/{len(self.all)}] {job.name}"
            self.running.append(RunningJob(job, self.folder, label, self.free.pop(0)))
            _write_page(self.all, self.progress, self.folder, self.title)

    def _settle(self, job: RunningJob, status: int) -> None:
        self.running.remove(job)
        self.free.append(job.processors)
        how = DONE if not status else WAITING if job.stopped else FAILED
        self.progress.note(job.job, how, time.monotonic() - job.begin)
        _write_page(self.all, self.progress, self.folder, self.title)

    def _stop(self, number: int) -> None:
        for job in self.running:
            job.stopped = True
            job.process.send_signal(number)

    def _show(self) -> None:
        if sys.stderr.isatty():
            if time.monotonic() - self._drawn >= DRAW_S:
                self._drawn = time.monotonic()
                _draw([job.line for job in self.running])
        else:
            for job in self.running:
                job.tell()


def run_jobs(jobs: Sequence[Job], folder: Path, title: str, at_once: int = 1) -> int:
    """Run all jobs that are not done; where one fails those beside it are stopped.

    Returns:
        0; the exit status of the first job that failed; 128 and its number after a signal.

    Raises:
        UserError: Another process runs the jobs of this folder.
    """
    return Jobs(jobs, folder, title, at_once).run()


def check_same_trainings(jobs: Sequence[Job], folder: Path) -> None:
    """Raise a UserError where a folder has a training of other settings: it would go on from its weights."""
    entries = Progress.read(folder).entries
    for job in jobs:
        before = entries.get(job.name, {}).get("command", job.arguments)
        other = sorted({*before} ^ {*job.arguments})
        if other and any(word.startswith("run=") for word in job.arguments):
            raise UserError(
                f"{folder}: {job.name} was begun with other settings ({', '.join(other)}): "
                "choose another --run, or the settings of before"
            )


def last_line(log: Path) -> str:
    """The last line that a command printed, of what it drew over itself the last version."""
    if not log.exists():
        return ""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read().decode(errors="replace").replace("\r", "\n").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def processor_ids() -> list[int]:
    """The processors that this process may use; empty where a system does not tell."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def _shares(count: int) -> list[Sequence[int]]:
    """This process's processors for each of so many jobs; all of them where they are fewer than jobs."""
    mine = processor_ids()
    width = len(mine) // count  # the same for all: what a training learns may depend on it
    if count == 1 or not width:
        return [()] * count
    return [mine[width * i : width * (i + 1)] for i in range(count)]


def _check_order(jobs: Sequence[Job]) -> None:
    """Raise a ValueError where a job comes after one that is not before it in the list."""
    seen: set[str] = set()
    for job in jobs:
        if not seen.issuperset(job.after):
            raise ValueError(f"{job.name} comes after {set(job.after) - seen}")
        seen.add(job.name)


def _enter(parent: int, mine: Sequence[int]) -> None:
    """Be a job's process, before its program begins."""
    die_with_parent(parent)
    if mine:
        os.sched_setaffinity(0, mine)


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
    rows, done = [], progress.done(jobs)
    for job in jobs:
        entry = progress.entries.get(job.name, {})
        status = entry.get("status", WAITING)
        if status == DONE and job.name not in done:
            status = WAITING  # its command has changed, or one before it has
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
        f"<body><h1>{escape(title)}</h1><p>{total:.2f} hours of jobs so far</p><table>"
        "<tr><th>job</th><th>status</th><th>minutes</th><th></th></tr>"
        + "\n".join(rows)
        + "</table></body></html>\n",
    )


def _log(folder: Path, job: Job) -> Path:
    return folder / "logs" / f"{job.name}.log"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 3600}:{int(seconds) // 60 % 60:02d}:{int(seconds) % 60:02d}"


def _draw(lines: Sequence[str]) -> None:
    """Write over the line before, cut to the terminal's width, of which all lines have a part."""
    part = (os.get_terminal_size(sys.stderr.fileno()).columns - 1) // max(1, len(lines))
    text = "".join(line[: part - 1].ljust(part) for line in lines).rstrip()
    print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _tell(line: str) -> None:
    start = "\r\x1b[K" if sys.stderr.isatty() else ""
    print(f"{start}{line}", file=sys.stderr, flush=True)
