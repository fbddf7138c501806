"""Oddities of homes from files, in words."""

import pytest
from PIL import Image

from tests.helpers.file_home import FURNITURE, SHELL, WORDS


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Sheets take longer than checks, and nobody looks at them here."""
    blank = Image.new("RGB", (4, 4))
    monkeypatch.setattr("rearrange.check_scene.command.draw_sheet", lambda *_: blank)


def test_what_is_odd_is_said(check):
    # A shelf out of reach, a box before the table, a cabinet's drawer that opens a little
    shelf = '<geom name="shelf" type="box" size="0.4 0.15 0.01" pos="1.5 -1.85 1.9"/>'
    boxes = '<geom type="box" size="0.05 0.5 0.5" pos="-1.2 -1.0 0.7"/>'
    shell = SHELL.replace('<body name="table"', f'{shelf}{boxes}<body name="table"')
    words = WORDS.replace("  table: table_top", "  table: table_top\n  shelf: shelf")
    code, told, _ = check(words, shell, FURNITURE.replace('range="0 0.45"', 'range="0 0.3"'))
    assert code == 0
    assert "receptacles.shelf: it is 1.71 m high" in told
    assert (
        "parts.drawer: it opens by 0.30 m, and open_cab asks for up to 0.4: set task.joint_goal, or"
        in told
    )
    assert (
        "close_cab asks for up to 0.45: set task.start_joint_low and task.start_joint_high" in told
    )


def test_an_arm_does_not_reach_through_a_wall(check):
    """Half a metre behind the north wall: near enough for the arm, were that not there."""
    shelf = '<geom name="shelf" type="box" size="0.4 0.1 0.01" pos="-0.6 2.25 1.0"/>'
    words = WORDS.replace("  table: table_top", "  table: table_top\n  shelf: shelf")
    code, told, _ = check(words, SHELL.replace('<body name="table"', f'{shelf}<body name="table"'))
    assert code == 0
    assert (
        "odd: receptacles.shelf: there is no place to stand from which the arm reaches it" in told
    )
    assert "odd: receptacles.table" not in told


def test_fewer_objects_than_there_are_is_odd(check):
    lone = {line for line in WORDS.splitlines() if line.startswith(("  bench", "  cabinet_top"))}
    words = "\n".join(line for line in WORDS.splitlines() if line not in lone)
    code, told, _ = check(words)
    assert code == 0
    assert "odd: objects: " in told
    assert "of 30 find room on open receptacles: name fewer (objects:)" in told
    assert "odd: receptacles: table is the only one that no part shuts: Place and the" in told


def test_a_heavy_door_and_a_handle_near_the_hinge_are_odd(check):
    grip = 'fromto="0.05 -0.62 0.82 0.05 -0.62 1.28"'
    near = FURNITURE.replace(grip, 'fromto="0.05 -0.3 0.82 0.05 -0.3 1.28"')
    heavy = near.replace('density="120"', 'mass="20"')
    assert heavy != near != FURNITURE
    code, told, _ = check(furniture=heavy)
    assert code == 0
    assert "odd: parts.cooler: it weighs 20." in told
    assert "odd: parts.cooler: its handle is 0.31 m from the hinge" in told


def test_tasks_that_there_are_not_are_odd(check):
    _, told, _ = check(WORDS.replace("handle: pull,", "handle: pull, tasks: [open_drawer],"))
    assert "odd: parts.drawer.tasks: unknown task 'open_drawer': choose one of" in told
