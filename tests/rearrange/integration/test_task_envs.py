"""Every task in the environment."""

import numpy as np
import pytest
from omegaconf import OmegaConf

from rearrange import RearrangeEnv, SimulatorConfig, default_config, make_task
from rearrange.robot.fetch import FETCH
from rearrange.sim import NOTHING, SimState
from rearrange.tasks import TASKS
from rearrange.tasks.navigate import NavigateConfig

SMALL = SimulatorConfig(camera_size=12)
NEW = [name for name in TASKS if name not in ("pick", "tidy_house")]  # those are in test_env.py

pytestmark = pytest.mark.usefixtures("one_variation")


def make(task, **options):
    return RearrangeEnv(task, None, "val", SMALL, **options)


@pytest.mark.parametrize("task", NEW)
def test_a_seed_gives_the_same_run_again(task):
    runs = []
    for _ in range(2):
        env = make(task, seed=3)
        observation = env.reset()[0]
        actions = np.random.default_rng(0).uniform(-1, 1, (8, env.task.action_size))
        trace = [observation]
        for action in actions:
            observation, reward, terminated, *_ = env.step(action)
            trace.append({**observation, "reward": reward})
            if terminated:
                break
        runs.append(trace)
        env.close()
    assert len(runs[0]) == len(runs[1])
    for first, second in zip(*runs, strict=True):
        for key, value in first.items():
            np.testing.assert_array_equal(value, second[key], key)


@pytest.mark.parametrize("task", TASKS)
def test_action_sizes_are_those_of_their_columns(task):
    kind = TASKS[task][0]
    names = kind.action_names(FETCH)
    assert names == FETCH.actions.names[make(task).task.action_slice]
    assert make(task).action_space.shape == (len(names),)


def test_navigate_moves_the_base_and_stops():
    config = NavigateConfig(stop_distance=np.inf)  # a stop counts wherever it is called
    env = RearrangeEnv("navigate", config, "val", SMALL)
    env.reset(seed=0)
    x, y, yaw = env.state.base_pose[0].copy()
    arm = env.state.arm_joints[0].copy()
    terminated = env.step(np.array([0.0, 0.5, -1.0], np.float32))[2]
    assert env.state.base_pose[0, 2] == pytest.approx(yaw + 0.5 * 0.0833, abs=1e-6)
    np.testing.assert_allclose(env.state.base_pose[0, :2], (x, y), atol=1e-6)
    np.testing.assert_allclose(env.state.arm_joints[0], arm, atol=0.01)
    assert not terminated
    assert env.step(np.array([0.0, 0.0, 1.0], np.float32))[2]
    env.close()


@pytest.mark.parametrize("task", TASKS)
def test_settings_are_plain_enough_for_overrides(task):
    default = default_config(task)
    settings = OmegaConf.merge(OmegaConf.structured(default), {"max_steps": 7})
    settings = OmegaConf.merge(settings, OmegaConf.from_dotlist(["force.penalty=0.5"]))
    made = OmegaConf.to_object(settings)
    assert type(made) is type(default)
    assert (made.max_steps, made.force.penalty) == (7, 0.5)
    assert make_task(task, made).max_steps == 7


def random_state(rng, count, episodes) -> SimState:
    """A state near what the episodes are about."""
    state = SimState(count, FETCH)
    for name in state.worlds.dtype.names:
        values = getattr(state, name)
        if values.dtype.kind == "f":
            values[:] = rng.normal(0.0, 1.0, values.shape)
    slots = [episode.targets[0].slot for episode in episodes]
    state.held_object[:] = [slots[0], NOTHING, slots[2], 1, NOTHING]
    state.held_handle[:] = [NOTHING, 1, NOTHING, NOTHING, 0]
    state.hold_violated[:] = [False, False, False, False, True]
    state.contact_force[:] = rng.uniform(0.0, 300.0, count)
    for i, slot in enumerate(slots):
        state.object_position[i, slot] = episodes[i].targets[0].goal
    return state


@pytest.mark.parametrize("name", TASKS)
def test_a_lone_world_is_as_one_of_many(name):
    rng, count = np.random.default_rng(1), 5
    sampler = make_task(name)
    episodes = [sampler.sample_episode("val", rng) for _ in range(count)]
    batch = make_task(name, None, count)
    lone = [make_task(name, None, 1) for _ in range(count)]

    def alone(state, i):
        single = SimState(1, FETCH)
        single.worlds[0] = state.worlds[i]
        return single

    state = random_state(rng, count, episodes)
    batch.start(range(count), episodes, state)
    for i, task in enumerate(lone):
        task.start([0], [episodes[i]], alone(state, i))
    for _ in range(3):
        state = random_state(rng, count, episodes)
        action = rng.uniform(-1.0, 1.0, (count, 11))
        masked = batch.mask(state, action[:, :10].copy())
        many, seen = batch.evaluate(state, action), batch.observe(state)
        for i, task in enumerate(lone):
            single = alone(state, i)
            np.testing.assert_array_equal(
                task.mask(single, action[i : i + 1, :10].copy())[0], masked[i]
            )
            one = task.evaluate(single, action[i : i + 1])
            assert one.worlds[0] == many.worlds[i]
            for key, value in task.observe(single).items():
                np.testing.assert_array_equal(value[0], seen[key][i], err_msg=key)


@pytest.mark.parametrize("name", TASKS)
def test_observations_outlive_the_step(name):
    rng = np.random.default_rng(2)
    task = make_task(name)
    episode = task.sample_episode("val", rng)
    state = random_state(rng, 5, [episode] * 5)
    task = make_task(name, None, 5)
    task.start(range(5), [episode] * 5, state)
    first = task.observe(state)
    kept = {key: value.copy() for key, value in first.items()}
    task.observe(random_state(rng, 5, [episode] * 5))
    for key, value in first.items():
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, kept[key])
