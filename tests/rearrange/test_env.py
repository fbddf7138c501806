import dataclasses

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode

import rearrange
from rearrange import RearrangeEnv, RearrangeVectorEnv, SimulatorConfig, UserError, default_config
from rearrange.scenes.registry import CLASSIC
from rearrange.sim import MujocoSimulator
from rearrange.sim.contacts import ROBOT, SUCTION
from rearrange.tasks import ForceConfig, NavigateConfig, PickConfig
from rearrange.tasks.base import ActionConfig
from tests.helpers.numbered import Numbered

SMALL = SimulatorConfig(camera_size=12)
TASKS = ("pick", "tidy_house")

pytestmark = pytest.mark.usefixtures("one_variation")


def make(task="pick", config=None, **options):
    return RearrangeEnv(task, config, "val", SMALL, **options)


def short(steps, **fields):
    return PickConfig(max_steps=steps, **fields)


@pytest.mark.parametrize("task", TASKS)
def test_observations_are_within_their_space(task):
    env = make(task)
    assert isinstance(env.observation_space, gymnasium.spaces.Dict)
    assert env.observation_space["head_depth"].shape == (12, 12, 1)
    observation, info = env.reset(seed=0)
    assert info == {}
    for _ in range(20):
        assert env.observation_space.contains(observation)
        assert {value.dtype for value in observation.values()} == {np.dtype(np.float32)}
        assert 0.0 < observation["head_depth"].min() <= observation["head_depth"].max() <= 1.0
        observation, _, terminated, *_ = env.step(env.action_space.sample())
        if terminated:
            observation, _ = env.reset()
    env.close()


def test_observations_outlive_the_next_step():
    env = make()
    env.reset(seed=0)
    observation = env.step(np.ones(10, np.float32))[0]
    copies = {key: value.copy() for key, value in observation.items()}
    env.step(-np.ones(10, np.float32))
    for key, value in observation.items():
        np.testing.assert_array_equal(value, copies[key], key)


def test_seeds_decide_the_episode():
    first, second = make(), make(seed=7)
    first.reset(seed=7)
    second.reset()
    assert dataclasses.asdict(first.episode) == dataclasses.asdict(second.episode)
    first.reset()
    second.reset()
    assert first.episode == second.episode
    first.reset(seed=8)
    assert first.episode != second.episode


def test_a_given_episode_is_taken(pick_episodes):
    env = make()
    env.reset(options={"episode": pick_episodes[1]})
    assert env.episode is pick_episodes[1]
    assert env.apartment.layout == pick_episodes[1].layout
    assert env.state.base_pose[0] == pytest.approx(pick_episodes[1].base_pose)
    assert env.elapsed_steps == 0


def test_robots_start_without_touching_anything():
    env = make()
    assert isinstance(env.simulator, MujocoSimulator)
    for seed in range(10):
        env.reset(seed=seed)
        world, data = env.simulator.worlds[0], env.simulator.data[0]
        assert world is not None
        assert data is not None
        roles = world.roles[data.contact.geom]
        assert not np.isin(roles, (ROBOT, SUCTION)).any()
        assert env.state.contact_force[0] == 0.0


def test_actions_are_scaled_and_clipped(pick_episodes):
    config = PickConfig()
    poses = []
    for scale in (1.0, 5.0):
        env = make()
        env.reset(options={"episode": pick_episodes[0]})
        env.step(np.array([0.0] * 7 + [-1.0, -scale, scale]))
        poses.append(env.state.base_pose[0].copy())
    np.testing.assert_array_equal(*poses)
    x, y, yaw = pick_episodes[0].base_pose
    assert poses[0][2] - yaw == pytest.approx(config.action.turn_step)
    assert np.hypot(poses[0][0] - x, poses[0][1] - y) <= config.action.forward_step + 1e-9


