"""Geometry of generated apartments that several tests look at; no tests."""

import numpy as np
import pytest

from rearrange.scenes import Apartment, ArticulatedPose, Solid
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.cabinet import DRAWERS
from rearrange.scenes.placement import overlap

# With handles: x_min, y_min, x_max, y_max in the frame of the part [m]
CABINET_FOOTPRINT = (-0.30, -0.48, 0.335, 0.48)
FRIDGE_FOOTPRINT = (-0.34, -0.35, 0.37, 0.35)


def vertical(solid: Solid) -> tuple[float, float]:
    half = solid.size[2] if solid.kind == "box" else solid.size[1]
    return solid.position[2] - half, solid.position[2] + half


def flat(solid: Solid) -> tuple[float, float, float, float, float]:
    sy = solid.size[1] if solid.kind == "box" else solid.size[0]
    return (*solid.position[:2], solid.size[0], sy, solid.yaw)


def framed(
    pose: ArticulatedPose, x0: float, y0: float, x1: float, y1: float
) -> tuple[float, float, float, float, float]:
    c, s = np.cos(pose.yaw), np.sin(pose.yaw)
    x, y = (x0 + x1) / 2, (y0 + y1) / 2
    return (
        pose.position[0] + c * x - s * y,
        pose.position[1] + s * x + c * y,
        (x1 - x0) / 2,
        (y1 - y0) / 2,
        pose.yaw,
    )


def obstacles(apartment: Apartment) -> list[tuple[float, float, float, float, float]]:
    """What blocks the base, doors and drawers closed."""
    boxes = [
        flat(s)
        for s in apartment.solids
        if s.collides and vertical(s)[0] < 1.3 and vertical(s)[1] > 0.02
    ]
    boxes.append(framed(apartment.frames["fridge"], *FRIDGE_FOOTPRINT))
    boxes.append(framed(apartment.frames["cabinet"], *CABINET_FOOTPRINT))
    return boxes


def points_on(receptacle) -> np.ndarray:
    c, s = np.cos(receptacle.yaw), np.sin(receptacle.yaw)
    u = np.linspace(-1, 1, 7)
    a, b = np.meshgrid(u * receptacle.half_extents[0], u * receptacle.half_extents[1])
    x, y, _ = receptacle.position
    return np.stack([x + c * a - s * b, y + s * a + c * b], -1).reshape(-1, 2)


def check_no_overlap(apartment: Apartment) -> None:
    solids = [s for s in apartment.solids if s.collides and vertical(s)[0] < 2.59]
    for i, first in enumerate(solids):
        low, high = vertical(first)
        for second in solids[i + 1 :]:
            if first.part == second.part:
                continue
            other_low, other_high = vertical(second)
            if other_low < high - 1e-3 and low < other_high - 1e-3:
                assert not overlap(flat(first), flat(second), -1e-3), (first, second)
    # Door swung through its whole range (a sector, here its bounding box) and drawers pulled out.
    swept = [
        (framed(apartment.frames["fridge"], *FRIDGE_FOOTPRINT), 0.0, 1.76),
        (framed(apartment.frames["fridge"], 0.345, -0.345, 1.0, 0.345), 0.57, 1.76),
        (framed(apartment.frames["fridge"], 0.345, 0.345, 1.0, 0.83), 0.57, 1.76),
        (framed(apartment.frames["cabinet"], -0.30, -0.48, 0.32, 0.48), 0.0, 0.90),
        (
            framed(apartment.frames["cabinet"], 0.32, -0.475, 0.335 + DRAWERS[0].range[1], 0.475),
            0.12,
            0.86,
        ),
    ]
    for area, low, high in swept:
        for solid in solids:
            other_low, other_high = vertical(solid)
            if other_low < high - 1e-3 and low < other_high - 1e-3:
                assert not overlap(area, flat(solid), -2e-3), (area, solid)


def check_surfaces(apartment: Apartment) -> None:
    """Every open receptacle lies on the top of a solid, 6 cm from edges where things could fall."""
    for name in APARTMENT.open_receptacles:
        receptacle = apartment.receptacles[name]
        tops = [
            s
            for s in apartment.solids
            if s.part == name and abs(vertical(s)[1] - receptacle.position[2]) < 1e-6
        ]
        assert tops, name
        points = points_on(receptacle)
        margin = 0.0 if name == "sink" else 0.059
        for top in tops:
            c, s = np.cos(top.yaw), np.sin(top.yaw)
            d = points - np.array(top.position[:2])
            local = np.abs(np.stack([d[:, 0] * c + d[:, 1] * s, -d[:, 0] * s + d[:, 1] * c], -1))
            if (
                top.kind == "box"
                and (local <= np.array(top.size[:2]) - margin * (name != "sofa")).all()
            ):
                break
            if top.kind == "cylinder" and (np.linalg.norm(d, axis=1) <= top.size[0] - margin).all():
                break
        else:
            pytest.fail(f"{name} sticks out of its surface")
