"""The contact sheet of a home from files."""

import numpy as np
import pytest
from PIL import Image

from rearrange.check_scene.sheet import MARK
from tests.helpers.file_home import SHELL, WORDS


def test_it_shows_the_home_the_floor_and_each_view(check, tmp_path):
    check()
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape[2] == 3
    # Two large pictures, then four receptacles and parts in a row, and one below
    for top, left in ((80, 20), (80, 560), (600, 20), (600, 770), (1110, 20)):
        assert sheet[top : top + 150, left : left + 150].std() > 5.0
    assert sheet[1110:1260, 300:900].std() < 1.0  # no sixth
    assert np.isnan(marked(tmp_path / "sheet.png")).all()  # nothing is odd


def marked(path) -> np.ndarray:
    """Row and column of the middle of all that has a mark's colour; NaN where nothing has."""
    pixels = np.argwhere((np.asarray(Image.open(path)) == MARK).all(axis=2))
    return pixels.mean(axis=0) if len(pixels) else np.full(2, np.nan)


@pytest.mark.parametrize(
    ("turn", "row", "column"),
    [pytest.param(False, 360, 881, marks=pytest.mark.slow), (True, 185, 916)],
)
def test_what_a_remark_is_about_is_marked_on_the_floor(check, tmp_path, turn, row, column):
    """The shelf is too high: at the south wall, below in the map, or to the right where that is turned."""
    shelf = '<geom name="shelf" type="box" size="0.4 0.15 0.01" pos="1.5 -1.85 1.9"/>'
    words = WORDS.replace("  table: table_top", "  table: table_top\n  shelf: shelf")
    if turn:
        words += "bounds: [0.5, -2.4, 2.9, 2.4]\n"
    check(words, SHELL.replace('<body name="table"', f'{shelf}<body name="table"'))
    np.testing.assert_allclose(marked(tmp_path / "sheet.png"), (row, column), atol=3.0)
