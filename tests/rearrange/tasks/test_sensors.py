import math

import numpy as np
import pytest

from rearrange.tasks.sensors import from_rest, is_holding, polar, polar_sensor

# Base pose, point, distance and bearing in the base frame.
CASES = [
    ((0.0, 0.0, 0.0), (3.0, 4.0, 1.0), 5.0, math.atan2(4, 3)),
    ((1.0, 2.0, math.pi / 2), (1.0, 4.5, 0.0), 2.5, 0.0),
    ((1.0, 2.0, math.pi / 2), (3.0, 2.0, 0.0), 2.0, -math.pi / 2),
    ((0.0, 0.0, -3.0), (-1.0, 0.2, 9.0), math.hypot(1, 0.2), math.atan2(0.2, -1) + 3 - 2 * math.pi),
]


def doubles(xp, values):
    return xp.asarray(np.array(values, dtype=np.float64))


def test_points_are_told_by_distance_and_bearing(xp, expect):
    poses, points = doubles(xp, [c[0] for c in CASES]), doubles(xp, [c[1] for c in CASES])
    distance, bearing = polar(xp, poses, points)
    expect(distance, [c[2] for c in CASES])
    expect(bearing, [c[3] for c in CASES])
    expect(polar_sensor(xp, poses, points), [[c[2], -c[3]] for c in CASES])


@pytest.mark.parametrize("case", CASES)
def test_a_lone_world_is_told_the_same(xp, expect, case):
    pose, point = doubles(xp, [case[0]]), doubles(xp, [case[1]])
    distance, bearing = polar(xp, pose, point)
    expect(distance, [case[2]])
    expect(bearing, [case[3]])
    expect(polar_sensor(xp, pose, point), [[case[2], -case[3]]])


def test_several_points_per_world_keep_their_order(xp, expect):
    poses = doubles(xp, [CASES[0][0], CASES[1][0]])
    points = doubles(xp, [[CASES[0][1], (0, 1, 0)], [CASES[1][1], CASES[2][1]]])
    found = polar_sensor(xp, poses, points)
    expect(found[0], [[5.0, -CASES[0][3]], [1.0, -math.pi / 2]])
    expect(found[1], [[2.5, 0.0], [2.0, math.pi / 2]])


def test_the_way_to_rest_is_told_in_the_base_frame(xp, make_state, expect):
    state = make_state(
        2,
        base_pose=[(1, 2, math.pi / 2), (0, 0, 0)],
        end_effector_position=[(1, 2.3, 0.8), (0.5, 0.0, 1.0)],
    )
    expect(from_rest(xp, state), [[0.2, 0.0, 0.2], [0, 0, 0]])


def test_objects_and_handles_count_as_held(xp, make_state, expect):
    state = make_state(3, held_object=[0, -1, -1], held_handle=[-1, 0, -1])
    expect(is_holding(xp, state), [[1], [1], [0]])
