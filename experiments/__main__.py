"""`rearrange reproduce NAME [NAME ...]`: a paper's table or figure again; `all` of them, or `list` them.

`--budget quick`, the default, takes minutes and shows that all works: its results stay in the run directory,
and with `--ledger` in results/quick_NAME.json, too. `--budget full` takes hours to days, and writes
results/paper_NAME.json and docs/paper_NAME.png. `python -m experiments.papers` makes docs/papers.md of them.
One command for each arm and seed: stopped or killed, the same command line goes on where it was. What is timed
runs alone; else as many at once as there are processors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

from experiments.experiment import Experiment
from experiments.papers import PREFIX, QUICK_PREFIX, figures_table, told_figure
from experiments.plots import plot
from experiments.registry import EXPERIMENTS
from rearrange.command_line import OneLineParser, check_counts, output_console, output_folder
from rearrange.errors import UserError
from skills.command import run_command, short_path, write_json
from skills.jobs import Progress, check_same_trainings, processor_ids, run_jobs
from skills.ledger import LARGEST
from skills.plot import load_pyplot
from skills.provenance import ROOT, commit_of, made, write_result
from skills.recipe import BUDGETS, QUICK

ALL, LIST = "all", "list"
QUICK_SEEDS, FULL_SEEDS = 1, 5


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="experiments", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", help=f"or {ALL}, or {LIST}")
    parser.add_argument(
        "--seeds", type=int, metavar="N", help=f"quick: {QUICK_SEEDS}, full: {FULL_SEEDS}"
    )
    parser.add_argument("--budget", choices=BUDGETS, default=QUICK, help=f"how much ({QUICK})")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="runs/reproduce/<commit>_<budget>"
    )
    parser.add_argument("--ledger", action="store_true", help="keep a quick result in results/")
    options = parser.parse_args(arguments)
    check_counts(options, "seeds")
    for name in options.names:
        if name not in (ALL, LIST, *EXPERIMENTS):
            raise UserError(f"unknown experiment '{name}': choose of {', '.join(EXPERIMENTS)}")
    options.seeds = options.seeds or (QUICK_SEEDS if options.budget == QUICK else FULL_SEEDS)
    return options


def origin_of(experiment: Experiment, options: Any, folder: Path) -> dict[str, Any]:
    """The origin of a result whose first command may have run long ago, by the folder's `begun.json`."""
    words = [experiment.name, "--budget", options.budget, "--seeds", str(options.seeds)]
    words += ["--ledger"] * options.ledger
    what = f"{experiment.paper}, {experiment.artefact}"
    now = made("experiments", words, what=what, seed=1)
    path = folder / "begun.json"
    if not path.exists():
        write_json(path, {key: now[key] for key in ("commit", "date", "dirty")})
    try:
        begun = json.loads(path.read_text())
        changed = begun["commit"] != now["commit"] or begun["dirty"] or now["dirty"]
        return now | {"date": begun["date"], "dirty": changed}
    except (ValueError, TypeError, KeyError):
        raise UserError(f"{path} is broken: choose another --run") from None


def reproduce(experiment: Experiment, options: Any, folder: Path) -> int:
    """Run, gather, draw and tell one experiment; returns the status of its commands."""
    quick = options.budget == QUICK
    origin = origin_of(experiment, options, folder)
    jobs = experiment.jobs(quick, options.seeds, folder)
    check_same_trainings(jobs, folder)
    at_once = 1 if experiment.timed else max(1, len(processor_ids()))
    page = short_path(folder / "index.html")
    print(
        f"{experiment.name}: {len(jobs)} commands; {page} shows where they stand", file=sys.stderr
    )
    status = run_jobs(jobs, folder, f"{experiment.name}, {options.budget}", at_once)
    if status:
        return status
    entries = Progress.read(folder).entries  # those of a run with more seeds, too
    seconds = sum(entries[job.name]["seconds"] for job in jobs)
    record = {
        "made": origin,
        **{name: getattr(experiment, name) for name in ("name", "paper", "artefact")},
        "budget": options.budget,
        "seeds": options.seeds,
        "seconds": round(seconds, 1),
        **experiment.gather(quick, options.seeds, folder),
    }
    show(experiment, record)
    write(experiment, record, folder, options)
    return 0


def write(experiment: Experiment, record: dict[str, Any], folder: Path, options: Any) -> None:
    """Write the result and its picture: to the run directory, and a full one to the ledger."""
    quick = options.budget == QUICK
    own = folder / f"{experiment.name}.json"
    write_result(own, record)
    if find_spec("matplotlib"):
        plot(experiment, record, own.with_suffix(".png"))
    if quick and not options.ledger:
        return
    if not (ROOT / "results").is_dir():  # an installed package has no ledger
        print(f"result: {short_path(own)}", file=sys.stderr)
        return
    path = ROOT / "results" / f"{QUICK_PREFIX if quick else PREFIX}{experiment.name}.json"
    write_result(path, record)
    if not quick:
        plot(experiment, record, ROOT / "docs" / f"{PREFIX}{experiment.name}.png")
    if (size := path.stat().st_size) > LARGEST:
        raise UserError(f"{short_path(path)} has {size} bytes, allowed are {LARGEST}")
    print(
        f"{short_path(path)} written; now python -m experiments.papers > docs/papers.md and "
        "python -m skills.ledger --write",
        file=sys.stderr,
    )


def show(experiment: Experiment, record: dict[str, Any]) -> None:
    """Print the figures of the arms, and the verdicts."""
    console = output_console()
    table = Table(title=f"{experiment.name}: {experiment.artefact}, {record['budget']}")
    for head in ("", *experiment.figures.values()):
        table.add_column(escape(head))
    for line in figures_table(experiment, record["rows"])[2:]:
        table.add_row(*(cell.strip() for cell in line.strip("|").split("|")))
    console.print(table)
    table = Table(title="claims")
    for head in ("the paper", "ours", "holds if", "verdict"):
        table.add_column(head)
    for claim in record["claims"]:
        wanted = f"{claim['by']} {claim['range']}"
        table.add_row(escape(claim["text"]), told_figure(claim), wanted, claim["verdict"])
    console.print(table)


def show_list() -> None:
    """Print all experiments."""
    table = Table()
    for head in ("name", "paper", "artefact"):
        table.add_column(head)
    for name, each in EXPERIMENTS.items():
        table.add_row(name, each.paper, each.artefact)
    output_console().print(table)


def main(arguments: Sequence[str]) -> int:
    """Run experiments, one after the other."""
    options = parse(arguments)
    if LIST in options.names:
        show_list()
        return 0
    if options.budget != QUICK:
        load_pyplot()  # tell that it is missing now, not after all the work
    commit = commit_of(ROOT)[0][:8]
    run = options.run or Path("runs") / "reproduce" / f"{commit}_{options.budget}"
    for name in EXPERIMENTS if ALL in options.names else options.names:
        experiment = EXPERIMENTS[name]
        if status := reproduce(experiment, options, run / (experiment.beside or name)):
            return status
    return 0


if __name__ == "__main__":
    run_command(main)
