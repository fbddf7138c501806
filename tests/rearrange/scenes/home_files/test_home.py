"""A home of two files."""

import pytest

from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.scenes.home_files import HomeError, read_home
from rearrange.scenes.registry import check_homes, layouts_of
from tests.helpers.file_home import WORDS, write_home


def test_a_path_stands_for_a_name(path, spec):
    assert check_homes(str(path)) == spec.name == "barn"
    (layout,) = layouts_of("val", str(path))
    apartment, grid = load_layout(layout, 0)
    assert apartment.bounds == pytest.approx((0.0, 0.0, 5.2, 4.2))
    assert grid.island.sum() * grid.cell**2 > 5.0


def test_all_faults_are_known(tmp_path):
    words = WORDS.replace("table_top", "plate").replace("handle: pull", "handle: knob")
    with pytest.raises(HomeError, match="1 more: rearrange check-scene") as error:
        read_home(write_home(tmp_path, words=words))
    assert len(error.value.faults) == 2


def test_a_name_that_is_taken_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"'classic'.*there are such homes: rename them"):
        check_homes(str(write_home(tmp_path, "classic")))
