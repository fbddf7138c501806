import numpy as np
import pytest

from rearrange.sim.contacts import (
    HANDLE,
    OTHER,
    ROBOT,
    SUCTION,
    grasped_object,
    largest_force,
    push_on_robot,
    scan_contacts,
)

FLOOR, CUP, LINK, CAN, BOX, HANDLE_2 = range(6)
CAN_SLOT, BOX_SLOT = 0, 7
ROLES = np.array([OTHER, SUCTION, ROBOT, CAN_SLOT, BOX_SLOT, HANDLE + 2], dtype=np.int32)
NOTHING = -1


def scan(*contacts, held_object=NOTHING, held_handle=NOTHING, count=None):
    """Contacts are (geom, geom, distance, force); a force of None is an inactive contact."""
    geoms = np.array([c[:2] for c in contacts], dtype=np.int32).reshape(-1, 2)
    distances = np.array([c[2] for c in contacts], dtype=np.float64)
    addresses = np.array([-1 if c[3] is None else 3 * i for i, c in enumerate(contacts)], np.int32)
    forces = np.full(3 * len(contacts), 1e6)  # tangential rows, which must not be read
    forces[::3] = [0.0 if c[3] is None else c[3] for c in contacts]
    count = len(contacts) if count is None else count
    return scan_contacts(
        count, geoms, distances, addresses, forces, ROLES, held_object, held_handle
    )


def test_no_contacts():
    assert scan() == (NOTHING, NOTHING, 0.0)


@pytest.mark.parametrize("pair", [(CUP, CAN), (CAN, CUP)])
def test_cup_touches_an_object_in_either_order(pair):
    assert scan((*pair, 0.0, 3.0)) == (CAN_SLOT, NOTHING, 3.0)


@pytest.mark.parametrize("pair", [(CUP, HANDLE_2), (HANDLE_2, CUP)])
def test_cup_touches_a_handle_in_either_order(pair):
    assert scan((*pair, 0.0, 3.0)) == (NOTHING, 2, 3.0)


def test_deepest_touch_wins():
    first, second = (CUP, CAN, -0.001, 1.0), (BOX, CUP, -0.002, 1.0)
    assert scan(first, second)[0] == BOX_SLOT
    assert scan(second, first)[0] == BOX_SLOT


def test_only_the_cup_touches():
    assert scan((LINK, CAN, -0.01, 5.0), (CAN, LINK, -0.01, 6.0), (LINK, HANDLE_2, 0.0, 1.0)) == (
        NOTHING,
        NOTHING,
        6.0,
    )


def test_an_inactive_contact_touches_without_force():
    assert scan((CUP, CAN, 0.0, None)) == (CAN_SLOT, NOTHING, 0.0)


def test_force_is_the_largest_normal_force_on_the_robot():
    assert scan((LINK, FLOOR, 0.0, 40.0), (FLOOR, CUP, 0.0, -60.0), (BOX, LINK, 0.0, 50.0))[2] == 60


def test_what_does_not_involve_the_robot_is_no_force():
    assert scan((FLOOR, CAN, 0.0, 9.0), (CAN, BOX, 0.0, 9.0), (FLOOR, FLOOR, 0.0, 9.0))[2] == 0.0


def test_the_robot_does_not_push_itself():
    assert scan((LINK, CUP, 0.0, 9.0), (CUP, LINK, 0.0, 9.0), (LINK, LINK, 0.0, 9.0))[2] == 0.0


def test_the_load_is_part_of_the_robot():
    contacts = ((CUP, CAN, 0.0, 90.0), (CAN, LINK, 0.0, 80.0), (CAN, FLOOR, 0.0, 7.0))
    assert scan(*contacts, held_object=CAN_SLOT) == (CAN_SLOT, NOTHING, 7.0)
    assert scan((BOX, CAN, 0.0, 8.0), held_object=CAN_SLOT)[2] == 8.0
    assert scan((CAN, BOX, 0.0, 8.0), held_object=CAN_SLOT)[2] == 8.0


def test_pulling_the_held_handle_is_no_force():
    contact = (CUP, HANDLE_2, 0.0, 30.0)
    assert scan(contact, held_handle=2)[2] == 0.0
    assert scan(contact, held_handle=1)[2] == 30.0
    assert scan((HANDLE_2, LINK, 0.0, 30.0), held_handle=2)[2] == 0.0


def test_rows_beyond_the_count_are_stale():
    assert scan((CUP, CAN, 0.0, 1.0), (CUP, BOX, -1.0, 100.0), count=1) == (CAN_SLOT, NOTHING, 1.0)


BASE = np.array((1.0, 2.0, 0.0))


