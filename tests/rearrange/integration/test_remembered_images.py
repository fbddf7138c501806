"""Images that depend on those before: worlds side by side see what one alone sees, and go on in the middle."""

import numpy as np
import pytest

from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.scenes.registry import CLASSIC
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import NavigateConfig
from rearrange.tasks.base import ActionConfig
from rearrange.tasks.floor_map import FLOOR_MAP
from rearrange.tasks.map_way import MAP_WAY
from tests.helpers.numbered import Numbered

SMALL = SimulatorConfig(camera_size=16)
SIZE = 3  # of an action


def short(delay=0):
    """Episodes that end in the middle of an action."""
    action = ActionConfig(repeat=3, delay=delay)
    return NavigateConfig(
        floor_map=True, map_way=True, max_steps=13, stop_distance=100.0, action=action
    )


def actions_of(rng, *shape):
    actions = rng.uniform(-1.0, 1.0, (*shape, SIZE)).astype(np.float32)
    actions[..., 2] -= 0.8  # stop seldom
    return np.clip(actions, -1.0, 1.0)


def assert_same(found, i, expected):
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key][i], value, key)


@pytest.mark.parametrize("delay", [0, 2])
def test_worlds_side_by_side_see_what_one_alone_sees(delay):
    config, count = short(delay), 3
    vector = RearrangeVectorEnv(count, "navigate", config, "val", SMALL, homes=CLASSIC)
    singles = [RearrangeEnv("navigate", config, "val", SMALL, homes=CLASSIC) for _ in range(count)]
    seen, _ = vector.reset(seed=7)
    for i, env in enumerate(singles):
        assert_same(seen, i, env.reset(seed=7 + i)[0])
    rng = np.random.default_rng(1)
    ends, maps = 0, []
    for _ in range(12):
        actions = actions_of(rng, count)
        seen, *_ = vector.step(actions)
        for i, env in enumerate(singles):
            alone, _, terminated, truncated, _ = env.step(actions[i])
            if terminated or truncated:
                ends += 1
                alone, _ = env.reset()
            assert_same(seen, i, alone)
            maps.append(alone[FLOOR_MAP].astype(bool).sum())
    assert ends > count
    assert len(set(maps)) > count
    vector.close()


@pytest.mark.parametrize("delay", [0, 2])
def test_worlds_side_by_side_remember_what_they_saw_before_they_go_on(delay):
    config, numbers = short(delay), [4, 1, 9]
    rng = np.random.default_rng(0)
    actions = [list(actions_of(rng, n)) for n in (0, 3, 4)]
    for own in actions:
        for action in own:
            action[2] = -1.0
    vector = RearrangeVectorEnv(3, "navigate", config, "train", SMALL)
    seen, _ = vector.begin(Numbered(30), numbers, actions)
    for i, own in enumerate(actions):
        env = RearrangeEnv("navigate", config, "train", SMALL, seed=30 + i)
        alone, _ = env.reset(seed=10 * i + numbers[i], options={"episode_number": numbers[i]})
        for action in own:
            alone = env.step(action)[0]
        assert_same(seen, i, alone)
    vector.close()


def test_who_looks_in_the_middle_of_an_action_changes_nothing():
    config = short()
    first, second = (RearrangeEnv("navigate", config, "train", SMALL) for _ in range(2))
    first.reset(seed=3)
    second.reset(seed=3)
    first.after_step = lambda env: env.observe()
    rng = np.random.default_rng(2)
    for _ in range(4):
        action = actions_of(rng)
        action[2] = -1.0
        one, other = first.step(action)[0], second.step(action)[0]
        for key in (FLOOR_MAP, MAP_WAY):
            np.testing.assert_array_equal(one[key], other[key])
