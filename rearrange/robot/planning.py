"""What planners of motions have to know of a robot: its shape as spheres and discs, and good postures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rearrange.robot.joint import Joint, Vector

Disc = tuple[float, float, float]  # x and y in the base frame, radius [m]


@dataclass(frozen=True, eq=False)
class PlanningModel:
    """The robot as oracles and sense-plan-act skills plan with it.

    Attributes:
        sphere_rows: Arm and hand, each a link, its place in the link's frame and a radius [m]. Links count
            from 0; after those of the joints come the gripper and the tip. The cup's come last.
        cup_spheres: How many are the suction cup's.
        cup_radius: Of the cup [m].
        first_wary_link: Links before this one cannot reach the robot's own body.
        first_pushing_link: Links before this one must not push a door.
        body_box: The robot's own body, base frame: centre and half sizes [m].
        body_cylinder: Likewise, upright: centre, radius and half height [m].
        layers: Base and trunk from above, for what stands open: from and to a height [m], and discs. The
            last is the trunk.
        trunk: Discs that must not meet a door that the arm sweeps shut.
        postures: Where searches for postures begin, beside the resting one [rad, of slides m].
        shoulder: A point from which reach is measured: the first joint that lifts the arm, or the middle of
            where a slide lifts it to, base frame [m].
        length: From there to the tip, at most [m].
    """

    sphere_rows: tuple[tuple[float, ...], ...]
    cup_spheres: int
    cup_radius: float
    first_wary_link: int
    first_pushing_link: int
    body_box: tuple[float, ...]
    body_cylinder: tuple[float, ...]
    layers: tuple[tuple[float, float, tuple[Disc, ...]], ...]
    trunk: tuple[Disc, ...]
    postures: tuple[tuple[float, ...], ...]
    shoulder: Vector
    length: float

    @cached_property
    def spheres(self) -> np.ndarray:
        """`sphere_rows` as an array [S, 5]."""
        return np.array(self.sphere_rows)

    @cached_property
    def body(self) -> np.ndarray:
        """The robot's own body for compiled code [12]: box, cylinder, first wary link."""
        return np.array([*self.body_box, *self.body_cylinder, self.first_wary_link])


def link_spheres(
    joints: Sequence[Joint], radii: Sequence[float], end: Vector
) -> list[tuple[float, ...]]:
    """Spheres along capsules from each joint to the next; rows as in PlanningModel.

    Args:
        joints: Of the arm.
        radii: Of its links [m].
        end: Where the last link ends, in its frame [m].
    """
    ends = [*(joint.offset for joint in joints[1:]), end]
    rows: list[tuple[float, ...]] = []
    for link, (stop, radius) in enumerate(zip(ends, radii, strict=True)):
        count = max(1, math.ceil(math.dist(stop, (0, 0, 0)) / radius))
        rows += [(link, *(part * k / count for part in stop), radius) for k in range(count)]
    return rows
