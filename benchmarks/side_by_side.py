"""`python -m benchmarks.side_by_side --sb3 VENV/bin/python ...`: `ver` beside what one would take instead.

Each trains on the same environments of the same machine, alone and in turn, with the settings that
benchmarks/side_by_side_runs.py tells, until the mean return of the last hundred episodes reaches the threshold
of `benchmarks.any_env`, or all steps are used. Returns and times are those of a diary around each environment.
Seconds count from the start of the command: importing and starting processes is part of waiting.

Other libraries want other packages, so they have virtual environments of their own (docs/any_environment.md
has the commands). Stopped or killed, the same command goes on, as long as the sources are the same.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.any_env import QUICK, TASKS, Task
from benchmarks.diary import WINDOW, curve, read_diary
from benchmarks.own_session import last_line, run_in_session
from benchmarks.side_by_side_runs import DIARY, ENVPOOL, SYSTEMS
from planner.journal import code_version
from rearrange.command_line import OneLineParser, check_counts, output_file, output_folder
from skills.command import run_command
from skills.provenance import made, write_json, write_result
from ver import UserError
from ver.collect.processes import cores

PYTHONS = {
    "sb3": "sb3",
    "sb3_zoo": "sb3",
    "cleanrl": "cleanrl",
    "sample_factory": "sample_factory",
}
POINTS = 40  # of a curve
TOLD = "told.json"


def train(task: Task, system: str, seed: int, folder: Path, options: Any) -> dict[str, Any]:
    """Trains one run, in a process of its own; one that was told is read.

    Args:
        task: Environment, threshold and length of the run.
        system: One of SYSTEMS.
        seed: Of the run.
        folder: Of the run; what an interrupted one left there is cleared away, as its time is lost.
        options: As `main` reads them.

    Raises:
        UserError: No episode ended.
    """
    told = folder / TOLD
    if told.exists():
        return json.loads(told.read_text())
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    python = getattr(options, PYTHONS.get(system, ""), None) or sys.executable
    command = [
        python, "-m", "benchmarks.side_by_side_runs", system, task.name, str(folder),
        *("--seed", str(seed), "--steps", str(task.steps), "--cores", str(cores())),
        *(["--memory"] if task.settings else []),
    ]  # fmt: skip
    begun, log = time.time(), folder / "log.txt"

    def reached() -> bool:
        return bool((curve(read_diary(folder / DIARY))[:, 2] >= task.threshold).any())

    ended = run_in_session(command, log, 60 * options.minutes, reached)
    diary = read_diary(folder / DIARY)
    if not len(diary) or not diary[:, 1].any():
        raise UserError(f"{system} {ended} before an episode ended; it said last: {last_line(log)}")
    run = summarise(diary, begun, task.threshold) | {"seed": seed, "ended": ended}
    write_json(told, run)
    return run


def summarise(diary: np.ndarray, begun: float, threshold: float) -> dict[str, Any]:
    """The numbers of one run, up to where it reached the threshold.

    Args:
        diary: [rows, 3], as `benchmarks.diary.read_diary` returns it.
        begun: When the command began [s].
        threshold: Mean return that counts as learned.

    Returns:
        Seconds and steps, to the threshold or in all; the mean return then; the best one; the seconds before
        the first episode began; steps per second from there on; and a curve of seconds, steps and means.
    """
    means = curve(diary)
    above = np.flatnonzero(means[:, 2] >= threshold)
    means = means[: above[0] + 1] if len(above) else means
    first, end = diary[0, 0], means[-1, 0] if len(means) else diary[-1, 0]
    before = diary[diary[:, 0] <= end]
    steps = float(before[:, 1].sum())
    points = (
        means[np.unique(np.linspace(0, len(means) - 1, POINTS).astype(int))]
        if len(means)
        else means
    )
    return {
        "reached": bool(len(above)),
        "seconds": end - begun,
        "steps": steps,
        "mean": float(means[-1, 2]) if len(means) else None,
        "best": float(means[:, 2].max()) if len(means) else None,
        "start_s": first - begun,
        "steps_per_second": steps / max(end - first, 1e-9),
        "curve": [[round(float(t - begun), 1), int(n), float(mean)] for t, n, mean in points],
    }


def compare(options: Any, folder: Path) -> dict[str, Any]:
    """Runs all in turn, as often as asked."""
    found: dict[str, Any] = {}
    for name in options.envs:
        task = TASKS[name]
        # CleanRL's PPO remembers the images of Atari alone
        systems = [each for each in options.systems if each != "cleanrl" or not task.settings]
        runs: dict[str, list[dict[str, Any]]] = {system: [] for system in systems}
        for repeat in range(options.seeds):
            seed, shift = options.seed + repeat, repeat % max(len(runs), 1)
            for system in [*systems[shift:], *systems[:shift]]:
                where = folder / f"{re.sub('[^A-Za-z0-9.-]+', '_', name)}_{system}_{seed}"
                runs[system].append(train(task, system, seed, where, options))
                print(
                    f"{name}, {system}, seed {seed}: {line(runs[system][-1])}",
                    file=sys.stderr,
                    flush=True,
                )
        found[name] = {
            "threshold": task.threshold,
            "budget": task.steps,
            "systems": {system: total(each) | {"runs": each} for system, each in runs.items()},
        }
    return found


def line(run: dict[str, Any]) -> str:
    """One run in words."""
    mean = "no mean" if run["mean"] is None else f"mean {run['mean']:.4g}"
    reached = "reached" if run["reached"] else "not reached"
    return f"{reached} after {run['seconds']:.0f} s and {run['steps']:,.0f} steps, {mean}"


def total(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The numbers of one system: medians over the seeds, of seconds and steps only where all reached."""
    reached = sum(run["reached"] for run in runs)

    def median(key: str) -> float:
        return float(np.median([run[key] for run in runs]))

    return {
        "reached": reached,
        "seconds": median("seconds") if reached == len(runs) else None,
        "steps": median("steps") if reached == len(runs) else None,
        "steps_per_second": median("steps_per_second"),
        "worst": min((run["best"] for run in runs if run["best"] is not None), default=None),
    }


