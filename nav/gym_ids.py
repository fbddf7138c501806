"""Ids of navigation tasks for `gymnasium.make`: rearrange/PointNav-v0 and the like."""

from __future__ import annotations

from rearrange.gym_ids import id_of, register_id

GROUP = "rearrange.navigation"  # of other packages' entry points; each names a NavTask
IDS = {
    "pointnav": "rearrange/PointNav-v0",
    "objectnav": "rearrange/ObjectNav-v0",
    "flee": "rearrange/Flee-v0",
    "explore": "rearrange/Explore-v0",
}


def gym_id(task: str) -> str:
    """The id of a task: rearrange/RangeNav-v0 for range_nav; ours keep the capitals of their names."""
    return IDS.get(task) or id_of(task)


def register_name(task: str) -> None:
    """Make the id of a task known, unless it is."""
    register_id(gym_id(task), "nav.registration", task)
