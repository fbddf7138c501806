"""Keywords of `gymnasium.make` and `make_vec` that navigation has besides `rearrange.choices`."""

from __future__ import annotations

from dataclasses import dataclass

from nav.episode_files import GRID, SCENES
from nav.sharing import Sharing
from rearrange.choices import Many, One
from rearrange.settings import group


@dataclass(frozen=True)
class Elsewhere:
    """Places of agents that are not in our buildings; see `nav.episode_files.source_of`.

    Attributes:
        sim: grid; scan for scenes in .glb files; habitat for habitat-sim.
        dataset: File of episodes in Habitat's schema; {split} stands for the split.
        scenes: Folder of the scenes, or one of them.
    """

    sim: str = GRID
    dataset: str = ""
    scenes: str = SCENES


@dataclass(frozen=True)
class OneAgent(Elsewhere, One):
    """Of one agent."""


@dataclass(frozen=True)
class ManyAgents(Elsewhere, Many):
    """Of agents side by side.

    Attributes:
        sharing: Which scenes they share.
    """

    sharing: Sharing = group(Sharing)
