"""Every task in the environment, and on either array library."""

import copy
import warnings

import array_api_compat.numpy as numpy_api
import array_api_compat.torch as torch_api
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from omegaconf import OmegaConf

from rearrange import RearrangeEnv, SimulatorConfig, default_config, make_task
from rearrange.sim import NOTHING, SimState
from rearrange.tasks import TASKS
from rearrange.tasks.navigate import NavigateConfig

SMALL = SimulatorConfig(camera_size=12)
NEW = [name for name in TASKS if name not in ("pick", "tidy_house")]  # those are in test_env.py

pytestmark = pytest.mark.usefixtures("one_variation")


def make(task, **options):
    return RearrangeEnv(task, None, "val", SMALL, **options)


@pytest.mark.parametrize("task", NEW)
def test_gymnasiums_own_checker_passes(task):
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*(dtype|precision|render_fps|deprecat).*")
        check_env(make(task), skip_render_check=True)


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
    columns = getattr(kind, "action_slice", slice(0, kind.action_size))
    assert columns.stop - columns.start == kind.action_size
    assert make(task).action_space.shape == (kind.action_size,)


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


def random_state(rng, count, episodes) -> dict[str, np.ndarray]:
    """Arrays of a state near what the episodes are about."""
    arrays = vars(SimState.empty(count))
    for name, value in arrays.items():
        if value.dtype.kind == "f":
            arrays[name] = rng.normal(0.0, 1.0, value.shape)
    slots = [episode.targets[0].slot for episode in episodes]
    arrays["held_object"] = np.array([slots[0], NOTHING, slots[2], 1, NOTHING])
    arrays["held_handle"] = np.array([NOTHING, 1, NOTHING, NOTHING, 0])
    arrays["hold_violated"] = np.array([False, False, False, False, True])
    arrays["contact_force"] = rng.uniform(0.0, 300.0, count)
    for i, slot in enumerate(slots):
        arrays["object_position"][i, slot] = episodes[i].targets[0].goal
    return arrays


def to_library(xp, arrays) -> SimState:
    """A state of doubles in either library."""
    return SimState(**{name: xp.asarray(copy.copy(value)) for name, value in arrays.items()})


@pytest.mark.parametrize("name", TASKS)
def test_numpy_and_torch_agree(name):
    rng, count = np.random.default_rng(0), 5
    sampler = make_task(name)
    episodes = [sampler.sample_episode("val", rng) for _ in range(count)]
    tasks = [make_task(name, None, count, xp=xp) for xp in (numpy_api, torch_api)]
    libraries = (numpy_api, torch_api)
    arrays = random_state(rng, count, episodes)
    for task, xp in zip(tasks, libraries, strict=True):
        task.start(range(count), episodes, to_library(xp, arrays))
    for _ in range(4):
        arrays = random_state(rng, count, episodes)
        action = rng.uniform(-1.0, 1.0, (count, 11))
        found = []
        for task, xp in zip(tasks, libraries, strict=True):
            state = to_library(xp, arrays)
            masked = task.mask(state, xp.asarray(action[:, :10].copy()))
            outcome = task.evaluate(state, xp.asarray(action))
            found.append(
                {
                    "masked": masked,
                    "terminated": outcome.terminated,
                    "success": outcome.success,
                    **{f"reward/{key}": value for key, value in outcome.rewards.items()},
                    **{f"failure/{key}": value for key, value in outcome.failures.items()},
                    **task.observe(state),
                }
            )
        assert found[0].keys() == found[1].keys()
        for key, value in found[0].items():
            assert value.shape[0] == count, key
            np.testing.assert_allclose(value, np.asarray(found[1][key]), atol=2e-5, err_msg=key)


@pytest.mark.parametrize("name", TASKS)
def test_a_lone_world_is_as_one_of_many(name):
    rng, count = np.random.default_rng(1), 5
    sampler = make_task(name)
    episodes = [sampler.sample_episode("val", rng) for _ in range(count)]
    batch, lone = make_task(name, None, count), make_task(name, None, 1)

    def alone(arrays):
        return SimState(**{key: value[2:3] for key, value in arrays.items()})

    arrays = random_state(rng, count, episodes)
    batch.start(range(count), episodes, to_library(numpy_api, arrays))
    lone.start([0], [episodes[2]], alone(arrays))
    for _ in range(3):
        arrays = random_state(rng, count, episodes)
        action = rng.uniform(-1.0, 1.0, (count, 11))
        many = batch.evaluate(to_library(numpy_api, arrays), action)
        one = lone.evaluate(alone(arrays), action[2:3])
        for key, value in one.rewards.items():
            np.testing.assert_allclose(value[0], many.rewards[key][2], atol=1e-9, err_msg=key)
        assert one.terminated[0] == many.terminated[2]
        seen = batch.observe(to_library(numpy_api, arrays))
        for key, value in lone.observe(alone(arrays)).items():
            np.testing.assert_allclose(value[0], seen[key][2], atol=1e-9, err_msg=key)