def test_physical_steps_are_the_same_without_the_scale(pick_episodes):
    action = np.linspace(-0.9, 0.9, 10)
    scaled, physical = make(), make()
    for env in (scaled, physical):
        env.reset(options={"episode": pick_episodes[0]})
    scale = np.array([0.0375] * 7 + [1.0, 0.0833, 0.0833])
    for _ in range(5):
        reward = scaled.step(action)[1]
        assert physical.step_physical(action * scale)[0] == pytest.approx(reward, abs=1e-9)
    np.testing.assert_allclose(scaled.state.arm_joints, physical.state.arm_joints, atol=1e-9)


def test_physical_steps_leave_the_callers_action_alone(pick_episodes):
    env = make()
    slot = pick_episodes[0].targets[0].slot
    env.reset(options={"episode": dataclasses.replace(pick_episodes[0], held_slot=slot)})
    action = np.zeros(10)
    action[7] = -1.0
    env.step_physical(action)
    assert action[7] == -1.0


def test_a_repeated_action_is_that_many_steps_in_one(pick_episodes):
    once = make(config=PickConfig(max_steps=8))
    thrice = make(config=PickConfig(max_steps=8, action=ActionConfig(repeat=3)))
    for env in (once, thrice):
        env.reset(seed=0, options={"episode": pick_episodes[0]})
    rng, ended, told = np.random.default_rng(0), [], []
    thrice.after_step = lambda env: told.append(env.elapsed_steps)
    while not any(ended):
        action = rng.uniform(-1, 1, 10).astype(np.float32)
        seen, reward, *ended, info = thrice.step(action)
        rewards = 0.0
        for _ in range(3):
            expected = once.step(action)
            rewards += expected[1]
            if expected[2] or expected[3]:
                break
        assert reward == pytest.approx(rewards, abs=1e-12)
        assert (ended, info) == (list(expected[2:4]), expected[4])
        for key, value in seen.items():
            np.testing.assert_array_equal(value, expected[0][key])
    assert thrice.elapsed_steps == once.elapsed_steps == 8  # not 9: the last action was cut off
    assert told == list(range(1, 9))


def test_stop_is_called_once_in_a_repeated_action():
    config = NavigateConfig(
        wrong_stop_ends=False, wrong_stop_penalty=1.0, stop_distance=1e3, max_steps=3
    )
    config.action.repeat = 3
    env = make("navigate", config)
    env.reset(seed=0)
    metrics = env.step(np.array([0.0, 0.0, 1.0], np.float32))[4]["metrics"]
    assert (metrics["length"], metrics["reward/stop"]) == (3, -1.0)


def test_actions_that_last_no_time_are_refused():
    with pytest.raises(UserError, match=r"action\.repeat must be from 1 to 300"):
        make(config=PickConfig(action=ActionConfig(repeat=0)))


def test_metrics_sum_up_the_episode():
    env = make(config=short(6))
    env.reset(seed=0)
    rewards = []
    for step in range(1, 7):
        _, reward, terminated, truncated, info = env.step(np.zeros(10, np.float32))
        rewards.append(reward)
        assert env.elapsed_steps == step
        assert not terminated
        assert truncated == (step == 6)
        assert ("metrics" in info) == truncated
    metrics = info["metrics"]
    assert metrics["length"] == 6.0
    assert metrics["return"] == pytest.approx(sum(rewards))
    terms = [value for name, value in metrics.items() if name.startswith("reward/")]
    assert sum(terms) == pytest.approx(metrics["return"])
    assert metrics["success"] == metrics["success_once"] == 0.0
    failures = {k for k, value in metrics.items() if k.startswith("failure/") and value}
    assert failures == {"failure/timeout"}
    env.reset()
    for _ in range(6):
        info = env.step(np.zeros(10, np.float32))[4]
    assert info["metrics"]["length"] == 6.0


def test_stopping_terminates_tidy_house():
    env = make("tidy_house")
    env.reset(seed=0)
    action = np.zeros(11, np.float32)
    action[10] = -1.0
    assert not env.step(action)[2]
    action[10] = 1.0
    _, _, terminated, truncated, info = env.step(action)
    assert terminated
    assert not truncated
    assert info["metrics"]["failure/stopped_early"] == 1.0
    assert info["metrics"]["failure/timeout"] == 0.0


