"""What is seen of a robot from files."""

import numpy as np

from rearrange.render import GeomTable
from rearrange.scenes.compile import empty_spec
from tests.helpers.file_home import VASE
from tests.helpers.file_robot import MODEL, WORDS

MESHED = MODEL.replace(
    "<worldbody>",
    '<asset><mesh name="vase" file="vase.obj" scale="0.2 0.2 0.2"/></asset><worldbody>',
    1,
).replace(
    '<site name="tip"',
    '<geom type="mesh" mesh="vase" contype="0" conaffinity="0" rgba="0.9 0.1 0.1 1"/><site name="tip"',
)


def compiled(robot):
    spec = empty_spec()
    robot.build(spec)
    return spec.compile()


def test_solids_are_seen_as_they_are(heron):
    model = compiled(heron.spec)
    assert model.nmesh == 0
    base = model.body("heron_base").id
    colors = model.geom_rgba[model.geom_bodyid == base]
    assert np.allclose(colors[colors[:, 3] > 0.0][0], (0.2, 0.2, 0.22, 1.0))


def test_meshes_are_seen_and_what_collides_is_not(read, tmp_path):
    (tmp_path / "vase.obj").write_text(VASE)
    model = compiled(read(model=MESHED).spec)
    assert model.nmesh == 1
    (mesh,) = np.flatnonzero(model.geom_dataid >= 0)
    assert np.allclose(model.geom_rgba[mesh], (0.9, 0.1, 0.1, 1.0))
    on_it = model.geom_bodyid == model.geom_bodyid[mesh]
    assert (model.geom_rgba[on_it & (model.geom_contype > 0), 3] == 0.0).all()
    meshes = GeomTable.from_model(model).meshes
    assert meshes is not None
    assert mesh in meshes.ids


def test_meshes_can_be_left_out(read, tmp_path):
    (tmp_path / "vase.obj").write_text(VASE)
    assert compiled(read(WORDS + "meshes: false\n", MESHED).spec).nmesh == 0
