import mujoco
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rearrange.render import GeomTable
from rearrange.render.meshes import MeshGeoms, MeshLibrary, cast_rays, mesh_of_arrays
from tests.helpers.meshes import NOWHERE, assert_nearest, cube, load_meshes, mesh_asset, soup


def random_rays(rng, count):
    return rng.uniform(-3, 3, (count, 3)), rng.normal(size=(count, 3))


def geoms_of(vertices, faces, **options):
    return MeshGeoms.of(MeshLibrary.of([mesh_of_arrays(vertices, faces)]), **options)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 200), st.sampled_from([0, 1, 4]))
def test_rays_meet_what_trying_every_triangle_meets(seed, count, grid):
    rng = np.random.default_rng(seed)
    vertices, faces = soup(rng, count, grid)
    origins, directions = random_rays(rng, 60)
    distances, geoms, found = cast_rays(
        geoms_of(vertices, faces), *NOWHERE, origins, directions, near=0.1, far=5.0
    )
    corners = np.float32(vertices).astype(float)[faces]
    assert_nearest(distances, origins, directions, corners, 0.1, 5.0)
    assert ((geoms >= 0) == (distances < 5.0)).all()
    assert ((found >= 0) == (distances < 5.0)).all()


def test_the_face_that_is_met_has_its_index_in_the_arrays():
    vertices, faces = cube()
    centres = vertices[faces].mean(axis=1)
    outside = 3.0 * centres
    distances, geoms, found = cast_rays(geoms_of(vertices, faces), *NOWHERE, outside, -centres)
    assert found.tolist() == list(range(12))
    assert (geoms == 0).all()
    np.testing.assert_allclose(distances, 2.0, rtol=1e-6)


def test_turned_moved_and_stretched_geoms_share_a_mesh():
    rng = np.random.default_rng(3)
    vertices, faces = soup(rng, 40)
    count = 30
    scales = rng.uniform(0.1, 0.5, (count, 3))
    geoms = geoms_of(vertices, faces, meshes=[0] * count, scales=scales)
    turns = np.stack([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(count)])
    places = rng.uniform(-2, 2, (count, 3))
    placed = [(vertices * s) @ r.T + p for s, r, p in zip(scales, turns, places, strict=True)]
    corners = np.concatenate([points[faces] for points in placed])
    origins, directions = random_rays(rng, 500)
    distances, which, found = cast_rays(geoms, places, turns, origins, directions, far=20.0)
    assert_nearest(distances, origins, directions, corners, 0.0, 20.0)
    hit = which >= 0
    assert hit.mean() > 0.1
    points = origins[hit] + distances[hit, None] * directions[hit]
    a, b, c = np.moveaxis(np.array(placed)[which[hit][:, None], faces[found[hit]]], 1, 0)
    normal = np.cross(b - a, c - a)
    off = ((points - a) * normal).sum(1) / np.linalg.norm(normal, axis=1)
    np.testing.assert_allclose(off, 0.0, atol=1e-5)


def test_empty_meshes_and_flat_triangles_are_met_by_nothing():
    points = np.array([(0.0, 0, 0), (1, 0, 0), (2, 0, 0), (1, 0, 0)])
    flat = mesh_of_arrays(points, [(0, 1, 2), (1, 1, 1), (1, 3, 0)])
    nothing = mesh_of_arrays(np.empty((0, 3)), np.empty((0, 3), int))
    geoms = MeshGeoms.of(MeshLibrary.of([nothing, flat]))
    origins = np.array([(0.5, 0.0, 1.0), (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0)])
    directions = np.array([(0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (1.0, 1.0, 1.0)])
    poses = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    distances, which, found = cast_rays(geoms, *poses, origins, directions)
    assert (distances == np.inf).all()
    assert (which == -1).all()
    assert (found == -1).all()


def test_rays_along_edges_and_through_corners_leave_no_gap():
    """Straight at every corner, edge and diagonal of a cube, also along its sides."""
    vertices, faces = cube()
    corners = vertices[faces]
    points = np.concatenate(
        [corners.reshape(-1, 3), (corners + np.roll(corners, 1, 1)).reshape(-1, 3) / 2]
    )
    rng = np.random.default_rng(1)
    origins = np.repeat(rng.uniform(-0.2, 0.2, (50, 3)), len(points), axis=0)  # inside
    directions = np.tile(points, (50, 1)) - origins
    distances, _, _ = cast_rays(geoms_of(vertices, faces), *NOWHERE, origins, directions)
    np.testing.assert_allclose(distances, 1.0, rtol=1e-5)


def test_models_with_meshes_agree_with_mujoco():
    rng = np.random.default_rng(8)
    for _ in range(5):
        points, faces = soup(rng, 30)
        assets = mesh_asset("soup", points, faces) + mesh_asset("cube", *cube(), scale="1 .5 .3")
        poses = [
            f'pos="{x} {y} {z}" quat="{a} {b} {c} {d}"'
            for x, y, z, a, b, c, d in np.hstack(
                [rng.uniform(-3, 3, (8, 3)), rng.normal(size=(8, 4))]
            )
        ]
        names = ("soup", "cube")
        model, data = load_meshes(
            assets, *(f'type="mesh" mesh="{names[k % 2]}" {pose}' for k, pose in enumerate(poses))
        )
        meshes = GeomTable.from_model(model).meshes
        start, directions = rng.uniform(-1, 1, 3), rng.normal(size=(2000, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        true_ids, true = np.zeros(2000, np.int32), np.zeros(2000)
        mujoco.mj_multiRay(
            model, data, start, directions.ravel(), None, 1, -1, true_ids, true, None, 2000, 1e10
        )
        origins = np.tile(start, (2000, 1))
        distances, ids, _ = cast_rays(
            meshes, data.geom_xpos, data.geom_xmat, origins, directions, far=1e10
        )
        distances[ids < 0] = -1.0
        # A ray that grazes a rim may be decided either way.
        assert (ids != true_ids).mean() <= 0.002
        assert (np.abs(distances - true) > 1e-4).mean() <= 0.002
        assert (ids >= 0).mean() > 0.2
