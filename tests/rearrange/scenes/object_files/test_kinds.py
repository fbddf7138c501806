"""Frame, size, mass and convex parts of objects from files."""

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from rearrange.errors import UserError
from rearrange.scenes.object_files import read_objects
from tests.helpers.file_objects import MODEL, WORDS, write_objects


def kinds(folder, before="", after=""):
    read_objects.cache_clear()  # a test writes one file after the other to one place
    return read_objects(write_objects(folder, WORDS.replace(before, after, 1)))


def test_slots_hold_so_many_of_each(tmp_path):
    assert [kind.name for kind in kinds(tmp_path)] == ["angle"] * 4 + ["carton"] * 3


def test_sizes_are_the_models_and_stand_around_the_middle(tmp_path):
    angle, carton = kinds(tmp_path)[0], kinds(tmp_path)[-1]
    assert angle.half_height == pytest.approx(0.06)
    assert angle.footprint_radius == pytest.approx(np.hypot(0.05, 0.02))
    assert angle.parts[0].kind == "box"
    assert angle.parts[0].size == pytest.approx((0.05, 0.02, 0.06))
    assert carton.parts[0].size == pytest.approx((0.03, 0.04, 0.07))
    for kind in (angle, carton):
        points = np.concatenate([part.vertices for part in kind.meshes if part.collides])
        assert points.min(axis=0) == pytest.approx(-points.max(axis=0), abs=1e-6)


def test_each_geom_that_collides_is_a_convex_part(tmp_path):
    solid = [part for part in kinds(tmp_path)[0].meshes if part.collides]
    assert sorted(part.volume for part in solid) == pytest.approx([8e-5, 1.6e-4])
    (hull,) = [
        part for part in kinds(tmp_path, "mass: 0.2", "collision: hull")[0].meshes if part.collides
    ]
    assert hull.volume > 1.3 * sum(part.volume for part in solid)
    assert hull.volume == pytest.approx(ConvexHull(hull.vertices).volume)


def test_the_mass_is_the_words_or_the_models(tmp_path):
    assert kinds(tmp_path)[0].mass == 0.2
    assert kinds(tmp_path, "mass: 0.2, ")[0].mass == pytest.approx(0.24)
    half = kinds(tmp_path, "mass: 0.2", "scale: 0.5")[0]
    assert half.mass == pytest.approx(0.03)
    assert half.half_height == pytest.approx(0.03)


def test_it_stands_as_it_is_turned(tmp_path):
    lying = kinds(tmp_path, "scale: 0.01", "scale: 0.01, turn: [90, 0, 0]")[-1]
    assert lying.parts[0].size == pytest.approx((0.03, 0.07, 0.04))
    about_z = kinds(tmp_path, "scale: 0.01", "scale: 0.01, turn: [90, 0, 90]")[-1]
    assert about_z.parts[0].size == pytest.approx((0.07, 0.03, 0.04))


def test_a_texture_is_small_and_has_its_place(tmp_path):
    (look,) = [part for part in kinds(tmp_path)[-1].meshes if not part.collides]
    assert look.texture.shape == (100, 100, 3)
    assert (look.texture[:, 0] == 0).all()
    assert (look.texture[:, -1] == 200).all()
    assert len(look.uv_faces) == len(look.faces)
    assert np.linalg.norm(look.normals, axis=1) == pytest.approx(1.0)
    colored = kinds(tmp_path, "texture: label.png", "texture: label.png, color: [1, 0, 0]")[-1]
    assert colored.meshes[-1].texture is None
    assert colored.meshes[-1].color == (1.0, 0.0, 0.0, 1.0)


def test_triangles_of_shapes_look_outwards(tmp_path):
    look = next(part for part in kinds(tmp_path)[0].meshes if not part.collides)
    corners = look.vertices[look.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = corners.mean(axis=1) - look.vertices.mean(axis=0)
    assert (np.einsum("ij,ij->i", normals, outwards) > 0.0).all()


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        (
            "scale: 0.01",
            "scale: 0.1",
            r"carton\.model: carton\.obj is 0\.6 by 0\.8 by 1\.4 m.*say scale",
        ),
        ("mass: 0.2", "turn: [0, 30, 0]", r"angle\.turn: it topples as it stands"),
        ("mass: 0.2", "scale: 0.2", r"angle\.model: angle\.xml is 0\.02 by 0\.008 by 0\.024 m"),
    ],
)
def test_what_cannot_be_an_object_says_so(tmp_path, before, after, complaint):
    with pytest.raises(UserError, match=complaint):
        kinds(tmp_path, before, after)


def test_a_model_that_mujoco_refuses_is_one_line(tmp_path):
    path = write_objects(tmp_path)
    (tmp_path / "angle.xml").write_text("<mujoco><worldbody><geom/></mujoco>")
    with pytest.raises(UserError, match=r"objects\.angle\.model: .*angle\.xml") as error:
        read_objects(path)
    assert "\n" not in str(error.value)


def test_coacd_cuts_what_is_hollow(tmp_path):
    if find_spec("coacd") is None:
        with pytest.raises(UserError, match=r"angle\.collision: no package coacd is installed"):
            kinds(tmp_path, "mass: 0.2", "collision: coacd")
        pytest.skip("pip install coacd")
    write_objects(tmp_path)
    (tmp_path / "step.obj").write_text(STEP)
    words = "objects: {step: {model: step.obj, collision: coacd, mass: 0.2}}"
    parts = [
        part for part in read_objects(write_objects(tmp_path, words))[0].meshes if part.collides
    ]
    assert len(parts) >= 2
    assert sum(part.volume for part in parts) == pytest.approx(1.4e-4, rel=0.1)


# An L that is one mesh: its outline in x and z, 4 cm wide
_OUTLINE = [(0, 0), (0.1, 0), (0.1, 0.02), (0.02, 0.02), (0.02, 0.095), (0, 0.095)]
_QUADS = [(k, (k + 1) % 6, (k + 1) % 6 + 6, k + 6) for k in range(6)]
_CAPS = [(0, 2, 1), (0, 3, 2), (0, 4, 3), (0, 5, 4)]
STEP = "\n".join(
    [f"v {x} {y} {z}" for y in (0, 0.04) for x, z in _OUTLINE]
    + ["f " + " ".join(str(k + 1) for k in quad) for quad in _QUADS]
    + ["f " + " ".join(str(k + 1) for k in cap) for cap in _CAPS]
    + ["f " + " ".join(str(k + 7) for k in reversed(cap)) for cap in _CAPS]
)


def test_what_nobody_would_see_says_so(tmp_path):
    path = write_objects(tmp_path)
    (tmp_path / "angle.xml").write_text(MODEL.replace("<geom", '<geom group="3"'))
    with pytest.raises(UserError, match=r"angle\.model: nothing of angle\.xml is seen"):
        read_objects(path)
