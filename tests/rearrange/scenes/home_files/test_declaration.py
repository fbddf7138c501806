"""Words that are not understood."""

import pytest

from rearrange.errors import UserError
from rearrange.scenes.registry import check_homes
from tests.helpers.file_home import WORDS, write_home

CHANGES = [
    ("receptacles:\n", "receptacle:\n", r"receptacle: unknown key: model, name"),
    ("model: cottage.xml", "model: hut.xml", r"model: there is no file .*hut\.xml"),
    (
        "table: table_top",
        "table: table_tap",
        r"receptacles\.table: .*'table_tap': did you mean table_top",
    ),
    ("handle: pull", "handle: seat", r"parts\.drawer\.handle: 'seat' does not move with joint"),
    (
        "joint: drawer_slide",
        "joint: drawer_side",
        r"parts\.drawer\.joint: .*no joint 'drawer_side': did you mean",
    ),
    ("shuts: in_drawer", "shuts: in_box", r"parts\.drawer\.shuts: no receptacle 'in_box'"),
    ("label: cooler", "labl: cooler", r"parts\.cooler\.labl: unknown key"),
    ("bench: bench", "bench: vase", r"receptacles\.bench: the top of 'vase' is"),
    ("model:", "objects: [spoon]\nmodel:", r"objects: no kind 'spoon'"),
    ("model:", "bounds: [1, 2]\nmodel:", r"bounds: x_min"),
    ("model:", "floor: tiles\nmodel:", r"floor: the model has no geom or site 'tiles'"),
    ("model:", "scale: big\nmodel:", r"scale: a number is expected"),
    ("model:", "- model:", r"no YAML"),
]


@pytest.mark.parametrize(("before", "after", "complaint"), CHANGES)
def test_a_slip_in_the_words_is_one_line(tmp_path, before, after, complaint):
    path = write_home(tmp_path, words=WORDS.replace(before, after, 1))
    with pytest.raises(UserError, match=complaint) as error:
        check_homes(str(path))
    assert "\n" not in str(error.value)
