import gc

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.render import GeomTable
from rearrange.render.meshes import MeshGeoms, MeshLibrary, library_of_model, mesh_of_arrays
from rearrange.render.meshes.library import _KNOWN
from rearrange.render.meshes.tree import INNER
from tests.helpers.meshes import cube, load_meshes, mesh_asset, soup

PAINT = '<texture name="paint" type="2d" builtin="checker" width="4" height="2" rgb1="1 0 0" rgb2="0 0 1"/>'
BOTH = mesh_asset("cube", *cube()) + mesh_asset("soup", *soup(np.random.default_rng(0), 20))
GEOMS = ('type="mesh" mesh="cube"', 'type="mesh" mesh="soup"', 'type="sphere" size="1"')


def test_two_worlds_with_the_same_meshes_share_them():
    first, _ = load_meshes(BOTH, *GEOMS)
    second, _ = load_meshes(BOTH, *GEOMS, 'type="mesh" mesh="cube" pos="1 1 1"')
    tables = [GeomTable.from_model(model) for model in (first, second)]
    assert tables[0].meshes.library is tables[1].meshes.library
    assert tables[1].meshes.ids.tolist() == [0, 1, 3]
    assert tables[1].meshes.meshes.tolist() == [0, 1, 0]
    other, _ = load_meshes(mesh_asset("cube", 1.1 * cube()[0], cube()[1]), GEOMS[0])
    assert GeomTable.from_model(other).meshes.library is not tables[0].meshes.library


def test_a_library_goes_with_its_last_user():
    model, _ = load_meshes(mesh_asset("cube", 1.23 * cube()[0], cube()[1]), GEOMS[0])
    library = library_of_model(model)
    assert library in list(_KNOWN.values())
    before = len(_KNOWN)
    del library
    gc.collect()
    assert len(_KNOWN) == before - 1


def test_packed_trees_and_looks_count_from_the_start_of_the_pack():
    rng = np.random.default_rng(1)
    plain = [mesh_of_arrays(*soup(rng, count)) for count in (5, 30, 1)]
    coloured = mesh_of_arrays(*cube(), colours=np.full((8, 3), 7, np.uint8))
    packed = MeshLibrary.of([*plain[:2], coloured, plain[2]]).packed
    firsts, start = [0, 5, 35, 47, 48], 0
    for k in range(4):
        end = [*packed.roots, len(packed.nodes)][k + 1]
        nodes = packed.nodes[packed.roots[k] : end]
        inner = nodes["count"] == INNER
        assert (nodes["first"][inner] > packed.roots[k]).all()
        assert (nodes["first"][inner] < end).all()
        assert (nodes["first"][~inner] >= firsts[k]).all()
        assert (nodes["first"][~inner] < firsts[k + 1]).all()
        start += len(nodes)
    assert start == len(packed.nodes)
    row = 35 + 3 + packed.looks[2, 2]
    assert row == 3
    assert packed.colours[row].tolist() == [7] * 9


def test_textures_and_repeats_come_from_materials():
    material = '<material name="m" texture="paint" texrepeat="3 2"/><material name="plain"/>'
    points, faces = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]), [
        (0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3),
    ]  # fmt: skip
    asset = mesh_asset("tetra", points, faces, texcoord="0 0 1 0 0 1 1 1")
    model, _ = load_meshes(
        PAINT + material + asset,
        'type="mesh" mesh="tetra" material="m"',
        'type="mesh" mesh="tetra" material="plain"',
        'type="mesh" mesh="tetra"',
    )
    meshes = GeomTable.from_model(model).meshes
    assert meshes.textures.tolist() == [0, -1, -1]
    assert meshes.repeats[0].tolist() == [3, 2]
    packed = meshes.library.packed
    assert packed.textures.tolist() == [[0, 2, 4]]
    assert packed.texels.shape == (8, 3)
    assert len(packed.uvs) == 4
    uvs = {tuple(np.float32(uv)) for uv in packed.uvs.reshape(-1, 2)}
    assert uvs <= {(0, 0), (1, 0), (0, 1), (1, 1)}
    assert len(uvs) == 4


def test_sizes_bound_a_stretched_mesh():
    library = MeshLibrary.of([mesh_of_arrays(*cube())])
    geoms = MeshGeoms.of(library, [0, 0], [(1, 2, 3), (1, 1, 1)])
    np.testing.assert_allclose(geoms.sizes[0, :3], (0.5, 1.0, 1.5))
    assert geoms.sizes[0, 3] >= np.linalg.norm((0.5, 1.0, 1.5))


def test_scales_and_textures_are_checked():
    library = MeshLibrary.of([mesh_of_arrays(*cube())])
    with pytest.raises(UserError, match="scales of meshes must be above zero"):
        MeshGeoms.of(library, [0], [(1.0, 0.0, 1.0)])
    with pytest.raises(UserError, match=r"a texture must be uint8 \[H, W, 3\]"):
        MeshLibrary.of([], [np.zeros((2, 2), np.uint8)])
