"""Upright boxes around the geoms of a model: what collides in a home from a file.

Boxes and cylinders that stand upright stay what they are. Of any other shape the convex hull counts, as for
MuJoCo's contacts; it is cut into slices, and each becomes the least box around it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from rearrange.compiled_models import GEOM, kind_of, mesh_arrays

UPRIGHT = 0.9999  # cosine of the lean up to which a box or a cylinder stands upright
SLICES = 8  # at most, of one geom
ALIKE = 0.01  # slices whose boxes differ by less are one [m]
THICK = 0.02  # of a plane that is finite [m]
AROUND = 24  # corners of a round thing


@dataclass(frozen=True)
class Shape:
    """An upright box or cylinder in the world.

    Attributes:
        kind: "box" or "cylinder".
        center: [3], m.
        half: Half sizes [3], m: of a cylinder radius, radius, half height.
        yaw: [rad].
    """

    kind: str
    center: tuple[float, float, float]
    half: tuple[float, float, float]
    yaw: float = 0.0

    @property
    def low(self) -> float:
        """Height at which it begins [m]."""
        return self.center[2] - self.half[2]

    @property
    def high(self) -> float:
        """Height at which it ends [m]."""
        return self.center[2] + self.half[2]

    def covers(self, points: np.ndarray) -> np.ndarray:
        """Which points of the floor plane [N, 2] are above or below it [N] bool."""
        dx, dy = (points - np.array(self.center[:2])).T
        if self.kind == "cylinder":
            return np.hypot(dx, dy) <= self.half[0]
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return (np.abs(c * dx + s * dy) <= self.half[0]) & (np.abs(c * dy - s * dx) <= self.half[1])


def exact_shape(model: Any, data: Any, geom: int) -> Shape | None:
    """The geom itself where it is an upright box or cylinder."""
    kind, half = kind_of(model, geom), model.geom_size[geom]
    matrix = data.geom_xmat[geom].reshape(3, 3)
    center = tuple(data.geom_xpos[geom].tolist())
    if kind == GEOM.mjGEOM_CYLINDER and abs(matrix[2, 2]) > UPRIGHT:
        radius, height = float(half[0]), float(half[1])
        return Shape("cylinder", center, (radius, radius, height))
    up = int(np.abs(matrix[2]).argmax())
    if kind != GEOM.mjGEOM_BOX or abs(matrix[2, up]) < UPRIGHT:
        return None
    first, second = (axis for axis in range(3) if axis != up)
    yaw = math.atan2(matrix[1, first], matrix[0, first])
    sizes = float(half[first]), float(half[second]), float(half[up])
    return Shape("box", center, sizes, yaw)


def shapes_of(model: Any, data: Any, geom: int) -> list[Shape]:
    """What a geom is made of; nothing where it has no extent, as an endless plane."""
    exact = exact_shape(model, data, geom)
    if exact is not None:
        return [exact]
    points = cloud(model, data, geom)
    return [] if len(points) == 0 else slices(points)


def cloud(model: Any, data: Any, geom: int) -> np.ndarray:
    """Points of the world whose convex hull is the geom's [N, 3], m."""
    local = local_cloud(model, geom)
    return local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]


def local_cloud(model: Any, geom: int) -> np.ndarray:
    """Points whose convex hull is the geom's, in its frame [N, 3], m."""
    kind, size = kind_of(model, geom), model.geom_size[geom]
    if kind == GEOM.mjGEOM_MESH:
        return np.array(mesh_arrays(model, int(model.geom_dataid[geom])).vertices, float)
    if kind == GEOM.mjGEOM_BOX:
        return _corners(size)
    if kind == GEOM.mjGEOM_PLANE:
        if (size[:2] <= 0.0).any():
            return np.empty((0, 3))
        return _corners((size[0], size[1], THICK / 2)) - (0.0, 0.0, THICK / 2)
    angles = np.linspace(0.0, 2.0 * math.pi, AROUND, endpoint=False)
    circle = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles])
    if kind == GEOM.mjGEOM_CYLINDER:
        ring, half = circle * size[0], np.array([0.0, 0.0, size[1]])
        return np.concatenate([ring - half, ring + half])
    heights = np.linspace(-math.pi / 2, math.pi / 2, AROUND // 2 + 1)
    ball = np.concatenate([circle * math.cos(h) + (0.0, 0.0, math.sin(h)) for h in heights])
    if kind == GEOM.mjGEOM_SPHERE:
        return ball * size[0]
    if kind == GEOM.mjGEOM_ELLIPSOID:
        return ball * size
    if kind == GEOM.mjGEOM_CAPSULE:
        half = np.array([0.0, 0.0, size[1]])
        return np.concatenate([ball * size[0] - half, ball * size[0] + half])
    return np.empty((0, 3))


def _corners(half: Any) -> np.ndarray:
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return signs * np.asarray(half, float)


def slices(points: np.ndarray) -> list[Shape]:
    """Boxes, one above the other, around slices of the convex hull of points [N, 3] (m)."""
    yaw = heading(points[:, :2])
    c, s = math.cos(yaw), math.sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    local = points @ turn
    try:
        hull = ConvexHull(local)
        corners, faces = local, hull.simplices
    except QhullError:  # flat
        return [_around(local.min(axis=0), local.max(axis=0), turn, yaw)]
    edges = np.unique(
        np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [0, 2]]])), axis=0
    )
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    levels = _levels(corners[hull.vertices, 2])
    for low, high in pairwise(levels):
        section = _section(corners, edges, low, high)
        first, last = section.min(axis=0), section.max(axis=0)
        first[2], last[2] = low, high
        if kept and (np.abs(kept[-1][0] - first)[:2] < ALIKE).all():
            before = kept[-1]
            if (np.abs(before[1] - last)[:2] < ALIKE).all():
                kept[-1] = np.minimum(before[0], first), np.maximum(before[1], last)
                continue
        kept.append((first, last))
    return [_around(first, last, turn, yaw) for first, last in kept]


