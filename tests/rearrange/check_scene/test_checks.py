"""Oddities of homes from files, in words."""

from tests.helpers.file_home import FURNITURE, SHELL, WORDS


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


def test_fewer_objects_than_there_are_is_odd(check):
    lone = {line for line in WORDS.splitlines() if line.startswith(("  bench", "  cabinet_top"))}
    words = "\n".join(line for line in WORDS.splitlines() if line not in lone)
    code, told, _ = check(words)
    assert code == 0
    assert "odd: objects: " in told
    assert "of 30 find room on open receptacles: name fewer (objects:)" in told
