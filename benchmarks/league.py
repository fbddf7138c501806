"""`python -m benchmarks.league`: do later policies of a league beat earlier ones?

Trains leagues of a game, one for each seed, and lets all policies that were kept play one another, as
`python -m ver league` and `python -m ver rate` do. The game is a fight of two against two of MAgent2
(`pip install magent2`), which is made as PettingZoo's are; `--game` names another. Stopped or killed, the same
command goes on, as long as the sources are the same.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.locomotion import QUIET, keep_settings
from planner.journal import code_version
from rearrange.command_line import OneLineParser, check_counts, output_file, output_folder
from skills.command import run_command
from skills.provenance import made, write_json, write_result
from ver import merge_config
from ver.league.games import game_maker
from ver.league.league import MOST
from ver.league.rate import rate
from ver.league.train import LeagueSettings, make_league

GAME = "magent2.environments.battle_v4"
WORDS = ("env.map_size=12", "env.max_cycles=200")  # the smallest map, of two against two
RATED = "rated.json"
RATING_SEED = 100_000


def train(words: Sequence[str], seed: int, folder: Path, options: Any) -> dict[str, Any]:
    """Trains one league and rates it; one that was rated is read.

    Args:
        words: `key=value` for the game and the league.
        seed: Of the league.
        folder: Run directory, which may hold a part of this league.
        options: As `main` reads them.

    Raises:
        UserError: The folder holds a league of other settings, or the game cannot be made.
        SystemExit: Ctrl-C.
    """
    own = [
        *(f"seed={seed}", f"policies={options.policies}", f"total_steps={options.steps}"),
        *(f"snapshot_every={-(-options.steps // options.snapshots)}", *words),
    ]
    keep_settings(folder, [options.game, *own, f"{options.games} games"])
    told = folder / RATED
    if told.exists():
        return json.loads(told.read_text())
    league = make_league(options.game, [*QUIET, *own, f"run={folder / 'run'}"])
    league.train()
    if league.interrupted:
        raise SystemExit("interrupted: the same command goes on; nothing is reported yet")
    print(f"seed {seed}: all that was kept plays ...", file=sys.stderr, flush=True)
    rated = rate(folder / "run", options.games, RATING_SEED) | {"league_seed": seed}
    write_json(told, rated)
    return rated


def summarise(leagues: Sequence[dict[str, Any]], policies: int) -> dict[str, Any]:
    """The numbers of all leagues: ratings by how long a policy had learned.

    Args:
        leagues: As `ver.league.rate.rate` returns them.
        policies: In each league.

    Returns:
        For each moment at which policies were kept, their steps, their mean rating above those first kept, and
        the worst; how often a policy is rated above what it was at the moment before, and of how many times;
        and the share of points that the last ones won against the first ones of their own line.
    """
    ratings, steps, shares = [], [], []
    for league in leagues:
        elo = np.array([each["elo"] for each in league["players"]]).reshape(policies, -1)
        ratings += list(elo - elo[:, 0].mean())
        steps += list(np.array([each["steps"] for each in league["players"]]).reshape(elo.shape))
        scores, kept = np.array(league["scores"]), elo.shape[1]
        for first in range(0, policies * kept, kept):
            last = first + kept - 1
            won, lost = scores[last, first], scores[first, last]
            shares.append(won / (won + lost))
    table = np.array(ratings)
    return {
        "moments": [
            {"steps": float(at), "elo": float(mean), "worst": float(worst)}
            for at, mean, worst in zip(
                np.mean(steps, axis=0), table.mean(0), table.min(0), strict=True
            )
        ],
        "rises": int(sum(later > before for row in table for before, later in pairwise(row))),
        "of": int(table.shape[0] * (table.shape[1] - 1)),
        "points_of_last_against_first": float(np.mean(shares)),
        "fewest": float(min(shares)),
    }


def show(found: dict[str, Any]) -> None:
    """Prints the table."""
    table = Table(title=f"{found['leagues'][0]['game']}, policies in a league: {found['policies']}")
    for name in ("steps", "Elo, mean", "worst"):
        table.add_column(name, justify="right")
    for row in found["moments"]:
        table.add_row(f"{row['steps']:,.0f}", f"{row['elo']:.0f}", f"{row['worst']:.0f}")
    console = Console()
    console.print(table)
    console.print(
        f"above the one before in {found['rises']} of {found['of']} cases; the last win "
        f"{100 * found['points_of_last_against_first']:.1f} % of the points against the first"
    )


def main(arguments: Sequence[str]) -> int:
    """Train, rate, sum up."""
    parser = OneLineParser(prog="benchmarks.league", description=__doc__)
    parser.add_argument("settings", nargs="*", metavar="key=value", help="of game and league")
    parser.add_argument("--game", default=GAME, help=f"as for python -m ver league ({GAME})")
    parser.add_argument("--policies", type=int, default=1, help="of a league (1: it plays itself)")
    parser.add_argument("--steps", type=int, default=500_000, help="of each policy (500000)")
    parser.add_argument("--snapshots", type=int, default=5, help="of each policy (5)")
    parser.add_argument("--games", type=int, default=64, help="of each pair, at least (64)")
    parser.add_argument("--seeds", type=int, default=3, help="leagues (3)")
    parser.add_argument("--seed", type=int, default=1, help="of the first league (1)")
    parser.add_argument(
        "--run", type=output_folder, metavar="DIR", help="of the leagues (runs/league/<sources>)"
    )
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "policies", "steps", "snapshots", "games", "seeds")
    if options.policies > MOST:
        parser.error(f"--policies must be from 1 to {MOST}, found {options.policies}")
    if options.snapshots < 2 or options.steps < options.snapshots:
        parser.error("--snapshots must be at least 2 and at most --steps")
    words = [*(WORDS if options.game == GAME else ()), *options.settings]
    settings = merge_config(LeagueSettings, [], words)
    if options.game == GAME and find_spec("magent2") is None:
        parser.error("MAgent2 is not installed: pip install magent2; or name another --game")
    game_maker(options.game, settings.env)  # raises, before a folder is made
    what = "later policies of a league against earlier ones"
    origin = made("benchmarks.league", arguments, what=what, seed=options.seed)
    every = options.run or Path("runs") / "league" / code_version()[:8]
    leagues = [
        train(words, seed, every / f"{options.policies}_{seed}", options)
        for seed in range(options.seed, options.seed + options.seeds)
    ]
    found = {"policies": options.policies, **summarise(leagues, options.policies)}
    found["leagues"] = leagues
    show(found)
    if options.json:
        write_result(options.json, {"made": origin, **found})
    return 0


if __name__ == "__main__":
    run_command(main)
