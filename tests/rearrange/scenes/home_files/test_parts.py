"""Drawers and doors of a model."""

import math

import mujoco
import pytest

from rearrange.scenes.compile import build_spec
from rearrange.scenes.home_files import read_home
from rearrange.scenes.spec import Door, Drawer
from tests.helpers.file_home import FURNITURE, write_home


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


def test_a_part_may_open_against_its_axis(tmp_path):
    turned = FURNITURE.replace('axis="1 0 0" range="0 0.45"', 'axis="-1 0 0" range="-0.45 0"')
    home = read_home(write_home(tmp_path, "turned", furniture=turned).resolve())
    assert home.spec.part("drawer").range == pytest.approx((0.0, 0.45))
    assert home.spec.frame_of(home.spec.make(1, 0), "drawer").yaw == pytest.approx(0.0)
