"""The environments: seeds, and many agents as each alone."""

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

from nav.agent import AgentConfig
from nav.env import NavEnv, NavVectorEnv
from nav.episode import NavEpisode
from nav.flee import FleeConfig
from nav.table import TASKS, default_config
from rearrange import UserError
from tests.helpers.numbered import Numbered

SMALL = AgentConfig(camera_size=16)


def short(task, steps):
    config = default_config(task)
    config.max_steps = steps
    return config


@pytest.mark.parametrize("task", TASKS)
def test_the_same_seed_repeats(task):
    tracks = []
    for _ in range(2):
        env = NavEnv(task, split="val", agent=SMALL)
        rng = np.random.default_rng(1)
        observation, _ = env.reset(seed=5)
        track = [observation]
        for _ in range(20):
            observation, *_ = env.step(int(rng.integers(1, 4)))
            assert env.observation_space.contains(observation)
            track.append(observation)
        tracks.append(track)
        env.reset()
        tracks.append(env.episode)
        env.reset(seed=6)
        assert env.episode != tracks[-1]
    assert tracks[1] == tracks[3]
    for first, second in zip(tracks[0], tracks[2], strict=True):
        for key, value in first.items():
            np.testing.assert_array_equal(value, second[key])


@pytest.mark.parametrize("task", TASKS)
def test_agents_side_by_side_are_those_that_stand_alone(task):
    seeds, steps = [3, 11, 4], 12
    vector = NavVectorEnv(3, task, short(task, 7), "val", agent=SMALL)
    assert vector.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    alone = [NavEnv(task, short(task, 7), "val", agent=SMALL) for _ in seeds]
    seen, _ = vector.reset(seed=seeds)
    shown = [env.reset(seed=seed)[0] for env, seed in zip(alone, seeds, strict=True)]
    rng = np.random.default_rng(0)
    moves = [1, 1, 1, 2, 3, *[4, 5] * TASKS[task].CAN_LOOK]
    ends = 0
    for _ in range(steps):
        for i, observation in enumerate(shown):
            for key, value in observation.items():
                np.testing.assert_array_equal(seen[key][i], value, key)
        actions = rng.choice(moves, 3) if rng.random() < 0.8 else np.array([1, 2, 1])
        if TASKS[task].CAN_STOP and rng.random() < 0.2:
            actions[0] = 0
        seen, rewards, terminated, truncated, infos = vector.step(actions)
        for i, env in enumerate(alone):
            shown[i], reward, end, cut, info = env.step(actions[i])
            assert (reward, end, cut) == (rewards[i], terminated[i], truncated[i])
            if end or cut:
                ends += 1
                assert infos["final_info"]["metrics"][i] == info["metrics"]
                for key, value in infos["final_obs"][i].items():
                    np.testing.assert_array_equal(shown[i][key], value, key)
                shown[i], _ = env.reset()
    assert ends >= 3


@pytest.mark.parametrize("task", TASKS)
def test_agents_side_by_side_go_on_in_mid_episode(task):
    actions = [[], [1, 2, 1], [1, 1, 3, 1, 2]]
    vector = NavVectorEnv(3, task, short(task, 7), "val", agent=SMALL)
    seen, _ = vector.begin(Numbered(5), [4, 1, 9], actions)
    for i, number in enumerate([4, 1, 9]):
        alone = NavEnv(task, short(task, 7), "val", agent=SMALL)
        shown, _ = alone.reset(seed=10 * i + number)
        for action in actions[i]:
            shown = alone.step(action)[0]
        for key, value in shown.items():
            np.testing.assert_array_equal(seen[key][i], value, key)


def test_observations_outlive_the_next_step():
    env = NavVectorEnv(2, "pointnav", split="val", agent=SMALL)
    env.reset(seed=0)
    before = env.step(np.array([1, 1]))[0]
    copies = {key: value.copy() for key, value in before.items()}
    env.step(np.array([1, 2]))
    for key, value in before.items():
        np.testing.assert_array_equal(value, copies[key])


@pytest.mark.parametrize("action", [4, -1, 1.0, np.array([1])])
def test_actions_must_be_of_the_space(action):
    env = NavEnv("pointnav", split="val", agent=SMALL)
    with pytest.raises(ResetNeeded, match="reset"):
        env.step(1)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="whole numbers from 0 to 3"):
        env.step(action)


def test_unknown_tasks_name_those_that_exist():
    with pytest.raises(UserError, match="unknown navigation task 'dance': choose one of pointnav"):
        NavEnv("dance")


GOOD = {"episode_id": "1", "building": "empty_hall", "start": (1.0, 1.0, 0.0), "goal": (3.0, 1.0)}


def test_what_is_no_episode_is_refused():
    env = NavEnv("explore", split="val", agent=SMALL)
    with pytest.raises(
        UserError, match=r'^options\["episode"\]: expected a NavEpisode, found str$'
    ):
        env.reset(options={"episode": "x"})


def test_many_agents_take_no_given_episode():
    env = NavVectorEnv(2, "pointnav", split="val", agent=SMALL)
    with pytest.raises(UserError, match=r'options\["episode"\]: .* take NavEnv'):
        env.reset(seed=0, options={"episode": NavEpisode(**GOOD)})
    env.reset(seed=0, options={})


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"num_envs": -1}, "num_envs must be from 1 to 65536, found -1"),
        ({"num_envs": 2, "threads": -3}, "threads must be from 0 to 1024, found -3"),
        ({"num_envs": 2, "agent": 3}, "config of agent must be of type AgentConfig, found int"),
        (
            {"num_envs": 2, "config": FleeConfig()},
            "config of pointnav must be of type PointNavConfig",
        ),
    ],
)
def test_what_is_no_number_or_config_is_told_in_one_line(what, told):
    with pytest.raises(UserError) as error:
        NavVectorEnv(**what)
    assert str(error.value).startswith(told)
    assert "\n" not in str(error.value)
