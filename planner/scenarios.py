"""The household tasks that can be evaluated: what differs between them, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from planner._skill_interface import Skill, World
from rearrange.episodes.episode import Episode


@dataclass(frozen=True)
class Stage:
    """A world and the skills that act in it."""

    world: World
    skills: Mapping[str, Skill]


@dataclass(frozen=True)
class Scenario:
    """One household task.

    Attributes:
        name: On the command line and in the JSON.
        title: For people.
        make_episode: (split, seed, index) -> episode; the same arguments give the same episode.
        open_stage: Skill mode -> a world and its skills.
    """

    name: str
    title: str
    make_episode: Callable[[str, int, int], Episode]
    open_stage: Callable[[str], Stage]


def _tidy_house_episode(split: str, seed: int, index: int) -> Episode:
    raise NotImplementedError


def _open_stage(skills: str) -> Stage:
    raise NotImplementedError


SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (Scenario("tidy_house", "Tidy House", _tidy_house_episode, _open_stage),)
}
