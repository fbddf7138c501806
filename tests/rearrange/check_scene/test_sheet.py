"""The contact sheet of a home from files."""

import numpy as np
from PIL import Image


def test_it_shows_the_home_the_floor_and_each_view(check, tmp_path):
    check()
    sheet = np.asarray(Image.open(tmp_path / "sheet.png"))
    assert sheet.shape[2] == 3
    # Two large pictures, then four receptacles and parts in a row, and one below
    for top, left in ((80, 20), (80, 560), (600, 20), (600, 770), (1110, 20)):
        assert sheet[top : top + 150, left : left + 150].std() > 5.0
    assert sheet[1110:1260, 300:900].std() < 1.0  # no sixth
