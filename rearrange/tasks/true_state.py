"""True state: numbers that no sensor of the robot gives, for critics and for studies.

A policy that is deployed must not read them. They tell of the thing that a task is about, of what is near
the hand and around the base, of forces, doors and drawers, and which way leads on.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.episodes import Episode, floor_of
from rearrange.errors import UserError
from rearrange.navigation.geodesic import sample_distance
from rearrange.navigation.occupancy import ROBOT_RADIUS
from rearrange.sim.base import SimState
from rearrange.tasks.base import Task
from rearrange.tasks.floor import FloorTask

DEPTH, STATE, BOTH = "depth", "state", "both"  # sensors of an environment
SENSORS = (DEPTH, STATE, BOTH)
TRUE_STATE = "true_state"  # key of the observation
NEIGHBOURS = 4  # objects nearest to the hand, but for the one in it
DIRECTIONS, RINGS = 16, (0.25, 0.6)  # of places around the base, and their distances [m]
BLOCKED = 2.0  # in the place of a change of the way left, where the base does not fit


def check_sensors(name: str) -> str:
    """Return the name of sensors of an environment or raise a UserError that lists what there is."""
    if name not in SENSORS:
        raise UserError(f"sensors must be one of {', '.join(SENSORS)}, found '{name}'")
    return name


def true_size(state: SimState) -> int:
    """Return how many numbers tell the true state of one of these worlds."""
    joints, doors = state.arm_velocities.shape[1], state.articulated_joints.shape[1]
    # Thing in base and hand frame; blocked, touching (object, handle), force, its sum; velocities; doors and
    # drawers, their handles; neighbours; way left, and around
    return 6 + 5 + joints + 4 * doors + 3 * NEIGHBOURS + 1 + DIRECTIONS * len(RINGS)


@cached_njit
def _look_around(
    base_pose: Any, distance: Any, origin_x: float, origin_y: float, cell: float, out: Any
) -> None:
    """Write the way left [m] and its change per metre at places around the base, x ahead first.

    Args:
        base_pose: x, y, yaw [3].
        distance: Field of the way left [nx, ny]; infinite where the base does not fit.
        origin_x: Of the field [m].
        origin_y: Likewise.
        cell: Of the field [m].
        out: [1 + DIRECTIONS * len(RINGS)].
    """
    x, y, yaw = base_pose[0], base_pose[1], base_pose[2]
    here = sample_distance(distance, origin_x, origin_y, cell, x, y)
    if math.isfinite(here):
        out[0] = here
    else:
        here = out[0] = 0.0
    place = 1
    for radius in RINGS:
        for k in range(DIRECTIONS):
            angle = yaw + 2.0 * math.pi * k / DIRECTIONS
            there = sample_distance(
                distance, origin_x, origin_y, cell,
                x + radius * math.cos(angle), y + radius * math.sin(angle),
            )  # fmt: skip
            change = (there - here) / radius
            out[place] = BLOCKED if not math.isfinite(there) else min(max(change, -1.5), 1.5)
            place += 1


@cached_njit
def _nearest(world: Any, out: Any) -> None:
    """Write the places of the objects nearest to the hand, in its frame [3 * NEIGHBOURS], m."""
    tip = world.end_effector_position
    count = len(world.object_position)
    away = np.empty(count)
    for slot in range(count):
        away[slot] = geometry.distance(world.object_position[slot], tip)
    if world.held_object >= 0:
        away[world.held_object] = math.inf
    for k in range(NEIGHBOURS):
        slot = int(np.argmin(away))
        point = geometry.to_end_effector_frame(
            tip, world.end_effector_rotation, world.object_position[slot]
        )
        for axis in range(3):
            out[3 * k + axis] = min(max(point[axis], -2.0), 2.0)
        away[slot] = math.inf


@cached_njit
def _tell(
    worlds: Any, memories: Any, i: int, point: Any, distance: Any,
    origin_x: float, origin_y: float, cell: float, told: Any,
) -> None:  # fmt: skip
    """Write the true state of world i [size]; see `_look_around` for the floor."""
    world, out = worlds[i], told[i]
    in_base = geometry.to_base_frame(world.base_pose, point)
    in_hand = geometry.to_end_effector_frame(
        world.end_effector_position, world.end_effector_rotation, point
    )
    for axis in range(3):
        out[axis], out[3 + axis] = in_base[axis], in_hand[axis]
    out[6] = world.base_blocked
    out[7], out[8] = world.touched_object >= 0, world.touched_handle >= 0
    out[9], out[10] = (
        math.log1p(world.contact_force / 100.0),
        memories[i].accumulated_force / 10_000.0,
    )
    place = 11
    for velocity in world.arm_velocities:
        out[place] = velocity
        place += 1
    for k in range(len(world.articulated_joints)):
        handle = geometry.to_base_frame(world.base_pose, world.handle_position[k])
        out[place] = world.articulated_joints[k]
        for axis in range(3):
            out[place + 1 + axis] = min(max(handle[axis], -2.0), 2.0)
        place += 4
    _nearest(world, out[place : place + 3 * NEIGHBOURS])
    place += 3 * NEIGHBOURS
    _look_around(world.base_pose, distance, origin_x, origin_y, cell, out[place:])


class TrueState:
    """True state of the worlds of a task.

    Args:
        task: Tells what it is about.
        state: Of the worlds.

    Raises:
        UserError: The task tells of no such thing: a household scenario.
    """

    def __init__(self, task: Task, state: SimState) -> None:
        """Of worlds that no episode began in."""
        if type(task).subject is Task.subject:
            raise UserError(f"{task.name} is about no single thing: leave sensors= out")
        self._task, self._state, self.size = task, state, true_size(state)
        self._floors: list[tuple[np.ndarray, float, float, float]] = [
            (np.full((2, 2), math.inf), 0.0, 0.0, 1.0)
        ] * len(state.worlds)

    def begin(self, i: int, episode: Episode) -> None:
        """Find out about the floor of the episode that world i has begun."""
        way = self._task.way_in(i, episode) if isinstance(self._task, FloorTask) else None
        if way is not None:
            grid, distance = way.grid, way.distance
        else:
            grid = floor_of(episode)
            distance = np.where(grid.clearance >= ROBOT_RADIUS, 0.0, math.inf)
        self._floors[i] = (distance, *grid.origin, grid.cell)

    def observe(self) -> np.ndarray:
        """Tell the true state of all worlds [N, size], single precision; a fresh array."""
        state = self._state
        told = np.empty((len(state.worlds), self.size), np.float32)
        for i in range(len(state.worlds)):
            point = self._task.subject(state, i)
            _tell(state.worlds, self._task.memory, i, point, *self._floors[i], told)
        return told
