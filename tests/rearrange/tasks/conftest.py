import array_api_compat.numpy as numpy_api
import array_api_compat.torch as torch_api
import numpy as np
import pytest

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
        return SimState(**{k: xp.asarray(v, dtype=dtype_of(xp, v)) for k, v in arrays.items()})

    return make


@pytest.fixture
def make_episode():
    """Makes an episode with these (slot, start, goal)."""

    def make(*targets) -> Episode:
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
