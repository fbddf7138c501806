"""`python -m benchmarks.gpu_day`: all that is to be checked and measured on a machine with a CUDA GPU.

Each step is a command in a process of its own with a limit of time; `--list` names them. OUT/NAME.json is its
result, OUT/NAME.log what it said. A step that has a result of the same commit and command is left out, so the
same command goes on where it was ended; `--again` does all anew. One that fails is told with its last lines.
Exit status 1 if one failed. `--dry-run` does the same in the small on a CPU. docs/gpu.md.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.gpu_steps import STEPS, Step
from rearrange.command_line import OneLineParser, output_folder
from skills.command import run_command, short_path
from skills.provenance import UNKNOWN, command_line, commit_of, made, write_result
from ver import UserError
from ver.public import ROOT

LAST_LINES = 15  # of a step that failed, are told
KEPT_LINES = 60  # of a step that writes no figures, are its result
LEAST_DRY_S = 0.3  # that has to be left for a step that is only tried
TELL_S = 10.0
DONE, FAILED, OUT_OF_TIME, LEFT_OUT = "done", "FAILED", "OUT OF TIME", "left out"


@dataclass
class Running:
    """A step that was begun.

    Attributes:
        step: Which.
        process: Its process, which leads a group of its own.
        origin: Where its result comes from.
        begun: By time.monotonic.
        limit_s: How long it may take.
    """

    step: Step
    process: subprocess.Popen
    origin: dict[str, Any]
    begun: float
    limit_s: float

    @property
    def passed(self) -> float:
        """Seconds since it was begun."""
        return time.monotonic() - self.begun


class Day:
    """Runs steps, one after the other but for what may run beside.

    Args:
        options: The command line's.

    Attributes:
        outcomes: {step: what became of it}.
    """

    def __init__(self, options: Any) -> None:
        """Begin the clock."""
        self.options = options
        self.outcomes: dict[str, str] = {}
        self._until = time.monotonic() + options.budget if options.budget else float("inf")
        self._beside: list[Running] = []

    def run(self, steps: Sequence[Step]) -> None:
        """Do all that is not done yet."""
        self.options.out.mkdir(parents=True, exist_ok=True)
        try:
            for step in steps:
                if step.timed:
                    self._finish_beside()
                self._do(step)
            self._finish_beside()
        except BaseException:
            for running in self._beside:
                _end(running)
            raise

    def _do(self, step: Step) -> None:
        reason = self._why_not(step)
        if reason:
            self.outcomes[step.name] = LEFT_OUT
            _say(f"{step.name}: {LEFT_OUT}, {reason}")
            return
        running = self._begin(step)
        if step.beside:
            self._beside.append(running)
            return
        try:
            self._finish(running)
        except BaseException:
            _end(running)
            raise

    def _why_not(self, step: Step) -> str:
        """Says why a step is left out; empty where it is not."""
        if step.needs and importlib.util.find_spec(step.needs) is None:
            return f"there is no {step.needs} yet"
        path, command = self._path(step, "json"), command_line(step.module, self._words(step))
        if not self.options.again and _is_done(path, commit_of(ROOT)[0], command):
            return f"{short_path(path)} is of this commit (--again)"
        left = self._until - time.monotonic()
        if left < (LEAST_DRY_S if self.options.dry_run else step.seconds):
            return f"{max(left, 0.0):.0f} s of --budget are left: the same command goes on"
        return ""

    def _begin(self, step: Step) -> Running:
        words = self._words(step)
        limit = min(step.limit_s, self._until - time.monotonic())
        beside = ", beside what follows" if step.beside else ""
        _say(f"{step.name}: {step.about}, some {step.seconds:.0f} s on a GPU{beside}")
        with self._path(step, "log").open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", step.module, *words],
                cwd=ROOT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        origin = made(step.module, words, what=step.about)
        return Running(step, process, origin, time.monotonic(), limit)

    def _finish(self, running: Running) -> None:
        """Wait for a step, telling now and then what it said last, and write down what became of it."""
        step, process = running.step, running.process
        while process.poll() is None and running.passed < running.limit_s:
            if not _ends_within(process, min(TELL_S, max(0.1, running.limit_s - running.passed))):
                lines = self._lines(step) or ["nothing said yet"]
                _say(f"  {step.name} {running.passed:.0f} s: {lines[-1][:100]}")
        outcome = DONE if process.poll() == 0 else FAILED
        if process.poll() is None:
            outcome = OUT_OF_TIME
        _end(running)
        self._write(running, outcome)
        self.outcomes[step.name] = outcome
        _say(f"{step.name}: {outcome} after {running.passed:.0f} s")
        if outcome != DONE:
            _say(f"  {short_path(self._path(step, 'log'))} ends:")
            for line in self._lines(step)[-LAST_LINES:]:
                _say(f"    {line}")

    def _finish_beside(self) -> None:
        while self._beside:
            running = self._beside[0]
            self._finish(running)
            del self._beside[0]

    def _write(self, running: Running, outcome: str) -> None:
        """The result of a step that writes none, or has failed to: its end, and what it said."""
        step, path = running.step, self._path(running.step, "json")
        if step.writes and outcome == DONE and path.is_file():
            return
        if outcome != DONE and _measured_by(path):
            path = self._path(step, "failed.json")  # what an earlier commit measured stays
        told = {"outcome": outcome, "code": running.process.returncode, "seconds": running.passed}
        said = self._lines(step)[-KEPT_LINES:]
        write_result(path, {"made": running.origin, **told, "said": said})

    def _words(self, step: Step) -> Sequence[str]:
        """Arguments of a step; --json before --settings, which takes all that follows."""
        words = step.small if self.options.dry_run else step.words(self.options.seconds)
        if not step.writes:
            return words
        end = words.index("--settings") if "--settings" in words else len(words)
        return (*words[:end], "--json", str(self._path(step, "json")), *words[end:])

    def _lines(self, step: Step) -> list[str]:
        text = self._path(step, "log").read_text(errors="replace")
        return [line.rstrip() for line in text.splitlines() if line.strip()]

    def _path(self, step: Step, suffix: str) -> Path:
        return self.options.out / f"{step.name}.{suffix}"


def _is_done(path: Path, commit: str, command: str) -> bool:
    """Tell if a step has a result of a commit and command; one that failed has none."""
    return commit != UNKNOWN and _measured_by(path) == (commit, command)


def _measured_by(path: Path) -> tuple[str, str] | None:
    """Commit and command of a result; None where there is none, or the step failed."""
    try:
        record = json.loads(path.read_text())
        origin = record["made"]["commit"], record["made"]["command"]
        return origin if record.get("outcome", DONE) == DONE else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _end(running: Running) -> None:
    """End a step's process with all that it has started."""
    with suppress(ProcessLookupError):  # all have ended
        for what, patience in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 5.0)):
            os.killpg(running.process.pid, what)
            _ends_within(running.process, patience)
    running.process.wait()


