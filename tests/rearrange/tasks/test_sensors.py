import math

import numpy as np
import pytest

from rearrange.tasks.sensors import from_rest, gps_compass, is_holding, polar

# Base pose, point, distance and bearing in the base frame.
CASES = [
    ((0.0, 0.0, 0.0), (3.0, 4.0, 1.0), 5.0, math.atan2(4, 3)),
    ((1.0, 2.0, math.pi / 2), (1.0, 4.5, 0.0), 2.5, 0.0),
    ((1.0, 2.0, math.pi / 2), (3.0, 2.0, 0.0), 2.0, -math.pi / 2),
    ((0.0, 0.0, -3.0), (-1.0, 0.2, 9.0), math.hypot(1, 0.2), math.atan2(0.2, -1) + 3 - 2 * math.pi),
]


@pytest.mark.parametrize(("pose", "point", "distance", "bearing"), CASES)
def test_points_are_told_by_distance_and_bearing(pose, point, distance, bearing):
    assert polar(np.array(pose), np.array(point)) == pytest.approx((distance, bearing))


def test_the_way_to_rest_is_told_in_the_base_frame(make_state):
    state = make_state(
        3,
        base_pose=[(1, 2, math.pi / 2), (0, 0, 0), (1, 2, math.pi / 2)],
        end_effector_position=[(1, 2.3, 0.8), (0.5, 0.0, 1.0), (0.6, 2.5, 1.0)],
    )
    # The hand of the last one is 0.4 m left.
    for world, expected in zip(
        state.worlds, [(0.2, 0.0, 0.2), (0, 0, 0), (0, -0.4, 0)], strict=True
    ):
        assert from_rest(world) == pytest.approx(expected, abs=1e-9)


def test_objects_and_handles_count_as_held(make_state):
    state = make_state(3, held_object=[0, -1, -1], held_handle=[-1, 0, -1])
    assert [is_holding(world) for world in state.worlds] == [True, True, False]


def test_gps_and_compass_are_relative_to_the_start():
    start, now = np.array([1, 2, math.pi / 2]), np.array([0, 5, math.pi])
    assert gps_compass(start, now) == pytest.approx((3.0, 1.0, 0.0, 1.0), abs=1e-9)
    assert gps_compass(now, now) == pytest.approx((0.0, 0.0, 1.0, 0.0))
