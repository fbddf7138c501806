"""Shapes that collide of a robot's links: the model's boxes, cylinders and capsules, and such around meshes.

The meshes of a link are taken together. Around them is the capsule or the box with the least volume, or a few
of them where these are much less: a bent link becomes two or three pieces.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial import ConvexHull, QhullError

from rearrange.compiled_models import GEOM, kind_of, mesh_arrays
from rearrange.robot.files.model import RobotModel

MOST_PIECES = 3  # around the meshes of a link
WORTH = 0.8  # share of the volume below which two pieces are better than one
CUTS = (0.35, 0.5, 0.65)
SPACING = 0.015  # of the points on a mesh [m]
MOST_POINTS = 2500
THIN = 0.002  # half of the least extent of a piece [m]
CAPSULE_BONUS = (
    1.15  # a capsule is taken before a box that is smaller by less: contacts with it cost less
)


@dataclass(frozen=True)
class Piece:
    """A convex solid.

    Attributes:
        kind: "box", "cylinder", "capsule" or "ellipsoid".
        center: [3], m.
        rotation: [3, 3].
        size: As MuJoCo has it [3], m: half sizes, or radius and half length along z.
        volume: [m3]
    """

    kind: str
    center: np.ndarray
    rotation: np.ndarray
    size: np.ndarray
    volume: float = 0.0

    @property
    def half(self) -> np.ndarray:
        """Half sizes of the box around it in its frame [3], m."""
        radius, length = self.size[0], self.size[1]
        if self.kind == "capsule":
            return np.array([radius, radius, radius + length])
        return np.array([radius, radius, length]) if self.kind == "cylinder" else self.size

    @property
    def corners(self) -> np.ndarray:
        """Corners of that box [8, 3], m."""
        signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return self.center + signs * self.half @ self.rotation.T

    def moved(self, origin: np.ndarray) -> Piece:
        """The same in a parallel frame that has its origin at a point [3]."""
        return Piece(self.kind, self.center - origin, self.rotation, self.size, self.volume)

    def spheres(self) -> np.ndarray:
        """Spheres that cover it but for its corners: centres and radii [N, 4], m."""
        half, radius = self.half, float(self.half.min())
        inner = half - radius
        counts = np.ceil(inner / (0.7 * radius) - 1e-6).astype(int) + 1
        lines = [np.linspace(-end, end, count) for end, count in zip(inner, counts, strict=True)]
        grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1).reshape(-1, 3)
        wider = radius * (1.0 if self.kind == "capsule" else 1.12)
        return np.column_stack([self.center + grid @ self.rotation.T, np.full(len(grid), wider)])


def pieces_of(source: RobotModel, geoms: Sequence[int]) -> list[Piece]:
    """Solids around geoms, in the base frame as the model is posed."""
    found, clouds = [], []
    for geom in geoms:
        center, rotation = source.place(geom)
        if kind_of(source.model, geom) == GEOM.mjGEOM_MESH:
            clouds.append(surface_points(source.model, geom) @ rotation.T + center)
        else:
            found.append(primitive_of(source.model, geom, center, rotation))
    if clouds:
        points = np.concatenate(clouds)
        found += cover_points(points)
    return found


def primitive_of(model: Any, geom: int, center: np.ndarray, rotation: np.ndarray) -> Piece:
    """A geom that is no mesh, at a place [3] and with a rotation [3, 3]."""
    kind, size = kind_of(model, geom), np.maximum(np.array(model.geom_size[geom]), 0.0)
    name = kind.name.removeprefix("mjGEOM_").lower()
    if kind == GEOM.mjGEOM_SPHERE:
        name, size = "capsule", np.array([size[0], THIN / 4, 0.0])
    return Piece(name, center, rotation, size)


def surface_points(model: Any, geom: int) -> np.ndarray:
    """Points all over a mesh in the geom's frame [N, 3], m."""
    mesh = mesh_arrays(model, int(model.geom_dataid[geom]))
    vertices = np.array(mesh.vertices, float)
    corners = vertices[mesh.faces]
    sides = corners[:, 1:] - corners[:, :1]
    areas = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    rng, counts = np.random.default_rng(0), np.floor(areas / SPACING**2).astype(int)
    triangles = np.repeat(np.arange(len(areas)), counts)
    u, v = rng.random((2, len(triangles)))
    over = u + v > 1.0
    u[over], v[over] = 1.0 - u[over], 1.0 - v[over]
    inside = (
        corners[triangles, 0] + u[:, None] * sides[triangles, 0] + v[:, None] * sides[triangles, 1]
    )
    points = np.concatenate([vertices, inside])
    return (
        points
        if len(points) <= MOST_POINTS
        else points[rng.choice(len(points), MOST_POINTS, False)]
    )


