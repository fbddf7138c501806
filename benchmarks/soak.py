"""`python -m benchmarks.soak --minutes 60`: trains for a while and looks for drift.

Every minute: resident memory of the trainer and of its workers together (shared pages are counted
once for each process that maps them), the memory in files without a name that they share, what is
in /dev/shm, and environment steps per second. At the end: the drift, which is the change from the
first to the second half of the minutes after a warm-up. Exit status 1 if memory drifts by more than
2 % or speed by more than 5 %.

Beside them stands how long a fixed piece of work takes at that moment: a shared machine drifts by
itself. With `--run DIR` the training is a real one, with the skill's own number of steps, whose
checkpoints stay; without it nothing does.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from benchmarks.calibration import fixed_work_duration
from benchmarks.faulty_environments import Trails
from rearrange.command_line import OneLineParser, output_file, output_folder
from skills.command import run_command
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.settings import SkillEnvironments
from skills.train import load_settings
from ver import Trainer, TrainerConfig, merge_config
from ver.config import FORMER_DEFAULTS

MEMORY_LIMIT = 0.02
SPEED_LIMIT = 0.05
WARM_UP = 0.1  # of the time: buffers are touched for the first time, caches fill
_MEGABYTE = 2.0**20


@dataclass
class Sample:
    """Measurements of one interval.

    Attributes:
        minutes: Since the beginning.
        trainer: Resident memory of the trainer [MB].
        workers: Resident memory of all workers together [MB].
        workers_private: Their memory that is not shared with anyone [MB].
        shared_files: Size of what lies in /dev/shm [MB].
        processes: How many workers there are.
        steps_per_second: Environment steps learned from.
        fixed_work_ms: How long a fixed piece of work takes meanwhile [ms].
    """

    minutes: float
    trainer: float
    workers: float
    workers_private: float
    shared_files: float
    processes: int
    steps_per_second: float
    fixed_work_ms: float


def resident(pid: int) -> tuple[float, float]:
    """Returns a process's resident memory and the private part of it [MB]."""
    numbers: dict[str, float] = {}
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, value, *_ = line.split()
            numbers[name.rstrip(":")] = float(value) / 1024.0
    except OSError:
        return 0.0, 0.0
    return numbers["Rss"], numbers["Private_Clean"] + numbers["Private_Dirty"]


def shared_file_size() -> float:
    """Returns the size of everything in /dev/shm [MB]."""
    sizes = [path.stat().st_size for path in Path("/dev/shm").iterdir() if path.is_file()]
    return sum(sizes) / _MEGABYTE


class Watch:
    """Takes a sample whenever an interval is over; called after each rollout's learning.

    Args:
        minutes: When to end.
        interval_s: Between samples.
    """

    def __init__(self, minutes: float, interval_s: float) -> None:
        self.end_s = minutes * 60.0
        self.interval_s = interval_s
        self.samples: list[Sample] = []
        self.begin = 0.0

    def __call__(self, trainer: Trainer, row: dict[str, float]) -> bool:
        """Sample if it is time; true at the end."""
        now = time.monotonic()
        if not self.begin:
            # The first rollout is not measured: it contains the start of the workers.
            self.begin = self.sampled_at = now
            self.steps = trainer.steps
            return False
        if now - self.sampled_at >= self.interval_s:
            self._sample(trainer, now)
        return now - self.begin >= self.end_s

    def _sample(self, trainer: Trainer, now: float) -> None:
        memory = [resident(child.pid or 0) for child in multiprocessing.active_children()]
        sample = Sample(
            minutes=(now - self.begin) / 60.0,
            trainer=resident(os.getpid())[0],
            workers=sum(total for total, _ in memory),
            workers_private=sum(private for _, private in memory),
            shared_files=shared_file_size(),
            processes=len(memory),
            steps_per_second=(trainer.steps - self.steps) / (now - self.sampled_at),
            fixed_work_ms=fixed_work_duration() * 1e3,
        )
        self.steps, self.sampled_at = trainer.steps, now
        self.samples.append(sample)
        print(line(sample), flush=True)


def line(sample: Sample) -> str:
    """Formats a sample."""
    return (
        f"{sample.minutes:6.1f} min | trainer {sample.trainer:7.1f} MB | "
        f"{sample.processes} workers {sample.workers:7.1f} MB "
        f"(private {sample.workers_private:7.1f}) | "
        f"/dev/shm {sample.shared_files:.1f} MB | {sample.steps_per_second:8,.0f} steps/s | "
        f"fixed work {sample.fixed_work_ms:.3f} ms"
    )


def drift(values: Sequence[float]) -> float:
    """Returns the relative change of the mean from the first to the second half."""
    half = len(values) // 2
    first, second = fmean(values[:half]), fmean(values[-half:])
    return second / first - 1.0 if first else float(second > 0)


def drifts(samples: Sequence[Sample]) -> dict[str, float]:
    """Drift of memory and speed after the warm-up; empty if there are fewer than two samples."""
    kept = [sample for sample in samples if sample.minutes >= WARM_UP * samples[-1].minutes]
    if len(kept) < 2:
        return {}
    return {
        "memory": drift([sample.trainer + sample.workers for sample in kept]),
        "shared_files": drift([sample.shared_files for sample in kept]),
        "steps_per_second": drift([sample.steps_per_second for sample in kept]),
        "fixed_work": drift([sample.fixed_work_ms for sample in kept]),
    }


def make_trainer(options: Any, folder: str, watch: Watch) -> Trainer:
    """A trainer of a skill, or of the toy task, that would go on for ever."""
    if options.skill == "toy":
        config = merge_config(
            TrainerConfig,
            [],
            [
                *FORMER_DEFAULTS,
                "total_steps=1000000000000",
                "network.hidden_size=64",
                *options.overrides,
            ],
        )
        return Trainer(config, Trails(), folder, after_update=watch)
    settings = load_settings(options.skill, options.overrides)
    if not options.run:
        settings.trainer.total_steps = 10**12
    environments = SkillEnvironments.from_settings(settings)
    return Trainer(settings.trainer, environments, folder, environments.metadata(), watch)


def main(arguments: Sequence[str]) -> int:
    """Soaks."""
    parser = OneLineParser(prog="benchmarks.soak", description=__doc__)
    parser.add_argument("skill", nargs="?", default="pick", help="what to train, or toy")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings to change")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long")
    parser.add_argument("--interval", type=float, default=60.0, help="seconds between samples")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="train in earnest, in this run directory"
    )
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the samples here")
    options = parser.parse_intermixed_args(arguments)
    if options.skill not in (*skill_names(), "toy"):
        parser.error(f"'{options.skill}' is neither toy nor one of {', '.join(skill_names())}")
    origin = made("benchmarks.soak", arguments, what=f"soak: {options.skill}")
    watch = Watch(options.minutes, options.interval)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        make_trainer(options, options.run or folder, watch).train()
    result = drifts(watch.samples) if watch.samples else {}
    if not result:
        parser.error("too short: fewer than two samples after the warm-up")
    failed = (
        abs(result["memory"]) > MEMORY_LIMIT
        or abs(result["steps_per_second"]) > SPEED_LIMIT
        or result["shared_files"] > MEMORY_LIMIT
    )
    print(" | ".join(f"drift of {name} {value:+.1%}" for name, value in result.items()))
    print("drift too large" if failed else "no drift")
    if options.json:
        samples = [asdict(sample) for sample in watch.samples]
        record = {"made": origin, "skill": options.skill, "drift": result, "samples": samples}
        write_result(options.json, record)
    return int(failed)


if __name__ == "__main__":
    run_command(main)
