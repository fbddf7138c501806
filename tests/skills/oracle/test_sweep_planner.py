import math

import numpy as np
import pytest

from rearrange.scenes.fridge import FRIDGE_DOOR
from skills.oracle.sweep_planner import Door, push_door


def disc_door(x, y, pushes, sense=1.0):
    """A door closed towards +x with its hinge in the origin, and a robot that is one disc."""
    disc = np.array([[x, y, 0.05, float(pushes)]])
    panel = sense, FRIDGE_DOOR.width, FRIDGE_DOOR.handle_span
    return Door(0.0, 0.0, 0.0, *panel, disc, np.zeros(2), 0.01, 0.6)


def test_the_door_gives_way_to_what_may_push_it():
    open_at_right_angles, at = math.pi / 2, np.zeros(3)
    # Open by 90 degrees the panel lies along +x and its outer face looks to +y.
    touching = disc_door(0.4, 0.06, True)
    angle = push_door(touching, at, open_at_right_angles)
    assert 1.4 < angle < open_at_right_angles
    # Now the disc's rim is on the face.
    out = 0.4 * math.cos(angle) + 0.06 * math.sin(angle)
    assert out == pytest.approx(0.05 + 0.025)
    assert push_door(disc_door(0.4, 0.06, False), at, open_at_right_angles) == -1.0
    assert push_door(disc_door(0.4, -0.06, True), at, open_at_right_angles) == -1.0  # from inside
    assert push_door(disc_door(0.4, 0.3, True), at, open_at_right_angles) == open_at_right_angles
    assert push_door(disc_door(0.9, 0.0, True), at, open_at_right_angles) == open_at_right_angles


@pytest.mark.parametrize("pushes", [True, False])
def test_a_door_that_opens_clockwise_moves_as_in_a_mirror(pushes):
    for x in np.linspace(-0.2, 0.9, 12):
        for y in np.linspace(-0.6, 0.3, 10):
            angles = [
                push_door(disc_door(x, sense * y, pushes, sense), np.zeros(3), 1.5)
                for sense in (1.0, -1.0)
            ]
            assert angles[0] == pytest.approx(angles[1], abs=1e-12)
