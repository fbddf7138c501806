import dataclasses
import math
from collections import Counter

import numpy as np
import pytest

from rearrange.navigation import load_layout
from rearrange.sim.mujoco import MujocoSimulator, SimulatorConfig
from rearrange.tasks import fitness
from rearrange.tasks.fitness import can_stand_near, draw, unfit

pytestmark = pytest.mark.usefixtures("one_variation")


@pytest.fixture(scope="module")
def simulator():
    return MujocoSimulator(1, SimulatorConfig(camera_size=8))


@pytest.fixture
def sample(pick_episodes):
    """A sampled episode whose robot touches nothing."""
    return pick_episodes[0]


def reason(simulator, episode):
    simulator.reset([0], [episode])
    return unfit(episode, simulator.state, 0)


def test_a_good_sample_is_fit(simulator, sample):
    assert reason(simulator, sample) is None


def test_robots_in_the_way_are_unfit(simulator, sample):
    x, y, _ = sample.targets[0].start
    inside = dataclasses.replace(sample, base_pose=(x, y, 0.0))
    assert reason(simulator, inside) in ("robot touches something", "robot off the connected floor")


def test_goals_that_nobody_can_reach_are_unfit(simulator, sample):
    apartment, grid = load_layout(sample.layout, sample.variation)
    width, depth = apartment.bounds[2:]
    points = [(x, y) for x in np.arange(0, width, 0.4) for y in np.arange(0, depth, 0.4)]
    near = [can_stand_near(grid, point) for point in points]
    assert 0 < sum(near) < len(points)
    for point, expected in zip(points[::5], near[::5], strict=True):
        ring = (
            (point[0] + r * math.cos(a), point[1] + r * math.sin(a))
            for r in np.arange(0.4, 1.0, 0.04)
            for a in np.arange(0.0, 6.3, 0.1)
        )
        assert any(grid.on_island(*place) for place in ring) or not expected
    x, y = points[near.index(False)]
    target = dataclasses.replace(sample.targets[0], goal=(x, y, 0.8))
    assert reason(simulator, dataclasses.replace(sample, targets=(target,))) == "goal out of reach"


def test_handles_must_be_within_reach(simulator, sample, monkeypatch):
    opening = dataclasses.replace(sample, targets=(), target_joint="fridge_door")
    assert reason(simulator, opening) is None
    monkeypatch.setattr(fitness, "REACH", (20.0, 30.0))
    assert reason(simulator, opening) == "handle out of reach"


def test_the_first_fit_sample_is_drawn_and_reasons_are_counted(simulator, sample):
    x, y, _ = sample.targets[0].start
    off_floor = dataclasses.replace(sample, base_pose=(x, y, 0.0))
    samples = iter([off_floor, off_floor, sample])
    rejected: Counter[str] = Counter()
    assert draw(lambda: next(samples), simulator, 0, 5, rejected) is sample
    assert sum(rejected.values()) == 2
    assert draw(lambda: off_floor, simulator, 0, 3) is None
