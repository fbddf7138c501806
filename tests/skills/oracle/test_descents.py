import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.robot.kinematics import forward
from rearrange.scenes.objects import OBJECT_KINDS
from skills.oracle.descents import RISE_STEP, Descents
from skills.oracle.set_down import set_down_ways, support_height

UPRIGHT = np.array([0.0, 0.0, 1.0])
CRACKERS = OBJECT_KINDS["003_cracker_box"]


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
