"""`python -m ver rate RUN`: all policies that a league has kept play one another, and are rated.

Ratings are Elo's: 400 more are ten to one. The first policy in the list has 0.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from interrupts.command_line import OneLineParser, output_file
from ver.checkpoint import load_policy, write_json
from ver.errors import UserError
from ver.league.games import Table, game_maker
from ver.league.league import MOST as LARGEST_LEAGUE
from ver.league.league import SNAPSHOTS
from ver.league.ratings import elo, play_all
from ver.logs import POLICY

MOST = 10**5  # games of a pair
GAMES = 16  # side by side
EVERY_S = 5.0  # between two words on how far it is


def kept_policies(run: Path) -> list[Path]:
    """Files of all policies of a league: of each its snapshots, the oldest first, and what it is now.

    Raises:
        UserError: There is none.
    """
    found: list[Path] = []
    folders = [run / f"policy_{number}" for number in range(LARGEST_LEAGUE)]
    for folder in (each for each in folders if (each / POLICY).is_file()):
        found += [*sorted((folder / SNAPSHOTS).glob("*.safetensors")), folder / POLICY]
    if not found:
        raise UserError(f"{run} is no league's run directory: it has no policy_0/{POLICY}")
    return found


def rate(
    run: Path, games: int, seed: int, tell: Callable[[int, int], None] = lambda played, pairs: None
) -> dict[str, Any]:
    """Lets all kept policies of a league play one another.

    Args:
        run: Run directory of the league.
        games: Of each pair, at least.
        seed: Of games and actions.
        tell: See `play_all`.

    Returns:
        The game and its arguments, how many games each pair has played, the players with their steps, Elo
        rating and points, and who won how many points against whom.

    Raises:
        UserError: There are none, or the game is not known.
    """
    files = kept_policies(run)
    players = {file: load_policy(file) for file in files}
    # The last snapshot may be what the policy is now
    newest = {file.parent: players[file].metadata["steps"] for file in files if file.name == POLICY}
    files = [
        f
        for f in files
        if f.name == POLICY or players[f].metadata["steps"] < newest[f.parent.parent]
    ]
    policies = [players[file] for file in files]
    about = policies[0].metadata
    if "game" not in about:
        raise UserError(
            f"{files[0]} names no game: train with python -m ver league, or name it in metadata"
        )
    if len(files) < 2:
        raise UserError(
            f"{run} holds one policy as it is now, which has nobody to play: train with snapshot_every=STEPS"
        )
    table = Table(game_maker(about["game"], about["arguments"]), min(GAMES, -(-games // 2)))
    rounds = 2 * -(-games // (2 * table.count))  # as many on the one side as on the other
    scores = play_all(table, policies, rounds, seed, tell)
    rows = [
        {
            "policy": str(file.relative_to(run)),
            "steps": policy.metadata["steps"],
            "elo": round(float(rating), 1),
            "points": float(points.sum()),
        }
        for file, policy, rating, points in zip(files, policies, elo(scores), scores, strict=True)
    ]
    return {
        "game": about["game"],
        "arguments": about["arguments"],
        "games_of_a_pair": rounds * table.count,
        "seed": seed,
        "players": rows,
        "scores": scores.tolist(),
    }


class Told:
    """Tells how many pairs have played, every few seconds."""

    def __init__(self) -> None:
        """Nothing is told yet."""
        self._last = time.monotonic()

    def __call__(self, played: int, pairs: int) -> None:
        """Say it, where it is time."""
        if time.monotonic() > self._last + EVERY_S:
            self._last = time.monotonic()
            print(f"{played} of {pairs} pairs have played", file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Play and print the ratings."""
    parser = OneLineParser(prog="ver rate", description=__doc__)
    parser.add_argument("run", type=Path, help="run directory of a league")
    parser.add_argument("--games", type=int, default=64, help="of each pair, at least (64)")
    parser.add_argument("--seed", type=int, default=0, help="of games and actions (0)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    if not 1 <= options.games <= MOST:
        raise UserError(f"--games must be from 1 to {MOST}, found {options.games}")
    if not 0 <= options.seed < 2**31:
        raise UserError(f"--seed must be from 0 to {2**31 - 1}, found {options.seed}")
    result = rate(options.run, options.games, options.seed, Told())
    for row in result["players"]:
        print(f"{row['elo']:8.1f}  {row['points']:8.1f} points  {row['policy']}")
    if options.json:
        write_json(options.json, result)
    return 0
