"""Words of a robot's YAML file."""

import pytest

from rearrange.errors import UserError
from rearrange.robot.files.declaration import read_declaration
from tests.helpers.file_robot import WORDS, write_robot


def test_what_is_not_said_is_known(tmp_path):
    found = read_declaration(write_robot(tmp_path))
    assert (found.name, found.base.drive_force, found.cup.radius) == ("heron", 250.0, 0.025)
    assert found.base.turn_torque == pytest.approx(250.0 * 0.26 / 1.5)
    assert found.cup.along == (0.0, 0.0, 1.0)
    assert found.meshes


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("hand: palm\n", "", "hand is missing"),
        ("radius: 0.26", "radius: 0.4", "base.radius: at most 0.3 m"),
        ("along: z", "along: up", "cup.along: one of x, y, z"),
        ("effort: 60", "torque: 60", "motors.pan.torque: unknown key"),
        ("effort: 60", "effort: -1", "motors.pan.effort: a number above 0"),
        ("resting_tip: [0.5, 0, 0.9]", "", "resting_arm or resting_tip: one of them"),
        ("field_of_view: 80", "field_of_view: 200", "10 to 150 degrees"),
        ("model: heron.xml", "model: crane.xml", "there is no file"),
        ("model: heron.xml", "model: no_such_package:a.xml", "no package no_such_package"),
        (
            "length: 0.09",
            "length: 9",
            r"cup.length: a number from 0\.02 to 0\.5 m is expected, not 9",
        ),
        (
            "length: 0.09",
            "radius: 2",
            r"cup.radius: a number from 0\.005 to 0\.1 m is expected, not 2",
        ),
        (
            "body: stand",
            "height: 0.01",
            r"base.height: a number from 0\.05 to 2 m is expected, not 0\.01",
        ),
        ("hand: palm", "hand: palm\nmeshes: some", "meshes: true or false"),
        ("hand: palm", "hand: palm\npostures: [1]", r"postures\[0\]: a list of numbers"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(tmp_path, old, new, told):
    assert old in WORDS
    with pytest.raises(UserError, match=told) as error:
        read_declaration(write_robot(tmp_path, words=WORDS.replace(old, new)))
    assert "\n" not in str(error.value)


def test_a_model_may_lie_in_a_package(tmp_path):
    words = WORDS.replace("heron.xml", "rearrange:env.py")
    assert read_declaration(write_robot(tmp_path, words=words)).model.name == "env.py"
