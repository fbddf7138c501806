"""Homes from files, as tests/helpers/file_home.py writes one."""

import math

import mujoco
import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.scenes import registry
from rearrange.scenes.compile import build_spec
from rearrange.scenes.home_files import HomeError, read_home
from rearrange.scenes.home_files.shapes import slices
from rearrange.scenes.registry import check_homes, layouts_of, spec_of_homes, unregister_homes
from rearrange.scenes.spec import Door, Drawer
from tests.helpers.file_home import FURNITURE, SHELL, WORDS, write_home


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = write_home(tmp_path_factory.mktemp("cottage")).resolve()
    yield found
    registry._register_file.cache_clear()
    unregister_homes(read_home(found).spec)


@pytest.fixture(scope="module")
def spec(path):
    return spec_of_homes(str(path))


def test_a_path_stands_for_a_name(path, spec):
    assert check_homes(str(path)) == spec.name == "cottage"
    (layout,) = layouts_of("val", str(path))
    apartment, grid = load_layout(layout, 0)
    assert apartment.bounds == pytest.approx((0.0, 0.0, 5.2, 4.2))
    assert grid.island.sum() * grid.cell**2 > 5.0


def test_it_stands_where_the_model_has_it(spec):
    home = spec.make(spec.first_layout, 0)
    table, drawer, cooler = (home.receptacles[name] for name in ("table", "in_drawer", "in_cooler"))
    assert table.position == pytest.approx((4.55, 1.1, 0.72))  # the model's less its lower corner
    assert drawer.joint == "drawer"
    assert drawer.clearance == pytest.approx(0.205)  # up to the cabinet's top
    assert cooler.clearance == pytest.approx(0.38)  # the height of the site
    assert not any(solid.part == "vase" and solid.color[3] for solid in home.solids)


def test_parts_follow_from_joints_and_handles(spec):
    drawer, door = spec.parts
    assert isinstance(drawer, Drawer)
    assert isinstance(door, Door)
    assert drawer.range == pytest.approx((0.0, 0.45))
    assert door.range == pytest.approx((0.0, math.radians(135)))
    home = spec.make(spec.first_layout, 0)
    model = build_spec(home).compile()
    data = mujoco.MjData(model)
    for part in spec.parts:
        frame = spec.frame_of(home, part.name)
        for value in (0.0, 0.4):
            data.joint(part.name).qpos[0] = value
            mujoco.mj_kinematics(model, data)
            c, s = math.cos(frame.yaw), math.sin(frame.yaw)
            x, y = part.handle_at(value)
            told = frame.position[0] + c * x - s * y, frame.position[1] + s * x + c * y
            found = data.geom(f"handle_{part.name}").xpos[:2]
            assert found == pytest.approx(told, abs=0.01)


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


def test_a_part_may_open_against_its_axis(tmp_path):
    turned = FURNITURE.replace('axis="1 0 0" range="0 0.45"', 'axis="-1 0 0" range="-0.45 0"')
    home = read_home(write_home(tmp_path, "turned", furniture=turned).resolve())
    assert home.spec.part("drawer").range == pytest.approx((0.0, 0.45))
    assert home.spec.frame_of(home.spec.make(1, 0), "drawer").yaw == pytest.approx(0.0)


def test_the_vase_is_seen_and_touched(spec):
    model = build_spec(spec.make(spec.first_layout, 0)).compile()
    meshes = np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH))
    assert len(meshes) == 1
    assert not model.geom_contype[meshes].any()
    assert model.mat_texid[model.geom_matid[meshes[0]]].max() >= 0
    boxes = [solid for solid in spec.make(1, 0).solids if solid.part == "vase"]
    assert len(boxes) > 1  # slices
    assert max(solid.position[2] + solid.size[2] for solid in boxes) == pytest.approx(0.7)


def test_slices_hold_the_hull():
    points = np.random.default_rng(0).normal(size=(200, 3))
    shapes = slices(points)
    for x, y, z in 0.999 * (points - points.mean(axis=0)) + points.mean(axis=0):
        inside = [shape for shape in shapes if shape.low - 1e-6 <= z <= shape.high + 1e-6]
        assert any(shape.covers(np.array([(x, y)])).any() for shape in inside)


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


MODELS = [
    ("vase.obj", "jug.obj", r"model: .*jug\.obj"),
    ('range="0 0.45"', "", r"'drawer_slide' has no range: write range="),
    ('axis="1 0 0"', 'axis="0 0 1"', r"'drawer_slide' does not slide level"),
    ('axis="0 0 1"', 'axis="0 1 0"', r"the hinge of 'cooler_hinge' is not upright"),
    ('axis="0 0 1"', 'axis="0 0 -1"', r"'cooler_hinge' opens clockwise"),
    ('range="0 135"', 'range="-20 135"', r"goes from .* say with closed"),
    ('pos="0.06 0 1.14"', 'pos="0.06 0 0.5"', r"receptacles\.in_cooler: .* fills it"),
    ('pos="0.06 0 1.14"', 'pos="0.06 0 1.3"', r"in_cooler: it is 0\.16 m above what is solid"),
]


@pytest.mark.parametrize(("before", "after", "complaint"), MODELS)
def test_what_a_model_lacks_is_one_line(tmp_path, before, after, complaint):
    changed = (text.replace(before, after, 1) for text in (SHELL, FURNITURE))
    path = write_home(tmp_path, "lacking", WORDS, *changed)
    with pytest.raises(UserError, match=complaint) as error:
        check_homes(str(path))
    assert "\n" not in str(error.value)


def test_all_faults_are_known(tmp_path):
    words = WORDS.replace("table_top", "plate").replace("handle: pull", "handle: knob")
    with pytest.raises(HomeError, match="1 more: rearrange check-scene") as error:
        read_home(write_home(tmp_path, words=words))
    assert len(error.value.faults) == 2


def test_a_name_that_is_taken_is_refused(tmp_path):
    with pytest.raises(UserError, match=r"'classic'.*there are such homes: rename them"):
        check_homes(str(write_home(tmp_path, "classic")))
