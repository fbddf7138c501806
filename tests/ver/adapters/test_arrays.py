"""Observations of all kinds as a Dict of arrays, and environments given by name or function."""

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.small_runs import curve, small_run
from tests.helpers.toy_environments import RememberCue
from ver.adapters.arrays import AnyEnvironment, any_environment, as_arrays
from ver.errors import UserError
from ver.trainer import Trainer


class Shows(gymnasium.Env):
    """Shows samples of a space."""

    def __init__(self, space):
        self.observation_space = space
        self.action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.observation_space.seed(seed)
        self.last = self.observation_space.sample()
        return self.last, {}

    def step(self, action):
        return self.reset()[0], 0.0, False, False, {}


def image(*shape, dtype=np.uint8):
    return spaces.Box(0, 255, shape, dtype)


@pytest.mark.parametrize(
    ("space", "shapes"),
    [
        (spaces.Box(-1, 1, (3,)), {"observation": (3,)}),
        (spaces.Box(-1, 1, ()), {"observation": (1,)}),
        (spaces.Box(-1, 1, (2, 3)), {"observation": (6,)}),
        (spaces.Discrete(4, start=-1), {"observation": (4,)}),
        (spaces.MultiDiscrete([2, 3]), {"observation": (5,)}),
        (spaces.MultiBinary([2, 2]), {"observation": (4,)}),
        (image(84, 84), {"observation": (84, 84, 1)}),
        (image(84, 84, 3), {"observation": (84, 84, 3)}),
        (image(3, 64, 84), {"observation": (64, 84, 3)}),
        (image(4, 84, 84), {"observation": (84, 84, 4)}),  # frames
        (image(4, 84, 84, 3), {"observation": (84, 84, 12)}),
        (image(7, 7, 3), {"observation": (147,)}),  # MiniGrid's
        (
            spaces.Dict(a=spaces.Tuple([spaces.Discrete(2), image(40, 40)]), b=image(3, 40, 40)),
            {"a/0": (2,), "a/1": (40, 40, 1), "b": (40, 40, 3)},
        ),
    ],
)
def test_every_space_becomes_images_and_vectors(space, shapes):
    env = as_arrays(Shows(space))
    found = env.observation_space.spaces
    assert {key: box.shape for key, box in found.items()} == shapes
    observation, _ = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    assert env.observation_space.contains(env.step(0)[0])


def test_no_pixel_is_lost_or_moved():
    env = as_arrays(Shows(spaces.Dict(first=image(3, 40, 50), stack=image(2, 40, 50, 3))))
    shown, _ = env.reset(seed=0)
    true = env.unwrapped.last
    for channel in range(3):
        np.testing.assert_array_equal(shown["first"][..., channel], true["first"][channel])
        for frame in range(2):
            np.testing.assert_array_equal(
                shown["stack"][..., 3 * frame + channel], true["stack"][frame, ..., channel]
            )


@given(st.lists(st.tuples(st.integers(1, 4), st.integers(-2, 2)), min_size=1, max_size=4))
def test_choices_are_ones_at_their_places(dimensions):
    counts, starts = zip(*dimensions, strict=True)
    env = as_arrays(Shows(spaces.MultiDiscrete(counts, start=starts)))
    shown, _ = env.reset(seed=1)
    blocks = np.split(shown["observation"], np.cumsum(counts)[:-1])
    chosen = [int(block.argmax()) + start for block, start in zip(blocks, starts, strict=True)]
    assert chosen == env.unwrapped.last.tolist()
    assert shown["observation"].sum() == len(counts)


def test_what_is_a_dict_of_arrays_stays_as_it_is():
    env = Shows(spaces.Dict(depth=image(64, 64, 1), joints=spaces.Box(-1, 1, (7,), np.float64)))
    assert as_arrays(env) is env


def test_what_is_no_array_is_refused_in_one_line():
    with pytest.raises(UserError, match="observation 'told' is a Text, which is no array"):
        as_arrays(Shows(spaces.Dict(told=spaces.Text(5))))


def make_cart_pole():
    return gymnasium.make("CartPole-v1")


def make_seeded(index, seed):
    env = RememberCue()
    env.told = index, seed
    return env


def test_environments_are_given_by_name_or_function():
    for make in ("CartPole-v1", make_cart_pole):
        env = AnyEnvironment(make)(0, 0)
        assert env.observation_space["observation"].shape == (4,)
        assert env.observation_space.contains(env.reset(seed=0)[0])
    assert AnyEnvironment(make_seeded)(3, 8).told == (3, 8)


def test_arguments_with_defaults_are_an_environments_own():
    class Sized(RememberCue):
        def __init__(self, size=5, limit=9):
            super().__init__()
            self.told = size, limit

    assert AnyEnvironment(Sized)(3, 8).told == (5, 9)
    assert AnyEnvironment(lambda index=0, seed=0: Sized(index, seed))(3, 8).told == (3, 8)
    assert AnyEnvironment(lambda *given: Sized(*given))(3, 8).told == (3, 8)


@pytest.mark.parametrize(
    ("make_env", "told"),
    [
        ("Nothing-v0", "Nothing-v0: .*doesn't exist"),
        (lambda index: None, r"must take \(index, seed\), or nothing; it takes \(index\)"),
        (5, "must be a name that gymnasium knows, .* found int"),
    ],
)
def test_what_makes_no_environment_is_one_line(make_env, told):
    with pytest.raises(UserError, match=told) as caught:
        any_environment(make_env)(0, 0)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("system", ["ver", "batched"])
def test_a_training_takes_a_name(tmp_path, system):
    config = small_run(f"system={system}", "total_steps=128")
    Trainer(config, "CartPole-v1", tmp_path).train()
    assert curve(tmp_path)[-1]["steps"] == 128
