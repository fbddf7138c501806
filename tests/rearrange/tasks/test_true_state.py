"""Tests of rearrange.tasks.true_state."""

import numpy as np
import pytest

from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.errors import UserError
from rearrange.geometry import to_base_frame, to_end_effector_frame
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks.floor import FloorTask
from rearrange.tasks.true_state import BLOCKED, BOTH, DEPTH, STATE, TRUE_STATE, true_size

SKILLS = ("navigate", "pick", "place", "open_cab", "close_cab", "open_fridge", "close_fridge")
SMALL = SimulatorConfig(camera_size=16)


@pytest.mark.parametrize("task", SKILLS)
def test_tells_where_the_thing_is(task: str) -> None:
    env = RearrangeEnv(task, simulator=SMALL, seed=3, sensors=STATE)
    seen, _ = env.reset(seed=3)
    told, state = seen[TRUE_STATE], env.state
    point = env.task.subject(state, 0)
    rotation = state.end_effector_rotation[0]
    assert told.shape == (true_size(state),) == env.observation_space[TRUE_STATE].shape
    np.testing.assert_allclose(told[:3], to_base_frame(state.base_pose[0], point), atol=1e-6)
    in_hand = to_end_effector_frame(state.end_effector_position[0], rotation, point)
    np.testing.assert_allclose(told[3:6], in_hand, atol=1e-6)
    assert "head_depth" not in seen


def test_way_around_the_base_falls_towards_the_goal() -> None:
    env = RearrangeEnv("navigate", simulator=SMALL, seed=0, sensors=BOTH)
    for seed in range(3):
        told = env.reset(seed=seed)[0][TRUE_STATE]
        way, first_ring = told[-33], told[-32:-16]
        assert isinstance(env.task, FloorTask)
        floor = env.task.way(env.episode)
        assert floor is not None
        assert way == pytest.approx(floor.at(*env.state.base_pose[0, :2].tolist()), abs=1e-5)
        assert first_ring.min() < -0.8  # a step the best way shortens it by nearly as much
        assert (first_ring <= BLOCKED).all()


def test_sensors_of_the_robot_come_alone_unless_asked() -> None:
    env = RearrangeEnv("pick", simulator=SMALL, seed=0)
    both = RearrangeEnv("pick", simulator=SMALL, seed=0, sensors=BOTH)
    one, two = env.reset(seed=1)[0], both.reset(seed=1)[0]
    assert TRUE_STATE not in one
    assert set(two) - set(one) == {TRUE_STATE}
    for key, values in one.items():
        np.testing.assert_array_equal(values, two[key])


def test_worlds_side_by_side_tell_what_one_tells() -> None:
    single = RearrangeEnv("place", simulator=SMALL, seed=5, sensors=STATE)
    many = RearrangeVectorEnv(2, "place", simulator=SMALL, sensors=STATE)
    together, _ = many.reset(seed=5)
    alone, _ = single.reset(seed=5, options={"episode_number": 0})
    np.testing.assert_array_equal(together[TRUE_STATE][0], alone[TRUE_STATE])


def test_other_sensors_are_refused() -> None:
    with pytest.raises(UserError, match="sensors must be one of depth, state, both"):
        RearrangeEnv("pick", simulator=SMALL, sensors="sonar")
    assert DEPTH == "depth"


def test_a_scenario_is_about_no_single_thing():
    with pytest.raises(UserError, match="tidy_house is about no single thing: leave sensors= out"):
        RearrangeEnv("tidy_house", simulator=SMALL, sensors=BOTH)
