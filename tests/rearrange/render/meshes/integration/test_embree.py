"""Images of a furnished room against Embree, of which nothing is used elsewhere."""

import numpy as np
import pytest

pytest.importorskip("embreex", reason="pip install embreex")

from benchmarks.triangles import FAR, NEAR, EmbreeScene, furnished_room, views
from rearrange.render import Camera, render_depth
from rearrange.render.meshes import cast_rays
from tests.helpers.meshes import NOWHERE, soup, table_of


@pytest.mark.parametrize("triangles", [500, 20_000])
def test_images_of_a_room_agree(triangles):
    room = furnished_room(triangles, seed=3)
    table, embree, camera = table_of(*room), EmbreeScene(*room), Camera(64, 64, 90)
    for eye, turn in views(10, seed=3):
        rays = camera.rays().reshape(-1, 3) @ turn.T
        origins = np.tile(eye, (len(rays), 1))
        true = embree.cast(origins.astype(np.float32), rays.astype(np.float32))
        depth = render_depth(table, *NOWHERE, camera, eye, turn, near=NEAR, far=FAR).ravel()
        single, _, _ = cast_rays(table.meshes, *NOWHERE, origins, rays, near=NEAR, far=FAR)
        # Rays that graze an outline may be decided either way, by single precision here and there.
        for found in (depth, single):
            assert (np.abs(found - np.minimum(true, FAR)) > 1e-3).mean() <= 0.001
            assert np.percentile(np.abs(found - np.minimum(true, FAR)), 99) < 1e-4


def test_rays_through_a_soup_agree():
    rng = np.random.default_rng(5)
    vertices, faces = soup(rng, 500)
    table, embree = table_of(vertices, faces), EmbreeScene(vertices, faces)
    origins, rays = rng.uniform(-3, 3, (5000, 3)), rng.normal(size=(5000, 3))
    true = embree.cast(origins.astype(np.float32), rays.astype(np.float32))
    found, geoms, _ = cast_rays(table.meshes, *NOWHERE, origins, rays, far=1e6)
    hit = (geoms >= 0) & (true < 1e6)
    assert hit.mean() > 0.3
    assert ((geoms >= 0) != (true < 1e6)).mean() <= 0.001
    assert (np.abs(found - true)[hit] > 1e-3).mean() <= 0.001
