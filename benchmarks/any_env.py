"""`python -m benchmarks.any_env`: returns of the defaults of `ver` on environments that everybody knows.

Every environment is trained as `python -m ver train ENV total_steps=N` does it, once for each seed, and
judged by new episodes with the most likely actions. MiniGrid's memory task alone gets another setting,
`network.memory=lstm`: there is nothing to be seen of what has to be remembered. What an environment
needs beside Gymnasium has to be installed; see docs/any_environment.md. Stopped or killed, the same
command goes on, as long as the sources are the same.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.locomotion import QUIET, RETURN, keep_settings
from planner.journal import code_version
from rearrange.command_line import OneLineParser, check_counts, output_file, output_folder
from skills.command import run_command
from skills.plot import read_rows
from skills.provenance import made, write_json, write_result
from ver import UserError
from ver.eval import play_episodes
from ver.train import make_trainer

JUDGED = "judged.json"
JUDGED_FROM = 100_000  # seed of the first episode that judges


class Task(NamedTuple):
    """One environment.

    Attributes:
        name: As Gymnasium knows it.
        threshold: Mean return from which it counts as learned.
        steps: Length of a run.
        settings: What differs from the defaults.
    """

    name: str
    threshold: float
    steps: int
    settings: tuple[str, ...] = ()


TASKS = {
    task.name: task
    for task in (
        Task("CartPole-v1", 475, 100_000),
        Task("Acrobot-v1", -100, 100_000),
        Task("Pendulum-v1", -200, 200_000),
        Task("LunarLander-v3", 200, 1_000_000),
        Task("MiniGrid-MemoryS9-v0", 0.9, 300_000, ("network.memory=lstm",)),
        Task("HalfCheetah-v5", 3000, 2_000_000),
        Task("Ant-v5", 2000, 2_000_000),
        Task("ALE/Pong-v5", 15, 1_250_000),  # of four frames each
        Task("ALE/Breakout-v5", 50, 1_250_000),
        Task("VizdoomBasic-v1", 85, 1_000_000),
    )
}
QUICK = "CartPole-v1,Acrobot-v1,Pendulum-v1"


def train(task: Task, seed: int, episodes: int, folder: Path, steps: int = 0) -> dict[str, Any]:
    """Trains one run and judges it; one that was judged is read.

    Args:
        task: Environment, and how long it is trained.
        seed: Of the run.
        episodes: By which it is judged.
        folder: Run directory, which may hold a part of this run.
        steps: Another length; 0 is the task's own.

    Raises:
        UserError: The folder holds a run of other settings.
        SystemExit: Ctrl-C.
    """
    told = folder / JUDGED
    words = [*task.settings, f"seed={seed}", f"total_steps={steps or task.steps}"]
    keep_settings(folder, [*words, f"{episodes} episodes"])
    if told.exists():
        return json.loads(told.read_text())
    trainer = make_trainer(task.name, [*QUIET, *words], folder)
    trainer.train()
    if trainer.interrupted:
        raise SystemExit("interrupted: the same command goes on; nothing is reported yet")
    played = play_episodes(trainer.policy.eval(), trainer.make_env, episodes, JUDGED_FROM)
    rows = [(row["steps"], row[RETURN]) for row in read_rows(folder) if RETURN in row]
    run = {
        "seed": seed,
        "steps": trainer.steps,
        "return": float(np.mean(played["return"])),
        "spread": float(np.std(played["return"])),
        "steps_to_threshold": steps_to(rows, task.threshold),
    }
    write_json(told, run)
    return run


def steps_to(rows: Sequence[tuple[float, float]], threshold: float) -> float | None:
    """Steps after which the mean return of the last training episodes first reaches a threshold."""
    return next((steps for steps, mean in rows if mean >= threshold), None)


def summarise(task: Task, runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The numbers of one environment."""
    returns = [run["return"] for run in runs]
    return {
        "settings": list(task.settings),
        "steps": max(run["steps"] for run in runs),
        "threshold": task.threshold,
        "mean": float(np.mean(returns)),
        "worst": min(returns),
        "learned": sum(value >= task.threshold for value in returns),
        "runs": list(runs),
    }


def show(found: dict[str, Any]) -> None:
    """Prints the table."""
    table = Table(title="the defaults of ver: return of the mean actions")
    for name in ("environment", "steps", "threshold", "mean", "worst seed", "learned"):
        table.add_column(name, justify="left" if name == "environment" else "right")
    for name, each in found.items():
        table.add_row(
            " ".join((name, *each["settings"])),
            f"{each['steps']:,}",
            f"{each['threshold']:g}",
            f"{each['mean']:.4g}",
            f"{each['worst']:.4g}",
            f"{each['learned']} of {len(each['runs'])}",
        )
    Console().print(table)


def main(arguments: Sequence[str]) -> int:
    """Train, judge, sum up."""
    parser = OneLineParser(prog="benchmarks.any_env", description=__doc__)
    names = ", ".join(TASKS)
    parser.add_argument("--envs", default=QUICK, help=f"with commas ({QUICK}): of {names}")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (1)")
    parser.add_argument("--steps", type=int, default=0, help="of each run, instead of their own")
    parser.add_argument("--episodes", type=int, default=100, help="that judge a run (100)")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="of the runs (runs/any_env/<sources>)"
    )
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "seeds", "episodes")
    chosen = options.envs.split(",")
    unknown = [name for name in chosen if name not in TASKS]
    if unknown:
        raise UserError(f"--envs: unknown '{unknown[0]}': choose from {names}")
    what = "ver's defaults on other people's environments"
    origin = made("benchmarks.any_env", arguments, what=what, seed=options.seed)
    # What other sources have trained says nothing about these
    every = options.run or Path("runs") / "any_env" / code_version()[:8]
    found: dict[str, Any] = {}
    for name in chosen:
        runs = []
        for seed in range(options.seed, options.seed + options.seeds):
            folder = every / f"{re.sub('[^A-Za-z0-9.-]+', '_', name)}_{seed}"
            runs.append(train(TASKS[name], seed, options.episodes, folder, options.steps))
            print(f"{name}, seed {seed}: {runs[-1]['return']:.4g}", file=sys.stderr, flush=True)
        found[name] = summarise(TASKS[name], runs)
    show(found)
    if options.json:
        record = {"made": origin, "judging_episodes": options.episodes, "environments": found}
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
