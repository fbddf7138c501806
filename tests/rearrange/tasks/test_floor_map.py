import math

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.navigation import load_layout
from rearrange.render.camera import Camera, look_at
from rearrange.robot.fetch import FETCH
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import NavigateConfig
from rearrange.tasks.floor_map import (
    BLIND_RADIUS,
    CELL,
    CELLS,
    FLOOR_MAP,
    GOAL_RADIUS,
    SPAN,
    FloorMap,
)

SIZE, NOTHING_SEEN = 64, 1.0
SOMETHING, FLOOR, GOAL = range(3)  # channels


@pytest.fixture
def see(make_state):
    """Looks once at a depth image [SIZE, SIZE] in units of 10 m; returns the map [SIZE, SIZE, 3]."""

    def look(
        seen, depth=NOTHING_SEEN, pose=(0.0, 0.0, 0.0), goal=(3, 0, 1), push=0.0, remember=True
    ):
        state = make_state(1, base_pose=[pose])
        depths = np.full((1, SIZE, SIZE, 1), 0.0, np.float32) + np.reshape(depth, (-1, 1))[:, None]
        start = np.zeros((1, 3))
        seen.add(
            np.arange(1), np.array([remember]), state, start, np.array([push]), depths[:1], 10.0
        )
        return seen.show(np.arange(1), state, start, np.array([goal], float), SIZE)[0]

    return look


def pixel(ahead, left):
    """Where a place of the base frame is in the picture."""
    return int((SPAN / 2 - ahead) / SPAN * SIZE), int((SPAN / 2 - left) / SPAN * SIZE)


def of_a_wall(away):
    """Depth [SIZE, SIZE] / 10 m of an endless floor and a wall across it, so far ahead of the base."""
    eye = np.array(FETCH.camera.position)
    turn = look_at(eye, FETCH.camera.target)
    rays = Camera(SIZE, SIZE, FETCH.camera.field_of_view).rays() @ turn.T
    with np.errstate(divide="ignore"):
        to_floor = np.where(rays[..., 2] < 0, -eye[2] / rays[..., 2], np.inf)
        to_wall = np.where(rays[..., 0] > 0, (away - eye[0]) / rays[..., 0], np.inf)
    return np.minimum(np.minimum(to_floor, to_wall) / 10.0, 1.0)


def look_at_wall(seen, make_state, away, pose=(0.0, 0.0, 0.0)):
    depth = of_a_wall(away).astype(np.float32)[None, ..., None]
    state = make_state(1, base_pose=[pose])
    start = np.zeros((1, 3))
    seen.add(np.arange(1), np.array([True]), state, start, np.zeros(1), depth, 10.0)
    return seen.show(np.arange(1), state, start, start, SIZE)[0]


def test_a_wall_ahead_is_where_it_stands_and_the_floor_before_it_is_seen(make_state):
    told = look_at_wall(FloorMap(FETCH, 1), make_state, 3.03)
    rows, _ = np.nonzero(told[..., SOMETHING])
    row = pixel(3.05, 0.0)[0]
    assert set(rows.tolist()) <= {row - 1, row, row + 1}
    assert told[pixel(2.0, 0.0)][FLOOR] == 128
    assert told[pixel(3.5, 0.0)].tolist() == [0, 0, 0]
    assert told[pixel(-1.0, 0.0)].tolist() == [0, 0, 0]  # behind nothing was seen
    assert told[pixel(0.05, 0.05)][FLOOR] == 255  # here the base is


