"""Homes that are drawn on the device show what the painter shows."""

import numpy as np
import pytest

from rearrange.batched.bank import make_bank
from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.sim import SimulatorConfig

pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")

CONFIG = SimulatorConfig(camera_size=32)
ALIKE = 0.999  # share of pixels: thin edges may fall to the next one


@pytest.fixture
def worlds(pick_episodes):
    """Two simulators of the same worlds; the first draws on the device."""
    from rearrange.batched.simulator import DeviceSimulator

    homes = dict.fromkeys((e.layout, e.variation) for e in pick_episodes)
    bank = make_bank(homes, CONFIG, find_robot())
    there, here = (DeviceSimulator(3, bank, CONFIG, "cpu") for _ in range(2))
    there.draw_on_device()
    for simulator in (there, here):
        simulator.reset([0, 2], pick_episodes[:2])
    return there, here


def assert_alike(found, true):
    assert found.shape == true.shape
    assert np.mean(np.abs(found - true) < 1e-3) > ALIKE


def test_worlds_look_as_the_painter_shows_them(worlds):
    there, here = worlds
    found, true = there.render_depth(), here.render_depth()
    assert_alike(found, true)
    assert true[0].std() > 0.1
    assert not found[1].any()  # no home is there
    assert_alike(there.render_depth(48, 2.0), here.render_depth(48, 2.0))
    assert there.render_depth(48, 2.0)[0].max() <= 5.0


def test_what_has_moved_is_drawn_where_it_is(worlds, pick_episodes):
    there, here = worlds
    before = there.render_depth()
    action = np.zeros((3, 10))
    action[:, [0, 8, 9]] = 0.05, 0.05, 0.05  # the arm is before the camera, and the base drives
    for simulator in (there, here):
        simulator.reset([1], pick_episodes[:1])
        for _ in range(3):
            simulator.step(action)
    found, true = there.render_depth(), here.render_depth()
    assert_alike(found, true)
    assert np.mean(np.abs(found - before) > 1e-3) > 0.2


def test_meshes_are_refused(worlds, monkeypatch):
    there, _ = worlds
    monkeypatch.setattr(there.bank.first.geoms, "meshes", object())
    with pytest.raises(UserError, match="homes with meshes cannot be drawn on a device"):
        there.draw_on_device()
