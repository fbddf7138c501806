"""Triangles, colours and textures of binary glTF."""

import sys

import numpy as np
import pytest
import trimesh
from PIL import Image
from trimesh.visual.material import PBRMaterial

from rearrange import UserError
from rearrange.render.meshes.gltf import library_of_pieces, read_gltf
from rearrange.render.meshes.library import ABSENT, NO_TEXTURE
from tests.helpers.scanned import box, write

UPRIGHT = np.eye(3)


def square(image, uvs=None, **looks):
    """A textured square in the plane z = 0; its texture's first texel lies at its corner at y = 1."""
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    uvs = np.array(points, float)[:, :2] if uvs is None else uvs
    material = PBRMaterial(baseColorTexture=image, **looks)
    visual = trimesh.visual.TextureVisuals(uv=uvs, material=material)
    return trimesh.Trimesh(points, [(0, 1, 2), (0, 2, 3)], visual=visual, process=False)


def outward(corners):
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    away = corners.mean(axis=1) - corners.mean(axis=(0, 1))
    return bool(((normals * away).sum(axis=1) > 0.0).all())


@pytest.mark.parametrize("mirrored", [False, True])
def test_nodes_are_where_their_transforms_put_them(tmp_path, mirrored):
    move = trimesh.transformations.translation_matrix((1.0, 2.0, 3.0))
    move[:3, :3] = np.diag((-2.0 if mirrored else 2.0, 1.0, 1.0))
    path = write(tmp_path / "a.glb", [box((0, 0, 0), (1, 1, 1), (10, 20, 30))], move)
    for textured in (True, False):
        (piece,) = read_gltf(path, UPRIGHT, textured)
        low, high = piece.corners.min(axis=(0, 1)), piece.corners.max(axis=(0, 1))
        assert low == pytest.approx((-1.0 if mirrored else 1.0, 2.0, 3.0))
        assert high == pytest.approx((1.0 if mirrored else 3.0, 3.0, 4.0))
        assert outward(piece.corners)
        assert (piece.colours is None) == (not textured)
    (piece,) = read_gltf(path, UPRIGHT)
    assert (piece.colours == (10, 20, 30)).all()


def test_the_frame_is_turned(tmp_path):
    turn = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)])  # y up
    path = write(tmp_path / "a.glb", [box((0, 0, 0), (1, 2, 3))])
    (piece,) = read_gltf(path, turn)
    assert piece.corners.min(axis=(0, 1)) == pytest.approx((0, -3, 0))
    assert piece.corners.max(axis=(0, 1)) == pytest.approx((1, 0, 2))


def test_a_texture_has_its_first_row_on_top(tmp_path):
    image = Image.fromarray(np.array([[(255, 0, 0)], [(0, 0, 255)]], np.uint8))
    path = write(tmp_path / "a.glb", [square(image, baseColorFactor=[128, 255, 255, 255])])
    (piece,) = read_gltf(path, UPRIGHT)
    top = piece.corners[..., 1] == 1.0
    assert (piece.uvs[top][:, 1] == 0.0).all()
    assert (piece.uvs[~top][:, 1] == 1.0).all()
    assert (piece.colours == (128, 255, 255)).all()
    geoms = library_of_pieces([piece], "a")
    assert geoms.library.packed.texels.tolist() == [[255, 0, 0], [0, 0, 255]]


def test_pieces_with_the_same_texture_become_one_mesh(tmp_path):
    image = Image.new("RGB", (2, 2), (1, 2, 3))
    boxes = [square(image), box((0, 0, 0), (1, 1, 1), (9, 9, 9)), box((2, 0, 0), (3, 1, 1))]
    geoms = library_of_pieces(read_gltf(write(tmp_path / "a.glb", boxes), UPRIGHT), "a")
    assert sorted(geoms.textures.tolist()) == [NO_TEXTURE, 0]
    packed = geoms.library.packed
    assert len(packed.corners) == 2 + 2 * 12
    plain = int(np.flatnonzero(geoms.textures == NO_TEXTURE)[0])
    assert packed.looks[plain, 1] == ABSENT
    assert packed.looks[plain, 2] != ABSENT
    untextured = library_of_pieces(
        read_gltf(write(tmp_path / "a.glb", boxes), UPRIGHT, textured=False), "a"
    )
    assert len(untextured.library.sizes) == 1


def test_fine_textures_are_averaged(tmp_path):
    image = np.zeros((64, 64, 3), np.uint8)
    image[::2] = 200  # lines of 1/64 m
    pieces = read_gltf(write(tmp_path / "a.glb", [square(Image.fromarray(image))]), UPRIGHT)
    for finest, size in ((0.0, 64), (0.01, 64), (1 / 16, 16)):
        packed = library_of_pieces(pieces, "a", finest).library.packed
        assert packed.textures[0].tolist() == [0, size, size]
    assert (packed.texels == 100).all()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"solid cube", "expected binary glTF"),
        (b"glTF\x02\0\0\0\x40\0\0\0\x08\0\0\0JSON{broken}", "cannot be read as binary glTF"),
        (b'glTF\x02\0\0\0\x40\0\0\0\x40\0\0\0JSON"KHR_draco_mesh_compression"', "packed by KHR_d"),
        (b'glTF\x02\0\0\0\x40\0\0\0\x40\0\0\0JSON"image/ktx2"', "take the scene with JPEG or PNG"),
    ],
)
def test_bad_files_are_refused_in_one_line(tmp_path, content, told):
    path = tmp_path / "bad.glb"
    path.write_bytes(content)
    with pytest.raises(UserError, match=rf"bad\.glb.*{told}") as caught:
        read_gltf(path, UPRIGHT)
    assert "\n" not in str(caught.value)


def test_missing_files_and_readers_are_named(tmp_path, monkeypatch):
    with pytest.raises(UserError, match=r"there is no .*none\.glb"):
        read_gltf(tmp_path / "none.glb", UPRIGHT)
    points = trimesh.Scene(trimesh.PointCloud([(0, 0, 0), (1, 1, 1)]))
    (tmp_path / "points.glb").write_bytes(points.export(file_type="glb"))
    with pytest.raises(UserError, match="expected a scene with triangles, found none"):
        read_gltf(tmp_path / "points.glb", UPRIGHT)
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(UserError, match=r"needs trimesh: pip install 'rearrange\[scans\]'"):
        read_gltf(tmp_path / "points.glb", UPRIGHT)


def test_a_texture_that_is_broken_is_told_in_one_line(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    path = tmp_path / "a.glb"
    write(path, [square(Image.fromarray(noise))])
    content = bytearray(path.read_bytes())
    content[content.find(b"IDAT") + 100] ^= 255
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"a\.glb: a texture cannot be read: ") as error:
        library_of_pieces(read_gltf(path, UPRIGHT), str(path))
    assert "\n" not in str(error.value)


def test_triangles_of_places_that_there_are_not_are_told(tmp_path):
    mesh = box((0, 0, 0), (1, 1, 1))
    mesh.faces[0, 0] = 51
    path = write(tmp_path / "a.glb", [mesh])
    with pytest.raises(UserError, match="triangles of more than its 8 places"):
        read_gltf(path, UPRIGHT)
