"""`rearrange check-scene` of a home from files."""

import zlib
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from rearrange.check_scene.command import main
from rearrange.scenes import registry
from rearrange.scenes.home_files import HomeError, read_home
from rearrange.scenes.registry import unregister_homes
from tests.helpers.file_home import FURNITURE, SHELL, WORDS, write_home


@pytest.fixture
def check(tmp_path, capsys):
    """Write a home, check it; exit code, lines and faults."""
    written = []

    def run(words=WORDS, shell=SHELL, furniture=FURNITURE):
        # Homes of one name are one home for a process: each has its own
        name = f"checked_{zlib.crc32((words + shell + furniture).encode())}"
        path = write_home(tmp_path, name, words, shell, furniture)
        written.append(path.resolve())
        code = main([str(path), "--output", str(tmp_path / "sheet.png")])
        told = capsys.readouterr()
        return code, told.out, told.err

    yield run
    for path in written:
        with suppress(HomeError, KeyError):  # it could not be used
            unregister_homes(read_home(path).spec)
    registry._register_file.cache_clear()


def test_a_good_home_has_nothing_odd(check, tmp_path):
    code, told, faults = check()
    assert (code, faults) == (0, "")
    assert "odd:" not in told
    assert "receptacles.in_drawer: 0.40 m by 0.60 m, 0.68 m high, 0.21 m of room above" in told
    assert "parts.cooler: a door that opens by 2.36 rad, its handle 1.05 m high" in told
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape[2] == 3
    assert sheet.std() > 20.0


def test_what_is_odd_is_said(check):
    # A shelf out of reach, a box before the table, a cabinet's drawer that opens a little
    shelf = '<geom name="shelf" type="box" size="0.4 0.15 0.01" pos="1.5 -1.85 1.9"/>'
    boxes = '<geom type="box" size="0.05 0.5 0.5" pos="-1.2 -1.0 0.7"/>'
    shell = SHELL.replace('<body name="table"', f'{shelf}{boxes}<body name="table"')
    words = WORDS.replace("  table: table_top", "  table: table_top\n  shelf: shelf")
    code, told, _ = check(words, shell, FURNITURE.replace('range="0 0.45"', 'range="0 0.3"'))
    assert code == 0
    assert "receptacles.shelf: it is 1.71 m high" in told
    assert "parts.drawer: it opens by 0.30 m, and open_cab asks for up to 0.4" in told


def test_a_room_that_is_filled_cannot_be_used(check):
    block = '<geom type="box" size="2.4 1.9 0.2" pos="0 0 0.5"/>'
    code, _, faults = check(shell=SHELL.replace('<body name="table"', f'{block}<body name="table"'))
    assert code == 2
    assert "fault: " in faults


def test_every_fault_is_a_line(check):
    words = WORDS.replace("table_top", "plate").replace("handle: pull", "handle: knob")
    code, told, faults = check(words)
    assert (code, told) == (2, "")
    assert [line.split(":")[1].strip() for line in faults.splitlines()] == [
        "receptacles.table",
        "parts.drawer.handle",
    ]
