"""What is read of models that others wrote."""

import mujoco
import numpy as np
import pytest

from rearrange.compiled_models import (
    collides,
    compile_file,
    flat_texture,
    geom_color,
    is_drawn,
    kind_of,
    mesh_arrays,
    seen_of,
    texels,
    texture_colors,
)
from rearrange.errors import UserError

MODEL = """
<mujoco>
  <asset>
    <mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/>
    <texture name="checks" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="4" height="6"/>
    <texture name="sky" type="skybox" builtin="flat" width="2" height="2"/>
    <material name="checked" texture="checks" rgba="0.1 0.2 0.3 1"/>
    <material name="plain" rgba="0.4 0.5 0.6 1"/>
  </asset>
  <worldbody>
    <body>
      <geom name="solid" type="box" size="1 1 1" material="plain"/>
      <geom name="hidden" type="box" size="1 1 1" group="3"/>
      <geom name="glass" type="box" size="1 1 1" rgba="1 1 1 0"/>
      <geom name="look" type="mesh" mesh="wedge" material="checked" contype="0" conaffinity="0"/>
      <geom name="painted" type="sphere" size="1" material="plain" rgba="0.9 0.8 0.7 1"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("model") / "thing.xml"
    file.write_text(MODEL)
    return compile_file(file, "thing.yaml: model")


def geom(model, name):
    return model.geom(name).id


def test_a_colour_of_its_own_counts_before_the_material(model):
    assert np.allclose(geom_color(model, geom(model, "solid")), (0.4, 0.5, 0.6, 1.0))
    assert np.allclose(geom_color(model, geom(model, "painted")), (0.9, 0.8, 0.7, 1.0))


def test_groups_from_three_on_and_what_has_no_alpha_are_not_drawn(model):
    drawn = {
        name: is_drawn(model, geom(model, name)) for name in ("solid", "hidden", "glass", "look")
    }
    assert drawn == {"solid": True, "hidden": False, "glass": False, "look": True}


def test_what_collides_is_seen_only_where_nothing_else_is(model):
    everything = [geom(model, name) for name in ("solid", "hidden", "look")]
    assert seen_of(model, everything) == [geom(model, "look")]
    assert seen_of(model, everything[:2]) == [geom(model, "solid")]
    assert collides(model, everything[0])
    assert not collides(model, everything[2])


def test_the_arrays_of_a_mesh_are_its_triangles(model):
    look = geom(model, "look")
    assert kind_of(model, look) == mujoco.mjtGeom.mjGEOM_MESH
    mesh = mesh_arrays(model, int(model.geom_dataid[look]))
    a, b, c = (mesh.vertices[corners] for corners in mesh.faces.T)
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert volume == pytest.approx(1.0 / 6.0, rel=1e-4)
    assert len(mesh.normal_faces) == len(mesh.faces) == 4
    assert np.allclose(np.linalg.norm(mesh.normals, axis=1), 1.0, atol=1e-5)
    assert mesh.uvs is None
    assert mesh.uv_faces is None


def test_textures_are_read_in_three_channels(model):
    material = model.material("checked").id
    texture = flat_texture(model, material)
    assert texture == model.texture("checks").id
    assert texels(model, texture).shape[:2] == (6, 4)
    colors = {tuple(color) for color in texture_colors(model, texture).reshape(-1, 3).tolist()}
    assert colors == {(255, 0, 0), (0, 0, 255)}
    assert flat_texture(model, model.material("plain").id) == -1
    assert flat_texture(model, -1) == -1


def test_a_file_that_mujoco_refuses_is_one_line(tmp_path):
    file = tmp_path / "bad.xml"
    file.write_text("<mujoco><worldbody><geom type='cube'/></worldbody></mujoco>")
    with pytest.raises(UserError, match=r"^home\.yaml: model: .*bad\.xml: ") as caught:
        compile_file(file, "home.yaml: model")
    assert "\n" not in str(caught.value)


URDF = """
<robot name="arm">
  <link name="base"><visual><geometry><mesh filename="package://arm_description/meshes/wedge.obj"/></geometry>
    </visual></link>
  <link name="tool"><visual><geometry><box size="1 1 1"/></geometry></visual>
    <collision><geometry><box size="2 2 2"/></geometry></collision></link>
  <joint name="rigid" type="fixed"><parent link="base"/><child link="tool"/></joint>
</robot>
"""
WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize("package", ["arm_description", "elsewhere"])
def test_of_a_urdf_file_every_link_stays_and_all_that_is_seen(tmp_path, package):
    folder = tmp_path / package / "urdf"
    folder.mkdir(parents=True)
    # Of no folder above it is the package's name, the file's own counts
    meshes = (folder if package == "elsewhere" else folder.parent) / "meshes"
    meshes.mkdir()
    (meshes / "wedge.obj").write_text(WEDGE)
    (folder / "arm.urdf").write_text(URDF)
    model = compile_file(folder / "arm.urdf", "robot.yaml: model")
    assert {model.body(k).name for k in range(model.nbody)} == {"world", "base", "tool"}
    assert model.nmesh == 1
    tool = np.flatnonzero(model.geom_bodyid == model.body("tool").id)
    assert sorted(bool(collides(model, geom)) for geom in tool) == [False, True]
    (seen,) = seen_of(model, list(tool))
    assert np.allclose(model.geom_size[seen], 0.5)


def test_a_urdf_file_that_is_no_xml_is_one_line(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text("<robot>")
    with pytest.raises(UserError, match=r"^robot\.yaml: model: .*arm\.urdf: no element found"):
        compile_file(file, "robot.yaml: model")


def test_a_urdf_file_may_say_its_encoding_and_name_meshes_by_their_whole_path(tmp_path):
    (tmp_path / "wedge.obj").write_text(WEDGE)
    mesh = f"file://{tmp_path}/wedge.obj"
    text = URDF.replace("package://arm_description/meshes/wedge.obj", mesh).replace(
        '"arm"', '"ärm"'
    )
    file = tmp_path / "arm.urdf"
    file.write_bytes(b'<?xml version="1.0" encoding="latin-1"?>' + text.strip().encode("latin-1"))
    assert compile_file(file, "robot.yaml: model").nmesh == 1
    file.write_text('<?xml version="1.0" encoding="runes"?><robot/>')
    with pytest.raises(UserError, match=r"arm\.urdf: unknown encoding: runes"):
        compile_file(file, "robot.yaml: model")
