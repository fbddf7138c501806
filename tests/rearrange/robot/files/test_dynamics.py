"""Masses and motors of a robot from files."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from rearrange.robot.files import RobotError
from rearrange.robot.files.dynamics import _actuator, inertia_of
from tests.helpers.file_robot import WORDS


def test_motors_are_the_models_or_the_words(heron):
    motors = dict(zip(heron.spec.joint_names, heron.spec.build.motors, strict=True))
    assert motors["pan"].effort == 60.0
    assert (motors["raise"].effort, motors["raise"].gain) == (100.0, 500.0)
    assert (motors["elbow"].effort, motors["elbow"].gain) == (70.0, 350.0)
    assert motors["elbow"].armature == pytest.approx(350 / 3000)
    assert "how strong lift, bend are" in heron.notes.remarks[0]


def test_a_link_weighs_what_its_bodies_weigh(heron):
    source = heron.source
    source.pose(heron.chain.reference)
    last = inertia_of(source, 4)  # wrist, palm and finger
    assert last.mass == pytest.approx(0.6 + 0.4 + 0.02)
    assert (np.linalg.eigvalsh(last.matrix) > 0.0).all()
    assert np.linalg.norm(last.center - source.anchors[4]) < 0.15


def test_a_motor_of_no_joint_is_refused(read):
    with pytest.raises(RobotError, match=r"motors\.wing: it is no joint of the arm"):
        read(WORDS.replace("pan: {effort: 60}", "wing: {effort: 60}"))


@pytest.mark.parametrize(
    "actuator", ['<position joint="j" gear="50" kp="2"/>', '<position joint="j" kp="30"/>']
)
def test_the_gain_of_an_actuator_is_what_the_joint_feels(actuator):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody>'
        f"<actuator>{actuator}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[0] = 0.01
    mujoco.mj_forward(model, data)
    effort, gain = _actuator(SimpleNamespace(model=model), 0)  # pyright: ignore[reportArgumentType]
    assert effort == 0.0
    assert gain == pytest.approx(-data.qfrc_actuator[0] / 0.01)
