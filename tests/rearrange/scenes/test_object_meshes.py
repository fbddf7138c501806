"""Objects of meshes, compiled: what they weigh, how they stand, what is seen of them."""

import mujoco
import numpy as np
import pytest

from rearrange.render import Camera, GeomTable, look_at, render_depth, render_segmentation
from rearrange.scenes.compile import bare_home, build_spec
from rearrange.sim.base import PHYSICS_STEP
from tests.helpers.file_objects import known_objects


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    with known_objects(tmp_path_factory.mktemp("larder")) as spec:
        model = build_spec(bare_home(spec)).compile()
        yield spec, model


def test_they_weigh_what_they_are_said_to(built):
    spec, model = built
    for kind, body in zip(spec.objects, spec.object_bodies, strict=True):
        assert model.body(body).mass[0] == pytest.approx(kind.mass)


def test_slots_of_a_kind_share_their_meshes(built):
    spec, model = built
    assert model.nmesh == sum(len(kind.meshes) for kind in dict.fromkeys(spec.objects))
    assert model.ntex == 1


def test_they_stand_upright_where_they_are_put(built):
    spec, model = built
    data = mujoco.MjData(model)
    for _ in range(round(1.0 / PHYSICS_STEP)):
        mujoco.mj_step(model, data)
    for slot, body in enumerate(spec.object_bodies):
        x, y, z = spec.parked_position(slot)
        assert data.body(body).xpos == pytest.approx([x, y, z], abs=1e-3)
        assert data.body(body).xmat.reshape(3, 3)[2, 2] > 0.9999


def test_an_l_has_no_lid(built):
    """What lies in the hollow of its hull falls onto its foot."""
    spec, model = built
    data = mujoco.MjData(model)
    angle, x = spec.objects[0], spec.parked_position(0)[0]
    carton = spec.slot_kinds.index("carton")
    start = model.jnt_qposadr[model.body_jntadr[model.body(spec.object_bodies[carton]).id]]
    # Beside the upright, over the foot: 4 cm of 6 stand over it
    data.qpos[start : start + 3] = x + 0.03, -50.0, 0.03 + spec.objects[carton].half_height
    data.qpos[start + 3 : start + 7] = 1.0, 0.0, 0.0, 0.0
    mujoco.mj_forward(model, data)
    bodies = {model.body(spec.object_bodies[k]).id for k in (0, carton)}
    touching = [bodies == set(model.geom_bodyid[c.geom].tolist()) for c in data.contact]
    assert not any(touching)
    assert angle.half_height > 0.05


def test_depth_and_segmentation_show_their_triangles(built):
    spec, model = built
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    table = GeomTable.from_model(model)
    carton = spec.slot_kinds.index("carton")
    x, y, z = spec.parked_position(carton)
    eye = np.array([x + 0.5, y, z])
    view = (table, data.geom_xpos, data.geom_xmat, Camera(9, 9, 20.0), eye, look_at(eye, (x, y, z)))
    assert render_depth(*view)[4, 4] == pytest.approx(0.5 - 0.03, abs=1e-4)
    shown = int(render_segmentation(*view)[4, 4])
    assert model.geom_bodyid[shown] == model.body(spec.object_bodies[carton]).id
    assert model.geom_contype[shown] == 0
