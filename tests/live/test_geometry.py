import mujoco
import numpy as np
import pytest

from live.geometry import parts_of
from rearrange.robot.fetch import FETCH
from rearrange.sim.apartment_model import load_apartment


@pytest.fixture(scope="module")
def home():
    model = load_apartment(5000, 0, FETCH).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_every_part_lies_where_the_geoms_of_its_body_do(home):
    model, data = home
    for part in parts_of(model, data):
        vertices = part.vertices
        if part.body:
            vertices = vertices @ data.xmat[part.body].reshape(3, 3).T + data.xpos[part.body]
            geoms = np.flatnonzero(model.geom_bodyid == part.body)
        else:
            geoms = np.flatnonzero(model.body_weldid[model.geom_bodyid] == 0)
        # Each corner is on a geom: no farther from its centre than its bounding sphere reaches.
        away = np.linalg.norm(vertices[:, None] - data.geom_xpos[geoms], axis=2)
        assert (away <= model.geom_rbound[geoms] + 1e-6).any(axis=1).all()


def test_a_box_has_its_size(home):
    model, data = home
    handle = next(
        part for part in parts_of(model, data)
        if model.body(part.body).name.startswith("object_")
        and (model.geom_type[model.geom_bodyid == part.body] == mujoco.mjtGeom.mjGEOM_BOX).all()
        and (model.geom_bodyid == part.body).sum() == 1
    )  # fmt: skip
    (geom,) = np.flatnonzero(model.geom_bodyid == handle.body)
    np.testing.assert_allclose(
        np.ptp(handle.vertices, axis=0), 2 * model.geom_size[geom], atol=1e-9
    )
