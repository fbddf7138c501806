"""What is odd about a robot."""

from rearrange.check_robot.checks import Checks
from rearrange.robot.files import read_robot
from tests.helpers.file_robot import WORDS, write_robot


def odd(folder, words):
    return " ".join(Checks(read_robot(write_robot(folder, words=words).resolve())).remarks)


def test_a_base_that_is_wider_than_it_says(tmp_path):
    words = WORDS.replace("body: stand", "body: stand, place: [0.28, 0, 0]")
    words = words.replace("[0.5, 0, 0.9]", "[0.75, 0, 0.9]")
    assert "base.radius: something of the base is 0.28 m from its middle" in odd(tmp_path, words)


def test_a_camera_on_the_floor(tmp_path):
    assert "camera.at: it is 0.05 m high" in odd(
        tmp_path, WORDS.replace("0.15, 1.5]", "0.15, 0.05]")
    )
