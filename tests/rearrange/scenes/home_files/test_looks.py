"""What of a model is only seen."""

import mujoco
import numpy as np
import pytest

from rearrange.scenes.compile import build_spec


def test_the_vase_is_seen_and_touched(spec):
    model = build_spec(spec.make(spec.first_layout, 0)).compile()
    meshes = np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH))
    assert len(meshes) == 1
    assert not model.geom_contype[meshes].any()
    assert model.mat_texid[model.geom_matid[meshes[0]]].max() >= 0
    boxes = [solid for solid in spec.make(1, 0).solids if solid.part == "vase"]
    assert len(boxes) > 1  # slices
    assert max(solid.position[2] + solid.size[2] for solid in boxes) == pytest.approx(0.7)
