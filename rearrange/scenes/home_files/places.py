"""Receptacles of a model: the flat top of a geom or a body, or a box that a site spans."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from rearrange.compiled_models import Notes, kind_of
from rearrange.declarations import nearest
from rearrange.scenes.apartment import Receptacle
from rearrange.scenes.home_files.model import OBJ, FileModel
from rearrange.scenes.home_files.shapes import UPRIGHT, Shape, cloud, heading
from rearrange.scenes.pieces import EDGE

ENDLESS = 10.0  # free height where nothing is above [m]
TOP = 0.01  # what ends within so much of the highest point belongs to the top [m]
GRID = 5  # points along each side at which a receptacle is looked at
LEAST = 0.02  # half side of a receptacle on which something may stand [m]


@dataclass(frozen=True)
class Place:
    """A receptacle, and by whom it was named.

    Attributes:
        receptacle: With the free height that a site spans, or without end.
        on: Geoms of which it is the top.
    """

    receptacle: Receptacle
    on: frozenset[int]


def find_place(source: FileModel, name: str, on: str) -> Place | None:
    """The receptacle that a geom, a body or a site makes; None, and a fault noted, where it makes none."""
    geom, site = source.find(OBJ.mjOBJ_GEOM, on), source.find(OBJ.mjOBJ_SITE, on)
    body = source.find(OBJ.mjOBJ_BODY, on)
    if geom >= 0:
        return _on_top(source, name, on, [geom])
    if site >= 0:
        return _in_site(source, name, on, site)
    if body > 0:
        model = source.model
        first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body])
        solid = [geom for geom in range(first, first + count) if source.collides(geom)]
        return _on_top(source, name, on, solid)
    told = nearest(on, source.names("geom") + source.names("site") + source.names("body")[1:])
    source.notes.faults.append(
        f"receptacles.{name}: the model has no geom, site or body '{on}': {told}"
    )
    return None


def _on_top(source: FileModel, name: str, on: str, geoms: list[int]) -> Place | None:
    model, data = source.model, source.data
    clouds = {geom: cloud(model, data, geom) for geom in geoms if source.collides(geom)}
    clouds = {geom: points for geom, points in clouds.items() if len(points)}
    if not clouds:
        source.notes.faults.append(
            f"receptacles.{name}: '{on}' does not collide: nothing can stand on it"
        )
        return None
    height = max(float(points[:, 2].max()) for points in clouds.values())
    tops = {g: p[p[:, 2] > height - TOP] for g, p in clouds.items() if p[:, 2].max() > height - TOP}
    points = np.concatenate(list(tops.values()))[:, :2]
    yaw = heading(points)
    c, s = math.cos(yaw), math.sin(yaw)
    local = points @ np.array([[c, -s], [s, c]])
    middle = (local.min(axis=0) + local.max(axis=0)) / 2
    half = np.ptp(local, axis=0) / 2
    if len(tops) == 1 and kind_of(model, next(iter(tops))) == mujoco.mjtGeom.mjGEOM_CYLINDER:
        half = half / math.sqrt(2.0)
    half = half - EDGE
    if min(half) < LEAST:
        whose = " and ".join(dict.fromkeys(source.title(geom) for geom in tops))
        of = "" if whose == on else f" ({whose}, {height:.2f} m high)"
        source.notes.faults.append(
            f"receptacles.{name}: the top of '{on}'{of} is {2 * (half[0] + EDGE):.2f} m by "
            f"{2 * (half[1] + EDGE):.2f} m: {EDGE} m along each edge stay free, and nothing is left"
        )
        return None
    x, y = (float(value) for value in np.array([[c, -s], [s, c]]) @ middle)
    joint = next((part for g in tops if (part := source.part_of.get(g))), None)
    extents = float(half[0]), float(half[1])
    found = Receptacle(name, (x, y, height), extents, yaw, ENDLESS, joint)
    return Place(found, frozenset(clouds))


def _in_site(source: FileModel, name: str, on: str, site: int) -> Place | None:
    model, data = source.model, source.data
    matrix = data.site_xmat[site].reshape(3, 3)
    if model.site_type[site] != int(mujoco.mjtGeom.mjGEOM_BOX) or matrix[2, 2] < UPRIGHT:
        source.notes.faults.append(
            f"receptacles.{name}: site '{on}' must be an upright box: its bottom is where objects stand, its "
            "height how much room they have"
        )
        return None
    half, center = model.site_size[site], data.site_xpos[site]
    yaw = math.atan2(matrix[1, 0], matrix[0, 0])
    parts = {int(model.geom_bodyid[geom]): part for geom, part in source.part_of.items()}
    body = int(model.site_bodyid[site])
    while body and body not in parts:  # it may sit on something that is fixed in a part
        body = int(model.body_parentid[body])
    joint = parts.get(body)
    place = float(center[0]), float(center[1]), float(center[2] - half[2])
    extents = float(half[0]), float(half[1])
    found = Receptacle(name, place, extents, yaw, 2 * float(half[2]), joint)
    return Place(found, frozenset())


def measured(
    place: Place, clearance: float | None, shapes: Sequence[tuple[Shape, str]], notes: Notes
) -> Receptacle:
    """The receptacle with the free height above it; what stands in it is a fault or a remark.

    Args:
        place: The receptacle.
        clearance: Free height that was told [m], or None.
        shapes: All that collides, and what it is called.
        notes: Added to.
    """
    found = place.receptacle
    (x, y, z), (half_x, half_y) = found.position, found.half_extents
    c, s = math.cos(found.yaw), math.sin(found.yaw)
    u, v = np.meshgrid(np.linspace(-half_x, half_x, GRID), np.linspace(-half_y, half_y, GRID))
    points = np.column_stack([x + c * u.ravel() - s * v.ravel(), y + s * u.ravel() + c * v.ravel()])
    room, filled, by = found.clearance, np.zeros(len(points), bool), ""
    ground = np.zeros(len(points))
    for shape, title in shapes:
        over = shape.covers(points)
        if not over.any():
            continue
        if shape.high <= z + TOP:
            ground[over] = np.maximum(ground[over], shape.high)
        if shape.low > z + TOP:
            room = min(room, shape.low - z)
        elif shape.high > z + TOP:
            filled, by = filled | over, title
    if filled.mean() > 0.5:
        notes.faults.append(f"receptacles.{found.name}: {by} fills it: nothing can stand there")
    elif filled.any():
        notes.remarks.append(
            f"receptacles.{found.name}: {by} stands in {filled.mean():.0%} of it: mark the free part by a "
            "site"
        )
    gap = z - float(np.median(ground))
    if gap > TOP:
        notes.faults.append(
            f"receptacles.{found.name}: it is {gap:.2f} m above what is solid: objects would fall"
        )
    return replace(found, clearance=room if clearance is None else clearance)
