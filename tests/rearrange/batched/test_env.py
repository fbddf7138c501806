"""Environments on a device do what those on the CPU do in the same episodes."""

from dataclasses import replace

import numpy as np
import pytest

from rearrange.batched.pool import PoolConfig
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.scenes.registry import CLASSIC
from rearrange.sim import SimulatorConfig
from rearrange.sim.randomisation import Randomisation
from rearrange.tasks import default_config
from rearrange.tasks.base import ActionConfig

pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")
torch = pytest.importorskip("torch")

CONFIG = SimulatorConfig(camera_size=32)
PICK = replace(default_config("pick"), glimpse=True, way_scale=15.0, max_steps=3)
ALIKE = 0.995  # share of pixels: thin edges may fall to the next one
STEPS = 4  # the last one is of the episodes that follow


def make(config=PICK, simulator=CONFIG, device="cpu"):
    from rearrange.batched.env import DeviceVectorEnv

    told = PoolConfig(homes=1, starts=2)
    return DeviceVectorEnv(
        2, "pick", config, "val", simulator, homes=CLASSIC, device=device, pool=told
    )


def play(env, actions):
    """Observations, rewards and ends of all steps, and episodes as they began."""
    observation, _ = env.reset(seed=5)
    begun, told = [*env._worlds.episodes], [(observation, None, None)]
    for action in actions:
        observation, rewards, _, truncated, infos = env.step(action)
        told.append((observation, rewards, truncated))
    return begun, told, infos


@pytest.fixture(scope="module")
def played():
    """On the device with images drawn there; likewise by the painter; and what was done."""
    actions = 0.3 * np.random.default_rng(0).uniform(-1.0, 1.0, (STEPS, 2, 10)).astype(np.float32)
    drawn, painted = make(), make()
    drawn._worlds.simulator.draw_on_device()
    found = [play(env, actions) for env in (drawn, painted)]
    for env in (drawn, painted):
        env.close()
    return *found, actions


@pytest.mark.slow
def test_episodes_of_the_pool_are_played_as_on_the_cpu(played):
    _, (begun, told, _), actions = played
    for i, episode in enumerate(begun):
        env = RearrangeEnv("pick", PICK, "val", CONFIG, homes=CLASSIC)
        seen, _ = env.reset(options={"episode": episode})
        for t in range(3):
            for key, value in seen.items():
                if "head" in key or key == "glimpse":
                    near = np.abs(told[t][0][key][i] - value) < 1e-3
                    assert np.mean(near) > ALIKE, (key, t)
                else:
                    np.testing.assert_allclose(told[t][0][key][i], value, atol=1e-4, err_msg=key)
            seen, reward, _, truncated, _ = env.step(actions[t, i])
            assert told[t + 1][1][i] == pytest.approx(reward, abs=1e-4)
        assert truncated == told[3][2][i]
        env.close()


@pytest.mark.slow
def test_images_that_are_drawn_there_are_tensors_and_the_same(played):
    (begun, drawn, infos), (same, painted, _), _ = played
    assert begun == same
    for (one, rewards, ends), (other, *rest) in zip(drawn, painted, strict=True):
        for key in ("head_depth", "glimpse"):
            assert isinstance(one[key], torch.Tensor)
            near = np.abs(one[key].numpy() - other[key]) < 1e-3
            assert near.mean() > ALIKE
        np.testing.assert_array_equal(one["joint"], other["joint"])
        if ends is not None:
            np.testing.assert_array_equal(rewards, rest[0])
    assert not infos  # of the last step, in which nothing ended


@pytest.mark.gpu
def test_a_gpu_does_what_the_cpu_does(played):
    _, (begun, painted, _), actions = played
    env = make(device="cuda")
    same, told, _ = play(env, actions)
    assert same == begun
    for (one, rewards, ends), (other, *rest) in zip(told, painted, strict=True):
        for key in ("head_depth", "glimpse"):
            assert one[key].is_cuda
            assert np.mean(np.abs(one[key].cpu().numpy() - other[key]) < 1e-3) > ALIKE
        np.testing.assert_allclose(one["joint"], other["joint"], atol=1e-4)
        if ends is not None:
            np.testing.assert_allclose(rewards, rest[0], atol=1e-3)
    env.close()


@pytest.mark.slow
def test_episodes_follow_from_their_seeds(played):
    (_, told, _), *_ = played
    last, next_one = told[2][0], told[3][0]
    assert told[3][2].all()
    # What is seen after the end is the beginning of the next episode
    assert (next_one["gps_compass"] == told[0][0]["gps_compass"]).all()
    assert (last["gps_compass"] != next_one["gps_compass"]).any()


@pytest.mark.parametrize(
    ("config", "simulator", "complaint"),
    [
        (replace(PICK, action=ActionConfig(delay=1)), CONFIG, r"task\.action\.delay=1 is not"),
        (None, replace(CONFIG, randomise=Randomisation(friction=0.2)), r"randomise must be off"),
        (None, replace(CONFIG, robot="fetch_fingers"), r"has fingers"),
    ],
)
def test_what_is_not_there_is_one_line(config, simulator, complaint):
    with pytest.raises(UserError, match=complaint) as error:
        make(config, simulator)
    assert "\n" not in str(error.value)


def test_what_navigate_is_shown_is_not_made_there():
    from rearrange.batched.env import check_on_device

    config = replace(default_config("navigate"), map_way=True)
    with pytest.raises(UserError, match=r"task\.map_way of navigate is not there"):
        check_on_device("navigate", config, CONFIG, CLASSIC, "cpu")
    with pytest.raises(UserError, match=r"device=tpu: there is no such device"):
        check_on_device("pick", None, CONFIG, CLASSIC, "tpu")
