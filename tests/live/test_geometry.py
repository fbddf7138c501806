import mujoco
import numpy as np
import pytest
from PIL import Image

from live.geometry import agent_parts, building_parts, parts_of
from nav.buildings import load_building
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


def test_a_building_fills_its_walls_and_has_no_ceiling():
    name = "layout5000_variation00"
    solids = [solid for solid in load_building(name).solids if solid.group != 3]
    parts = building_parts(name)
    corners = np.concatenate([part.vertices for part in parts])
    top = max(s.position[2] + s.size[2 if s.kind == "box" else 1] for s in solids)
    assert corners[:, 2].max() == pytest.approx(top)
    walls = np.concatenate([part.vertices for part in parts if part.is_wall])
    x_min, y_min, x_max, y_max = load_building(name).bounds
    assert walls[:, :2].min(axis=0) == pytest.approx([x_min, y_min], abs=0.3)
    assert walls[:, :2].max(axis=0) == pytest.approx([x_max, y_max], abs=0.3)


def test_the_agent_looks_along_its_x_axis():
    body, face = agent_parts()
    assert face.vertices[:, 0].max() > body.vertices[:, 0].max()


def test_meshes_and_ellipsoids_of_files_are_there_in_their_colours(tmp_path):
    label = np.zeros((2, 2, 3), np.uint8)
    label[0] = 200, 100, 0
    Image.fromarray(label).save(tmp_path / "label.png")
    (tmp_path / "die.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0 0\nvt 1 1\n"
        "f 1/1 3/2 2/1\nf 1/1 2/2 4/1\nf 1/1 4/2 3/1\nf 2/1 3/2 4/1\n"
    )
    model = mujoco.MjModel.from_xml_string(
        f"""<mujoco><asset><mesh name="die" file="{tmp_path}/die.obj" scale="-2 1 1"/>
        <texture name="label" type="2d" file="{tmp_path}/label.png"/>
        <material name="paper" texture="label"/></asset><worldbody>
        <body pos="3 0 0"><joint/><geom type="mesh" mesh="die" material="paper"/></body>
        <body pos="0 3 0"><joint/><geom type="ellipsoid" size="0.1 0.2 0.3" rgba="1 0 0 1"/></body>
        </worldbody></mujoco>"""
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    die, egg = parts_of(model, data)
    assert die.colour == (100, 50, 0)
    world = die.vertices @ data.xmat[1].reshape(3, 3).T + data.xpos[1]
    np.testing.assert_allclose(world.min(axis=0), [1.0, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(world.max(axis=0), [3.0, 1.0, 1.0], atol=1e-6)
    assert egg.colour == (255, 0, 0)
    np.testing.assert_allclose(np.ptp(egg.vertices, axis=0), [0.2, 0.4, 0.6], rtol=0.05)
