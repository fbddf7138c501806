"""Names of actions and of observations' numbers in the network's settings, in place of their indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nav.table import all_tasks
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.tasks import TASKS
from ver.config import TrainerConfig

_NETWORK = "trainer.network."


@dataclass(frozen=True)
class Names:
    """A task's names for its numbers.

    Attributes:
        actions: Names of the numbers of its action, in their order.
        parts: Vector observation -> names of its numbers, which begin anew when they are used up.
        sizes: Vector observation -> how many numbers it has.
    """

    actions: Sequence[str]
    parts: Mapping[str, Sequence[str]]
    sizes: Mapping[str, int]


def names_of(task: str, robot: str = DEFAULT_ROBOT) -> Names:
    """The names of a task for a robot; none where it is not one of ours."""
    if task in TASKS:
        kind, who = TASKS[task][0], find_robot(robot)
        return Names(
            kind.action_names(who), kind.observation_parts(who), kind.observation_sizes(who)
        )
    if task in all_tasks():
        parts = all_tasks()[task].PARTS
        return Names((), parts, {key: len(names) for key, names in parts.items()})
    return Names((), {}, {})


def with_indices(trainer: TrainerConfig, names: Names) -> TrainerConfig:
    """The settings with an index for every name; indices stay.

    Raises:
        UserError: There is no such name.
    """
    network = trainer.network
    found = replace(
        network,
        binary_actions=[
            _index(each, names.actions, f"{_NETWORK}binary_actions")
            for each in network.binary_actions
        ],
        initial_mean=_initial_mean(network.initial_mean, names.actions),
        angles=_columns("angles", network.angles, names),
        distances=_columns("distances", network.distances, names),
    )
    return replace(trainer, network=found)


def _initial_mean(value: Any, actions: Sequence[str]) -> Any:
    """A number for each action: that of its name, else 0."""
    if not isinstance(value, Mapping):
        return value
    means = [0.0] * len(actions)
    for name, mean in value.items():
        means[_index(name, actions, f"{_NETWORK}initial_mean")] = mean
    return means


def _columns(setting: str, asked: Mapping[str, Sequence[Any]], names: Names) -> dict[str, list]:
    """Observation -> indices of the numbers that have one of the names."""
    found = {}
    for key, chosen in asked.items():
        parts, size = names.parts.get(key, ()), names.sizes.get(key, 0)
        columns: list[Any] = []
        for each in chosen:
            if isinstance(each, str):
                first = _index(each, parts, f"{_NETWORK}{setting}.{key}")
                columns += range(first, size, len(parts))
            else:
                columns.append(each)
        found[key] = columns
    return found


def _index(name: Any, known: Sequence[str], setting: str) -> Any:
    """The index of a name; an index stays."""
    if not isinstance(name, str):
        if known and name not in range(len(known)):
            raise UserError(f"{setting} must be names, or from 0 to {len(known) - 1}, found {name}")
        return name
    if name not in known:
        there = f"choose one of {', '.join(known)}" if known else "nothing has a name there"
        raise UserError(f"{setting}: unknown name '{name}': {there}")
    return known.index(name)
