"""Words that are not understood."""

import pytest

from rearrange.errors import UserError
from rearrange.scenes.home_files.declaration import read_declaration
from rearrange.scenes.objects import SLOT_KINDS
from rearrange.scenes.registry import check_homes
from tests.helpers.file_home import WORDS, write_home
from tests.helpers.file_objects import write_objects

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
    ("model:", "objects: 3\nmodel:", r"objects: a list of kinds, or a YAML file of objects, is"),
    ("model:", "objects: none.yaml\nmodel:", r"objects: there is no file .*none\.yaml"),
    ("model:", "bounds: [1, 2]\nmodel:", r"bounds: x_min"),
    ("model:", "floor: tiles\nmodel:", r"floor: the model has no geom or site 'tiles'"),
    ("model:", "scale: big\nmodel:", r"scale: a number is expected"),
    ("model:", "- model:", r"no YAML"),
    ("model:", "objects: [{a: b}]\nmodel:", r"objects: no kind {'a': 'b'}"),
    ("  drawer: {", "  object_07: {", r"parts\.object_07: a body of every home has that name"),
    ("{at: cooler_room}", "{at: cooler_room, clearance: 0}", r"clearance: a height above 0"),
]


@pytest.mark.parametrize(("before", "after", "complaint"), CHANGES)
def test_a_slip_in_the_words_is_one_line(tmp_path, before, after, complaint):
    path = write_home(tmp_path, words=WORDS.replace(before, after, 1))
    with pytest.raises(UserError, match=complaint) as error:
        check_homes(str(path))
    assert "\n" not in str(error.value)


def test_objects_are_ours_or_listed_or_of_a_file(tmp_path):
    def slots(words):
        path = write_home(tmp_path, words=words + WORDS)
        return tuple(kind.name for kind in read_declaration(path).objects)

    write_objects(tmp_path)
    assert slots("") == SLOT_KINDS
    assert slots("objects: [013_apple, 013_apple]") == ("013_apple",) * 2
    assert slots("objects: larder.yaml") == ("angle",) * 4 + ("carton",) * 3


def test_a_model_may_lie_in_a_package(tmp_path, monkeypatch):
    write_home(tmp_path / "huts_for_tests")
    (tmp_path / "huts_for_tests" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    words = WORDS.replace("cottage.xml", '"huts_for_tests:cottage.xml"')
    path = write_home(tmp_path / "elsewhere", words=words)
    assert read_declaration(path).model == tmp_path / "huts_for_tests" / "cottage.xml"
    path.write_text(WORDS.replace("cottage.xml", '"no_such_huts:cottage.xml"'))
    with pytest.raises(UserError, match=r"model: no package no_such_huts is installed"):
        read_declaration(path)
