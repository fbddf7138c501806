"""`python -m benchmarks.locomotion`: what robots that run learn on a few processor cores, and how fast.

Each seed is trained as `python -m ver train locomotion:ROBOT` does it, and judged by new episodes with the most
likely actions. A thousand robots side by side are for a GPU: here are 64, with fewer epochs and less noise at
the begin than the paper's settings have. `--paper` leaves the paper's. A run that was interrupted goes on.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from locomotion.tasks import TASKS
from planner.journal import code_version
from rearrange.command_line import OneLineParser, check_counts, output_file, output_folder
from skills.command import run_command, write_json
from skills.plot import read_rows
from skills.provenance import made, write_result
from ver import UserError
from ver.adapters.libraries import named_environment
from ver.eval import play_episodes
from ver.train import make_trainer

JUDGED_FROM = 100_000  # seed of the episodes that judge
FEW = (  # what a few cores get in place of the paper's settings
    *("collect.num_environments=64", "collect.rollout_length=128", "ppo.epochs=5"),
    *("ppo.mini_batches=4", "network.initial_log_std=-1"),
)
QUIET = ("tensorboard=false", "checkpoint_interval_s=60")
# The paper's returns (section 4.1): an ant runs, and at the end; a humanoid walks, and runs; one stands up, and
# at the end. Of terrain it tells none
THRESHOLDS = {"ant": (3000, 7000), "humanoid": (3000, 5000), "humanoid_flagrun": (2500, 4000)}
RUNS, FINAL = THRESHOLDS["ant"]
POINTS = 40  # of a curve
RETURN, SPEED = "episode/episode_return", "episode/speed"


def train(name: str, words: Sequence[str], folder: Path, episodes: int) -> dict[str, Any]:
    """Trains one run and judges it.

    Args:
        name: LIBRARY:ROBOT.
        words: key=value of the training.
        folder: Run directory, which may hold a part of this run.
        episodes: That judge it.

    Raises:
        UserError: The folder holds a run of other settings, or no episode ended.
        SystemExit: Ctrl-C.
    """
    trainer = make_trainer(name, [*QUIET, *words], folder)
    keep_settings(folder, words)
    trainer.train()
    if trainer.interrupted:
        raise SystemExit("interrupted: the same command goes on; nothing is reported yet")
    logged = read_rows(folder)
    rows = [row for row in logged if RETURN in row]
    if not rows:
        raise UserError(f"no episode ended within {trainer.steps:,} steps: give it more --steps")
    arguments = trainer.metadata["arguments"]
    worlds = named_environment(name, arguments)  # on the CPU, as the policy
    first, _ = THRESHOLDS.get(name.partition(":")[2], (math.inf, math.inf))
    policy = trainer.policy.cpu().eval()
    played = play_episodes(policy, worlds, episodes, JUDGED_FROM)
    chosen = rows[:: max(1, len(rows) // POINTS)]
    return {
        "seed": trainer.config.seed,
        "steps": trainer.steps,
        "seconds": logged[-1]["seconds"],
        "steps_per_s": trainer.steps / logged[-1]["seconds"],
        "return": float(np.mean(played["return"])),
        "spread": float(np.std(played["return"])),
        "length": float(np.mean(played["length"])),
        "trained_return": rows[-1][RETURN],
        "trained_speed": rows[-1][SPEED],
        "steps_to_run": next((row["steps"] for row in rows if row[RETURN] >= first), None),
        "curve": [[row["steps"], round(row[RETURN], 1), round(row[SPEED], 3)] for row in chosen],
    }


def keep_settings(folder: Path, words: Sequence[str]) -> None:
    """Note with what a folder's run is trained; raises UserError where it was begun with other settings."""
    path = folder / "settings.json"
    try:
        before = json.loads(path.read_text()) if path.exists() else list(words)
        other = ", ".join(sorted({*before} ^ {*words}))
    except (ValueError, TypeError):
        raise UserError(f"{path} is broken: choose another --run") from None
    if before != list(words):
        raise UserError(f"{folder} was begun with other settings ({other}): choose another --run")
    write_json(path, list(words))


def show(robot: str, runs: Sequence[dict[str, Any]]) -> None:
    """Prints the table."""
    told = " and ".join(map(str, THRESHOLDS.get(robot, ()))) or "not told"
    table = Table(title=f"{robot}: the paper's thresholds are {told}")
    names = (
        "seed",
        "steps",
        "steps/s",
        "return, mean actions",
        "length",
        "speed [m/s]",
        "to first",
    )
    for name in names:
        table.add_column(name, justify="right")
    for run in runs:
        table.add_row(
            str(run["seed"]),
            f"{run['steps']:,}",
            f"{run['steps_per_s']:,.0f}",
            f"{run['return']:,.0f} +- {run['spread']:,.0f}",
            f"{run['length']:.0f}",
            f"{run['trained_speed']:.2f}",
            "-" if run["steps_to_run"] is None else f"{run['steps_to_run']:,.0f} steps",
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.locomotion", description=__doc__)
    parser.add_argument("--robot", default="ant", help=f"one of {', '.join(TASKS)} (ant)")
    parser.add_argument("--steps", type=int, default=2_000_000, help="of each run (2000000)")
    parser.add_argument("--seeds", type=int, default=1, help="runs (1)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (1)")
    parser.add_argument("--episodes", type=int, default=64, help="that judge a run (64)")
    parser.add_argument("--paper", action="store_true", help="leave the paper's settings")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="of the runs (runs/locomotion/<sources>)"
    )
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    parser.add_argument("settings", nargs="*", default=[], metavar="key=value", help="more of them")
    options = parser.parse_args(arguments)
    check_counts(options, "steps", "seeds", "episodes")
    if options.robot not in TASKS:
        raise UserError(f"--robot must be one of {', '.join(TASKS)}, found {options.robot}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Train, judge, tell."""
    options = parse(arguments)
    what = "robots that run, learned on a few processor cores"
    origin = made("benchmarks.locomotion", arguments, what=what, seed=options.seed)
    # What other sources have trained says nothing about these
    run = Path(options.run or Path("runs") / "locomotion" / code_version()[:8])
    words = [*(() if options.paper else FEW), *options.settings, f"total_steps={options.steps}"]
    runs = []
    for seed in range(options.seed, options.seed + options.seeds):
        folder = run / f"{options.robot}_{seed}"
        name = f"locomotion:{options.robot}"
        runs.append(train(name, [*words, f"seed={seed}"], folder, options.episodes))
        print(f"seed {seed}: {runs[-1]['return']:,.0f}", file=sys.stderr, flush=True)
    show(options.robot, runs)
    if options.json:
        told = {"robot": options.robot, "settings": words, "judging_episodes": options.episodes}
        figures = {"mean": float(np.mean([run["return"] for run in runs])), "runs": runs}
        write_result(options.json, {"made": origin, **told, **figures})
    return 0


if __name__ == "__main__":
    run_command(main)
