import math
from dataclasses import replace

import pytest

from rearrange.errors import UserError
from tests.helpers.bedsit import BEDSIT, DOOR, DRAWER


def test_a_drawer_takes_its_handle_and_the_robot_s_place_along():
    x, y = DRAWER.handle
    assert DRAWER.handle_at(0.2) == (x + 0.2, y)
    assert DRAWER.faced(0.2) == DRAWER.handle_at(0.2)
    assert DRAWER.before(0.2) == pytest.approx((x + 0.2 + DRAWER.standing, y))


def test_a_door_turns_its_handle_around_the_hinge():
    (hinge_x, hinge_y), (x, y) = DOOR.hinge, DOOR.handle
    assert DOOR.handle_at(0.0) == pytest.approx((hinge_x + x, hinge_y + y))
    assert DOOR.handle_at(math.pi / 2) == pytest.approx((hinge_x - y, hinge_y + x))
    assert (DOOR.before(0.0), DOOR.before(0.1)) == (DOOR.before_closed, DOOR.before_open)
    mirrored = replace(DOOR, hinge=(hinge_x, -hinge_y), handle=(x, -y), clockwise=True)
    assert mirrored.handle_at(math.pi / 2) == pytest.approx((hinge_x - y, -(hinge_y + x)))


def test_parts_are_found_by_name_receptacle_and_task():
    assert BEDSIT.joints == (DRAWER.name, DOOR.name)
    assert BEDSIT.part(DOOR.name) is BEDSIT.part_of(DOOR.receptacle) is DOOR
    assert BEDSIT.part_of("desk") is None
    assert BEDSIT.parts_for("close_cab") == (DRAWER,)
    assert BEDSIT.receptacles == ("desk", "bed", DRAWER.receptacle, DOOR.receptacle)
    with pytest.raises(UserError, match=r"no joint 'lid' .* bedsit: choose one of dresser_drawer"):
        BEDSIT.part("lid")


def test_slots_are_found_by_kind():
    assert BEDSIT.slots_of("mug") == [4, 5]
    with pytest.raises(UserError, match=r"bedsit have no object 'bowl', only .*mug"):
        BEDSIT.slots_of("bowl")
