"""Checks an episode that a caller made, field by field as if it came from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rearrange.episodes.episode import Episode, Target
from rearrange.episodes.fields import FieldChecker
from rearrange.episodes.schema import EPISODE_FIELDS, OPTIONAL_FIELDS, TARGET_FIELDS, decode_episode
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.robot import RobotSpec
from rearrange.scenes.registry import VARIATION_COUNT, split_of_layout

WHERE = 'options["episode"]'
_OF_JSON = {int, float}


def check_episode(episode: Any, target_count: int | None, robot: RobotSpec) -> None:
    """Raise UserError, which names the field, unless a simulator can set the episode up.

    Takes 0.2 ms. Numbers may be NumPy's, sequences lists, tuples or arrays, and the apartment one of
    any split.

    Args:
        episode: What shall be an Episode.
        target_count: How many targets the task has; None: any number from one.
        robot: Who acts in it.
    """
    if not isinstance(episode, Episode):
        raise UserError(f"{WHERE}: expected an Episode, found {type(episode).__name__}")
    fields = FieldChecker(WHERE)
    names = (*EPISODE_FIELDS, *OPTIONAL_FIELDS)
    raw = {name: _plain(getattr(episode, name)) for name in names}
    raw["episode_id"] = raw["episode_id"] or "unnamed"  # sampled episodes have none
    raw["objects"] = _object_rows(episode.objects, fields)
    raw["targets"] = _target_records(raw["targets"], fields)
    if isinstance(episode.articulated, Mapping):
        raw["articulated"] = {name: _plain(value) for name, value in episode.articulated.items()}
    split = _split_of(raw["layout"], fields)
    variation = fields.integer("variation", raw["variation"], VARIATION_COUNT - 1)
    bounds = load_layout(raw["layout"], variation)[0].bounds
    sizes = {(raw["layout"], variation): (bounds[2], bounds[3])}
    decode_episode(raw, fields, split, sizes, robot)
    found = len(raw["targets"])
    if found != (target_count or max(found, 1)):
        fields.fail("targets", f"{target_count or 'at least 1'} of them", found)


def _plain(value: Any) -> Any:
    """A value as JSON holds it."""
    kind = type(value)
    if kind is tuple or kind is list:
        if _OF_JSON.issuperset(map(type, value)):
            return list(value)
        return [part.item() if isinstance(part, np.generic) else part for part in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _object_rows(objects: Any, fields: FieldChecker) -> list[Any]:
    """Rows [slot, x, y, z, qw, qx, qy, qz]."""
    if not isinstance(objects, Mapping):
        fields.fail("objects", "a dict of slots and poses", objects)
    rows = []
    for slot, pose in objects.items():
        values = _plain(pose)
        if type(values) is not list or len(values) != 7:
            fields.fail(f"objects[{slot!r:.20}]", "a pose of 7 numbers", pose)
        rows.append([_plain(slot), *values])
    return rows


def _target_records(targets: Any, fields: FieldChecker) -> list[Any]:
    if not isinstance(targets, list):
        fields.fail("targets", "a tuple of Target", targets)
    for index, target in enumerate(targets):
        if not isinstance(target, Target):
            fields.fail(f"targets[{index}]", "a Target", target)
    return [{name: _plain(getattr(t, name)) for name in TARGET_FIELDS} for t in targets]


def _split_of(layout: Any, fields: FieldChecker) -> str:
    split = split_of_layout(layout) if type(layout) is int else None
    if split is not None:
        return split
    fields.fail("layout", "a layout of any split", layout)
