"""One pass over a world's contacts: what the hand touches or grasps, and how hard the robot is pushed."""

from __future__ import annotations

from typing import Any

import numpy as np

from rearrange.caching import cached_njit

# What a geom is, for `scan_contacts`: object slots from 0 on, then these.
OTHER = -1
ROBOT = 1000
SUCTION = 1001  # the cup, or a finger's pad
HANDLE = 2000  # HANDLE + index of the articulated joint


@cached_njit(boundscheck=False)
def _pushed(first: Any, second: Any, held_object: int, held_handle: int) -> int:
    """Which of two geoms in contact, by role, is the robot or its load: 1 or 2; 0: neither or both.

    A handle that is held does not count: it is joined to the suction cup.
    """
    first_is_robot = ROBOT <= first <= SUCTION or (0 <= first == held_object)
    second_is_robot = ROBOT <= second <= SUCTION or (0 <= second == held_object)
    held = HANDLE + held_handle if held_handle >= 0 else OTHER
    if first_is_robot == second_is_robot or (held != OTHER and held in (first, second)):
        return 0
    return 1 if first_is_robot else 2


@cached_njit(boundscheck=False)
def scan_contacts(
    contact_count: int,
    geoms: np.ndarray,
    distances: np.ndarray,
    addresses: np.ndarray,
    forces: np.ndarray,
    roles: np.ndarray,
    held_object: int,
    held_handle: int,
) -> tuple[int, int, float]:
    """Find what the suction cup touches and the largest normal force on the robot or on its load.

    Needs elliptic friction cones, where the first row of a contact is its normal force.

    Args:
        contact_count: Number of valid rows.
        geoms: Geom pairs [C, 2].
        distances: Signed distances [C], m; the deepest contact wins.
        addresses: First constraint row of each contact, -1 when inactive [C].
        forces: Constraint forces [R], N.
        roles: Role of every geom: object slot, ROBOT, SUCTION, HANDLE + joint, or OTHER [G].
        held_object: Slot in the gripper or -1.
        held_handle: Handle in the gripper or -1.

    Returns:
        Touched object slot or -1, touched handle or -1, force [N].
    """
    touched_object, touched_handle = -1, -1
    deepest_object, deepest_handle = 1e9, 1e9
    largest = 0.0
    for c in range(contact_count):
        first, second = roles[geoms[c, 0]], roles[geoms[c, 1]]
        if addresses[c] >= 0 and _pushed(first, second, held_object, held_handle) != 0:
            largest = max(largest, abs(forces[addresses[c]]))
        if second == SUCTION:
            first, second = second, first
        if first == SUCTION and 0 <= second < ROBOT and distances[c] < deepest_object:
            deepest_object, touched_object = distances[c], second
        if first == SUCTION and second >= HANDLE and distances[c] < deepest_handle:
            deepest_handle, touched_handle = distances[c], second - HANDLE
    return touched_object, touched_handle, largest  # pyright: ignore[reportReturnType]


@cached_njit(boundscheck=False)
def grasped_object(
    contact_count: int,
    geoms: np.ndarray,
    addresses: np.ndarray,
    forces: np.ndarray,
    roles: np.ndarray,
    pads: np.ndarray,
    pressed: np.ndarray,
) -> tuple[int, float]:
    """Find what both fingers press on, with the larger force where that is more than one thing.

    Takes what `scan_contacts` takes, the geoms of the pads [2], and room for the normal forces of each pad on
    each object, written [2, O], N.

    Returns:
        Object slot or -1, and the smaller of the two fingers' forces on it [N].
    """
    pressed[:] = 0.0
    for c in range(contact_count):
        pad, other = geoms[c, 0], geoms[c, 1]
        if roles[other] == SUCTION:
            pad, other = other, pad
        slot = roles[other]
        if addresses[c] < 0 or roles[pad] != SUCTION or not 0 <= slot < ROBOT:
            continue
        pressed[0 if pad == pads[0] else 1, slot] += abs(forces[addresses[c]])
    grasped, largest = -1, 0.0
    for slot in range(pressed.shape[1]):
        force = min(pressed[0, slot], pressed[1, slot])
        if force > largest:
            grasped, largest = slot, force
    return grasped, largest  # pyright: ignore[reportReturnType]


@cached_njit(boundscheck=False)
def largest_force(contact_count: int, addresses: np.ndarray, forces: np.ndarray) -> float:
    """Largest normal force between any two things [N], as habitat-lab counts it; see `scan_contacts`."""
    largest = 0.0
    for c in range(contact_count):
        if addresses[c] >= 0:
            largest = max(largest, abs(forces[addresses[c]]))
    return largest  # pyright: ignore[reportReturnType]


@cached_njit(boundscheck=False)
def push_on_robot(
    contact_count: int,
    geoms: np.ndarray,
    frames: np.ndarray,
    positions: np.ndarray,
    addresses: np.ndarray,
    forces: np.ndarray,
    roles: np.ndarray,
    held_object: int,
    held_handle: int,
    base_position: np.ndarray,
) -> tuple[float, float, float]:
    """What the normal forces of all contacts with the robot and its load amount to at the base.

    Takes what `scan_contacts` takes, and the contacts' axes, the normal from the first geom to the second
    before the others [C, 9], their positions [C, 3] and the base's [3], m.

    Returns:
        Force along the world's x and y [N], torque about the vertical through the base [N m].
    """
    force_x, force_y, torque = 0.0, 0.0, 0.0
    for c in range(contact_count):
        pushed = _pushed(roles[geoms[c, 0]], roles[geoms[c, 1]], held_object, held_handle)
        if pushed == 0 or addresses[c] < 0:
            continue
        force = forces[addresses[c]] * (1.0 if pushed == 2 else -1.0)
        x, y = force * frames[c, 0], force * frames[c, 1]
        force_x, force_y = force_x + x, force_y + y
        u, v = positions[c, 0] - base_position[0], positions[c, 1] - base_position[1]
        torque += u * y - v * x
    return force_x, force_y, torque
