import mujoco
import numpy as np
import pytest

from rearrange.robot.fetch_fingers import FETCH_FINGERS, FINGERS
from rearrange.robot.fingers import HOLD_FORCE, PAD_FRICTION
from rearrange.scenes.compile import empty_spec
from rearrange.scenes.objects import OBJECT_KINDS


def test_a_bowl_and_a_large_can_are_too_wide():
    refused = {name for name, kind in OBJECT_KINDS.items() if not FINGERS.can_hold(kind)}
    assert refused == {"002_master_chef_can", "024_bowl"}


def test_two_fingers_at_the_threshold_carry_the_heaviest_thing():
    heaviest = max(kind.mass for kind in OBJECT_KINDS.values())
    assert 2 * HOLD_FORCE * PAD_FRICTION[0] == pytest.approx(9.81 * heaviest, rel=0.01)


def test_fingers_close_and_open_together_at_their_speed():
    spec = empty_spec()
    FETCH_FINGERS.build(spec)
    model = spec.compile()
    data, count = mujoco.MjData(model), len(FETCH_FINGERS.joints)
    fingers = data.qpos[count : count + 2]
    data.qpos[:count] = data.ctrl[:count] = FETCH_FINGERS.resting_arm
    fingers[:] = FINGERS.travel
    steps = round(0.5 * FINGERS.travel / FINGERS.speed / model.opt.timestep)
    for _ in range(steps):
        mujoco.mj_step(model, data)
        assert abs(fingers[0] - fingers[1]) < 1e-4
    np.testing.assert_allclose(fingers, 0.5 * FINGERS.travel, atol=0.003)
    for _ in range(2 * steps):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(fingers, 0.0, atol=1e-3)
    data.ctrl[count:] = FINGERS.travel
    for _ in range(4 * steps):
        mujoco.mj_step(model, data)
    np.testing.assert_allclose(fingers, FINGERS.travel, atol=1e-3)
