"""`python -m skills.initiation pick`: learns from where a policy succeeds, and writes it beside the policy.

Values thousands of starts by the policy's informed critic, learns to tell these values from what the
policy sees, counts how starts of such values end by playing some, and judges the chances so told on starts in
validation apartments. Plans that ask for it drive anew where a skill would hardly succeed
(`planner.eval --redrive`). The number of workers changes how long it takes, not what is found.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES, HOMES
from rearrange.threads import processors
from skills.command import Slowly, run_command, short_path
from skills.initiation.fitting import area_under_curve, fit_chances, fit_values
from skills.initiation.network import LEAST_STARTS, STARTS, InitiationSet, save_initiation
from skills.initiation.starts import Start, StartPlayer
from skills.learned import check_metadata
from skills.provenance import made, write_result
from skills.registry import find, shipped_policy, skill_names
from skills.settings import CHECKPOINTS
from skills.workers import play_in_workers
from ver import read_metadata

PLAYED_SHARE = 20  # one start for so many is played
PORTION = 50  # starts that a worker makes at once
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)  # of chances, in which it is counted how starts ended


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="skills.initiation", description=__doc__)
    parser.add_argument("skill", help=f"one of: {', '.join(skill_names())}")
    parser.add_argument(
        "--checkpoint", type=Path, metavar="FILE", help="of its policy; default: the shipped one"
    )
    own: dict[str, Any] = {**HOMES, "default": "", "help": "default: its training's"}
    parser.add_argument("--homes", **own)
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of everything (1)")
    parser.add_argument(
        "--starts",
        type=int,
        default=STARTS,
        metavar="N",
        help=f"whose values are learned ({STARTS})",
    )
    parser.add_argument(
        "--played", type=int, metavar="N", help="that are played; default: one for 20 of those"
    )
    parser.add_argument(
        "--judged", type=int, metavar="N", help="played on val, to judge; default: as many"
    )
    parser.add_argument("--workers", type=int, metavar="W", help="processes; default: cores")
    parser.add_argument(
        "--json", type=output_file, metavar="PATH", help="write the judgement there"
    )
    options = parser.parse_args(arguments)
    check_counts(options, "starts", "played", "judged", "workers")
    if options.starts < LEAST_STARTS:
        raise UserError(f"--starts must be at least {LEAST_STARTS}, found {options.starts}")
    options.played = options.played or options.starts // PLAYED_SHARE
    options.judged = options.judged or options.starts // PLAYED_SHARE
    options.workers = options.workers or processors()
    find(options.skill)
    options.checkpoint = options.checkpoint or shipped_policy(options.skill, CHECKPOINTS)
    if not options.checkpoint.is_file():
        raise UserError(f"--checkpoint: there is no {options.checkpoint}")
    return options


def draw(
    options: argparse.Namespace, split: str, stream: int, count: int, played: bool
) -> list[Start]:
    """Draw starts of one kind, in any number of processes.

    Args:
        options: Policy, seed and workers.
        split: Which apartments.
        stream: Tells one kind of starts from another.
        count: How many.
        played: Play each to its end.
    """
    tell = Slowly(partial(print, file=sys.stderr, flush=True))
    kind = f"{'played' if played else 'valued'} in {split}"
    cases = []
    for first in range(0, count, PORTION):
        seeds = np.random.SeedSequence([options.seed, stream, first])
        seed = int(seeds.generate_state(1)[0])
        cases.append((split, seed, min(PORTION, count - first), played))
    found: dict[int, list[Start]] = {}
    for seed, starts in play_in_workers(
        partial(StartPlayer, options.checkpoint, options.homes), cases, options.workers
    ):
        found[seed] = starts
        tell(f"{sum(map(len, found.values())):,} of {count:,} starts {kind}")
    return [start for case in cases for start in found[case[1]]]


def judge(learned: InitiationSet, starts: Sequence[Start]) -> dict[str, Any]:
    """Compare the chances that are told with how starts ended."""
    seen = torch.as_tensor(np.stack([start.seen for start in starts]))
    with torch.no_grad():
        chances = learned.chances(seen).numpy()
    values = np.array([start.value for start in starts])
    ended = np.array([start.succeeded for start in starts], float)
    bins = []
    for low, high in pairwise(BINS):
        among = (chances >= low) & ((chances < high) | (high == BINS[-1]))
        mean = float(ended[among].mean()) if among.any() else None
        bins.append({"from": low, "to": high, "starts": int(among.sum()), "succeed": mean})
    return {
        "starts": len(starts),
        "succeed": float(ended.mean()),
        "area_under_curve": _number(area_under_curve(chances, ended)),
        "area_under_curve_of_the_critic": _number(area_under_curve(values, ended)),
        "bins": bins,
    }


def _number(value: float) -> float | None:
    """The number, or None in the place of NaN, which JSON lacks."""
    return None if math.isnan(value) else value


def _told(value: float | None) -> str:
    return "unknown, for all ended alike" if value is None else f"{value:.3f}"


def main(arguments: Sequence[str]) -> int:
    """Learn it, write it, and judge it."""
    options = parse(arguments)
    path = options.checkpoint
    torch.set_num_threads(1)  # sums of others would come in another order
    metadata = read_metadata(path)
    check_metadata(path, metadata, options.skill)
    origin = made(
        "skills.initiation", arguments, what=f"initiation set of {options.skill}",
        seed=options.seed, split="val", checkpoints=[path],
        homes=options.homes or metadata.get("homes", DEFAULT_HOMES),
    )  # fmt: skip
    learned, explained = fit_values(draw(options, "train", 0, options.starts, False), options.seed)
    fit_chances(learned, draw(options, "train", 1, options.played, True))
    judged = judge(learned, draw(options, "val", 2, options.judged, True))
    found = {"skill": options.skill, "variance_explained": explained, **judged}
    written = save_initiation(learned, path, {"made": origin, **found})
    if options.json:
        write_result(options.json, {"made": origin, **found})
    print(f"{short_path(written)}: {100 * explained:.0f} % of the values' variance explained")
    print(
        f"{judged['starts']} starts on val, {100 * judged['succeed']:.0f} % succeed: area under the curve "
        f"{_told(judged['area_under_curve'])}, of the critic's own values "
        f"{_told(judged['area_under_curve_of_the_critic'])}"
    )
    for each in judged["bins"]:
        told = "" if each["succeed"] is None else f", {100 * each['succeed']:.0f} % succeed"
        print(f"  chance {each['from']:.1f} to {each['to']:.1f}: {each['starts']} starts{told}")
    return 0


if __name__ == "__main__":
    run_command(main)
