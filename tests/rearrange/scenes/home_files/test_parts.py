"""Drawers and doors of a model."""

import math

import mujoco
import pytest

from rearrange.scenes.compile import build_spec
from rearrange.scenes.home_files import read_home
from rearrange.scenes.registry import spec_of_homes
from rearrange.scenes.spec import Door, Drawer
from tests.helpers.file_home import FURNITURE, WORDS, hung_the_other_way, known_home, write_home


def test_parts_follow_from_joints_and_handles(spec):
    drawer, door = spec.parts
    assert isinstance(drawer, Drawer)
    assert isinstance(door, Door)
    assert drawer.range == pytest.approx((0.0, 0.45))
    assert door.range == pytest.approx((0.0, math.radians(135)))
    _handles_go_as_told(spec)


def test_a_door_that_opens_clockwise_is_a_mirror_image(spec, tmp_path):
    with known_home(tmp_path, "other", hung_the_other_way(FURNITURE)) as path:
        other = spec_of_homes(path)
        _handles_go_as_told(other)
    one, door = spec.part("cooler"), other.part("cooler")
    assert not one.clockwise
    assert door.clockwise
    for point in ("hinge", "handle", "before_closed", "before_open"):
        x, y = getattr(one, point)
        assert getattr(door, point) == pytest.approx((x, -y)), point
    for value in ("range", "width", "depth", "handle_span", "pushed"):
        assert getattr(door, value) == pytest.approx(getattr(one, value)), value
    frames = [home.frame_of(home.make(1, 0), "cooler") for home in (spec, other)]
    assert frames[0].yaw == pytest.approx(frames[1].yaw)


def _handles_go_as_told(spec):
    """Where a part says its handle is, it is in the compiled model."""
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


def test_a_part_may_open_against_its_axis(tmp_path):
    turned = FURNITURE.replace('axis="1 0 0" range="0 0.45"', 'axis="-1 0 0" range="-0.45 0"')
    home = read_home(write_home(tmp_path, "turned", furniture=turned).resolve())
    assert home.spec.part("drawer").range == pytest.approx((0.0, 0.45))
    assert home.spec.frame_of(home.spec.make(1, 0), "drawer").yaw == pytest.approx(0.0)


def test_a_handle_before_a_turned_panel_is_not_the_panel(tmp_path):
    pull = '<geom name="pull" class="steel" size="0.0175 0.14 0.02" pos="0.3175 0 0.80"/>'
    assert pull in FURNITURE
    ahead = FURNITURE.replace(pull, '<site name="pull" pos="0.34 0 0.80" size="0.01"/>')
    turned = ahead.replace('pos="-2.2 -1.0 0.2"', 'pos="-1.6 -1.0 0.2" euler="0 0 40"')
    handles = [
        read_home(write_home(tmp_path / name, name, furniture=each).resolve()).spec.part("drawer")
        for name, each in (("straight", ahead), ("askew", turned))
    ]
    assert handles[0].handle == pytest.approx(handles[1].handle)
    assert handles[0].handle[0] > 0.3


def test_parts_may_be_called_as_pieces_of_homes(tmp_path):
    words = WORDS.replace("  drawer: {", "  looks: {").replace("  cooler: {", "  looks_frame: {")
    with known_home(tmp_path, "odd_names", words=words) as path:
        home = spec_of_homes(path)
        model = build_spec(home.make(home.first_layout, 0)).compile()
        assert [model.joint(name).name for name in home.joints] == ["looks", "looks_frame"]
