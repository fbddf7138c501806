"""`python -m benchmarks.sample_factory --python VENV/bin/python`: our collectors beside Sample Factory 2.

Sample Factory (https://www.samplefactory.dev, from PyPI) trains on our Gymnasium environment, with our
image encoder and layers of the same widths, at the same resolution, as many environments in as many
processes and as many passes of its learner over each step, and without V-trace, its default; `appo` and
`ver` of ours run beside it, in turn, all with 16 environments, in the apartments of val
(benchmarks/systems.py says why). Its other settings stay at its defaults. Steps count when they have been
learned from; the first rollout is left out.

It wants older packages than this project, so it needs a virtual environment of its own
(docs/systems.md has the commands).
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.own_session import last_line, run_in_session
from benchmarks.systems import LENGTH, N, skill_case, skill_limit, train
from rearrange.command_line import OneLineParser, output_file
from skills.command import run_command
from skills.provenance import made, write_result
from skills.registry import skill_names
from ver import UserError

THEIRS = "sample_factory"
SYSTEMS = (THEIRS, "appo", "ver")
# What Sample Factory's networks do not have, and what its learner does only on demand (--with_vtrace)
SAME_SETTINGS = (
    "network.previous_action_features=0",
    "network.binary_actions=[]",
    "network.initial_mean=[]",
    "appo.vtrace=false",
)
STARTUP_S = 120.0  # that a run may take besides


def rates(marks: Sequence[tuple[float, int]]) -> dict[str, float]:
    """Mean and fastest steps per second between marks of time and steps."""
    times, steps = np.array(marks, np.float64).T
    return {
        "mean_sps": float((steps[-1] - steps[0]) / (times[-1] - times[0])),
        "max_sps": float((np.diff(steps) / np.diff(times)).max()),
    }


def run_theirs(options: Any, seed: int) -> dict[str, Any]:
    """One run of Sample Factory in its own interpreter.

    Raises:
        UserError: It ended without a result.
    """
    with tempfile.TemporaryDirectory(prefix="sample-factory-") as folder:
        output = Path(folder) / "marks.json"
        log = Path(options.log or Path(folder) / "log.txt")
        command = [
            options.python, "-m", "benchmarks.sample_factory_run", options.skill, folder,
            "--seconds", str(options.seconds), "--seed", str(seed), "--environments", str(N),
            "--length", str(LENGTH), "--output", str(output), *options.theirs,
        ]  # fmt: skip
        ended = run_in_session(command, log, options.seconds + STARTUP_S)
        if not output.exists():
            raise UserError(
                f"Sample Factory {ended} without a result; it said last: {last_line(log)}"
            )
        return rates(json.loads(output.read_text())) | {"seed": seed}


def compare(options: Any) -> dict[str, Any]:
    """Runs all in turn, as often as asked."""
    runs: dict[str, list[dict[str, Any]]] = {system: [] for system in options.systems}
    limits = []
    for repeat in range(options.repeats):
        seed, shift = options.seed + repeat, repeat % len(runs)
        for system in [*options.systems[shift:], *options.systems[:shift]]:
            limits.append(skill_limit(options.skill, seed))
            if system == THEIRS:
                run = run_theirs(options, seed)
            else:
                run = train(skill_case(system, seed, options.skill, SAME_SETTINGS), options.seconds)
            runs[system].append(run)
            print(f"{options.skill}, {system}, seed {seed}: {run}", file=sys.stderr, flush=True)
    return {"limit": float(np.mean(limits)), "systems": runs}


def show(record: dict[str, Any]) -> None:
    """Prints the comparison: of each repeat, and against Sample Factory in the same repeat."""
    table = Table(title=f"limit {record['limit']:,.0f} steps/s")
    for name in ("system", "mean steps/s", "max steps/s", "of the limit", f"of {THEIRS}"):
        table.add_column(name, justify="left" if name == "system" else "right")
    theirs = [run["mean_sps"] for run in record["systems"].get(THEIRS, [])]
    for system, runs in record["systems"].items():
        mean = np.array([run["mean_sps"] for run in runs])
        ratio = "-"
        if theirs:
            each = mean / np.array(theirs)
            ratio = f"{np.median(each):.2f} ({each.min():.2f} to {each.max():.2f})"
        fastest = np.mean([run["max_sps"] for run in runs])
        share = mean.mean() / record["limit"]
        table.add_row(
            system,
            f"{mean.mean():,.0f} ± {mean.std():,.0f}",
            f"{fastest:,.0f}",
            f"{share:.0%}",
            ratio,
        )
    Console(width=None if sys.stdout.isatty() else 120).print(table)


def main(arguments: Sequence[str]) -> int:
    """Compare and report."""
    parser = OneLineParser(prog="benchmarks.sample_factory", description=__doc__)
    parser.add_argument("--python", required=True, help="of a venv that has Sample Factory")
    parser.add_argument("--skill", default="open_fridge", help="which skill")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="which, with commas")
    parser.add_argument("--seconds", type=float, default=40.0, help="least length of each run")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each system")
    parser.add_argument("--seed", type=int, default=1, help="of the first repeat")
    parser.add_argument("--theirs", nargs="*", default=[], help="key=value of sample_factory_run")
    parser.add_argument(
        "--log", type=output_file, help="keep what Sample Factory prints in this file"
    )
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    options.systems = options.systems.split(",")
    options.theirs = [f"--{word}" for word in options.theirs]
    for kind, given, valid in (
        ("system", options.systems, SYSTEMS),
        ("skill", [options.skill], skill_names()),
    ):
        for name in given:
            if name not in valid:
                parser.error(f"unknown {kind} '{name}': choose one of {', '.join(valid)}")
    if not Path(options.python).is_file():
        parser.error(f"--python: there is no {options.python}")
    if options.seconds <= 0 or options.repeats < 1:
        parser.error("--seconds and --repeats must be above zero")
    origin = made(
        "benchmarks.sample_factory", arguments, what=f"Sample Factory: {options.skill}",
        seed=options.seed,
    )  # fmt: skip
    record = compare(options)
    show(record)
    if options.json:
        write_result(options.json, {"made": origin, "settings": vars(options)} | record)
    return 0


if __name__ == "__main__":
    run_command(main)
