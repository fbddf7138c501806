"""`rearrange check-robot` of a robot from files."""

from contextlib import suppress

import pytest
from PIL import Image

from rearrange.check_robot.command import main
from rearrange.errors import UserError
from rearrange.robot import registry, unregister_robot
from rearrange.robot.files import read_robot
from tests.helpers.file_robot import MODEL, WORDS, write_robot


@pytest.fixture
def check(tmp_path, capsys):
    def run(words=WORDS, model=MODEL):
        read_robot.cache_clear()
        path = write_robot(tmp_path, "heron", words, model)
        code = main([str(path), "--output", str(tmp_path / "sheet.png")])
        told = capsys.readouterr()
        return code, told.out, told.err

    yield run
    read_robot.cache_clear()
    registry._register_file.cache_clear()
    with suppress(KeyError):
        unregister_robot("heron")


@pytest.fixture
def undrawn(monkeypatch):
    """Nobody looks at the sheet, which takes longer than the checks."""
    blank = Image.new("RGB", (4, 4))
    monkeypatch.setattr("rearrange.check_robot.command.draw_sheet", lambda _: blank)


def test_a_robot_is_told_and_drawn(check, tmp_path):
    code, told, faults = check()
    assert (code, faults) == (0, "")
    assert "heron: an arm of 5 joints" in told
    assert "pan: turns about z, without end, with up to 60 N m" in told
    assert "odd: motors: the model does not say how strong lift, bend are" in told
    assert "kinematics agree" in told
    assert Image.open(tmp_path / "sheet.png").size[0] > 900


def test_every_fault_is_a_line(check):
    code, told, faults = check(WORDS + "slides: {wing: 0.2}\npostures: [[0, 0]]\n")
    assert (code, told) == (2, "")
    assert [line.split(":")[1].strip() for line in faults.splitlines()] == [
        "slides.wing",
        "postures[0]",
    ]


def test_weak_motors_are_odd(check, undrawn):
    _, told, _ = check(
        WORDS.replace("pan: {effort: 60}", "raise: {effort: 60, gain: 500, armature: 900}")
    )
    assert "odd: motors.raise: " in told


def test_only_yaml_files_are_taken():
    with pytest.raises(UserError, match=r"FILE must end in \.yaml"):
        main(["robot.xml"])


def test_a_name_that_is_taken_is_told(check):
    with pytest.raises(UserError, match="robot 'fetch': there is one of that name already"):
        check(WORDS + "name: fetch\n")


def test_joints_may_be_called_as_our_bodies(check, undrawn):
    code, told, _ = check(model=MODEL.replace('"bend"', '"base"').replace('"elbow"', '"gripper"'))
    assert code == 0
    assert "gripper: turns about y" in told
