from dataclasses import dataclass, field

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.tasks import TASKS, default_config, make_task
from rearrange.tasks.base import ForceConfig, as_record, feel_force


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