def test_what_may_be_the_arm_is_no_wall(make_state):
    told = look_at_wall(FloorMap(FETCH, 1), make_state, BLIND_RADIUS - 0.3)
    ahead = told[: SIZE // 2, SIZE // 2 - 4 : SIZE // 2 + 4, SOMETHING]
    assert not ahead.any()


def test_what_was_seen_stays_as_the_base_turns(make_state, see):
    seen = FloorMap(FETCH, 1)
    look_at_wall(seen, make_state, 3.03)
    turned = see(seen, pose=(0.0, 0.0, math.pi / 2))  # the wall is now at the right
    _, columns = np.nonzero(turned[..., SOMETHING])
    assert abs(int(np.median(columns)) - pixel(0.0, -3.05)[1]) <= 1
    nearer = see(seen, pose=(1.0, 0.0, 0.0))
    rows, _ = np.nonzero(nearer[..., SOMETHING])
    assert abs(int(np.median(rows)) - pixel(2.05, 0.0)[0]) <= 1


def test_looking_twice_changes_nothing(make_state):
    seen = FloorMap(FETCH, 1)
    first = look_at_wall(seen, make_state, 2.5)
    before = seen.grids.copy()
    np.testing.assert_array_equal(look_at_wall(seen, make_state, 2.5), first)
    np.testing.assert_array_equal(seen.grids, before)


def test_a_look_in_passing_is_not_remembered(see):
    seen = FloorMap(FETCH, 1)
    assert not see(seen, 0.3, remember=False)[..., :GOAL].any()
    assert see(seen, 0.3)[..., :GOAL].any()


def test_a_new_episode_forgets(make_state, see):
    seen = FloorMap(FETCH, 1)
    look_at_wall(seen, make_state, 2.5)
    seen.begin(0)
    assert not see(seen)[..., SOMETHING].any()


@pytest.mark.parametrize(
    ("goal", "ahead", "left"),
    [
        ((2.0, 1.0, 0.8), 2.0, 1.0),
        ((30.0, 0.0, 0.8), SPAN / 2 - GOAL_RADIUS, 0.0),  # too far: at the edge, in its direction
        ((-8.0, 8.0, 0.8), GOAL_RADIUS - SPAN / 2, SPAN / 2 - GOAL_RADIUS),
    ],
)
def test_the_goal_is_shown(see, goal, ahead, left):
    rows, columns = np.nonzero(see(FloorMap(FETCH, 1), goal=goal)[..., GOAL])
    place = pixel(ahead, left)
    assert abs(rows.mean() - place[0]) <= 1
    assert abs(columns.mean() - place[1]) <= 1


def test_what_is_outside_of_the_grid_is_left_out(see):
    seen = FloorMap(FETCH, 1)
    far = CELL * CELLS
    assert not see(seen, 0.3, pose=(far, far, 0.0))[..., :GOAL].any()
    assert not seen.grids.any()


@pytest.mark.parametrize("push", [1.0, -1.0])
def test_what_the_base_bumps_into_is_shown_where_it_was_driven(see, push):
    rows, columns = np.nonzero(see(FloorMap(FETCH, 1), push=push)[..., SOMETHING])
    assert abs(rows.mean() - pixel(push * 0.4, 0.0)[0]) <= 1
    assert abs(columns.mean() - pixel(0.0, 0.0)[1]) <= 1
    assert not see(FloorMap(FETCH, 1))[..., SOMETHING].any()


def test_a_base_that_drives_against_a_wall_bumps_into_it():
    """Back to the wall that it came from: nothing of it is seen."""
    env = RearrangeEnv(
        "navigate", NavigateConfig(floor_map=True), "val", SimulatorConfig(camera_size=SIZE)
    )
    env.reset(seed=1)
    back = np.array([-1.0, 0.0, -1.0], np.float32)
    for _ in range(200):
        observation, *_, over, _, _ = env.step(back)
        if env.state.base_blocked[0] or over:
            break
    assert env.state.base_blocked[0]
    assert observation[FLOOR_MAP][pixel(-0.4, 0.0)][SOMETHING]
    env.close()


def test_obstacles_in_our_homes_are_true():
    env = RearrangeEnv(
        "navigate", NavigateConfig(floor_map=True), "val", SimulatorConfig(camera_size=SIZE)
    )
    found = wrong = 0
    for seed in range(3):
        env.reset(seed=seed)
        turn = np.array([0.0, 1.0, -1.0], np.float32)
        for _ in range(40):
            observation, *_ = env.step(turn)
        episode = env.episode
        _, grid = load_layout(episode.layout, episode.variation)
        x, y, yaw = env.task.memory["base_start"][0]
        floor_map = env.task._sights._map
        assert floor_map is not None
        assert observation[FLOOR_MAP].any()
        for i, j in np.argwhere(floor_map.grids[0] == 3):
            ahead, left = ((k - CELLS // 2 + 0.5) * CELL for k in (i, j))
            wx = x + math.cos(yaw) * ahead - math.sin(yaw) * left
            wy = y + math.sin(yaw) * ahead + math.cos(yaw) * left
            found += 1
            wrong += grid.clearance_at(wx, wy) > 0.15
    assert found > 500
    assert wrong < 0.02 * found
    env.close()
