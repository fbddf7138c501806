"""`python -m ver league GAME [key=value ...]`: several policies learn a game of several agents.

GAME is a module with a function parallel_env, as PettingZoo's are, or MODULE:FUNCTION. Settings are
those of `python -m ver train`; besides, `policies=2` (one plays itself), `snapshot_every=STEPS`, after
which each policy is kept as it is by then, and `evolve.every=STEPS`, after which the worst take over from
the best. The same command goes on with a league that was interrupted. `python -m ver rate RUN` lets all
that was kept play one another.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from interrupts import INTERRUPTED
from interrupts.command_line import OneLineParser
from ver.config import merge_config
from ver.league.evolution import EvolutionConfig
from ver.league.games import game_maker
from ver.league.league import League
from ver.train import TrainSettings, checked_folder


@dataclass
class LeagueSettings(TrainSettings):
    """One league; `env` is what the game takes."""

    policies: int = 2  # that learn at once
    snapshot_every: int = 0  # steps after which each policy is kept as it is by then; 0: never
    evolve: EvolutionConfig = field(default_factory=EvolutionConfig)  # who takes over from whom


def make_league(name: str, words: Sequence[str] = ()) -> League:
    """The league of a game.

    Args:
        name: Of the game.
        words: `key=value` of LeagueSettings.

    Raises:
        UserError: A setting cannot be, or the game cannot be made.
    """
    settings = merge_config(LeagueSettings, [], words)
    folder = checked_folder(settings, name)
    metadata = {"game": name, "arguments": settings.env}
    return League(
        settings.trainer(),
        game_maker(name, settings.env),
        folder,
        settings.policies,
        settings.snapshot_every,
        metadata,
        settings.evolve,
    )


def main(arguments: Sequence[str]) -> int:
    """Train until the steps are used up or a signal asks to stop; both leave checkpoints."""
    parser = OneLineParser(prog="ver league", description=__doc__)
    parser.add_argument("game", help="module with parallel_env, or module:function")
    parser.add_argument(
        "settings",
        nargs="*",
        default=[],
        metavar="key=value",
        help="docs/settings.md, without trainer.",
    )
    options = parser.parse_args(arguments)
    league = make_league(options.game, options.settings)
    run = league.run_directory
    count, games = len(league.trainers), league.arena.table.count
    beginning = f"resuming at step {league.steps:,}" if league.steps else "from the start"
    _say(f"training {count} policies of {options.game} in {run}, {beginning}; {games} games ...")
    league.train()
    done = "interrupted: the same command goes on" if league.interrupted else "done"
    _say(f"{done}; step {league.steps:,} of each policy; let them play: python -m ver rate {run}")
    return INTERRUPTED if league.interrupted else 0


def _say(message: str) -> None:
    """Tell the person, beside what the trainers print."""
    print(message, file=sys.stderr, flush=True)
