import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.tasks import TASKS, default_config, make_task
from rearrange.tasks.base import ForceConfig, ForceMeter, gps_compass
from rearrange.tasks.sensors import from_rest


def test_only_force_increases_above_the_noise_floor_are_penalised(xp, expect):
    meter = ForceMeter(ForceConfig(), 1, xp)
    history = [
        (50.0, -0.005),
        (69.0, 0.0),
        (199.0, -0.01),
        (99.0, 0.0),
        (119.0, 0.0),
        (140.0, -0.0021),
    ]
    for force, expected in history:
        reward, exceeded = meter.update(xp.asarray([force]))
        expect(reward, [expected], 1e-7)
        assert not bool(exceeded[0])
    expect(meter.accumulated, [50.0 + 130.0 + 21.0], 1e-4)


def test_accumulated_force_ends_the_episode_per_world(xp, expect):
    config = ForceConfig(accumulated_limit=150.0, instant_limit=1000.0)
    meter = ForceMeter(config, 2, xp)
    meter.update(xp.asarray([100.0, 10.0]))
    meter.update(xp.asarray([0.0, 10.0]))
    reward, exceeded = meter.update(xp.asarray([60.0, 50.0]))
    assert np.asarray(exceeded).tolist() == [True, False]
    expect(reward, [-1.006, -0.004])
    meter.reset([0])
    reward, exceeded = meter.update(xp.asarray([60.0, 50.0]))
    assert np.asarray(exceeded).tolist() == [False, False]
    expect(reward, [-0.006, 0.0])


def test_instant_force_ends_the_episode(xp):
    meter = ForceMeter(ForceConfig(accumulated_limit=1e9, instant_limit=1000.0), 2, xp)
    assert np.asarray(meter.update(xp.asarray([1000.0, 1001.0]))[1]).tolist() == [False, True]


def test_from_rest_is_in_the_base_frame(make_state, xp, expect):
    state = make_state(
        2,
        base_pose=[[1, 2, math.pi / 2], [0, 0, 0]],
        end_effector_position=[[1, 2.3, 0.8], [0.5, 0.0, 1.0]],
    )
    expect(from_rest(xp, state), [[0.2, 0.0, 0.2], [0, 0, 0]])
    state = make_state(1, base_pose=[[1, 2, math.pi / 2]], end_effector_position=[[0.6, 2.5, 1.0]])
    expect(from_rest(xp, state), [[0.0, -0.4, 0.0]])  # the hand is 0.4 m left


def test_gps_and_compass_are_relative_to_the_start(make_state, xp, expect):
    start = make_state(2, base_pose=[[1, 2, math.pi / 2], [1, 2, 0.5]]).base_pose
    now = make_state(2, base_pose=[[0, 5, math.pi], [1, 2, 0.5]]).base_pose
    expect(gps_compass(xp, start, now), [[3.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]])
    expect(start, [[1, 2, math.pi / 2], [1, 2, 0.5]])


@pytest.mark.parametrize("make", [make_task, default_config])
def test_unknown_task_lists_those_that_exist(make):
    with pytest.raises(UserError) as error:
        make("juggle")
    message = str(error.value)
    assert "\n" not in message
    assert "juggle" in message
    assert all(name in message for name in TASKS)