def push(*contacts, held_object=NOTHING, held_handle=NOTHING):
    """Contacts are (geom, geom, normal, position, force); a force of None is an inactive contact."""
    geoms = np.array([c[:2] for c in contacts], dtype=np.int32).reshape(-1, 2)
    frames = np.full((len(contacts), 9), 1e6)  # tangents, which must not be read
    frames[:, :3] = [c[2] for c in contacts]
    positions = np.array([c[3] for c in contacts], dtype=np.float64)
    addresses = np.array([-1 if c[4] is None else 3 * i for i, c in enumerate(contacts)], np.int32)
    forces = np.full(3 * len(contacts), 1e6)
    forces[::3] = [0.0 if c[4] is None else c[4] for c in contacts]
    return push_on_robot(
        len(contacts), geoms, frames, positions, addresses, forces, ROLES, held_object, held_handle, BASE
    )  # fmt: skip


def test_push_acts_on_the_robot_along_the_normal():
    # The wall is the first geom: what it does to the second is along the normal.
    ahead = (1.5, 2.3, 0.8)
    assert push((FLOOR, LINK, (-1, 0, 0), ahead, 40.0)) == pytest.approx((-40.0, 0.0, 0.3 * 40.0))
    assert push((LINK, FLOOR, (-1, 0, 0), ahead, 40.0)) == pytest.approx((40.0, 0.0, -0.3 * 40.0))
    assert push((FLOOR, LINK, (0, 0.6, 0.8), ahead, 10.0)) == pytest.approx((0.0, 6.0, 0.5 * 6.0))


def test_pushes_add_up():
    left, right = (1.0, 2.5, 0.8), (1.0, 1.5, 0.8)
    contacts = (FLOOR, LINK, (-1, 0, 0), left, 40.0), (FLOOR, CUP, (-1, 0, 0), right, 40.0)
    assert push(*contacts) == pytest.approx((-80.0, 0.0, 0.0))


def test_what_is_held_is_pushed_too_and_pushes_nothing():
    place = (1.0, 2.0, 0.8)
    assert push((FLOOR, CAN, (1, 0, 0), place, 5.0), held_object=CAN_SLOT)[0] == 5.0
    assert push((FLOOR, CAN, (1, 0, 0), place, 5.0))[0] == 0.0
    assert push((CUP, CAN, (1, 0, 0), place, 5.0), held_object=CAN_SLOT)[0] == 0.0
    assert push((CUP, HANDLE_2, (1, 0, 0), place, 5.0), held_handle=2)[0] == 0.0
    assert push((CUP, HANDLE_2, (1, 0, 0), place, 5.0), held_handle=1)[0] == -5.0
    assert push((FLOOR, LINK, (1, 0, 0), place, None))[0] == 0.0


def test_the_largest_force_is_that_of_active_contacts():
    forces = np.array([5.0, 9.0, -7.0, 2.0])
    assert largest_force(2, np.array([0, 2, 1]), forces) == 7.0  # the third contact is no valid row
    assert largest_force(2, np.array([3, -1]), forces) == 2.0
    assert largest_force(0, np.array([0]), forces) == 0.0


LEFT, RIGHT = 1, 2  # pads; then a link, a can and a box
PAD_ROLES = np.array([OTHER, SUCTION, SUCTION, CAN_SLOT, BOX_SLOT, ROBOT], dtype=np.int32)


def grasp(*contacts):
    """Contacts are (geom, geom, force); a force of None is an inactive contact."""
    geoms = np.array([c[:2] for c in contacts], dtype=np.int32).reshape(-1, 2)
    addresses = np.array([-1 if c[2] is None else 3 * i for i, c in enumerate(contacts)], np.int32)
    forces = np.full(3 * len(contacts), 1e6)
    forces[::3] = [0.0 if c[2] is None else c[2] for c in contacts]
    pads, pressed = np.array([LEFT, RIGHT]), np.full((2, 30), 1e3)
    return grasped_object(len(contacts), geoms, addresses, forces, PAD_ROLES, pads, pressed)


def test_fingers_grasp_what_both_press_with_the_smaller_force():
    assert grasp((LEFT, 3, 2.0), (3, LEFT, 1.5), (RIGHT, 3, 5.0)) == (CAN_SLOT, 3.5)


def test_one_finger_grasps_nothing():
    assert grasp() == (NOTHING, 0.0)
    assert grasp((LEFT, 3, 9.0), (3, LEFT, 9.0), (5, 3, 9.0)) == (NOTHING, 0.0)
    assert grasp((LEFT, 3, 9.0), (RIGHT, 4, 9.0)) == (NOTHING, 0.0)
    assert grasp((LEFT, 3, 9.0), (RIGHT, 3, None)) == (NOTHING, 0.0)


def test_what_is_pressed_more_is_grasped():
    both = [(pad, thing, force) for pad in (LEFT, RIGHT) for thing, force in ((3, 4.0), (4, 6.0))]
    assert grasp(*both) == (BOX_SLOT, 6.0)
