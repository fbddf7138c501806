"""Films: what plays an episode for one, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

Tell = Callable[[str], None]  # shows where an episode stands
TOLD_EVERY = 30  # steps: a second
# Tasks without physics that are filmed, and their titles; the others know no success
NAVIGATION = {"pointnav": "PointNav", "objectnav": "ObjectNav"}


@dataclass(frozen=True)
class Take:
    """Result of one filmed episode.

    Attributes:
        success: At its end.
        told: What happened, in a few words.
    """

    success: bool
    told: str


class Player(Protocol):
    """Plays the episodes of one film."""

    def play(self, index: int, path: Path | None, tell: Tell) -> Take:
        """Play episode `index` of the validation split and film it where a path is given.

        Args:
            index: Of the episode.
            path: Of the film, or None.
            tell: Is called now and then with what is being done.
        """
        ...
