"""The numba kernels that move N agents and draw what they see, all in one call each.

Scenes differ in size, so what is the same for all agents in a scene lies end to end in packed arrays:
scene s has the cells `cell_starts[s]` to `cell_starts[s + 1]` and the geoms `geom_starts[s]` to
`geom_starts[s + 1]`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from nav.agent import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, wrap
from rearrange.caching import cached_njit
from rearrange.navigation.base_motion import clamp_kernel
from rearrange.navigation.geodesic import sample_distance
from rearrange.render.caster import cast
from rearrange.render.projection import WORK_SHAPE


@intrinsic
def _floats_at(_, address):  # type: ignore[no-untyped-def]
    """Point to float32 at an address."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.inttoptr(arguments[0], ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(types.int64), generate


@cached_njit
def geodesics(
    field: np.ndarray, origin_x: float, origin_y: float, cell: float, points: np.ndarray
) -> np.ndarray:
    """Distances [N] (m) at points [N, 2] by a field [nx, ny] float32; infinite without a way."""
    distances = np.empty(len(points))
    for i in range(len(points)):
        distances[i] = sample_distance(field, origin_x, origin_y, cell, points[i, 0], points[i, 1])
    return distances


@cached_njit(nogil=True)
def advance(
    actions: Any, motion: Any, scenes: Any, frames: Any, shapes: Any, cell_starts: Any,
    clearance: Any, fields: Any, poses: Any, tilts: Any, travelled: Any, blocked: Any, distances: Any,
) -> None:  # fmt: skip
    """Carry out one action of each agent.

    Args:
        actions: See nav.agent [N] int64.
        motion: Step [m], turn [rad], radius [m], whether to slide, tilt and its limit [rad] [6].
        scenes: Index of each agent's scene [N].
        frames: Grid origin x, y and cell size of each scene [S, 3], m.
        shapes: Cells of each scene along x and y [S, 2].
        cell_starts: See above [S + 1].
        clearance: Packed clearance of all scenes, float32, m.
        fields: Address of the geodesic distances over each agent's scene, float32, m; 0 for none [N] int64.
        poses: x, y, yaw, changed [N, 3].
        tilts: Of the cameras, positive upwards, changed [N], rad.
        travelled: Written: length of this step's way as the crow flies [N], m.
        blocked: Written: whether an obstacle cut or deflected the step [N].
        distances: Geodesic distance where the agent is now [N], m; kept where it is unknown.
    """
    step, turn, radius, slide = motion[0], motion[1], motion[2], motion[3] > 0.0
    tilt, tilt_limit = motion[4], motion[5]
    for i in range(len(actions)):
        s = scenes[i]
        origin_x, origin_y, cell = frames[s, 0], frames[s, 1], frames[s, 2]
        nx, ny = shapes[s, 0], shapes[s, 1]
        travelled[i], blocked[i] = 0.0, False
        if actions[i] == FORWARD:
            x, y, yaw = poses[i, 0], poses[i, 1], poses[i, 2]
            grid = clearance[cell_starts[s] : cell_starts[s + 1]].reshape((nx, ny))
            dx, dy = step * math.cos(yaw), step * math.sin(yaw)
            poses[i, 0], poses[i, 1], blocked[i] = clamp_kernel(
                grid, origin_x, origin_y, cell, x, y, dx, dy, radius, slide
            )
            travelled[i] = math.hypot(poses[i, 0] - x, poses[i, 1] - y)
        elif actions[i] == LEFT:
            poses[i, 2] = wrap(poses[i, 2] + turn)
        elif actions[i] == RIGHT:
            poses[i, 2] = wrap(poses[i, 2] - turn)
        elif actions[i] == LOOK_UP:
            tilts[i] = min(tilts[i] + tilt, tilt_limit)
        elif actions[i] == LOOK_DOWN:
            tilts[i] = max(tilts[i] - tilt, -tilt_limit)
        if fields[i] != 0:
            field = carray(_floats_at(fields[i]), (nx, ny))  # pyright: ignore
            here = sample_distance(field, origin_x, origin_y, cell, poses[i, 0], poses[i, 1])
            # Between obstacles that barely let the disc through no cell may be passable.
            if here < math.inf:
                distances[i] = here