def test_termination_in_the_last_step_is_no_truncation():
    config = dataclasses.replace(default_config("tidy_house"), max_steps=1)
    env = make("tidy_house", config)
    env.reset(seed=0)
    terminated, truncated = env.step(np.ones(11, np.float32))[2:4]
    assert (terminated, truncated) == (True, False)


def test_stepping_before_reset_is_refused():
    with pytest.raises(ResetNeeded, match="reset"):
        make().step(np.zeros(10))


@pytest.mark.parametrize("options", [{"task": "juggle"}, {"split": "dev"}])
@pytest.mark.parametrize("kind", [RearrangeEnv, lambda **o: RearrangeVectorEnv(2, **o)])
def test_unknown_task_and_split_are_told_in_one_line(kind, options):
    with pytest.raises(UserError) as error:
        kind(**options)
    (given,) = options.values()
    message = str(error.value)
    assert "\n" not in message
    assert given in message
    assert any(name in message for name in ("tidy_house", "train, val, test"))


def test_a_simulator_with_another_number_of_worlds_is_refused():
    with pytest.raises(UserError, match="2 worlds, not 1"):
        RearrangeEnv("pick", None, "val", MujocoSimulator(2, SMALL))


def test_public_names_exist():
    for name in rearrange.__all__:
        assert getattr(rearrange, name) is not None
    with pytest.raises(AttributeError, match="nonsense"):
        _ = rearrange.nonsense  # pyright: ignore


# --- many worlds ------------------------------------------------------------------------------------


def assert_same_observation(found, expected):
    assert set(found) == set(expected)
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value, key)


def assert_step_agrees(env, action, outcome, i):
    """World i of a vectorised step against a single environment; whether the episode ended."""
    observations, rewards, terminated, truncated, infos = outcome
    observation, reward, ended, cut, info = env.step(action)
    assert rewards[i] == reward
    assert (terminated[i], truncated[i]) == (ended, cut)
    if ended or cut:
        assert infos["_final_obs"][i]
        assert infos["final_info"]["_metrics"][i]
        assert_same_observation(infos["final_obs"][i], observation)
        assert infos["final_info"]["metrics"][i] == info["metrics"]
        observation, _ = env.reset()
    elif "final_obs" in infos:
        assert infos["final_obs"][i] is None
        assert not infos["_final_obs"][i]
    assert_same_observation({key: value[i] for key, value in observations.items()}, observation)
    return ended, cut


@pytest.mark.parametrize("repeat", [pytest.param(1, marks=pytest.mark.slow), 3])
def test_vectorised_worlds_equal_single_ones(repeat):
    config = short(
        35, force=ForceConfig(accumulated_limit=60.0), action=ActionConfig(repeat=repeat)
    )
    vector = RearrangeVectorEnv(3, "pick", config, "val", SMALL, homes=CLASSIC)
    singles = [make(config=config, homes=CLASSIC) for _ in range(3)]
    observations, _ = vector.reset(seed=20)
    for i, env in enumerate(singles):
        expected, _ = env.reset(seed=20 + i)
        assert_same_observation({key: value[i] for key, value in observations.items()}, expected)
    rng = np.random.default_rng(0)
    ends = set()
    for _ in range(250):
        actions = rng.uniform(-1.0, 1.0, (3, 10)).astype(np.float32)
        actions[:, 8] = np.abs(actions[:, 8])
        outcome = vector.step(actions)
        for i, env in enumerate(singles):
            ends.add(assert_step_agrees(env, actions[i], outcome, i))
    assert ends == {(False, False), (True, False), (False, True)}
    vector.close()
    vector.close()