def show(found: dict[str, Any]) -> None:
    """Prints a table of each environment."""
    for name, each in found.items():
        table = Table(title=f"{name}: mean return {each['threshold']:g} of {WINDOW} episodes")
        for column in ("library", "seeds", "seconds", "steps", "steps/s", "best of the worst seed"):
            table.add_column(column, justify="left" if column == "library" else "right")
        for system, told in each["systems"].items():
            table.add_row(
                system,
                f"{told['reached']} of {len(told['runs'])}",
                "-" if told["seconds"] is None else f"{told['seconds']:,.0f}",
                "-" if told["steps"] is None else f"{told['steps']:,.0f}",
                f"{told['steps_per_second']:,.0f}",
                "-" if told["worst"] is None else f"{told['worst']:.4g}",
            )
        Console(width=None if sys.stdout.isatty() else 100).print(table)


def read_options(arguments: Sequence[str]) -> Any:
    """Reads the command line, and checks it."""
    parser = OneLineParser(prog="benchmarks.side_by_side", description=__doc__)
    names = ", ".join(TASKS)
    parser.add_argument("--envs", default=QUICK, help=f"with commas ({QUICK}): of {names}")
    parser.add_argument("--systems", help=f"which, with commas: of {', '.join(SYSTEMS)}")
    parser.add_argument("--sb3", metavar="PYTHON", help="of a venv with rl_zoo3 and sb3-contrib")
    parser.add_argument("--cleanrl", metavar="PYTHON", help="of a venv with CleanRL")
    parser.add_argument("--sample-factory", metavar="PYTHON", help="of a venv with Sample Factory")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the first run (1)")
    parser.add_argument("--minutes", type=float, default=60.0, help="that a run may take (60)")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="of the runs (runs/side_by_side/<sources>)"
    )
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "seeds")
    if options.minutes <= 0:
        parser.error(f"--minutes must be above 0, found {options.minutes:g}")
    pool = find_spec(ENVPOOL) is not None
    there = [each for each in SYSTEMS if each not in PYTHONS or getattr(options, PYTHONS[each])]
    there = [each for each in there if pool or each != "ver_envpool"]
    options.envs = options.envs.split(",")
    options.systems = options.systems.split(",") if options.systems else there
    for kind, given, valid in (
        ("--envs", options.envs, TASKS),
        ("--systems", options.systems, SYSTEMS),
    ):
        for word in given:
            if word not in valid:
                parser.error(f"{kind}: unknown '{word}': choose from {', '.join(valid)}")
    if "ver_envpool" in options.systems and not pool:
        parser.error("ver_envpool needs EnvPool: pip install envpool")
    for system in options.systems:
        option = PYTHONS.get(system)
        if option and not Path(getattr(options, option) or "").is_file():
            parser.error(
                f"{system} needs --{option.replace('_', '-')} PYTHON, of a virtual environment that has it"
            )
    return options


def main(arguments: Sequence[str]) -> int:
    """Compare and report."""
    options = read_options(arguments)
    origin = made(
        "benchmarks.side_by_side", arguments, what="ver beside other libraries", seed=options.seed
    )
    # What other sources have trained says nothing about these
    run = options.run or Path("runs") / "side_by_side" / code_version()[:8]
    found = compare(options, run.absolute())
    show(found)
    if options.json:
        write_result(options.json, {"made": origin, "window": WINDOW, "environments": found})
    return 0


if __name__ == "__main__":
    run_command(main)
