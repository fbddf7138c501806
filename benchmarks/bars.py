"""`python -m benchmarks.bars`: trains what has a bar in its config, and looks whether it is reached.

A bar is the range in which figures of a training's evaluation have to lie: on new episodes in validation
apartments, by mean actions. Those of budget `quick` are trained every night (scripts/nightly.sh), those of
`full` are whole recipes. `ver`'s own are the thresholds of benchmarks.any_env. Stopped or killed, the same
command goes on; the exit status is 1 if a bar is not reached.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import any_env
from planner.journal import code_version
from rearrange.command_line import OneLineParser, check_counts, output_file, output_folder
from rearrange.errors import UserError
from skills.command import run_command, short_path
from skills.jobs import Job, Progress, check_same_trainings, run_jobs
from skills.navigation import navigation_names
from skills.provenance import made, write_result
from skills.recipe import BUDGETS, QUICK, Bar
from skills.registry import skill_names
from skills.train import POLICY, load_settings

ENVIRONMENTS = "any_environment"  # the bar of `ver` alone
JUDGED_BY = 9  # seed of the episodes that judge


@dataclass(frozen=True)
class Reached:
    """One figure of one training, and its range."""

    name: str
    figure: str
    least: float
    most: float
    found: float

    @property
    def well(self) -> bool:
        """True if it lies within."""
        return self.least <= self.found <= self.most


def bars(budget: str) -> dict[str, Bar]:
    """Bars of a budget, by what is trained."""
    names = (*skill_names(), *navigation_names())
    every = [(name, bar) for name in names for bar in load_settings(name).bars]
    return {name: bar for name, bar in every if bar.budget == budget}


def jobs_of(name: str, bar: Bar, run: Path, seed: int, episodes: int) -> list[Job]:
    """The training of a config, and its evaluation."""
    own = (f"run={run / name}", f"trainer.seed={seed}", *bar.overrides())
    judge = ("--checkpoint", str(run / name / POLICY), "--actions", "mean", "--dataset", "sampled")
    judge += ("--seed", str(JUDGED_BY), "--episodes", str(episodes))
    judge += ("--json", str(_result(run, name)))
    return [
        Job(f"train_{name}", ("-m", "skills.train", name, *own)),
        Job(f"judge_{name}", ("-m", "skills.eval", name, *judge), after=(f"train_{name}",)),
    ]


def environments_job(budget: str, run: Path, seed: int) -> Job:
    """The trainings of `ver` alone."""
    names = any_env.QUICK if budget == QUICK else ",".join(any_env.TASKS)
    words = ("--envs", names, "--seeds", "1", "--seed", str(seed), "--run", str(run / ENVIRONMENTS))
    return Job(
        ENVIRONMENTS,
        ("-m", "benchmarks.any_env", *words, "--json", str(_result(run, ENVIRONMENTS))),
    )


def reached(chosen: dict[str, Bar], with_environments: bool, run: Path) -> Iterator[Reached]:
    """Compare every bar with what the evaluations found."""
    if with_environments:
        told = json.loads(_result(run, ENVIRONMENTS).read_text())["environments"]
        for name, each in told.items():
            yield Reached(name, "return", each["threshold"], float("inf"), each["mean"])
    for name, bar in chosen.items():
        told = json.loads(_result(run, name).read_text())
        for figure, (least, most) in bar.reaches.items():
            yield Reached(name, figure, least, most, _figure(told, figure))


def _figure(told: dict[str, Any], path: str) -> float:
    value: Any = told
    for key in path.split("."):
        if key not in value:
            raise UserError(f"bars: no '{path}' in the evaluation: choose of {', '.join(value)}")
        value = value[key]
    return float(value["mean"] if isinstance(value, dict) else value)


def _result(run: Path, name: str) -> Path:
    return run / "results" / f"{name}.json"


def show(rows: Sequence[Reached]) -> None:
    """Prints the table."""
    table = Table(title="bars")
    for name in ("training", "figure", "least", "most", "found", ""):
        table.add_column(name, justify="left" if name in ("training", "figure", "") else "right")
    for row in rows:
        numbers = (f"{value:.3g}" for value in (row.least, row.most, row.found))
        table.add_row(row.name, row.figure, *numbers, "" if row.well else "NOT REACHED")
    Console().print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.bars", description=__doc__)
    parser.add_argument("--budget", choices=BUDGETS, default=QUICK, help=f"which bars ({QUICK})")
    parser.add_argument(
        "--only", metavar="NAMES", help="what is trained, with commas (all that have one)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the trainings (1)")
    parser.add_argument("--episodes", type=int, default=200, metavar="N", help="that judge (200)")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="runs/bars/<sources>_<budget>_<seed>"
    )
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "episodes")
    return options


def main(arguments: Sequence[str]) -> int:
    """Train, judge, compare."""
    options = parse(arguments)
    chosen = bars(options.budget)
    wanted = options.only.split(",") if options.only else [ENVIRONMENTS, *chosen]
    for name in wanted:
        if name not in (ENVIRONMENTS, *chosen):
            names = ", ".join((ENVIRONMENTS, *chosen))
            raise UserError(f"--only: '{name}' has no {options.budget} bar: choose of {names}")
    chosen = {name: bar for name, bar in chosen.items() if name in wanted}
    origin = made("benchmarks.bars", arguments, what=f"bars, {options.budget}", seed=options.seed)
    # What other sources have trained says nothing about these
    folder = f"{code_version()[:8]}_{options.budget}_{options.seed}"
    run, alone = options.run or Path("runs") / "bars" / folder, ENVIRONMENTS in wanted
    jobs = [environments_job(options.budget, run, options.seed)] if alone else []
    for name, bar in chosen.items():
        jobs += jobs_of(name, bar, run, options.seed, options.episodes)
    check_same_trainings(jobs, run)
    print(
        f"{len(jobs)} jobs; {short_path(run / 'index.html')} shows where they stand",
        file=sys.stderr,
    )
    status = run_jobs(jobs, run, f"Bars, {options.budget}, seed {options.seed}")
    if status:
        return status
    rows = list(reached(chosen, alone, run))
    show(rows)
    if options.json:
        told = {
            f"{row.name}.{row.figure}": {"least": row.least, "found": row.found, "well": row.well}
            for row in rows
        }
        entries = Progress.read(run).entries
        seconds = {job.name: entries[job.name]["seconds"] for job in jobs}
        write_result(options.json, {"made": origin, "bars": told, "seconds": seconds})
    return 0 if all(row.well for row in rows) else 1


if __name__ == "__main__":
    run_command(main)
