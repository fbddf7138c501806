"""The way over the floor map, against scipy's shortest paths and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import dijkstra

from rearrange.env import RearrangeEnv
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import NavigateConfig
from rearrange.tasks.floor_map import CELL, CELLS, OBSTACLE
from rearrange.tasks.map_way import (
    COUNT,
    FARTHEST,
    LOOK_AHEAD,
    MAP_WAY,
    MERGED,
    PRICES,
    SIDE,
    MapWay,
    _search,
)

PART = 24  # cells of the search along each side of the part in which the tests build


@pytest.fixture
def lead(make_state):
    """Tells the way in a grid [CELLS, CELLS], the start being the origin."""

    def look(grid, pose=(0.0, 0.0, 0.0), goal=(3.0, 0.0, 1.0), push=0.0, way=None, remember=True):
        state = make_state(1, base_pose=[pose])
        way = way or MapWay(1)
        start, goals = np.zeros((1, 3)), np.array([goal], float)
        return way.look(
            np.arange(1), np.array([remember]), grid[None], state, start, np.array([push]), goals
        )[0]

    return look


def empty():
    return np.zeros((CELLS, CELLS), np.uint8)


def fill(grid, x, y):
    """Obstacles in ranges of places [m]."""
    first, last = (
        np.floor(np.array(each) / CELL).astype(int) + CELLS // 2 for each in zip(x, y, strict=True)
    )
    grid[first[0] : last[0], first[1] : last[1]] = OBSTACLE
    return grid


def expected_costs(grid, goal_cell):
    """Costs to a cell within the middle part, by another program."""
    fine = np.argwhere(grid == OBSTACLE) + 0.5
    low = COUNT // 2 - PART // 2
    cells = np.stack(np.meshgrid(*[np.arange(PART)] * 2, indexing="ij"), -1).reshape(-1, 2)
    middles = (cells + low + 0.5) * MERGED
    away = np.full(len(cells), math.inf)
    if len(fine):
        away = np.linalg.norm(middles[:, None] - fine, axis=2).min(axis=1) * CELL
    price = np.ones(len(cells))
    for least, each in reversed(PRICES):
        price[away < least] = each
    rows, columns, lengths = [], [], []
    for di in (-1, 0, 1):
        for dj in (-1, 0, 1):
            other = cells + np.array((di, dj))
            inside = ((other >= 0) & (other < PART)).all(axis=1) & ((di, dj) != (0, 0))
            one, two = np.flatnonzero(inside), (other @ (PART, 1))[inside]
            rows.append(one)
            columns.append(two)
            lengths.append(SIDE * math.hypot(di, dj) * (price[one] + price[two]) / 2)
    graph = coo_matrix(
        (np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))),
        (PART * PART, PART * PART),
    )
    goal = int((np.array(goal_cell) - low) @ (PART, 1))
    return dijkstra(graph.tocsr(), indices=goal).reshape(PART, PART)


@given(st.integers(0, 2**32 - 1), st.floats(0.0, 0.12))
def test_costs_are_those_of_shortest_paths(seed, share):
    """As far as no way around the part, where all is free, can be cheaper."""
    rng = np.random.default_rng(seed)
    grid = empty()
    middle = CELLS // 2
    half = MERGED * PART // 2
    part = grid[middle - half : middle + half, middle - half : middle + half]
    part[rng.random(part.shape) < share] = OBSTACLE
    goal, robot = rng.integers(6, PART - 6, (2, 2)) - PART // 2
    place = (np.array([goal, robot]) + 0.5) * SIDE
    costs = np.empty((COUNT, COUNT))
    _search(grid, (*place[0], 0.0), (*place[1], 1.0, 0.0), costs)
    low = COUNT // 2 - PART // 2
    found = costs[low : low + PART, low : low + PART]
    expected = expected_costs(grid, goal + COUNT // 2)
    at = tuple(robot + PART // 2)
    # Outside all is free: a way around may be cheaper, none is dearer
    assert found[at] <= expected[at] + 1e-9
    edge = min(expected[[0, -1]].min(), expected[:, [0, -1]].min())
    if expected[at] <= edge:
        assert found[at] == pytest.approx(expected[at])
    there = np.isfinite(found) & (found <= edge)
    np.testing.assert_allclose(found[there], expected[there])


def test_on_an_empty_map_it_leads_straight_to_the_goal(lead):
    cost, ahead, left, farther, aside = lead(empty(), goal=(3.0, 0.1, 1.0))
    assert cost == pytest.approx(3.0, abs=SIDE)
    assert (ahead, farther) == pytest.approx(LOOK_AHEAD, abs=1.6 * SIDE)
    assert (left, aside) == pytest.approx((0.1, 0.1), abs=SIDE / 2)
    # Turned to the left by a right angle, the goal is on the right; from farther along the way it is behind
    cost, ahead, left, farther, aside = lead(empty(), (0.1, 0.1, math.pi / 2), (3.1, 0.1, 1.0))
    assert (ahead, farther) == pytest.approx((0.0, 0.0), abs=SIDE / 2)
    assert (left, aside) == pytest.approx((-0.6, -1.8), abs=1.6 * SIDE)


def test_near_the_goal_the_places_are_the_goal(lead):
    _, ahead, left, farther, aside = lead(empty(), (2.95, 0.0, 0.0), (3.05, 0.07, 1.0))
    assert (ahead, left, farther, aside) == pytest.approx((0.1, 0.07, 0.1, 0.07), abs=1e-6)


def test_it_leads_around_a_wall_and_through_a_door(lead):
    wall = fill(empty(), (1.0, 1.2), (-9.0, 9.0))
    wall[:, CELLS // 2 + 15 : CELLS // 2 + 27] = 0  # a door from y = 1.5 to 2.7 m
    cost, ahead, left, farther, aside = lead(wall)
    assert 5.0 < cost < 6.5  # by hand: to the door, through it and back
    assert left > 0.3
    assert aside > 1.0
    assert ahead < 0.6
    assert farther < 1.0


def test_what_blocks_all_ways_is_crossed(lead):
    """The map may err, and goals lie on furniture."""
    cost, ahead, left, *_ = lead(fill(empty(), (1.0, 1.3), (-15.9, 15.9)))
    assert 8.0 < cost < FARTHEST
    assert ahead == pytest.approx(0.6, abs=SIDE)
    assert abs(left) < SIDE


def test_the_same_again_tells_the_same_and_looks_in_passing_change_nothing(lead):
    way, grid = MapWay(1), empty()
    first = lead(grid, way=way)
    np.testing.assert_array_equal(first, lead(grid, way=way))
    wall = fill(empty(), (1.0, 1.2), (-3.0, 3.0))
    np.testing.assert_array_equal(first, lead(wall, way=way))  # the base has not moved
    lead(wall, pose=(-0.5, 0.0, 0.0), way=way, remember=False)
    np.testing.assert_array_equal(first, lead(wall, way=way))
    way.begin(0)
    assert lead(wall, way=way)[0] > first[0] + 1.0


@pytest.mark.parametrize(
    ("pose", "push"), [((0.3, 0.0, 0.0), 0.0), ((0.0, 0.0, 0.6), 0.0), ((0.0, 0.0, 0.0), 1.0)]
)
def test_who_moves_or_bumps_searches_anew(lead, pose, push):
    way = MapWay(1)
    before = lead(empty(), way=way)[0]
    wall = fill(empty(), (1.0, 1.2), (-3.0, 3.0))
    assert lead(wall, pose, push=push, way=way)[0] > before + 1.0


def test_who_follows_it_comes_to_the_goal():
    """A controller of two lines, which knows nothing else."""
    config = NavigateConfig(map_way=True, stop_distance=0.0)
    env = RearrangeEnv("navigate", config, "val", SimulatorConfig(camera_size=32))
    reached = 0
    for seed in range(4):
        observation, _ = env.reset(seed=seed)
        for _ in range(200):
            _, ahead, left, *_ = observation[MAP_WAY]
            bearing = math.atan2(left, ahead)
            action = np.array([float(abs(bearing) < 0.5), np.clip(3 * bearing, -1, 1), -1.0])
            observation, _, terminated, truncated, _ = env.step(action.astype(np.float32))
            if observation["goal_to_agent_gps_compass"][0] < 1.2:
                reached += 1
                break
            if terminated or truncated:
                break
    assert reached >= 3
