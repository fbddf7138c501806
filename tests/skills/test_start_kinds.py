"""Kinds of starts."""

import heapq
import itertools
import math

import numpy as np
import pytest

from rearrange import RearrangeEnv, SimulatorConfig
from rearrange.navigation import load_layout, standing_region
from rearrange.navigation.reach import NO_DOORS
from rearrange.tasks.starts import DETOUR
from skills.start_kinds import start_kind


@pytest.fixture
def world():
    env = RearrangeEnv("pick", None, "val", SimulatorConfig(camera_size=8))
    env.reset(seed=0)
    yield env
    env.close()


def walk(grid, region) -> np.ndarray:
    """Ways to a region over neighbouring cells, corners included [nx, ny], m: up to 8 % too long."""
    passable, way = grid.passable(), np.full(region.shape, math.inf)
    heap = [(0.0, *map(int, cell)) for cell in np.argwhere(region & passable)]
    while heap:
        length, i, j = heapq.heappop(heap)
        if way[i, j] <= length:
            continue
        way[i, j] = length
        for a, b in itertools.product((-1, 0, 1), repeat=2):
            if passable[i + a, j + b] and way[i + a, j + b] == math.inf:
                heapq.heappush(heap, (length + grid.cell * math.hypot(a, b), i + a, j + b))
    return way


def test_a_way_that_leads_around_something_is_a_detour(world):
    """Against ways over a lattice, from all over the neighbourhood."""
    target, arm = world.episode.targets[0], world.robot.reach.standing
    goal = np.array(target.start[:2])
    grid = load_layout(world.episode.layout, world.episode.variation)[1]
    ways = walk(grid, standing_region(grid, goal, arm, NO_DOORS))
    cells = np.argwhere(grid.island)
    near = cells[np.linalg.norm(grid.center_of(cells) - goal, axis=1) < 2.5]
    told = {0.0: 0, 1.0: 0}
    for cell in near[:: len(near) // 200]:
        x, y = grid.center_of(cell)
        world.state.base_pose[0, :2] = x, y
        kind = start_kind(world)
        assert kind["receptacle"] == target.start_receptacle
        told[kind["detour"]] += 1
        way = ways[tuple(cell)]
        extra = way - max(math.dist((x, y), goal) - arm, 0.0)
        assert extra >= DETOUR if kind["detour"] else extra - 0.083 * way <= DETOUR + grid.cell
    assert min(told.values()) > 5


def test_only_tasks_that_go_to_a_thing_have_kinds():
    env = RearrangeEnv("open_fridge", None, "val", SimulatorConfig(camera_size=8))
    env.reset(seed=0)
    assert start_kind(env) == {}
    env.close()
