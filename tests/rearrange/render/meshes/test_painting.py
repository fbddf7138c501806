"""Images of meshes against every triangle, against single rays, against primitives, against MuJoCo."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rearrange.render import Camera, GeomTable, look_at, render_depth, render_segmentation
from rearrange.render.meshes import MeshGeoms, MeshLibrary, cast_rays, mesh_of_arrays
from tests.helpers.meshes import (
    NOWHERE,
    assert_nearest,
    cube,
    load_meshes,
    mesh_asset,
    soup,
    table_of,
)
from tests.helpers.render_scenes import cast_with_mujoco


def rays_of(camera, eye, turn):
    rays = camera.rays().reshape(-1, 3) @ turn.T
    return np.tile(eye, (len(rays), 1)), rays


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31), st.integers(0, 200), st.sampled_from([0, 1, 4]))
def test_images_show_what_trying_every_triangle_shows(seed, count, grid):
    rng = np.random.default_rng(seed)
    vertices, faces = soup(rng, count, grid)
    camera = Camera(int(rng.integers(1, 20)), int(rng.integers(1, 40)), rng.uniform(40, 120))
    eye = rng.uniform(-2, 2, 3)
    turn = look_at(eye, rng.uniform(-1, 1, 3))
    depth = render_depth(table_of(vertices, faces), *NOWHERE, camera, eye, turn, near=0.1, far=6.0)
    corners = np.float32(vertices).astype(float)[faces]
    assert_nearest(depth.ravel().astype(float), *rays_of(camera, eye, turn), corners, 0.1, 6.0)


def test_geoms_that_share_a_mesh_look_as_single_rays_find_them():
    rng = np.random.default_rng(2)
    soups = [mesh_of_arrays(*soup(rng, 60)) for _ in range(3)]
    count = 20
    geoms = MeshGeoms.of(
        MeshLibrary.of(soups), [k % 3 for k in range(count)], rng.uniform(0.1, 0.6, (count, 3))
    )
    turns = np.stack([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(count)])
    places = rng.uniform(-2, 2, (count, 3))
    table, camera = GeomTable.of_meshes(geoms), Camera(48, 64, 90)
    for _ in range(5):
        eye = rng.uniform(-2, 2, 3)
        turn = look_at(eye, rng.uniform(-1, 1, 3))
        pose = (places, turns, camera, eye, turn)
        depth, ids = render_depth(table, *pose), render_segmentation(table, *pose)
        found, which, _ = cast_rays(
            geoms, places, turns, *rays_of(camera, eye, turn), near=0.01, far=10.0
        )
        assert (np.abs(depth.ravel() - found) > 1e-4).mean() <= 0.001
        assert (ids.ravel() != which).mean() <= 0.001


def test_a_cube_of_triangles_has_the_depth_of_a_box():
    rng = np.random.default_rng(4)
    camera = Camera(64, 64, 90)
    for _ in range(20):
        x, y, z, *quat = np.hstack([rng.uniform(-0.5, 0.5, 3), rng.normal(size=4)])
        pose = f'pos="{x} {y} {z}" quat="{" ".join(map(str, quat))}"'
        depth = []
        for kind in ('type="mesh" mesh="cube"', 'type="box" size=".5 .5 .5"'):
            model, data = load_meshes(mesh_asset("cube", *cube()), f"{kind} {pose}")
            eye = np.array((2.0, 0.3, 0.2))
            table = GeomTable.from_model(model)
            assert (table.meshes is None) == ("box" in kind)
            turn = look_at(eye, (0, 0, 0))
            depth.append(render_depth(table, data.geom_xpos, data.geom_xmat, camera, eye, turn))
        shown = (depth[0] < 10.0) & (depth[1] < 10.0)
        assert shown.sum() > 150
        np.testing.assert_allclose(depth[0][shown], depth[1][shown], atol=1e-5)
        # A pixel on the outline may belong to either.
        assert ((depth[0] < 10.0) != (depth[1] < 10.0)).sum() <= 2


def test_meshes_and_primitives_hide_each_other_as_in_mujoco():
    rng = np.random.default_rng(6)
    for _ in range(4):
        assets = mesh_asset("soup", *soup(rng, 30)) + mesh_asset("cube", *cube(), scale="1 .5 .3")
        kinds = ('mesh="soup" type="mesh"', 'mesh="cube" type="mesh"', 'type="box" size=".3 .4 .5"')
        geoms = [
            f'{kinds[k % 3]} pos="{x} {y} {z}" quat="{a} {b} {c} {d}"'
            for k, (x, y, z, a, b, c, d) in enumerate(
                np.hstack([rng.uniform(-3, 3, (12, 3)), rng.normal(size=(12, 4))])
            )
        ]
        model, data = load_meshes(assets, *geoms)
        table, camera = GeomTable.from_model(model), Camera(40, 48, 90)
        eye = rng.uniform(-1, 1, 3)
        pose = (data.geom_xpos, data.geom_xmat, camera, eye, look_at(eye, rng.uniform(-1, 1, 3)))
        depth, ids = render_depth(table, *pose), render_segmentation(table, *pose)
        true_depth, true_ids = cast_with_mujoco(model, data, *pose[2:])
        # Rays that graze a rim may be decided either way.
        assert (np.abs(depth - true_depth) > 1e-4).mean() <= 0.003
        assert (ids != true_ids).mean() <= 0.003
        assert len(set(np.unique(true_ids)) & set(range(12))) > 3


def test_a_closed_mesh_has_no_cracks():
    """A finely cut ball around the camera: every ray meets it, also along its edges."""
    n = 40
    polar, around = np.meshgrid(
        np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, n), indexing="ij"
    )
    points = np.stack(
        [np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=-1
    ).reshape(-1, 3)
    first = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    faces = np.concatenate(
        [np.stack(corners, axis=1) for corners in
         ((first, first + n, first + 1), (first + 1, first + n, first + n + 1))]
    )  # fmt: skip
    table = table_of(3.0 * points, faces)
    for target in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1), (0.3, -0.7, 0.2)):
        for eye in (np.zeros(3), np.array((0.5, -0.8, 0.3))):
            depth = render_depth(
                table, *NOWHERE, Camera(101, 101, 90), eye, look_at(np.zeros(3), target)
            )
            assert depth.max() < 4.0
            assert depth.min() > 1.0


def test_the_same_wall_is_seen_from_both_sides_and_not_before_near():
    vertices = np.array([(2.0, -9, -9), (2, 9, -9), (2, 9, 9), (2, -9, 9)])
    table = table_of(vertices, [(0, 1, 2), (0, 2, 3)])
    camera, turn = Camera(9, 9, 90), look_at((0, 0, 0), (1, 0, 0))
    pose = (*NOWHERE, camera, np.zeros(3), turn)
    np.testing.assert_allclose(render_depth(table, *pose), 2.0, rtol=1e-6)
    assert (render_depth(table, *pose, near=2.1) == 10.0).all()
    assert (render_depth(table, *pose, far=1.9) == np.float32(1.9)).all()
    behind = (*NOWHERE, camera, np.array((4.0, 0, 0)), look_at((4, 0, 0), (3, 0, 0)))
    np.testing.assert_allclose(render_depth(table, *behind), 2.0, rtol=1e-6)


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (31, 17), (64, 64)])
def test_any_image_size(size):
    vertices, faces = soup(np.random.default_rng(9), 100)
    table, camera = table_of(vertices, faces), Camera(*size, 80)
    eye, turn = np.array((3.0, 0.2, 0.1)), look_at((3, 0.2, 0.1), (0, 0, 0))
    depth = render_depth(table, *NOWHERE, camera, eye, turn)
    rays = rays_of(camera, eye, turn)
    found, _, _ = cast_rays(table.meshes, *NOWHERE, *rays, near=0.01, far=10.0)
    assert (np.abs(depth.ravel() - found) > 1e-4).sum() <= 1


def test_an_empty_mesh_and_one_behind_the_camera_change_nothing():
    meshes = [
        mesh_of_arrays(np.empty((0, 3)), np.empty((0, 3), int)),
        mesh_of_arrays(cube()[0] - (5.0, 0, 0), cube()[1]),
    ]
    table = GeomTable.of_meshes(MeshGeoms.of(MeshLibrary.of(meshes)))
    poses = np.zeros((2, 3)), np.tile(np.eye(3), (2, 1, 1))
    pose = (*poses, Camera(8, 8, 90), np.zeros(3), look_at((0, 0, 0), (1, 0, 0)))
    assert (render_depth(table, *pose) == 10.0).all()
    assert (render_segmentation(table, *pose) == -1).all()


def test_hidden_groups_and_invisible_colours_hide_meshes_too():
    model, data = load_meshes(
        mesh_asset("cube", *cube()),
        'type="mesh" mesh="cube" pos="2 0 0" group="3"',
        'type="mesh" mesh="cube" pos="4 0 0" rgba="1 1 1 0"',
        'type="mesh" mesh="cube" pos="6 0 0"',
    )
    pose = (
        data.geom_xpos,
        data.geom_xmat,
        Camera(5, 5, 5),
        np.zeros(3),
        look_at((0, 0, 0), (1, 0, 0)),
    )
    assert render_segmentation(GeomTable.from_model(model), *pose)[2, 2] == 0
    assert render_segmentation(GeomTable.from_model(model, (3,)), *pose)[2, 2] == 2
    assert GeomTable.from_model(model, (0, 3)).meshes is None


def test_primitives_alone_take_the_path_without_meshes():
    model, _ = load_meshes("", 'type="box" size="1 1 1"')
    assert GeomTable.from_model(model).meshes is None
