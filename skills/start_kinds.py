"""Kinds of starts: on what the target is, and whether the way there leads around something."""

from __future__ import annotations

from rearrange.env import RearrangeEnv
from rearrange.tasks import starts
from rearrange.tasks.floor import FloorTask

DETOUR, RECEPTACLE = "detour", "receptacle"  # among an episode's metrics


def start_kind(world: RearrangeEnv) -> dict[str, float | str]:
    """Receptacle of the target, and whether the way there is a detour: 1, or else 0.

    That is where along the floor it is at least starts.DETOUR longer than straight, or where none is known.
    Meant for the begin of an episode. Empty where a task does not go to a thing: Open and Close begin before
    their handle, and a chore goes to many.
    """
    task, episode = world.task, world.episode
    if not isinstance(task, FloorTask):
        return {}
    extra = task.extra_way(episode, *world.state.base_pose[0, :2].tolist())
    return {DETOUR: float(extra >= starts.DETOUR), RECEPTACLE: task.receptacle(episode)}
