"""Models of homes, and what they lack."""

import math

import pytest

from rearrange.errors import UserError
from rearrange.scenes import registry
from rearrange.scenes.home_files import read_home
from rearrange.scenes.registry import check_homes
from tests.helpers.file_home import FURNITURE, SHELL, WORDS, write_home

MODELS = [
    ("vase.obj", "jug.obj", r"model: .*jug\.obj"),
    ('range="0 0.45"', "", r"'drawer_slide' has no range: write range="),
    ('axis="1 0 0"', 'axis="0 0 1"', r"'drawer_slide' does not slide level"),
    ('axis="0 0 1"', 'axis="0 1 0"', r"the hinge of 'cooler_hinge' is not upright"),
    ('range="0 135"', 'range="-20 135"', r"goes from .* say with closed"),
    ('pos="0.06 0 1.14"', 'pos="0.06 0 0.5"', r"receptacles\.in_cooler: .* fills it"),
    ('pos="0.06 0 1.14"', 'pos="0.06 0 1.3"', r"in_cooler: it is 0\.16 m above what is solid"),
    (
        '<geom name="ground"',
        '<geom type="plane" size="9 9 1"/><geom name="ground"',
        r"planes 0 and 0\.2 m",
    ),
]


@pytest.mark.parametrize(("before", "after", "complaint"), MODELS)
def test_what_a_model_lacks_is_one_line(tmp_path, before, after, complaint):
    changed = (text.replace(before, after, 1) for text in (SHELL, FURNITURE))
    path = write_home(tmp_path, "lacking", WORDS, *changed)
    with pytest.raises(UserError, match=complaint) as error:
        check_homes(str(path))
    assert "\n" not in str(error.value)


def test_a_model_of_another_scale(tmp_path):
    half = read_home(
        write_home(tmp_path, "half", WORDS.replace("model:", "scale: 0.5\nmodel:")).resolve()
    )
    home = half.spec.make(1, 0)
    assert home.bounds == pytest.approx((0.0, 0.0, 2.6, 2.1))
    assert home.receptacles["table"].position == pytest.approx((2.275, 0.55, 0.36))
    assert half.spec.part("drawer").range == pytest.approx((0.0, 0.225))
    assert half.spec.part("cooler").range == pytest.approx((0.0, math.radians(135)))
    vase = [solid for solid in home.solids if solid.part == "vase"]
    assert max(s.position[2] + s.size[2] for s in vase) == pytest.approx(0.35)


def test_where_a_drawer_is_shut_is_told_in_the_models_lengths(tmp_path):
    words = WORDS.replace("model:", "scale: 0.5\nmodel:").replace(
        "handle: pull", "closed: CLOSED, handle: pull"
    )
    path = write_home(tmp_path, "wide", words.replace("CLOSED", "0.45")).resolve()
    assert read_home(path).spec.part("drawer").range == pytest.approx((0.0, 0.225))
    path = write_home(tmp_path, "middle", words.replace("CLOSED", "0.2")).resolve()
    with pytest.raises(
        UserError, match=r"goes from 0 to 0\.45, and 0\.2 is neither: say with closed"
    ):
        read_home(path)


def test_a_fault_that_was_mended_is_not_told_again(tmp_path):
    path = write_home(tmp_path, "mended", furniture=FURNITURE.replace("0.06 0 1.14", "0.06 0 0.5"))
    with pytest.raises(UserError, match="fills it"):
        check_homes(str(path))
    path = write_home(tmp_path, "mended").resolve()
    try:
        assert check_homes(str(path)) == "mended"
    finally:
        registry._register_file.cache_clear()
        registry.unregister_homes(read_home(path).spec)
