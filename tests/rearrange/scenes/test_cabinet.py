import mujoco
import pytest

from rearrange.scenes.cabinet import CABINET, DRAWERS


@pytest.mark.parametrize("drawer", DRAWERS, ids=lambda drawer: drawer.name)
def test_a_drawer_is_what_its_entry_says(drawer):
    spec = mujoco.MjSpec()
    CABINET.build(spec)
    assert spec.geom(f"handle_{drawer.name}").pos[:2] == pytest.approx(drawer.handle)
    assert tuple(spec.joint(drawer.name).range) == drawer.range
