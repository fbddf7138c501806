import math

import numpy as np
import pytest

from rearrange.navigation import OccupancyGrid
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment import Apartment, ArticulatedPose
from skills.oracle.base_planner import FORWARD_STEP, TURN_STEP, BasePlanner
from skills.oracle.collision import arm_clearance, place_spheres
from skills.oracle.obstacles import Obstacles

ROOM = Apartment(
    layout=0,
    variation=0,
    bounds=(0.0, 0.0, 8.0, 6.0),
    rooms={"hall": (0.0, 0.0, 8.0, 6.0)},
    solids=(),
    receptacles={},
    frames={
        "fridge": ArticulatedPose((0.5, 5.5, 0.0), 0.0),
        "cabinet": ArticulatedPose((7.5, 5.5, 0.0), 0.0),
    },
)


def make_planner(*boxes):
    """Planner in the empty room with these boxes at arm height only."""
    obstacles = Obstacles(np.array(boxes, float).reshape(-1, 8), np.zeros((0, 5)))
    return BasePlanner(
        FETCH, OccupancyGrid(ROOM), obstacles, np.array(FETCH.resting_arm), FETCH.planning.spheres
    )


def drive(pose, actions):
    """Poses [K + 1, 3] under the simulator's rule: motion along the mean heading."""
    poses = [np.array(pose, float)]
    for forward, turn in actions:
        x, y, yaw = poses[-1]
        heading = yaw + 0.5 * turn
        x, y = x + forward * math.cos(heading), y + forward * math.sin(heading)
        poses.append(np.array([x, y, math.remainder(yaw + turn, 2 * math.pi)]))
    return np.array(poses)


def test_plan_in_the_open_arrives_within_the_speed_limits():
    start, goal = np.array([2.0, 2.0, 0.0]), np.array([5.0, 3.0, -2.0])
    actions = make_planner().plan(start, goal)
    assert actions is not None
    assert np.abs(actions[:, 0]).max() <= FORWARD_STEP + 1e-9
    assert np.abs(actions[:, 1]).max() <= TURN_STEP + 1e-9
    end = drive(start, actions)[-1]
    np.testing.assert_allclose(end, goal, atol=1e-6)
    least = math.dist(start[:2], goal[:2]) / FORWARD_STEP
    assert len(actions) < least + (math.pi + 2.5) / TURN_STEP


def test_arm_does_not_sweep_through_a_shelf_that_the_base_passes_under():
    # A board at hand height on the left of the lane: turning in place towards it would hit it.
    board = (4.0, 2.75, 1.0, 2.0, 0.2, 0.05, 1.0, 0.0)
    planner = make_planner(board)
    start, goal = np.array([2.5, 2.0, 0.0]), np.array([5.5, 2.0, 3.1])
    assert planner.is_free(start)
    assert planner.is_free(goal)
    assert not planner.is_free(np.array([4.0, 2.0, math.pi / 2]))
    actions = planner.plan(start, goal)
    assert actions is not None
    for pose in drive(start, actions):
        assert min(planner.slack(pose)) > -0.01


def test_no_way_is_none():
    walls = [(2.0, y, 1.0, 0.05, 0.6, 0.5, 1.0, 0.0) for y in np.arange(0.5, 6.0, 1.0)]
    planner = make_planner(*walls)  # at arm height, across the whole room
    assert planner.plan(np.array([1.0, 3.0, 0.0]), np.array([6.0, 3.0, 0.0]), limit=3000) is None


@pytest.mark.parametrize("goal", [(2.0, 2.0, 0.0), (2.0, 2.0, 1.0), (1.6, 2.0, 0.0)])
def test_short_plans(goal):
    start = np.array([2.0, 2.0, 0.0])
    actions = make_planner().plan(start, np.array(goal))
    assert actions is not None
    np.testing.assert_allclose(drive(start, actions)[-1], goal, atol=1e-6)
    assert len(actions) < 15


def test_a_hand_over_a_table_may_go_on_over_it():
    """From above it stands in the table's place, as something else reaches below the table's top."""
    low = (0.0, 0.0, 0.0, -0.35, 0.03)  # hangs from the shoulder
    spheres = np.vstack([FETCH.planning.spheres, low])
    centers = place_spheres(FETCH, np.array(FETCH.resting_arm), spheres)
    foremost = int(centers[:, 0].argmax())
    reach, top = centers[foremost, 0], centers[centers[:, 0] > 0.3, 2].min() - 0.15
    edge = 3.0
    table = (edge + 0.5, 3.0, top - 0.02, 0.5, 1.0, 0.02, 1.0, 0.0)
    obstacles = Obstacles(np.array([table]), np.zeros((0, 5)))
    planner = BasePlanner(
        FETCH, OccupancyGrid(ROOM), obstacles, np.array(FETCH.resting_arm), spheres
    )
    start = np.array([edge - reach + 0.02, 3.0, 0.0])
    goal = start + np.array([0.15, 0.0, 0.0])
    assert planner.slack(goal)[1] < planner.slack(start)[1] < 0.0
    poses = drive(start, planner.plan(start, goal))
    np.testing.assert_allclose(poses[-1], goal, atol=1e-6)
    for pose in poses:
        clearance = arm_clearance(
            FETCH, np.array(FETCH.resting_arm), pose, spheres, obstacles.boxes, obstacles.cylinders
        )
        assert clearance > 0.0
    # Into the table nothing leads, however one looks at it.
    higher = Obstacles(np.array([(*table[:2], top + 0.15, *table[3:])]), np.zeros((0, 5)))
    planner = BasePlanner(FETCH, OccupancyGrid(ROOM), higher, np.array(FETCH.resting_arm), spheres)
    assert planner.plan(start, goal) is None
