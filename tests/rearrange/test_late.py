"""Observations that come late."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rearrange import RearrangeEnv, RearrangeVectorEnv, SimulatorConfig, UserError
from rearrange.late import LateObservations
from rearrange.scenes.registry import CLASSIC
from rearrange.tasks import default_config

SMALL = SimulatorConfig(camera_size=8)


def config_of(task, delay, repeat=1, max_steps=400):
    config = default_config(task)
    return replace(
        config, action=replace(config.action, delay=delay, repeat=repeat), max_steps=max_steps
    )


def same(first, second):
    assert first.keys() == second.keys()
    for key, value in first.items():
        np.testing.assert_array_equal(value, second[key], key)


@given(st.integers(0, 4), st.lists(st.integers(0, 3), min_size=1, max_size=30))
def test_what_is_seen_is_so_many_steps_old_but_never_of_another_episode(delay, restarts):
    """Two worlds that count: episode in hundreds, steps in it in ones; world 0 restarts at times."""
    now = np.array([100, 200])
    late = LateObservations(delay, lambda: {"count": now.copy()})
    late.begin(0)
    late.begin(1)
    same(late.observe(), {"count": now})
    for step, kind in enumerate(restarts, 1):
        late.before_step()
        now = now + 1
        late.after_step()
        if kind == 0:
            now[0] = 100 * (step + 3)
            late.begin(0)
        if kind < 3:  # at times nobody looks
            expected = now - np.minimum(now % 100, delay)
            same(late.observe(), {"count": expected})


@pytest.mark.parametrize("delay", [-1, 0.5])
def test_a_senseless_delay_is_refused(delay):
    with pytest.raises(
        UserError, match=f"task.action.delay must be a whole number from 0.*{delay}"
    ):
        LateObservations(delay, dict)


def episodes(env, actions, seeds):
    """Observations of episodes from these seeds, the start's first, and what else came of the steps."""
    for seed in seeds:
        seen, told = [env.reset(seed=seed)[0]], []
        for action in actions:
            observation, *more = env.step(action)
            seen.append(observation)
            told.append(more)
            if more[1] or more[2]:
                break
        yield seen, told


@pytest.mark.usefixtures("one_variation")
@pytest.mark.parametrize("delay", [1, 3])
def test_an_episode_is_the_same_but_for_the_delay_to_its_end(delay):
    actions = np.random.default_rng(0).uniform(-1, 1, (9, 10)).astype(np.float32)
    envs = [RearrangeEnv("pick", config_of("pick", d, 1, 9), "val", SMALL) for d in (0, delay)]
    runs = [list(episodes(env, actions, (3, 4))) for env in envs]
    for (seen, told), (late, late_told) in zip(*runs, strict=True):
        assert told == late_told
        assert told[-1][2]  # out of time: the last observation is late, too
        for k, observation in enumerate(late):
            same(observation, seen[max(k - delay, 0)])
        assert any((seen[0][key] != seen[-1][key]).any() for key in seen[0])


@pytest.mark.usefixtures("one_variation")
def test_the_delay_is_in_steps_also_where_an_action_lasts_several():
    actions = np.random.default_rng(1).uniform(-1, 1, (4, 3)).astype(np.float32)
    actions[:, 2] = -1.0  # do not stop
    single = RearrangeEnv("navigate", config_of("navigate", 0), "val", SMALL)
    ((every, _),) = episodes(single, np.repeat(actions, 3, axis=0), (3,))
    slow = RearrangeEnv("navigate", config_of("navigate", 2, repeat=3), "val", SMALL)
    ((late, _),) = episodes(slow, actions, (3,))
    for k, observation in enumerate(late):
        same(observation, every[max(3 * k - 2, 0)])


@pytest.mark.usefixtures("one_variation")
def test_worlds_side_by_side_are_as_late_as_one_alone():
    config = config_of("pick", 2, 1, 5)
    actions = np.random.default_rng(2).uniform(-1, 1, (12, 10)).astype(np.float32)
    side_by_side = RearrangeVectorEnv(2, "pick", config, "val", SMALL, homes=CLASSIC)
    alone = [RearrangeEnv("pick", config, "val", SMALL, homes=CLASSIC) for _ in range(2)]
    start = side_by_side.reset(seed=7)[0]
    for i, env in enumerate(alone):
        same({key: value[i] for key, value in start.items()}, env.reset(seed=7 + i)[0])
    for action in actions:
        seen, _, terminated, truncated, infos = side_by_side.step(np.stack([action, -action]))
        for i, env in enumerate(alone):
            expected = env.step((action, -action)[i])[0]
            if terminated[i] or truncated[i]:
                same(infos["final_obs"][i], expected)
                expected = env.reset()[0]
            same({key: value[i] for key, value in seen.items()}, expected)


@pytest.mark.usefixtures("one_variation")
def test_steps_without_observations_make_what_is_seen_older_too():
    env = RearrangeEnv("pick", config_of("pick", 1), "val", SMALL)
    now = RearrangeEnv("pick", config_of("pick", 0), "val", SMALL)
    for each in (env, now):
        each.reset(seed=3)
    action = np.array([0.02] * 7 + [-1.0, 0.05, 0.05])
    env.step_physical(action)
    same(env.observe(), now.observe())
    now.step_physical(action)
    env.step_physical(action)
    same(env.observe(), now.observe())
