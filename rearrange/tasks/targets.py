"""Targets that several tasks sample: which thing is asked for, where it belongs, and what stands open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from rearrange.episodes import Target
from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.tasks.sampling import GOAL_GAP, Scene
from rearrange.tasks.starts import open_doors

GOAL_ATTEMPTS = 50  # objects and places that are tried


def add_shut_in(
    scene: Scene, receptacle: str, rng: np.random.Generator, robot: RobotSpec | None = None
) -> Target:
    """Put a random object that fits into what opens, and clutter everywhere else.

    Args:
        scene: To put it in.
        receptacle: What opens.
        rng: Source of randomness.
        robot: Whose hand must be able to hold the object; None: anything will do.

    Raises:
        UserError: None fits.
    """
    slots, kinds = rng.permutation(len(scene.spec.objects)).tolist(), scene.spec.objects
    fitting = (
        slot
        for slot in slots
        if (robot is None or robot.can_hold(kinds[slot]))
        and scene.add_object(slot, receptacle, rng)
    )
    slot = next(fitting, None)
    if slot is None:
        raise UserError(
            f"receptacles.{receptacle}: no object fits: name other objects (objects:) in {scene.spec.where}, "
            "or take shuts: from its part"
        )
    scene.add_clutter((other for other in range(len(slots)) if other != slot), rng)
    position = scene.position(slot)
    return Target(slot, position, position, receptacle, receptacle)


def add_laid_open(
    scene: Scene, receptacle: str, rng: np.random.Generator, robot: RobotSpec | None = None
) -> Target:
    """Open the part that shuts a receptacle, and put into it what `add_shut_in` would."""
    lay_open(scene, receptacle)
    return add_shut_in(scene, receptacle, rng, robot)


def lay_open(scene: Scene, receptacle: str) -> None:
    """Open the part that shuts a receptacle."""
    part = scene.spec.part_of(receptacle)
    assert part is not None
    _open(scene, part.name, part.laid_open)


def _open(scene: Scene, part: str, opening: float) -> None:
    """Open a part so far [rad or m]; nobody begins in its door."""
    scene.joints = {**scene.joints, part: opening}
    if scene.apartment is not None:
        doors = open_doors(scene.apartment, {part: opening})
        scene.grid = scene.grid.with_obstacles(doors) if len(doors) else scene.grid


def leave_open(scene: Scene, rng: np.random.Generator) -> None:
    """Open a drawer or a door, if there is one, as far as a chore may leave it."""
    receptacles = scene.spec.closed_receptacles
    part = scene.spec.part_of(one_of(receptacles, rng)) if receptacles else None
    if part is not None and scene.apartment is not None:
        _open(scene, part.name, float(rng.uniform(part.laid_open, part.range[1])))


def random_goal(scene: Scene, inside_share: float, rng: np.random.Generator) -> Target | None:
    """A random object with a free goal on another open receptacle or behind a door (the fridge's), then open.

    Returns:
        The target, or None if no goal was found within GOAL_ATTEMPTS.
    """
    slots, spec = list(scene.objects), scene.spec
    behind_doors = [part.receptacle for part in spec.parts if part.receptacle and part.turns]
    inside = rng.random() < inside_share and bool(behind_doors)
    for _ in range(GOAL_ATTEMPTS if slots else 0):
        slot = int(rng.choice(slots))
        start = scene.receptacle_of[slot]
        name = one_of(behind_doors, rng) if inside else str(rng.choice(spec.open_receptacles))
        goal = scene.find_place(slot, name, GOAL_GAP, rng) if name != start else None
        if goal is not None:
            if inside:
                lay_open(scene, name)
            return Target(slot, scene.position(slot), goal, start, name)
    return None


def in_its_place(scene: Scene, rng: np.random.Generator) -> Target | None:
    """A random object that stays where it is; None where there is none."""
    if not scene.objects:
        return None
    slot = int(rng.choice(list(scene.objects)))
    start, name = scene.position(slot), scene.receptacle_of[slot]
    return Target(slot, start, start, name, name)


Choice = TypeVar("Choice")


def one_of(things: Sequence[Choice], rng: np.random.Generator) -> Choice:
    """A random one; nothing is drawn where there is only one."""
    return things[0] if len(things) == 1 else things[int(rng.integers(len(things)))]
