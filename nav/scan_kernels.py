"""The numba kernels of agents in scans: how high they stand, and what they see."""

from __future__ import annotations

from typing import Any

import numpy as np

from nav.kernels import look_along
from rearrange.caching import cached_njit
from rearrange.navigation.occupancy import interpolate
from rearrange.render.meshes.library import Packed
from rearrange.render.meshes.look import colour_of_mesh, shares_of
from rearrange.render.meshes.painting import paint_meshes


@cached_njit(nogil=True)
def stand(
    poses: Any, scenes: Any, frames: Any, shapes: Any, cell_starts: Any, floors: Any, heights: Any
) -> None:
    """Write the height of the floor under each agent [N]; arguments as of `nav.kernels.advance`.

    `floors` are the packed heights of all scenes, float32, m.
    """
    for i in range(len(poses)):
        s = scenes[i]
        nx, ny = shapes[s, 0], shapes[s, 1]
        floor = floors[cell_starts[s] : cell_starts[s + 1]].reshape((nx, ny))
        heights[i] = interpolate(
            floor, frames[s, 0], frames[s, 1], frames[s, 2], poses[i, 0], poses[i, 1]
        )


@cached_njit(nogil=True, error_model="numpy")
def _colour(
    packed: Packed, meshes: Any, textures: Any, repeats: Any, eye: Any, axes: Any, lens: Any,
    buffer: Any, tags: Any, faces: Any, rgb: Any,
) -> None:  # fmt: skip
    """Write the colours of what an image shows [H, W, 3] uint8; black where nothing is."""
    height, width = rgb.shape[0], rgb.shape[1]
    for row in range(height):
        up = lens[1] * (1.0 - 2.0 * (row + 0.5) / height)
        for column in range(width):
            k = tags[row, column]
            if k < 0:
                rgb[row, column, 0] = rgb[row, column, 1] = rgb[row, column, 2] = 0
                continue
            right = lens[0] * (2.0 * (column + 0.5) / width - 1.0)
            depth = 1.0 / buffer[row, column]
            x = eye[0] + depth * (right * axes[0, 0] + up * axes[0, 1] - axes[0, 2])
            y = eye[1] + depth * (right * axes[1, 0] + up * axes[1, 1] - axes[1, 2])
            z = eye[2] + depth * (right * axes[2, 0] + up * axes[2, 1] - axes[2, 2])
            face = faces[row, column]
            shares, _ = shares_of(packed.corners, face, x, y, z)
            red, green, blue = colour_of_mesh(
                packed, meshes[k], textures[k], repeats[k], face, shares
            )
            rgb[row, column, 0] = np.uint8(255.0 * red + 0.5)
            rgb[row, column, 1] = np.uint8(255.0 * green + 0.5)
            rgb[row, column, 2] = np.uint8(255.0 * blue + 0.5)


@cached_njit(nogil=True, error_model="numpy")
def draw_scan(
    ids: Any, poses: Any, tilts: Any, heights: Any, above: float, lens: Any, unit: float,
    packed: Packed, meshes: Any, textures: Any, repeats: Any, buffer: Any, tags: Any, faces: Any,
    depth: Any, rgb: Any,
) -> None:  # fmt: skip
    """Draw what agents see that are in the same scan.

    Args:
        ids: Which agents.
        poses: x, y, yaw [N, 3].
        tilts: Of the cameras, positive upwards [N], rad.
        heights: Of the floor under them [N], m.
        above: Height of the cameras over it [m].
        lens: See `Camera.lens`.
        unit: In which depth is written [m].
        packed: The scan's meshes, in the world frame.
        meshes: Which of them each geom shows [K].
        textures: See `MeshGeoms` [K].
        repeats: Likewise [K, 2].
        buffer: Scratch image, see `scratch_image`.
        tags: Scratch image of geoms, or None where colours are not wanted.
        faces: Scratch image of triangles, likewise.
        depth: Written: depth along the optical axis [N, H, W] float32.
        rgb: Written: colours without light [N, H, W, 3] uint8. Or None.
    """
    count = len(meshes)
    geoms, scales = np.arange(count), np.ones((count, 3))
    xpos, xmat = np.zeros((count, 3)), np.zeros((count, 9))
    xmat[:, 0] = xmat[:, 4] = xmat[:, 8] = 1.0
    eye, axes = np.empty(3), np.zeros((3, 3))
    for i in ids:
        eye[0], eye[1], eye[2] = poses[i, 0], poses[i, 1], heights[i] + above
        look_along(poses[i, 2], tilts[i], axes)
        buffer[:, :] = np.float32(1.0 / lens[3])
        if tags is not None:
            tags[:, :] = -1
        paint_meshes(
            packed, geoms, geoms, meshes, scales, xpos, xmat, eye, axes, lens, buffer, tags, faces,
            depth[i], depth.shape[2], unit,
        )  # fmt: skip
        if rgb is not None:
            _colour(packed, meshes, textures, repeats, eye, axes, lens, buffer, tags, faces, rgb[i])
