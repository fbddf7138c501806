"""A robot from its two files, by its path."""

from math import cos, sin

import pytest

from rearrange.errors import UserError
from rearrange.robot import find_robot, name_of_robot, registry, unregister_robot
from rearrange.robot.files import RobotError, read_robot
from rearrange.robot.kinematics import forward
from rearrange.scenes.compile import empty_spec
from tests.helpers.file_robot import WORDS, write_robot
from tests.helpers.urdf_robot import write_urdf_robot


def test_it_is_found_by_its_path_and_then_by_its_name(tmp_path):
    path = str(write_robot(tmp_path, "egret"))
    robot = find_robot(path)
    try:
        assert name_of_robot(path) == robot.name == "egret"
        assert find_robot("egret") is robot
    finally:
        unregister_robot("egret")
        registry._register_file.cache_clear()


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(UserError, match=r"name the YAML file of a robot"):
        find_robot("nowhere.yaml")


def test_resting_values_are_the_models(read):
    values = "resting_arm: [0, 0.1, 0.5, 2.0, 0.3]"
    found = read(WORDS.replace("resting_tip: [0.5, 0, 0.9]", values))
    assert found.chain.theirs(found.spec.resting_arm) == pytest.approx([0, 0.1, 0.5, 2.0, 0.3])


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (
            "[0, 0.1]",
            "resting_arm: 5 values are expected, for lift, pan, raise, elbow, bend, found 2",
        ),
        ("[0.5, 0, 0, 0, 0]", "resting_arm: lift goes from -0.3 to 0.1, found 0.5"),
    ],
)
def test_resting_values_that_cannot_be_are_refused(read, values, told):
    with pytest.raises(RobotError, match=told):
        read(WORDS.replace("resting_tip: [0.5, 0, 0.9]", f"resting_arm: {values}"))


def test_postures_beyond_the_limits_are_refused(read):
    with pytest.raises(RobotError, match=r"postures\[1\]: bend goes from -2\.2 to 2\.2, found 9"):
        read(WORDS + "postures: [[0, 0, 0.5, 1, 0], [0, 0, 0.5, 1, 9]]\n")


def test_all_faults_are_kept(read):
    with pytest.raises(RobotError, match="1 more: rearrange check-robot") as error:
        read(WORDS + "slides: {wing: 0.2}\npostures: [[0, 0]]\n")
    assert len(error.value.faults) == 2


def test_a_urdf_file_is_a_robot_too_with_the_meshes_of_its_package(tmp_path):
    robot = read_robot(write_urdf_robot(tmp_path).resolve()).spec
    assert [joint.name for joint in robot.joints] == ["lift", "pan", "elbow", "bend"]
    tip, _ = forward(robot, robot.resting_arm)
    # Shoulder 0.11 m ahead and 0.85 m high, two links of 0.32 m, and 0.22 m that the wrist bends down
    out = 0.22 * cos(0.7)
    there = (
        0.11 + 0.32 * cos(0.9) + (0.32 + out) * cos(0.7),
        0.32 * sin(0.9) - (0.32 + out) * sin(0.7),
        0.85 - 0.22 * sin(0.7),
    )
    assert tip == pytest.approx(there, abs=1e-6)
    spec = empty_spec()
    robot.build(spec)
    model = spec.compile()
    assert model.nmesh == 1
    assert model.actuator_forcerange.max() == pytest.approx(90.0)
