"""What is odd about a robot."""

import pytest

from rearrange.check_robot.checks import Checks
from rearrange.robot.files import read_robot
from tests.helpers.file_robot import WORDS, write_robot


def odd(folder, words):
    return " ".join(Checks(read_robot(write_robot(folder, words=words).resolve())).remarks)


def test_a_base_that_is_wider_than_it_says(tmp_path):
    words = WORDS.replace("body: stand", "body: stand, place: [0.28, 0, 0]")
    words = words.replace("[0.5, 0, 0.9]", "[0.75, 0, 0.9]")
    assert "base.radius: something of the base reaches 0.52 m from its middle" in odd(
        tmp_path, words
    )


@pytest.mark.parametrize(("radius", "told"), [("0.2", True), ("0.26", False)])
def test_a_disc_that_is_smaller_than_the_base(tmp_path, radius, told):
    remarks = odd(tmp_path, WORDS.replace("radius: 0.26", f"radius: {radius}"))
    assert ("base.radius: something of the base reaches 0.24 m from its middle" in remarks) == told


def test_a_camera_on_the_floor(tmp_path):
    assert "camera.at: it is 0.05 m high" in odd(
        tmp_path, WORDS.replace("0.15, 1.5]", "0.15, 0.05]")
    )