def cover_points(points: np.ndarray) -> list[Piece]:
    """A few capsules or boxes around points [N, 3], m."""
    whole = fit(points)
    parts = [_split(points, whole)]
    while len(parts) < MOST_PIECES:
        best = max(range(len(parts)), key=lambda k: parts[k].gain)
        if not parts[best].halves:
            break
        parts[best : best + 1] = [_split(*half) for half in parts[best].halves]
    return [part.piece for part in parts]


class _Part(NamedTuple):
    """Points with what is around them, and two halves that are better, if there are."""

    piece: Piece
    halves: list[tuple[np.ndarray, Piece]]
    gain: float


def _split(points: np.ndarray, piece: Piece) -> _Part:
    best: list[tuple[np.ndarray, Piece]] = []
    least, gain = WORTH * piece.volume, 0.0
    for axis in piece.rotation.T:
        along = points @ axis
        low, high = along.min(), along.max()
        for cut in CUTS:
            below = along <= low + cut * (high - low)
            if not 8 <= below.sum() <= len(points) - 8:
                continue
            halves = [(points[side], fit(points[side])) for side in (below, ~below)]
            volume = sum(each.volume for _, each in halves)
            if volume < least:
                best, least, gain = halves, volume, piece.volume - volume
    return _Part(piece, best, gain)


def fit(points: np.ndarray) -> Piece:
    """The least box or capsule around points [N, 3] (m), of those along their main axes or the base's."""
    with suppress(QhullError):  # flat, or too few
        points = points[ConvexHull(points).vertices]
    turns = (np.eye(3), _main_axes(points))
    boxes = [_box(points, turn) for turn in turns]
    capsules = [_capsule(points, np.roll(turn, 2 - k, axis=1)) for turn in turns for k in range(3)]
    box = min(boxes, key=lambda piece: piece.volume)
    capsule = min(capsules, key=lambda piece: piece.volume)
    return capsule if capsule.volume < CAPSULE_BONUS * box.volume else box


def _main_axes(points: np.ndarray) -> np.ndarray:
    _, _, rows = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    turn = rows.T if rows.shape == (3, 3) else np.eye(3)
    turn = turn.copy()
    turn[:, 2] *= np.sign(np.linalg.det(turn)) or 1.0
    return turn


def _box(points: np.ndarray, turn: np.ndarray) -> Piece:
    local = points @ turn
    low, high = local.min(axis=0), local.max(axis=0)
    half = np.maximum((high - low) / 2, THIN)
    return Piece("box", turn @ ((low + high) / 2), turn, half, float(8 * half.prod()))


def _capsule(points: np.ndarray, turn: np.ndarray) -> Piece:
    """The capsule around points along the third column of a rotation."""
    local = points @ turn
    middle, radius = _circle(local[:, :2])
    radius = max(radius, THIN)
    aside = ((local[:, :2] - middle) ** 2).sum(axis=1)
    cap = np.sqrt(np.maximum(radius**2 - aside, 0.0))
    low, high = float((local[:, 2] + cap).min()), float((local[:, 2] - cap).max())
    half = max((high - low) / 2, THIN / 4)
    volume = math.pi * radius**2 * (2 * half + 4 / 3 * radius)
    center = turn @ np.array([*middle, (low + high) / 2])
    return Piece("capsule", center, turn, np.array([radius, half, 0.0]), volume)


def _circle(points: np.ndarray) -> tuple[np.ndarray, float]:
    """A circle around points of a plane [N, 2], nearly the least: centre and radius."""
    center = (points.min(axis=0) + points.max(axis=0)) / 2
    for k in range(1, 25):
        farthest = points[((points - center) ** 2).sum(axis=1).argmax()]
        center = center + (farthest - center) / (k + 1) ** 1.1 * (k > 1)
    return center, float(np.sqrt(((points - center) ** 2).sum(axis=1).max()))
