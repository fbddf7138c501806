"""One pass over a world's contacts: what the suction cup touches and how hard the robot is pushed."""

from __future__ import annotations

import numba
import numpy as np

# What a geom is, for `scan_contacts`: object slots are 0..29, then these.
OTHER = -1
ROBOT = 1000
SUCTION = 1001
HANDLE = 2000  # HANDLE + index of the articulated joint


@numba.njit(cache=True, boundscheck=False)
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
        if second == SUCTION or (second == ROBOT and first != SUCTION):
            first, second = second, first
        first_is_robot = first in (ROBOT, SUCTION)
        second_is_robot = second in (ROBOT, SUCTION)
        first_is_load = 0 <= first < ROBOT and first == held_object
        second_is_load = 0 <= second < ROBOT and second == held_object
        second_is_held_handle = second >= HANDLE and second - HANDLE == held_handle
        if first == SUCTION and 0 <= second < ROBOT and distances[c] < deepest_object:
            deepest_object, touched_object = distances[c], second
        if first == SUCTION and second >= HANDLE and distances[c] < deepest_handle:
            deepest_handle, touched_handle = distances[c], second - HANDLE
        within = (first_is_robot and (second_is_robot or second_is_load)) or (
            second_is_robot and first_is_load
        )
        involved = first_is_robot or second_is_robot or first_is_load or second_is_load
        if involved and not within and not second_is_held_handle and addresses[c] >= 0:
            largest = max(largest, abs(forces[addresses[c]]))
    return touched_object, touched_handle, largest  # pyright: ignore[reportReturnType]
