"""The ant's model."""

import math

import mujoco
import numpy as np
import pytest

from locomotion.ant import ANT
from locomotion.robots import compile_robot


def at_rest() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = compile_robot(ANT).model
    data = mujoco.MjData(model)
    data.qpos[2], data.qpos[7:] = ANT.height, ANT.pose
    mujoco.mj_forward(model, data)
    return model, data


def test_it_has_eight_motors_as_in_the_paper():
    body = compile_robot(ANT)
    assert (body.model.nq, body.model.nv, body.model.nu) == (15, 14, 8)
    assert body.torques.tolist() == [150.0] * 8
    degrees = np.degrees(body.ranges)
    np.testing.assert_allclose(degrees, [[-30, 30], [30, 70]] * 4)


def test_its_mass_is_that_of_its_parts():
    """Sphere of 0.25 m, 12 capsules of 0.08 m with lengths of 0.2 and 0.4 times the root of two: 5 kg/m^3."""
    ball = 4 / 3 * math.pi * 0.25**3
    ends, around = 4 / 3 * math.pi * 0.08**3, math.pi * 0.08**2 * math.sqrt(2)
    legs = 12 * ends + 8 * 0.2 * around + 4 * 0.4 * around
    model = compile_robot(ANT).model
    assert model.body_mass.sum() == pytest.approx(5 * (ball + legs))


def test_it_begins_on_its_feet():
    _, data = at_rest()
    soles = data.site_xpos
    np.testing.assert_allclose(soles[:, 2], 0.08)
    assert sorted(map(tuple, np.sign(soles[:, :2]).tolist())) == [
        (-1, -1),
        (-1, 1),
        (1, -1),
        (1, 1),
    ]


def test_it_stands_without_doing_anything():
    model, data = at_rest()
    mujoco.mj_step(model, data, 240)
    assert data.qpos[2] > 0.45
    assert np.all(data.sensordata > 0)
    assert data.sensordata.sum() == pytest.approx(model.body_mass.sum() * 9.8, rel=0.05)
