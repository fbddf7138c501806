import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.render.meshes import mesh_of_arrays
from tests.helpers.meshes import cube


def test_corners_follow_the_tree_and_remember_their_faces():
    vertices, faces = cube()
    mesh = mesh_of_arrays(vertices, faces, name="cube")
    np.testing.assert_allclose(mesh.corners.reshape(-1, 3, 3), vertices[faces[mesh.faces]])
    np.testing.assert_allclose(mesh.sizes, (0.5, 0.5, 0.5, np.sqrt(0.75)))
    assert mesh.normals.shape == (0, 9)
    assert mesh.uvs.shape == (0, 6)


def test_what_vertices_look_like_follows_the_tree():
    vertices, faces = cube()
    colours = np.arange(24, dtype=np.uint8).reshape(8, 3)
    mesh = mesh_of_arrays(vertices, faces, 3 * vertices, vertices[:, :2], colours)
    order = faces[mesh.faces]
    np.testing.assert_array_equal(mesh.colours.reshape(-1, 3, 3), colours[order])
    np.testing.assert_allclose(mesh.uvs.reshape(-1, 3, 2), vertices[order][..., :2])
    unit = vertices / np.linalg.norm(vertices, axis=1, keepdims=True)
    np.testing.assert_allclose(mesh.normals.reshape(-1, 3, 3), unit[order], atol=1e-6)


def test_a_mesh_may_be_empty():
    mesh = mesh_of_arrays(np.empty((0, 3)), np.empty((0, 3), int))
    assert len(mesh.corners) == 0
    assert mesh.sizes.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"vertices": np.full((8, 3), np.nan)}, "chair: vertices must be finite numbers, but number 0"),
        ({"vertices": np.zeros((8, 2))}, r"chair: vertices must have the shape \[n, 3\], not \(8, 2\)"),
        ({"faces": [(0, 1, 8)]}, "chair: faces must name vertices 0 to 7, but face 0"),
        ({"faces": [(0, 1, -1)]}, "chair: faces must name vertices 0 to 7"),
        ({"faces": [(0.5, 1.0, 2.0)]}, r"chair: faces must be whole numbers \[n, 3\]"),
        ({"normals": np.ones((7, 3))}, "chair: normals must be 8, one for each vertex, not 7"),
        ({"uvs": np.full((8, 2), np.inf)}, "chair: uvs must be finite numbers"),
        ({"colours": np.ones((8, 3))}, "chair: colours must be uint8, 0 to 255, not float64"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_by_name(change, message):
    vertices, faces = cube()
    with pytest.raises(UserError, match=message):
        mesh_of_arrays(**{"vertices": vertices, "faces": faces, "name": "chair"} | change)


def test_one_bad_vertex_is_named():
    vertices, faces = cube()
    vertices[5, 1] = np.inf
    with pytest.raises(UserError, match=r"vertices must be finite numbers, but number 5 is \[0.5"):
        mesh_of_arrays(vertices, faces)
