"""`rearrange check-scene` of a home from files."""

from tests.helpers.file_home import SHELL, WORDS


def test_a_good_home_has_nothing_odd(check):
    code, told, faults = check()
    assert (code, faults) == (0, "")
    assert "odd:" not in told
    assert "receptacles.in_drawer: 0.40 m by 0.60 m, 0.68 m high, 0.21 m of room above" in told
    assert "parts.cooler: a door that opens by 2.36 rad, its handle 1.05 m high" in told


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