@cached_njit
def look_along(yaw: float, tilt: float, axes: np.ndarray) -> None:
    """Write the world-from-camera rotation [3, 3] of a camera; its last number of `right` is 0 already."""
    cosine, sine = math.cos(yaw), math.sin(yaw)
    axes[0, 0], axes[1, 0] = sine, -cosine  # right
    level, upwards = math.cos(tilt), math.sin(tilt)
    axes[0, 1], axes[1, 1], axes[2, 1] = -upwards * cosine, -upwards * sine, level  # up
    axes[0, 2], axes[1, 2], axes[2, 2] = -level * cosine, -level * sine, -upwards  # backward


@cached_njit(nogil=True)
def place_cameras(poses: Any, tilts: Any, height: float, views: Any) -> None:
    """Write the views of cameras at a height [m] over agents [N, VIEW], see `rearrange.render.pixels`."""
    axes = np.zeros((3, 3))
    for i in range(len(poses)):
        look_along(poses[i, 2], tilts[i], axes)
        views[i, 0], views[i, 1], views[i, 2] = poses[i, 0], poses[i, 1], height
        for k in range(9):
            views[i, 3 + k] = axes[k // 3, k % 3]


@cached_njit
def _paint(tags: np.ndarray, colours: np.ndarray, rgb: np.ndarray) -> None:
    """Colour pixels [H, W, 3] by the geoms [H, W padded] that they show."""
    for row in range(rgb.shape[0]):
        for column in range(rgb.shape[1]):
            geom = tags[row, column]
            for channel in range(3):
                rgb[row, column, channel] = colours[geom, channel] if geom >= 0 else 0


@cached_njit
def _mark(tags: np.ndarray, categories: np.ndarray, wanted: int, mask: np.ndarray) -> None:
    """Mark the pixels [H, W] that show a geom of the wanted category."""
    for row in range(mask.shape[0]):
        for column in range(mask.shape[1]):
            geom = tags[row, column]
            found = geom >= 0 and wanted > 0 and categories[geom] == wanted
            mask[row, column] = 255 if found else 0


@cached_njit(nogil=True)
def draw(
    ids: Any, poses: Any, tilts: Any, height: float, lens: Any, unit: float, scenes: Any, geom_starts: Any,
    kinds: Any, sizes: Any, positions: Any, rotations: Any, colours: Any, categories: Any, wanted: Any,
    buffer: Any, tags: Any, depth: Any, rgb: Any, mask: Any,
) -> None:  # fmt: skip
    """Draw what some agents see.

    Args:
        ids: Which agents.
        poses: x, y, yaw [N, 3].
        tilts: Of the cameras, positive upwards [N], rad.
        height: Of the camera [m].
        lens: See `Camera.lens`.
        unit: In which depth is written [m].
        scenes: Index of each agent's scene [N].
        geom_starts: See above [S + 1].
        kinds: Packed geoms of all scenes, see `Geoms`.
        sizes: Likewise.
        positions: Likewise.
        rotations: Likewise.
        colours: Likewise.
        categories: Likewise.
        wanted: The category that is marked for each agent, 1 + its index [N], uint8; 0 for none.
        buffer: Scratch image, see `scratch_image`.
        tags: Scratch image of geom ids, or None where neither colours nor marks are wanted.
        depth: Written: depth along the optical axis [N, H, W] float32.
        rgb: Written: plain colours [N, H, W, 3] uint8; black where nothing is. Or None.
        mask: Written: 255 where the wanted category is seen, else 0 [N, H, W] uint8. Or None.
    """
    work = np.zeros(WORK_SHAPE)
    eye, axes = np.empty(3), np.zeros((3, 3))
    width = depth.shape[2]
    for i in ids:
        eye[0], eye[1], eye[2] = poses[i, 0], poses[i, 1], height
        look_along(poses[i, 2], tilts[i], axes)
        first, last = geom_starts[scenes[i]], geom_starts[scenes[i] + 1]
        cast(
            kinds[first:last], np.arange(last - first), sizes[first:last], positions[first:last],
            rotations[first:last], eye, axes, lens, work, buffer, tags, depth[i], width, unit,
        )  # fmt: skip
        if rgb is not None:
            _paint(tags, colours[first:last], rgb[i])
        if mask is not None:
            _mark(tags, categories[first:last], wanted[i], mask[i])
