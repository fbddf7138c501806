import numpy as np
import pytest

from rearrange import geometry
from rearrange.episodes import Episode, Target
from rearrange.robot.fetch import FETCH
from rearrange.sim import SimState


@pytest.fixture
def make_state():
    """Makes a SimState of n worlds; named arrays are given, the rest is zero and nothing is held."""

    def make(count: int, **given) -> SimState:
        state = SimState(count, FETCH)
        state.end_effector_rotation[:] = np.eye(3)
        state.object_position[:] = 90.0
        for name, value in given.items():
            array = getattr(state, name)
            array[:] = np.reshape(value, array.shape)
        for i in range(count):
            state.end_effector_in_base[i] = geometry.to_base_frame(
                state.base_pose[i], state.end_effector_position[i]
            )
        return state

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
    """Compares arrays with numbers worked out by hand."""

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
            self.before = self.state.worlds.copy()

        def __exit__(self, *_):
            np.testing.assert_array_equal(self.state.worlds, self.before)

    return Guard


@pytest.fixture
def rewards_of():
    """Reward terms of world 0 other than zero and the slack."""

    def select(outcome) -> dict[str, float]:
        terms = {name: float(term[0]) for name, term in outcome.rewards.items()}
        terms.pop("slack")
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
