"""`python -m benchmarks.timed_training TASK --seconds S --settings key=value ...`: what so much time teaches.

A skill or a navigation task is trained for some seconds of the clock, or to the end of its first stage if that
comes first, and then judged in new episodes by its most likely actions. The clock begins with the first rollout
learned from, as that contains the start. Rates are those from there on.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rearrange.command_line import OneLineParser, check_counts, output_file
from skills import eval as judging
from skills.command import run_command
from skills.navigation import navigation_names
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.settings import make_environments
from skills.train import load_stages
from ver import Trainer, UserError
from ver.collect.processes import cores
from ver.logs import POLICY

QUIET = (
    "trainer.tensorboard=false",
    "trainer.log_interval_s=5",
    "trainer.checkpoint_interval_s=1e9",
)
SHARES = ("learning", "inference", "simulation_wait", "overhead")
POINTS = 100  # of a curve, at most
JUDGED_FROM = 7  # seed of the episodes that judge
FIGURES = ("success_at_end", "success_once", "spl", "length", "episode_return", "episodes")


class Clock:
    """Ends a training when its time is up, and notes its curve.

    Args:
        seconds: From the first rollout on.
    """

    def __init__(self, seconds: float) -> None:
        """Nothing is noted yet."""
        self.seconds = seconds
        self.rows: list[dict[str, float]] = []
        self._begun = 0.0

    def __call__(self, trainer: Trainer, row: dict[str, float]) -> bool:
        """After each rollout's learning; true at the end."""
        now = time.perf_counter()
        self._begun = self._begun or now
        told = {k: v for k, v in row.items() if k.startswith(("episode/", "time/", "steps_per"))}
        self.rows.append({"clock": now - self._begun, "steps": trainer.steps, **told})
        return now - self._begun >= self.seconds

    def figures(self) -> dict[str, Any]:
        """Rate, shares of the time, and the curve.

        Raises:
            UserError: There was one rollout only.
        """
        if len(self.rows) < 2:
            raise UserError("one rollout alone was learned from: give it more --seconds")
        first, last, rest = self.rows[0], self.rows[-1], self.rows[1:]
        weights = np.diff([row["clock"] for row in self.rows])
        every = -(-len(self.rows) // POINTS)
        return {
            "steps": last["steps"],
            "seconds": last["clock"],
            "steps_per_second": (last["steps"] - first["steps"]) / last["clock"],
            "shares": {
                name: float(np.average([row[f"time/{name}"] for row in rest], weights=weights))
                for name in SHARES
            },
            "curve": [
                {
                    k: v
                    for k, v in row.items()
                    if k in ("clock", "steps") or k.startswith("episode/")
                }
                for row in (*self.rows[:-1:every], last)
            ],
        }


def train(task: str, words: Sequence[str], seconds: float, folder: Path) -> dict[str, Any]:
    """Trains the first stage; the policy is in `folder` afterwards."""
    settings = load_stages(task, [*QUIET, *words])[0]
    environments = make_environments(settings)
    clock = Clock(seconds)
    begin = time.perf_counter()
    trainer = Trainer(
        settings.trainer, environments, folder, environments.metadata(), after_update=clock
    )
    trainer.train()
    if trainer.interrupted:
        raise SystemExit("interrupted: nothing is reported")
    wall = time.perf_counter() - begin
    collect = settings.trainer.collect
    shape = {"worlds": collect.num_environments, "rollout_length": collect.rollout_length}
    return {"system": settings.trainer.system, **shape, "wall_seconds": wall} | clock.figures()


def judge(task: str, policy: Path, episodes: int) -> dict[str, Any]:
    """Success and its kin in new episodes of the validation split."""
    path = policy.with_name("judged.json")
    words = [task, "--checkpoint", str(policy), "--actions", "mean", "--dataset", "sampled"]
    words += ["--episodes", str(episodes), "--seed", str(JUDGED_FROM)]
    judging.main([*words, "--workers", str(cores()), "--json", str(path)])
    told = json.loads(path.read_text())
    return {name: told[name] for name in FIGURES if name in told}


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.timed_training", description=__doc__)
    parser.add_argument("task", help="a skill or a navigation task")
    parser.add_argument("--seconds", type=float, default=60.0, help="of learning (60)")
    parser.add_argument("--episodes", type=int, default=100, help="that judge (100)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    parser.add_argument("--settings", nargs="*", default=[], metavar="key=value", help="to change")
    options = parser.parse_args(arguments)
    names = (*skill_names(), *navigation_names())
    if options.task not in names:
        raise UserError(f"unknown task '{options.task}': choose one of {', '.join(names)}")
    check_counts(options, "episodes")
    if options.seconds <= 0:
        raise UserError(f"--seconds must be above zero, found {options.seconds:g}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Train, judge, tell."""
    options = parse(arguments)
    what = f"{options.task}, learned for some time"
    origin = made("benchmarks.timed_training", arguments, what=what, split="val", seed=JUDGED_FROM)
    with tempfile.TemporaryDirectory(prefix="timed-training-") as place:
        folder = Path(place) / "run"
        found = train(options.task, options.settings, options.seconds, folder)
        print({name: value for name, value in found.items() if name != "curve"}, flush=True)
        judged = judge(options.task, folder / POLICY, options.episodes)
    record = {"made": origin, "task": options.task, "settings": options.settings}
    if options.json:
        write_result(options.json, record | {"training": found, "judged": judged})
    return 0


if __name__ == "__main__":
    run_command(main)
