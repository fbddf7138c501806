"""Words that are not understood."""

import pytest

from rearrange.errors import UserError
from rearrange.scenes.object_files.declaration import is_object_file, read_declaration
from tests.helpers.file_home import write_home
from tests.helpers.file_objects import WORDS, write_objects

CHANGES = [
    ("objects:", "object:", r"object: unknown key: name, homes, objects"),
    ("objects:", "homes: attic\nobjects:", r"homes: generated or classic is expected, not 'attic'"),
    ("angle.xml", "angel.xml", r"objects\.angle\.model: there is no file .*angel\.xml"),
    ("angle.xml", '"no_such_thing:a.xml"', r"angle\.model: no package no_such_thing is installed"),
    ("count: 4", "count: 0", r"objects\.angle\.count: a whole number from 1 to 60"),
    ("count: 4", "count: 59", r"objects: at most 60 in all are expected, found 62"),
    ("mass: 0.2", "mass: 50", r"objects\.angle\.mass: a number from 0\.005 to 5"),
    ("mass: 0.2", "weight: 1", r"objects\.angle\.weight: unknown key: model"),
    ("mass: 0.2", "collision: box", r"angle\.collision: one of given, hull, coacd"),
    ("mass: 0.2", "texture: label.png", r"objects\.angle\.texture: of a mesh file"),
    ("mass: 0.3", "color: [1, 2, 0]", r"objects\.carton\.color: three numbers from 0 to 1"),
    ("mass: 0.3", "turn: [90, 0]", r"objects\.carton\.turn: 3 numbers are expected"),
    ("scale: 0.01", "scale: 0", r"objects\.carton\.scale: a number from 0\.0001"),
]


@pytest.mark.parametrize(("before", "after", "complaint"), CHANGES)
def test_a_slip_in_the_words_is_one_line(tmp_path, before, after, complaint):
    path = write_objects(tmp_path, WORDS.replace(before, after, 1))
    with pytest.raises(UserError, match=complaint) as error:
        read_declaration(path)
    assert "\n" not in str(error.value)


def test_words_left_out_have_their_defaults(tmp_path):
    words = read_declaration(write_objects(tmp_path, "objects: {angle: angle.xml}"))
    angle = words.objects["angle"]
    assert (words.name, words.homes, angle.count, angle.mass) == ("larder", "generated", 3, None)
    assert angle.model == tmp_path.resolve() / "angle.xml"


def test_a_home_is_no_set_of_objects(tmp_path):
    assert is_object_file(write_objects(tmp_path))
    assert not is_object_file(write_home(tmp_path))
