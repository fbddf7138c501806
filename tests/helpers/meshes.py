"""Triangles for tests, and what rays meet of them by trying every one."""

import mujoco
import numpy as np

from rearrange.render import GeomTable
from rearrange.render.meshes import MeshGeoms, MeshLibrary, mesh_of_arrays

NOWHERE = np.zeros((1, 3)), np.eye(3).reshape(1, 9)  # pose of a geom at the origin


def table_of(vertices, faces, **looks) -> GeomTable:
    """A table of one geom that shows these triangles."""
    return GeomTable.of_meshes(
        MeshGeoms.of(MeshLibrary.of([mesh_of_arrays(vertices, faces, **looks)]))
    )


def soup(rng: np.random.Generator, count: int, grid: int = 0):
    """Random triangles in a cube of 4 m; their corners on a grid, if asked: many touch, some have no area."""
    middle = rng.uniform(-2.0, 2.0, (count, 1, 3))
    corners = middle + rng.normal(size=(count, 3, 3)) * rng.uniform(0.05, 1.0, (count, 1, 1))
    if grid:
        corners = np.round(corners * grid) / grid
    return corners.reshape(-1, 3), np.arange(3 * count).reshape(-1, 3)


def cube():
    """Corners [8, 3] and triangles [12, 3] of a cube of 1 m."""
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return corners, np.array([face for a, b, c, d in sides for face in ((a, b, c), (a, c, d))])


def mesh_asset(name: str, vertices, faces, **attributes: str) -> str:
    """An MJCF mesh of these triangles."""
    points = " ".join(f"{value:.9g}" for value in np.ravel(vertices))
    corners = " ".join(str(value) for value in np.ravel(faces))
    others = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<mesh name="{name}" vertex="{points}" face="{corners}" inertia="shell"{others}/>'


def load_meshes(assets: str, *geoms: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A model of assets and geoms, poses filled in."""
    world = "".join(f"<geom {geom}/>" for geom in geoms)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{assets}</asset><worldbody>{world}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def assert_nearest(distances, origins, directions, corners, near, far):
    """Check distances of rays against every triangle [T, 3, 3].

    A triangle that a ray crosses well inside, by a thousandth of it, and not under a flat angle must be met.
    What is met must lie on a triangle, or within a thousandth of one. Distances may be off by 1e-5 of them,
    more under flat angles.
    """
    surest, explained = np.full(len(distances), far), distances >= far
    for start in range(0, len(corners), 64):
        a, b, c = (corners[start : start + 64, k][None] - origins[:, None] for k in range(3))
        shares = np.stack([np.cross(b, c), np.cross(c, a), np.cross(a, b)])
        volume = (a * shares[0]).sum(-1)
        shares = (shares * directions[:, None]).sum(-1)
        total = shares.sum(0)
        normal = np.cross(b - a, c - a)
        area = np.linalg.norm(normal, axis=-1)
        with np.errstate(all="ignore"):
            t = volume / total
            least = (shares / total).min(0)
            cosine = np.abs(total) / area / np.linalg.norm(directions, axis=-1)[:, None]
        known = (area > 1e-9) & np.isfinite(t) & np.isfinite(least)
        t, cosine = np.where(known, t, 0.0), np.where(known, cosine, 1.0)
        slack = 1e-5 * (1.0 + np.abs(t)) / np.maximum(cosine, 1e-4)
        sure = known & (least > 1e-3) & (cosine > 1e-2) & (t > near + slack) & (t < far - slack)
        surest = np.minimum(surest, np.where(sure, t + slack, np.inf).min(1))
        at = np.abs(distances[:, None] - t) <= slack
        explained |= (known & at & (least > -1e-3)).any(1)
    assert (distances <= surest).all()
    assert explained.all()
