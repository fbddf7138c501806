"""Receptacles of a model."""

import pytest

from rearrange.scenes.home_files import HomeError, read_home
from tests.helpers.file_home import FURNITURE, SHELL, WORDS, write_home


def test_it_stands_where_the_model_has_it(spec):
    home = spec.make(spec.first_layout, 0)
    table, drawer, cooler = (home.receptacles[name] for name in ("table", "in_drawer", "in_cooler"))
    assert table.position == pytest.approx((4.55, 1.1, 0.72))  # the model's less its lower corner
    assert drawer.joint == "drawer"
    assert drawer.clearance == pytest.approx(0.205)  # up to the cabinet's top
    assert cooler.clearance == pytest.approx(0.38)  # the height of the site
    assert not any(solid.part == "vase" and solid.color[3] for solid in home.solids)


def test_of_a_body_the_highest_top_counts_and_a_fault_names_it(tmp_path):
    knob = '<geom name="knob" type="box" size="0.05 0.05 0.02" pos="0 0 0.8"/>'
    shell = SHELL.replace('<geom name="seat"', f'{knob}<geom name="seat"')
    with pytest.raises(HomeError, match=r"'bench' \(knob, 0\.82 m high\) is 0\.10 m by 0\.10 m"):
        read_home(write_home(tmp_path, shell=shell).resolve())


def test_a_site_on_a_body_that_is_fixed_in_a_drawer_moves_with_it(tmp_path):
    room = '<body name="inner"><site name="room" type="box" size="0.2 0.3 0.1" pos="0 0 0.775"/></body>'
    pull = '<geom name="pull"'
    assert pull in FURNITURE
    furniture = FURNITURE.replace(pull, room + pull)
    words = WORDS.replace("in_drawer: drawer_floor", "in_drawer: room")
    home = read_home(write_home(tmp_path, words=words, furniture=furniture).resolve()).spec
    assert home.make(home.first_layout, 0).receptacles["in_drawer"].joint == "drawer"
