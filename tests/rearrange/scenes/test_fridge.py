import mujoco
import pytest

from rearrange.scenes.fridge import FRIDGE, FRIDGE_DOOR


def test_the_door_is_what_its_entry_says():
    spec = mujoco.MjSpec()
    FRIDGE.build(spec)
    handle, panel = spec.geom("handle_fridge_door"), spec.geom("fridge_door_panel")
    assert handle.pos[:2] == pytest.approx(FRIDGE_DOOR.handle)
    assert tuple(spec.body("fridge_door").pos[:2]) == FRIDGE_DOOR.hinge
    assert 2 * panel.size[1] == pytest.approx(FRIDGE_DOOR.width)
    assert panel.pos[2] - panel.size[2] == pytest.approx(FRIDGE_DOOR.lower_edge)
    near, far, out = FRIDGE_DOOR.handle_span
    assert near < -handle.pos[1] - handle.size[1] < -handle.pos[1] + handle.size[1] < far
    assert handle.pos[0] + handle.size[0] == pytest.approx(out)
