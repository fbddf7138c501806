"""`python -m benchmarks.kill_storm SKILL --minutes 60`: a training under constant failure, and some left alone.

First trainings of several seeds run undisturbed for `--calm-minutes` each. Then one runs with the first
seed, and every few seconds one of its worker processes is killed or stopped for good, every minute the
trainer itself. Whoever is stopped the training has to notice; where it ends, the same command is run again.
All minutes count from the first rollout that was learned from, and so do the hits.

Told are the steps per second of both, how often what was hit, how much of the storm's curve is within what
the others span, and what is left behind: processes, and segments of shared memory. The exit status is 1 if
anything is.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.leftovers import MARK, abandoned, shared_memory, survivors
from rearrange.command_line import OneLineParser, output_file
from rearrange.errors import UserError
from skills.command import run_command
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.train import load_stages
from ver.collect.processes import die_with_parent

LOOK_S = 0.5
SAMPLE_S = 10.0  # between two points of the curve
REST_S = 3.0  # a trainer that was stopped goes on after this
SETTINGS = (
    "stages=[]",
    "trainer.collect.step_timeout_s=5",
    "trainer.collect.startup_timeout_s=20",
    "trainer.collect.max_faults_per_hour=1000000",
    "trainer.tensorboard=false",
)
ENVIRONMENT_WORKER, INFERENCE_WORKER, TRAINER = "environment worker", "inference worker", "trainer"


@dataclass
class Phase:
    """Account of one training.

    Attributes:
        steps: That were learned from.
        seconds: Since the first rollout was learned from, by the clock on the wall: what came before is a
            start that may compile.
        begun: Steps by then; None before.
        starts: How often the command was run.
        hits: {"environment worker SIGKILL": how often}.
        curve: [seconds, steps, success in the last episodes] now and then.
        faults: The training's own count.
        last_words: Of the trainings that ended by themselves: the last line, and how often.
    """

    steps: int = 0
    seconds: float = 0.0
    begun: int | None = None
    starts: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    curve: list[list[float]] = field(default_factory=list)
    faults: dict[str, float] = field(default_factory=dict)
    last_words: Counter[str] = field(default_factory=Counter)

    @property
    def speed(self) -> float:
        """Steps per second."""
        return (self.steps - (self.begun or 0)) / self.seconds if self.seconds else 0.0


class Storm:
    """Trains in a folder, and hits what trains.

    Args:
        folder: Run directory.
        words: Of the command, after `skills.train`.
        mark: By which its processes are known.
        dice: Chooses whom, and how; None leaves all alone.
        every_s: Seconds between two hits on workers.
        trainer_every_s: Likewise on the trainer.
    """

    def __init__(
        self,
        folder: Path,
        words: Sequence[str],
        mark: str,
        dice: random.Random | None = None,
        every_s: float = 5.0,
        trainer_every_s: float = 60.0,
    ) -> None:
        self.folder, self.mark, self.dice = folder, mark, dice
        self.every_s, self.trainer_every_s = every_s, trainer_every_s
        self.command = [sys.executable, "-m", "skills.train", *words, f"run={folder}"]
        self.phase = Phase()
        self.log = folder.with_suffix(".log")

    def run(self, minutes: float) -> Phase:
        """Train for so long after the first rollout, then end it by SIGTERM.

        Raises:
            UserError: It ended before.
        """
        process = self._start()
        begin = None
        next_hit, next_trainer, next_sample = self.every_s, self.trainer_every_s, 0.0
        try:
            while begin is None or time.monotonic() - begin < 60.0 * minutes:
                time.sleep(LOOK_S)
                if process.poll() is not None:
                    self._note_end(process.returncode)
                    if begin is None:
                        raise UserError(
                            f"the training ended before it learned: {self._last_line()}"
                        )
                    wake(process.pid)
                    process = self._start()
                if begin is None:
                    self._sample(0.0)
                    begin = time.monotonic() if self.phase.curve else None
                    continue
                passed = time.monotonic() - begin
                if self.dice is not None and passed > next_trainer:
                    next_trainer += self.trainer_every_s
                    self._hit_trainer(process.pid)
                elif self.dice is not None and passed > next_hit:
                    next_hit += self.every_s
                    self._hit_worker(process.pid)
                if passed > next_sample:
                    next_sample = passed + SAMPLE_S
                    self._sample(passed)
            self.phase.seconds = time.monotonic() - begin
            self._sample(self.phase.seconds)
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(60.0)
            process.kill()
            process.wait()
            wake(process.pid)
        return self.phase

    def _start(self) -> subprocess.Popen[bytes]:
        self.phase.starts += 1
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            return subprocess.Popen(
                self.command,
                env=os.environ | {MARK: self.mark},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # and so a group of its own, for `wake`
                preexec_fn=partial(die_with_parent, os.getpid()),
            )

    def _note_end(self, status: int) -> None:
        if status < 0:  # by a signal, which we sent
            return
        self.phase.last_words[f"{status}: {self._last_line()}"] += 1

    def _last_line(self) -> str:
        lines = self.log.read_text(errors="replace").strip().splitlines() or [""]
        return lines[-1][:200]

    def _hit_worker(self, trainer: int) -> None:
        assert self.dice is not None
        found = workers_of(trainer)
        if not found:  # it is only starting
            return
        pid = self.dice.choice(sorted(found))
        self._send(pid, found[pid], self.dice.choice((signal.SIGKILL, signal.SIGSTOP)))

    def _hit_trainer(self, trainer: int) -> None:
        assert self.dice is not None
        number = self.dice.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGSTOP))
        self._send(trainer, TRAINER, number)
        if number == signal.SIGSTOP:
            time.sleep(REST_S)
            with suppress(ProcessLookupError):
                os.kill(trainer, signal.SIGCONT)

    def _send(self, pid: int, kind: str, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
            self.phase.hits[f"{kind} {number.name}"] += 1

    def _sample(self, seconds: float) -> None:
        row = last_row(self.folder / "metrics.jsonl")
        if row:
            self.phase.steps = int(row["steps"])
            if self.phase.begun is None:
                self.phase.begun = self.phase.steps
            success = row.get("episode/success", 0.0)
            self.phase.curve.append([round(seconds, 1), row["steps"], round(success, 3)])
            self.phase.faults = {key: row[key] for key in row if key.startswith("faults/")}


def wake(trainer: int) -> None:
    """Let workers of a trainer that has ended go on.

    Who was stopped while it still imported had not asked yet to die with the trainer. It sees now that it is
    alone.
    """
    with suppress(ProcessLookupError):
        os.killpg(trainer, signal.SIGCONT)


def workers_of(trainer: int) -> dict[int, str]:
    """Worker processes of a trainer, and of which kind each is: only inference loads torch."""
    try:
        children = Path(f"/proc/{trainer}/task/{trainer}/children").read_text().split()
    except OSError:
        return {}
    found = {}
    for pid in map(int, children):
        with suppress(OSError):
            if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
                torch = "libtorch" in Path(f"/proc/{pid}/maps").read_text()
                found[pid] = INFERENCE_WORKER if torch else ENVIRONMENT_WORKER
    return found


def last_row(path: Path) -> dict[str, float]:
    """The last whole row of a log; empty where there is none."""
    with suppress(OSError):
        for line in reversed(path.read_text().splitlines()):
            with suppress(json.JSONDecodeError):
                return json.loads(line)
    return {}


def as_record(phase: Phase) -> dict[str, Any]:
    """A phase as it is written into a result."""
    told = {
        name: dict(value) if isinstance(value, Counter) else value
        for name, value in vars(phase).items()
    }
    return told | {"steps_per_second": phase.speed}


def band(storm: Phase, calm: Sequence[Phase]) -> dict[str, Any]:
    """Compare the storm's curve with what the others span, as far as all of these go.

    Returns:
        "steps" up to which, "points" looked at, and of these the shares "inside", "below" and "above".
    """
    last = min(phase.curve[-1][1] for phase in calm)
    steps, success = np.array([point for point in storm.curve if point[1] <= last])[:, 1:].T
    spans = [np.interp(steps, *np.array(phase.curve)[:, 1:].T) for phase in calm]
    below, above = success < np.min(spans, axis=0), success > np.max(spans, axis=0)
    shares = {"inside": ~(below | above), "below": below, "above": above}
    told = {name: float(flags.mean()) for name, flags in shares.items()}
    return {"steps": last, "points": len(steps), **told}


def show(calm: Sequence[Phase], storm: Phase, left: dict[str, Any]) -> None:
    """Prints the table."""
    table = Table(title="a training under constant failure")
    for name in ("", *("left alone" for _ in calm), "storm"):
        table.add_column(name, justify="right" if name else "left")
    phases = [*calm, storm]
    table.add_row("minutes", *(f"{phase.seconds / 60:.1f}" for phase in phases))
    table.add_row("steps", *(f"{phase.steps:,}" for phase in phases))
    table.add_row("steps/s", *(f"{phase.speed:,.0f}" for phase in phases))
    table.add_row("starts", *(str(phase.starts) for phase in phases))
    others = [""] * len(calm)
    for name, count in sorted(storm.hits.items()):
        table.add_row(name, *others, str(count))
    for name, count in left.items():
        table.add_row(f"{name} left", *others, str(count))
    Console().print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.kill_storm", description=__doc__)
    parser.add_argument("skill", help="what is trained")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings of it")
    parser.add_argument("--minutes", type=float, default=60.0, help="of the storm (60)")
    parser.add_argument("--calm-minutes", type=float, default=10.0, help="of each without (10)")
    parser.add_argument("--seeds", type=int, default=1, help="of trainings left alone (1)")
    parser.add_argument(
        "--every", type=float, default=5.0, metavar="S", help="a worker is hit (5 s)"
    )
    parser.add_argument(
        "--trainer-every", type=float, default=60.0, metavar="S", help="the trainer is hit (60 s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of trainings and storm (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_intermixed_args(arguments)
    if options.skill not in skill_names():
        raise UserError(f"unknown skill '{options.skill}': choose of {', '.join(skill_names())}")
    for name in ("minutes", "calm_minutes", "every", "trainer_every"):
        value = getattr(options, name)
        if not 0.0 < value < float("inf"):
            raise UserError(f"--{name.replace('_', '-')} must be above 0, found {value:g}")
    if not 1 <= options.seeds <= 100:
        raise UserError(f"--seeds must be from 1 to 100, found {options.seeds}")
    load_stages(options.skill, options.overrides)  # refuses what makes no sense
    return options


def main(arguments: Sequence[str]) -> int:
    """Trains, with and without."""
    options = parse(arguments)
    origin = made(
        "benchmarks.kill_storm",
        arguments,
        what="a training under constant failure",
        seed=options.seed,
    )
    words = (options.skill, *SETTINGS, *options.overrides)
    seeds = range(options.seed, options.seed + options.seeds)
    mark, before = f"{os.getpid()}-{time.time_ns()}", shared_memory()
    with tempfile.TemporaryDirectory(prefix="kill-storm-") as scratch:
        folder = Path(scratch)
        calm = []
        for seed in seeds:
            _say(f"{options.calm_minutes:g} minutes left alone, seed {seed} ...")
            alone = Storm(folder / f"calm_{seed}", (*words, f"trainer.seed={seed}"), mark)
            calm.append(alone.run(options.calm_minutes))
        _say(f"{options.minutes:g} minutes of storm ...")
        hits = (random.Random(options.seed), options.every, options.trainer_every)
        storm = Storm(folder / "storm", (*words, f"trainer.seed={options.seed}"), mark, *hits).run(
            options.minutes
        )
        left = {
            "processes": len(survivors(mark)),
            "segments": len(abandoned(shared_memory() - before)),
        }
    show(calm, storm, left)
    if options.json:
        told = {
            "calm": [as_record(phase) for phase in calm],
            "storm": as_record(storm),
            "left": left,
        }
        kept = storm.speed / np.mean([phase.speed for phase in calm])
        told |= {"speed_kept": float(kept), "band": band(storm, calm)}
        write_result(options.json, {"made": origin, **told})
    return int(any(left.values()))


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    run_command(main)