def _ends_within(process: subprocess.Popen, seconds: float) -> bool:
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.gpu_day", description=__doc__)
    parser.add_argument("--only", metavar="NAME,...", help="these steps alone")
    parser.add_argument("--list", action="store_true", help="name the steps, and do nothing")
    parser.add_argument(
        "--out",
        type=output_folder,
        help="results, logs (results/gpu; of what is only tried runs/gpu_day)",
    )
    parser.add_argument(
        "--seconds", type=float, default=1.0, metavar="TIMES", help="as long as usual is timed (1)"
    )
    parser.add_argument(
        "--budget", type=float, default=0.0, metavar="S", help="of all steps together; 0: no limit"
    )
    parser.add_argument("--again", action="store_true", help="also what has a result")
    parser.add_argument("--dry-run", action="store_true", help="in the small, on a CPU")
    options = parser.parse_args(arguments)
    default = ROOT / "runs" / "gpu_day" if options.dry_run else ROOT / "results" / "gpu"
    options.out = Path(options.out or default).resolve()
    names = [step.name for step in STEPS]
    options.only = options.only.split(",") if options.only else names
    for name in options.only:
        if name not in names:
            raise UserError(f"--only: there is no step '{name}': choose of {', '.join(names)}")
    if not 0 < options.seconds <= 100:
        raise UserError(f"--seconds must be above 0 and at most 100, found {options.seconds:g}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Do the steps, and tell what became of them."""
    options = parse(arguments)
    steps = [step for step in STEPS if step.name in options.only]
    if options.list:
        for step in steps:
            print(f"{step.name:15s} {step.seconds:4.0f} s  {step.about}")
        return 0
    if not options.dry_run:
        import torch

        if not torch.cuda.is_available():
            raise UserError("torch finds no CUDA GPU here: --dry-run tries the steps on a CPU")
    day = Day(options)
    day.run(steps)
    for name, outcome in day.outcomes.items():
        print(f"{name:15s} {outcome}")
    return int(any(outcome in (FAILED, OUT_OF_TIME) for outcome in day.outcomes.values()))


if __name__ == "__main__":
    run_command(main)
