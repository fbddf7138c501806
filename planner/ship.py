"""`python -m planner.ship RUN ...`: the median of some households' runs, put where shipped policies lie.

RUN is a folder that `planner.household` has filled, one for each seed. Its policies go to
data/checkpoints, the hand-offs that they were trained from to data/hand_offs, and the figures of all its
evaluations to results.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from atomic_files import write_whole
from rearrange.command_line import OneLineParser, output_folder
from rearrange.errors import UserError
from skills.command import run_command, short_path
from skills.initiation import initiation_path
from skills.provenance import checksum
from skills.registry import skill_names
from skills.train import POLICY


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = OneLineParser(prog="planner.ship", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="runs/household/seed_1")
    parser.add_argument(
        "--to",
        type=output_folder,
        default=Path(),
        metavar="DIR",
        help="with data/ and results/ (here)",
    )
    add_skills(parser)
    options = parser.parse_args(arguments)
    options.skills = checked_skills(options.skills)
    return options


def add_skills(parser: argparse.ArgumentParser) -> None:
    """Add --skills: which skills of a household it is about."""
    names = ",".join(skill_names())
    parser.add_argument("--skills", default=names, metavar="NAMES", help="which, with commas (all)")


def checked_skills(text: str) -> list[str]:
    """Return the skills that --skills names; raises UserError for one that is none."""
    names = text.split(",")
    for name in names:
        if name not in skill_names():
            raise UserError(f"--skills: {name} is none of {', '.join(skill_names())}")
        if names.count(name) > 1:
            raise UserError(f"--skills: {name} is there twice: name each once")
    return names


def success_of(run: Path, skills: Sequence[str]) -> float:
    """Return the mean success of some skills of a household's run.

    Raises:
        UserError: A skill was not trained or not judged there.
    """
    rates = []
    for name in skills:
        path = run / "results" / f"{name}.json"
        if not path.is_file() or not (run / name / POLICY).is_file():
            raise UserError(f"{run} is not finished: it has no policy or no result of {name}")
        try:
            rates.append(float(_result(path)["success_at_end"]["mean"]))
        except (ValueError, TypeError, KeyError):
            raise UserError(f"{path} is no result of an evaluation") from None
    return sum(rates) / len(rates)


def _result(path: Path) -> dict[str, Any]:
    """Read a result; raises a UserError where the file is none."""
    try:
        found = json.loads(path.read_text())
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise UserError(f"{path} is no result of an evaluation")
    return found


def median_of(runs: Sequence[Path], skills: Sequence[str]) -> Path:
    """Return the run whose skills succeed as often as the middle one's; of two the worse."""
    ranked = sorted(runs, key=lambda run: success_of(run, skills))
    return ranked[(len(ranked) - 1) // 2]


def ship(run: Path, to: Path, skills: Sequence[str]) -> list[Path]:
    """Copy a run's policies of some skills, their hand-offs, and its results of policies that then lie there.

    Returns:
        What was written.
    """
    results = {path: _result(path) for path in sorted(run.glob("results/*.json"))}
    pairs, former = [], []
    for name in skills:
        for suffix in (".safetensors", ".json"):
            source = (run / name / POLICY).with_suffix(suffix)
            if not source.is_file():
                raise UserError(f"{run} is not finished: there is no {source}")
            pairs.append((source, to / "data" / "checkpoints" / f"{name}{suffix}"))
        source = initiation_path(run / name / POLICY)
        target = initiation_path(to / "data" / "checkpoints" / f"{name}.safetensors")
        if source.is_file():
            pairs.append((source, target))
        else:
            former.append(target)  # it is of the former policy
    for path in former:
        path.unlink(missing_ok=True)
    written = [_copy(*pair) for pair in pairs]
    written += [path for name in skills for path in _ship_hand_offs(run, to / "data", name)]
    lying = {checksum(path) for path in (to / "data" / "checkpoints").glob("*.safetensors")}
    for path, result in results.items():
        judged = result.get("made", {}).get("checkpoints", {}).values()
        if lying.issuperset(judged):
            written.append(_copy(path, to / "results" / path.name))
        else:
            print(
                f"left out: {short_path(path)}, of policies that are not shipped", file=sys.stderr
            )
    return written


def _ship_hand_offs(run: Path, data: Path, skill: str) -> list[Path]:
    """Put the run's recorded starts of a skill in the place of those that the same ones have recorded."""
    written = []
    for folder in sorted(run.glob(f"hand_offs/*/{skill}")):
        target = data / folder.relative_to(run)
        for former in target.glob("*.json.gz"):
            former.unlink()
        written += [_copy(path, target / path.name) for path in sorted(folder.glob("*.json.gz"))]
    return written


def _copy(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    write_whole(target, source.read_bytes())
    return target


def main(arguments: Sequence[str]) -> int:
    """Ship the median run."""
    options = parse(arguments)
    for run in options.runs:
        rate = success_of(run, options.skills)
        print(f"{short_path(run)}: {100 * rate:.1f} % over the skills", file=sys.stderr)
    chosen = median_of(options.runs, options.skills)
    written = ship(chosen, options.to, options.skills)
    print(f"{len(written)} files of {short_path(chosen)} in {short_path(options.to)}")
    print("figures in documents anew: python -m skills.ledger --write; python -m skills.cards")
    return 0


if __name__ == "__main__":
    run_command(main)
