"""Environments by name: wrappers of their families, and what to install where something is missing."""

import importlib

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from ver.adapters import names
from ver.adapters.arrays import as_arrays
from ver.adapters.names import CoarsePixels, Family, make_named
from ver.errors import UserError


class Screen(gymnasium.Env):
    """Shows a screen of 10 x 8 pixels, on which every square of 4 x 4 has its own colour."""

    def __init__(self):
        screen = spaces.Box(0, 255, (10, 8, 3), np.uint8)
        self.observation_space = spaces.Dict(ammo=spaces.Box(-9, 9, (1,)), screen=screen)
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        colours = np.arange(18, dtype=np.uint8).reshape(3, 2, 3)
        image = colours.repeat(4, 0).repeat(4, 1)[:10]
        image[0, 0] += 16  # of sixteen pixels: 1 in the mean
        return {"ammo": np.zeros(1, np.float32), "screen": image}, {}


def test_pixels_are_averaged_over_squares():
    env = CoarsePixels(Screen())
    shown, _ = env.reset()
    assert env.observation_space.contains(shown)
    expected = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    expected[0, 0] += 1
    np.testing.assert_array_equal(shown["screen"], expected)


def test_arguments_reach_the_environment():
    assert make_named("CartPole-v1", {"sutton_barto_reward": True}).unwrapped._sutton_barto_reward


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"gravity": 1}, "gravity=1: .*unexpected keyword argument 'gravity'$"),
        ({"max_episode_steps": 0}, "max_episode_steps=0: .*positive, actually: 0"),
        ({"render_mode": 5}, "render_mode=5: 'int' object has no attribute"),
    ],
)
def test_arguments_that_the_environment_cannot_take_are_told_in_one_line(given, told):
    with pytest.raises(UserError, match=f"^CartPole-v1 with {told}") as caught:
        make_named("CartPole-v1", given)
    assert "\n" not in str(caught.value)


def test_a_mistake_within_an_environment_is_not_told_as_the_users(monkeypatch):
    def broken(name):
        raise TypeError("unsupported operand")

    monkeypatch.setattr(gymnasium, "make", broken)
    with pytest.raises(TypeError, match="unsupported operand"):
        make_named("CartPole-v1")


@pytest.mark.parametrize(
    ("name", "module", "install"),
    [
        ("ALE/Pong-v5", "ale_py", "pip install ale-py opencv-python-headless"),
        ("ALE/Pong-ram-v5", "ale_py", "pip install ale-py"),
        ("BreakoutNoFrameskip-v4", "ale_py", "pip install ale-py opencv-python-headless"),
        ("MiniGrid-MemoryS9-v0", "minigrid", "pip install minigrid"),
        ("VizdoomBasic-v1", "vizdoom.gymnasium_wrapper", "pip install vizdoom"),
    ],
)
def test_what_is_missing_is_named_with_its_cure(monkeypatch, name, module, install):
    def missing(asked):
        raise ModuleNotFoundError(f"No module named '{asked}'")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(UserError) as told:
        make_named(name)
    assert str(told.value) == f"{name}: No module named '{module}'; {install}"


@pytest.mark.parametrize("error", [ImportError, gymnasium.error.DependencyNotInstalled])
def test_what_gymnasium_itself_misses_too(monkeypatch, error):
    def make(name, **arguments):
        raise error("No module named 'glfw'")

    monkeypatch.setattr(gymnasium, "make", make)
    with pytest.raises(UserError, match=r'glfw\'; pip install "gymnasium\[mujoco\]"$'):
        make_named("HalfCheetah-v5")


def test_a_family_has_its_defaults_and_the_user_the_last_word(monkeypatch):
    made = {}

    def make(name, **arguments):
        made[name] = arguments
        return Screen()

    monkeypatch.setattr(gymnasium, "make", make)
    family = Family(r"Toy-.+", "math", "toy", {"frame_skip": 4, "sound": False}, CoarsePixels)
    monkeypatch.setattr(names, "FAMILIES", (family,))
    env = make_named("Toy-v0", {"sound": True})
    assert made == {"Toy-v0": {"frame_skip": 4, "sound": True}}
    assert env.observation_space["screen"].shape == (2, 2, 3)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("ALE/Pong-v5", {"observation": (84, 84, 4)}),
        ("ALE/Pong-ram-v5", {"observation": (128,)}),
        ("MiniGrid-MemoryS9-v0", {"observation": (7 * 7 * 20,)}),
        ("VizdoomBasic-v1", {"gamevariables": (1,), "screen": (60, 80, 3)}),
    ],
)
def test_families_that_are_installed_show_arrays(name, shapes):
    family = next(each for each in names.FAMILIES if names.re.fullmatch(each.pattern, name))
    pytest.importorskip(family.module)
    env = as_arrays(make_named(name))
    assert {key: box.shape for key, box in env.observation_space.spaces.items()} == shapes
    shown, _ = env.reset(seed=0)
    assert env.observation_space.contains(shown)
    env.close()
