import math

import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle.descents import RISE_STEP, Descents
from skills.oracle.place import face_towards
from skills.oracle.set_down import lying_axes, set_down_ways, support_height

UPRIGHT = np.array([0.0, 0.0, 1.0])
CRACKERS = OBJECT_KINDS["003_cracker_box"]
CAN = OBJECT_KINDS["005_tomato_soup_can"]


@pytest.mark.parametrize("name", OBJECT_KINDS)
def test_upright_objects_stand_on_their_half_height(name):
    kind = OBJECT_KINDS[name]
    assert support_height(kind, UPRIGHT) == pytest.approx(kind.half_height, abs=1e-6)


def test_lying_objects_rest_on_their_sides():
    half_x, half_y, half_z = CRACKERS.parts[0].size
    heights = sorted(round(support_height(CRACKERS, axis), 6) for axis in lying_axes(CRACKERS))
    assert heights == pytest.approx(sorted([half_z, half_x, half_x, half_y, half_y]))
    side = np.array([1.0, 0.0, 0.0])
    assert support_height(CAN, side) == pytest.approx(CAN.footprint_radius)


def test_a_leaning_box_stands_on_an_edge():
    lean = 0.3
    up = np.array([math.sin(lean), 0.0, math.cos(lean)])
    half_x, _, half_z = CRACKERS.parts[0].size
    expected = half_x * math.sin(lean) + half_z * math.cos(lean)
    assert support_height(CRACKERS, up) == pytest.approx(expected)


def test_what_is_held_askew_can_still_be_put_on_a_high_counter():
    """A tall box that hangs under a hand pointing down cannot be lowered upright; laid down it can."""
    hanging = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    position = np.array([CRACKERS.half_height, 0.0, 0.0])
    ways = set_down_ways(CRACKERS, position, hanging)
    goal = 0.92 + CRACKERS.half_height
    descents = Descents(FETCH, ways, goal)
    upright = [h for d in (0.5, 0.7, 0.9) for h in descents.of(0, 0, d)]
    assert not upright
    lying = next(k for k, way in enumerate(ways) if len(way.aims) > 1)
    heights = next(
        h for d in (0.6, 0.7, 0.8) for aim in range(5) for h in descents.of(lying, aim, d)
    )
    tip, rotation = forward(FETCH, heights[0])
    center = tip + rotation @ position
    up_in_object = (rotation @ hanging).T @ UPRIGHT
    lowest = center[2] - support_height(CRACKERS, up_in_object)
    assert lowest == pytest.approx(0.92, abs=0.015)  # over the counter, not in it
    assert lowest > 0.92
    raised, turned = forward(FETCH, heights[1])
    np.testing.assert_allclose(
        raised + turned @ position - center, [0.0, 0.0, RISE_STEP], atol=4e-3
    )


def test_face_that_a_cup_holds():
    half_x, half_y, half_z = CRACKERS.parts[0].size
    for point, normal in (
        ((half_x, 0.02, 0.03), (1, 0, 0)),
        ((0.01, -half_y, 0.03), (0, -1, 0)),
        ((0.01, 0.02, half_z), (0, 0, 1)),
    ):
        np.testing.assert_allclose(face_towards(CRACKERS, np.array(point)), normal)
    side = face_towards(CAN, np.array([0.0, -CAN.footprint_radius, 0.02]))
    np.testing.assert_allclose(side, [0.0, -1.0, 0.0])
