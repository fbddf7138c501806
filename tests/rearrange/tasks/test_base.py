from dataclasses import dataclass, field
from typing import ClassVar

import numba
import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.robot.fetch import FETCH
from rearrange.sim.base import SimState
from rearrange.tasks import TASKS, default_config, make_task
from rearrange.tasks.base import ActionConfig, ForceConfig, Task, as_record, each_world, feel_force


@pytest.fixture
def feel():
    """Feels forces one after the other: rewards, and whether a limit was exceeded."""

    def make(config: ForceConfig):
        memory = np.zeros((), [("force", "f8"), ("accumulated_force", "f8")])[()]
        record = as_record(config)[0]
        return lambda force: feel_force(force, memory, record), memory

    return make


def test_only_force_increases_above_the_noise_floor_are_penalised(feel):
    update, memory = feel(ForceConfig())
    history = [
        (50.0, -0.005),
        (69.0, 0.0),
        (199.0, -0.01),
        (99.0, 0.0),
        (119.0, 0.0),
        (140.0, -0.0021),
    ]
    for force, expected in history:
        reward, exceeded = update(force)
        assert reward == pytest.approx(expected)
        assert not exceeded
    assert memory["accumulated_force"] == pytest.approx(50.0 + 130.0 + 21.0)


def test_accumulated_force_ends_the_episode(feel):
    update, _ = feel(ForceConfig(accumulated_limit=150.0, instant_limit=1000.0))
    assert update(100.0) == (-0.01, False)
    assert update(0.0) == (0.0, False)
    assert update(60.0) == (pytest.approx(-1.006), True)


def test_instant_force_ends_the_episode(feel):
    update, _ = feel(ForceConfig(accumulated_limit=1e9, instant_limit=1000.0))
    assert update(1000.0)[1] is False
    assert update(1001.0)[1] is True


def test_limits_below_zero_are_off_as_in_habitat_lab(feel):
    update, _ = feel(ForceConfig(accumulated_limit=-1.0, instant_limit=-1.0))
    assert update(0.0) == (0.0, False)
    assert update(1e6) == (-0.01, False)


def test_a_config_becomes_a_record_whose_kinds_do_not_depend_on_values():
    @dataclass
    class Config:
        force: ForceConfig = field(default_factory=ForceConfig)
        scale: float = 0.5
        moves: bool = True

    record, whole = as_record(Config()), as_record(Config(scale=2))
    assert record.dtype == whole.dtype
    assert (record[0]["force"]["end_penalty"], record[0]["scale"]) == (1.0, 0.5)
    assert (whole[0]["scale"], whole[0]["moves"]) == (2.0, True)


@pytest.mark.parametrize("make", [make_task, default_config])
def test_unknown_task_lists_those_that_exist(make):
    with pytest.raises(UserError) as error:
        make("juggle")
    message = str(error.value)
    assert "\n" not in message
    assert "juggle" in message
    assert all(name in message for name in TASKS)


@numba.njit
def _write_if_asked(world, memory, config, action, outcome):
    """Write all of an outcome, but only where the first action is positive."""
    if action[0] > 0.0:
        outcome.rewards.bonus = 2.0
        outcome.failures.dropped = True
        outcome.success = True
        outcome.terminated = True


@numba.njit
def _nothing(*arguments):
    """Leave all as it is."""


@dataclass
class _ToyConfig:
    action: ActionConfig = field(default_factory=ActionConfig)
    max_steps: int = 10


class _Toy(Task):
    name = "toy"
    config_type = _ToyConfig
    ACTIONS = ("arm", "grip", "base", "stop")
    OBSERVATION: ClassVar = {}
    REWARDS = ("bonus",)
    FAILURES = ("dropped",)
    MEMORY: ClassVar = []
    compiled = each_world(_nothing, _nothing, _write_if_asked, _nothing)


def test_what_a_step_does_not_write_is_not_what_the_step_before_wrote():
    task, state = _Toy(world_count=2), SimState(2, FETCH)
    actions = np.zeros((2, 11))
    actions[0, 0] = 1.0
    outcome = task.evaluate(state, actions)
    arrays = (
        outcome.rewards["bonus"],
        outcome.failures["dropped"],
        outcome.success,
        outcome.terminated,
    )
    assert [array.tolist() for array in arrays] == [[2.0, 0.0], *[[True, False]] * 3]
    actions[:, 0] = [0.0, 1.0]
    assert task.evaluate(state, actions) is outcome
    assert [array.tolist() for array in arrays] == [[0.0, 2.0], *[[False, True]] * 3]
    assert outcome.terms.tolist() == [[0.0], [2.0]]


def test_two_worlds_of_a_task_have_the_same_dtypes_and_not_equal_ones():
    # Numba compares equal ones field by field in every call
    first, second = make_task("pick"), make_task("pick", world_count=3)
    arrays = ("memory", "settings")
    assert all(getattr(first, name).dtype is getattr(second, name).dtype for name in arrays)
    assert first.outcome.worlds.dtype is second.outcome.worlds.dtype
    assert SimState(1, FETCH).worlds.dtype is SimState(2, FETCH).worlds.dtype