def test_worlds_side_by_side_go_on_in_mid_episode():
    """With what is late and sums up over the episode, in generated homes."""
    config = short(12, action=ActionConfig(delay=2))
    rng = np.random.default_rng(0)
    actions = [list(rng.uniform(-1.0, 1.0, (n, 10)).astype(np.float32)) for n in (0, 7, 11)]
    numbers = [4, 1, 9]
    vector = RearrangeVectorEnv(3, "pick", config, "train", SMALL)
    observations, _ = vector.begin(Numbered(30), numbers, actions)
    singles = [RearrangeEnv("pick", config, "train", SMALL, seed=30 + i) for i in range(3)]
    for i, env in enumerate(singles):
        own = numbers[i]
        shown, _ = env.reset(seed=10 * i + own, options={"episode_number": own})
        for action in actions[i]:
            shown = env.step(action)[0]
        assert_same_observation({key: value[i] for key, value in observations.items()}, shown)
    outcome = vector.step(np.zeros((3, 10), np.float32))
    for i, env in enumerate(singles):
        shown, reward, *_, info = env.step(np.zeros(10, np.float32))
        assert reward == outcome[1][i]
    assert info["metrics"] == outcome[4]["final_info"]["metrics"][2]
    vector.close()


def test_worlds_side_by_side_take_no_given_episode(pick_episodes):
    vector = RearrangeVectorEnv(2, "pick", None, "val", SMALL)
    with pytest.raises(UserError, match=r'options\["episode"\]: .* take RearrangeEnv'):
        vector.reset(seed=0, options={"episode": pick_episodes[0]})
    vector.reset(seed=0, options={})
    vector.close()


def test_the_autoreset_mode_is_declared():
    vector = RearrangeVectorEnv(2, "pick", None, "val", SMALL)
    assert vector.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP


def test_vectorised_spaces_hold_what_is_given():
    vector = RearrangeVectorEnv(2, "tidy_house", None, "val", SMALL)
    observations, _ = vector.reset(seed=[3, 4])
    assert vector.observation_space.contains(observations)
    assert vector.action_space.shape == (2, 11)
    observations, rewards, terminated, truncated, _ = vector.step(vector.action_space.sample())
    assert vector.observation_space.contains(observations)
    assert rewards.shape == terminated.shape == truncated.shape == (2,)
    vector.close()


def test_seeds_may_be_given_per_world():
    vector = RearrangeVectorEnv(2, "pick", None, "val", SMALL)
    first, _ = vector.reset(seed=[5, 5])
    np.testing.assert_array_equal(first["joint"][0], first["joint"][1])
    second, _ = vector.reset(seed=5)
    np.testing.assert_array_equal(first["joint"][0], second["joint"][0])
    assert not np.array_equal(second["joint"][0], second["joint"][1])


def test_unknown_options_of_reset_are_refused():
    with pytest.raises(UserError, match="unknown option 'bogus' of reset: choose episode"):
        RearrangeEnv("pick").reset(options={"bogus": 1})


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ({"num_envs": 0}, "num_envs must be from 1 to 65536, found 0"),
        ({"num_envs": 1.5}, "num_envs must be a whole number, found 1.5"),
        ({"num_envs": 2, "threads": -3}, "threads must be from 0 to 1024, found -3"),
    ],
)
def test_numbers_of_worlds_and_threads_that_cannot_be_are_refused(what, told):
    with pytest.raises(UserError) as error:
        RearrangeVectorEnv(**what, split="val", simulator=SMALL)
    assert str(error.value) == told


def test_a_config_of_another_task_is_refused():
    with pytest.raises(
        UserError, match=r"^config of pick must be of type PickConfig, found NavigateConfig$"
    ):
        make(config=NavigateConfig())


def test_an_episode_in_a_scene_of_a_dataset_is_for_another_simulator(pick_episodes):
    env = make()
    episode = dataclasses.replace(pick_episodes[0], scene="kitchen")
    with pytest.raises(
        UserError, match=r'^options\["episode"\]: scene: expected None, found a scene'
    ):
        env.reset(options={"episode": episode})
