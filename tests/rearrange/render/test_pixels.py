"""Depth of single pixels against the painter's image."""

import numpy as np
import pytest

from rearrange.render import Camera, GeomTable, look_at, render_depth
from rearrange.render.pixels import WIDTH, draw_pixels
from tests.helpers.render_scenes import SHAPES, load, random_room

EDGES = 0.001  # share of pixels, where single precision decides whether a rim is met


def drawn(model, data, camera, eye, rotation, unit=1.0, **limits):
    """Depth [H, W] of the only scene of the only camera."""
    table, eye = GeomTable.from_model(model), np.asarray(eye, float)
    depth = np.full((1, camera.height, camera.width), np.nan, np.float32)
    shown = np.concatenate([eye, rotation.ravel()])[None]
    own = [np.ascontiguousarray(each[table.ids]) for each in (data.geom_xpos, data.geom_xmat)]
    count = len(table.ids)
    draw_pixels(
        np.arange(1), np.zeros(1, np.int64), np.array([0, count]), table.kinds, table.sizes, *own,
        shown, camera.lens(**limits), unit, np.empty((count, WIDTH), np.float32), depth,
    )  # fmt: skip
    return depth[0]


def painted(model, data, camera, eye, rotation, **limits):
    pose = data.geom_xpos, data.geom_xmat, camera, np.asarray(eye, float), rotation
    return render_depth(GeomTable.from_model(model), *pose, **limits)


def assert_same(*scene, **limits):
    found, wanted = drawn(*scene, **limits), painted(*scene, **limits)
    assert np.isfinite(found).all()
    assert (np.abs(found - wanted) > 1e-3).mean() <= EDGES
    return found


@pytest.mark.parametrize("seed", range(20))
def test_rooms_are_as_painted(seed):
    rng = np.random.default_rng(100 + seed)
    camera = Camera(*[(40, 48), (33, 57), (64, 64)][seed % 3], [60, 90, 115][seed % 3])
    eye = rng.uniform(-3.5, 3.5, 3) * (1, 1, 0.25)
    room = random_room(seed)
    found = assert_same(*room, camera, eye, look_at(eye, rng.uniform(-2, 2, 3)))
    assert found.min() < 0.9 * found.max()


@pytest.mark.parametrize("shape", [*SHAPES, "plane"])
def test_each_shape_alone_is_as_painted(shape):
    """From outside, from within, and where the near plane cuts it."""
    rng, hits = np.random.default_rng(5), 0
    camera = Camera(24, 32, 90)
    for n in range(60):
        quat, size = rng.normal(size=4), rng.uniform(0.05, 0.9, 3)
        geom = f'type="{shape}" size="{size[0]} {size[1]} {size[2]}"'
        scene = load(f'{geom} quat="{quat[0]} {quat[1]} {quat[2]} {quat[3]}"')
        eye = rng.normal(size=3)
        eye *= rng.uniform(0.0, 2.5) / np.linalg.norm(eye)
        limits = {"near": 0.2, "far": 2.0} if n % 2 else {}
        far = limits.get("far", 10.0)
        pose = camera, eye, look_at(eye, rng.uniform(-0.3, 0.3, 3))
        hits += (assert_same(*scene, *pose, **limits) < far).any()
    assert hits >= 15


def test_an_infinite_plane_is_as_painted():
    scene = load('type="plane" size="0 0 .1" pos="0 0 -1"')
    rotation = look_at((0, 0, 0), (1, 0.3, -0.2))
    found = assert_same(*scene, Camera(32, 32, 90), np.zeros(3), rotation)
    assert 0.3 < (found < 10.0).mean() < 0.9


def test_depth_is_told_in_units_and_cut_off():
    scene = load('type="box" size=".5 9 9" pos="2.5 0 0"')
    rotation = look_at((0, 0, 0), (1, 0, 0))
    ahead = Camera(8, 8, 60), np.zeros(3), rotation
    np.testing.assert_allclose(drawn(*scene, *ahead, unit=4.0), 0.5, rtol=1e-6)
    np.testing.assert_array_equal(drawn(*scene, *ahead, unit=0.5, far=1.5), np.float32(3.0))


def test_what_is_beside_or_behind_the_camera_is_not_seen():
    camera, rotation = Camera(16, 16, 90), look_at((0, 0, 0), (1, 0, 0))
    for place in ("-2 0 0", "2 5 0", "2 -5 0", "2 0 5", "2 0 -5", "30 0 0"):
        scene = load(f'type="box" size=".5 .5 .5" pos="{place}"')
        assert (drawn(*scene, camera, np.zeros(3), rotation) == 10.0).all(), place
