import array_api_compat.numpy as numpy_api
import array_api_compat.torch as torch_api
import numpy as np
import pytest

from rearrange import geometry
from rearrange.episodes import Episode, Target
from rearrange.sim import NOTHING, OBJECT_SLOT_COUNT, SimState


@pytest.fixture(params=["numpy", "torch"])
def xp(request):
    """The array library that a task computes with."""
    return {"numpy": numpy_api, "torch": torch_api}[request.param]


def dtype_of(xp, value: np.ndarray):
    """Doubles in NumPy as MuJoCo gives them, single precision in torch as a GPU does."""
    if value.dtype.kind != "f":
        return {"b": xp.bool, "i": xp.int64}[value.dtype.kind]
    return xp.float64 if xp is numpy_api else xp.float32


@pytest.fixture
def make_state(xp):
    """Makes a SimState of n worlds; named arrays are given, the rest is zero and nothing is held."""

    def make(count: int, **given) -> SimState:
        arrays = {
            "base_pose": np.zeros((count, 3)),
            "base_blocked": np.zeros(count, bool),
            "arm_joints": np.zeros((count, 7)),
            "arm_velocities": np.zeros((count, 7)),
            "end_effector_position": np.zeros((count, 3)),
            "end_effector_rotation": np.repeat(np.eye(3)[None], count, axis=0),
            "end_effector_in_base": np.zeros((count, 3)),
            "object_position": np.full((count, OBJECT_SLOT_COUNT, 3), 90.0),
            "object_rotation": np.zeros((count, OBJECT_SLOT_COUNT, 4)),
            "articulated_joints": np.zeros((count, 5)),
            "handle_position": np.zeros((count, 5, 3)),
            "held_object": np.full(count, NOTHING),
            "held_handle": np.full(count, NOTHING),
            "touched_object": np.full(count, NOTHING),
            "touched_handle": np.full(count, NOTHING),
            "hold_violated": np.zeros(count, bool),
            "contact_force": np.zeros(count),
        }
        for name, value in given.items():
            arrays[name] = np.array(value, dtype=arrays[name].dtype).reshape(arrays[name].shape)
        arrays["end_effector_in_base"] = geometry.to_base_frame(
            numpy_api, arrays["base_pose"], arrays["end_effector_position"]
        )
        return SimState(**{k: xp.asarray(v, dtype=dtype_of(xp, v)) for k, v in arrays.items()})

    return make


@pytest.fixture
def make_episode():
    """Makes an episode with these (slot, start, goal) and other fields."""

    def make(*targets, **fields) -> Episode:
        return Episode(
            episode_id="",
            layout=0,
            variation=0,
            objects={},
            targets=tuple(
                Target(slot, start, goal, "sofa", "sink") for slot, start, goal in targets
            ),
            base_pose=(0.0, 0.0, 0.0),
            arm_joints=(0.0,) * 7,
            **fields,
        )

    return make


@pytest.fixture
def expect():
    """Compares arrays of either library with numbers worked out by hand."""

    def compare(found, expected, tolerance: float = 1e-5) -> None:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=0, atol=tolerance)

    return compare


@pytest.fixture
def assert_unchanged():
    """A context: nothing of this state is written to."""

    class Guard:
        def __init__(self, state):
            self.state = state

        def __enter__(self):
            self.before = {k: np.asarray(v).copy() for k, v in vars(self.state).items()}

        def __exit__(self, *_):
            for name, values in self.before.items():
                now = np.asarray(getattr(self.state, name))
                np.testing.assert_array_equal(now, values, name)

    return Guard


@pytest.fixture
def rewards_of():
    """Reward terms of world 0 other than zero."""

    def select(outcome) -> dict[str, float]:
        terms = {name: float(term[0]) for name, term in outcome.rewards.items()}
        return {name: term for name, term in terms.items() if abs(term) > 1e-6}

    return select


@pytest.fixture
def failures_of():
    """Names of the failures of world 0."""

    def select(outcome) -> set[str]:
        return {name for name, flag in outcome.failures.items() if bool(flag[0])}

    return select


@pytest.fixture
def assert_bystander():
    """World 1, which stood still, was not told anything but the slack."""

    def check(outcome) -> None:
        terms = {name: float(term[1]) for name, term in outcome.rewards.items()}
        terms.pop("slack")
        assert not any(terms.values())
        assert not any(bool(flag[1]) for flag in outcome.failures.values())
        assert not bool(outcome.terminated[1])
        assert not bool(outcome.success[1])

    return check