def _around(low: np.ndarray, high: np.ndarray, turn: np.ndarray, yaw: float) -> Shape:
    """A box between two corners in a turned frame; never without extent."""
    half = np.maximum((high - low) / 2, 0.0005)
    center = turn @ ((low + high) / 2)
    x, y, z = (float(value) for value in center)
    a, b, c = (float(value) for value in half)
    return Shape("box", (x, y, z), (a, b, c), yaw)


def _levels(heights: np.ndarray) -> np.ndarray:
    """Where to cut: in even slices, and at the corners' heights where these are few."""
    low, high = float(heights.min()), float(heights.max())
    distinct = np.unique(np.round(heights, 2))
    inner = distinct[(distinct > low + ALIKE) & (distinct < high - ALIKE)]
    even = np.linspace(low, high, SLICES + 1)
    if len(inner) >= SLICES:
        return even
    far = np.abs(even[:, None] - np.array([low, *inner, high])).min(axis=1) > ALIKE
    return np.sort(np.array([low, *inner, high, *even[far]]))


def _section(corners: np.ndarray, edges: np.ndarray, low: float, high: float) -> np.ndarray:
    """Corners of the part of a hull between two heights [N, 3]."""
    found = [corners[(corners[:, 2] >= low - 1e-9) & (corners[:, 2] <= high + 1e-9)]]
    a, b = corners[edges[:, 0]], corners[edges[:, 1]]
    rise = b[:, 2] - a[:, 2]
    for level in (low, high):
        crossing = (a[:, 2] - level) * (b[:, 2] - level) < 0.0
        share = (level - a[crossing, 2]) / rise[crossing]
        found.append(a[crossing] + share[:, None] * (b[crossing] - a[crossing]))
    return np.concatenate(found)


def heading(points: np.ndarray) -> float:
    """Yaw of the least rectangle around points of the floor plane [N, 2], from -45 to 45 degrees [rad]."""
    try:
        outline = points[ConvexHull(points).vertices]
    except QhullError:  # on a line
        return 0.0
    sides = np.roll(outline, -1, axis=0) - outline
    angles = np.arctan2(sides[:, 1], sides[:, 0])
    quarter = math.pi / 2
    angles = np.unique(np.round((angles + quarter / 2) % quarter - quarter / 2, 6))
    best, least = 0.0, math.inf
    for angle in (0.0, *angles):
        c, s = math.cos(angle), math.sin(angle)
        x, y = c * outline[:, 0] + s * outline[:, 1], c * outline[:, 1] - s * outline[:, 0]
        area = float(np.ptp(x) * np.ptp(y))
        if area < least - 1e-9:
            best, least = float(angle), area
    return best


def hollow_share(model: Any, geom: int) -> float:
    """Share of a mesh's convex hull that is empty; 0 for what is no mesh or not closed."""
    if kind_of(model, geom) != GEOM.mjGEOM_MESH:
        return 0.0
    points = local_cloud(model, geom)
    a, b, c = (
        points[corners] for corners in mesh_arrays(model, int(model.geom_dataid[geom])).faces.T
    )
    volume = abs(float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum())) / 6.0
    try:
        return 1.0 - volume / float(ConvexHull(points).volume)
    except QhullError:
        return 0.0
