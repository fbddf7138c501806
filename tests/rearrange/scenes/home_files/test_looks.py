"""What of a model is only seen."""

import mujoco
import numpy as np
import pytest

from rearrange.render import GeomTable
from rearrange.scenes import registry
from rearrange.scenes.compile import build_spec
from rearrange.scenes.home_files import read_home
from rearrange.scenes.registry import spec_of_homes
from tests.helpers.file_home import SHELL, write_home


def test_the_vase_is_seen_and_touched(spec):
    model = build_spec(spec.make(spec.first_layout, 0)).compile()
    meshes = np.flatnonzero(model.geom_type == int(mujoco.mjtGeom.mjGEOM_MESH))
    assert len(meshes) == 1
    assert not model.geom_contype[meshes].any()
    assert model.mat_texid[model.geom_matid[meshes[0]]].max() >= 0
    boxes = [solid for solid in spec.make(1, 0).solids if solid.part == "vase"]
    assert len(boxes) > 1  # slices
    assert max(solid.position[2] + solid.size[2] for solid in boxes) == pytest.approx(0.7)


def test_a_textured_floor_is_seen_as_it_is(tmp_path):
    painted = SHELL.replace('<geom name="ground"', '<geom name="ground" material="paint"').replace(
        "</asset>",
        '<material name="paint" texture="checks" texrepeat="5 5" texuniform="true"/></asset>',
    )
    path = write_home(tmp_path, "shed", shell=painted).resolve()
    found = spec_of_homes(str(path))
    try:
        model = build_spec(found.make(found.first_layout, 0)).compile()
        table = GeomTable.from_model(model)
        assert table.planes is not None
        (row,) = np.flatnonzero(table.planes.textures >= 0)
        assert model.geom_size[table.ids[row], :2].tolist() == [10.0, 10.0]
        assert not model.geom_contype[table.ids[row]]
        assert table.planes.steps[row] == pytest.approx(2.5)
    finally:
        registry._register_file.cache_clear()
        registry.unregister_homes(read_home(path).spec)
