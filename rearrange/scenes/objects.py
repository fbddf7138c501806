"""Household objects as primitives: nine YCB items of HAB and an apple, with real sizes and masses.

Thirty fixed slots hold them in every apartment, so that all worlds share one topology.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class ObjectPart:
    """One primitive of an object, in the object's frame (origin at its centre, z up).

    Attributes:
        kind: MuJoCo primitive.
        size: Half sizes [m]: box (x, y, z), cylinder (radius, half height, 0).
        height: z of its centre [m].
        color: RGBA in [0, 1].
        collides: False for what is only seen.
    """

    kind: Literal["box", "cylinder"]
    size: tuple[float, float, float]
    color: tuple[float, float, float, float]
    height: float = 0.0
    collides: bool = True


@dataclass(frozen=True, eq=False)
class MeshPart:
    """Triangles of an object, in the object's frame; arrays as MuJoCo's models have them.

    Attributes:
        vertices: [V, 3], m.
        faces: Corners of the triangles [F, 3]; none where it collides.
        normals: [N, 3], or None.
        normal_faces: [F, 3], or None.
        uvs: [U, 2], or None.
        uv_faces: [F, 3], or None.
        texture: [H, W, 3], uint8, or None.
        repeat: How often the texture is repeated along u and v.
        color: RGBA in [0, 1].
        collides: It is the convex hull of its vertices, and not seen; else it is only seen.
        volume: Of the hull [m3].
    """

    vertices: np.ndarray
    faces: np.ndarray | None = None
    normals: np.ndarray | None = None
    normal_faces: np.ndarray | None = None
    uvs: np.ndarray | None = None
    uv_faces: np.ndarray | None = None
    texture: np.ndarray | None = None
    repeat: tuple[float, float] = (1.0, 1.0)
    color: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    collides: bool = False
    volume: float = 0.0


@dataclass(frozen=True)
class ObjectKind:
    """A household object.

    Attributes:
        name: YCB name with its number.
        mass: [kg].
        half_height: Height of the centre above the surface on which it stands upright [m].
        footprint_radius: Radius of the upright cylinder that contains it [m].
        parts: Its primitives.
        meshes: What is seen and touched instead of the primitives, which planners go on to see; none: these.
    """

    name: str
    mass: float
    half_height: float
    footprint_radius: float
    parts: tuple[ObjectPart, ...]
    meshes: tuple[MeshPart, ...] = ()

    @property
    def title(self) -> str:
        """For people, for example "cracker box" for 003_cracker_box."""
        number, _, words = self.name.partition("_")
        return (words if number.isdigit() else self.name).replace("_", " ")

    @property
    def widths(self) -> tuple[float, float]:
        """Its extents along its x and y axes, upright [m]."""
        x, y = (
            2.0
            * max(part.size[k if part.kind == "box" else 0] for part in self.parts if part.collides)
            for k in range(2)
        )
        return x, y

    @property
    def longest_side(self) -> float:
        """Of the box around it, upright [m]."""
        across = [
            max(part.size[:2] if part.kind == "box" else part.size[:1]) for part in self.parts
        ]
        return 2.0 * max(self.half_height, *across)


def _can(
    name: str, mass: float, diameter: float, height: float, color: tuple[float, ...]
) -> ObjectKind:
    part = ObjectPart("cylinder", (diameter / 2, height / 2, 0.0), (*color, 1.0))  # type: ignore[arg-type]
    return ObjectKind(name, mass, height / 2, diameter / 2, (part,))


def _carton(
    name: str, mass: float, length: float, width: float, height: float, color: tuple[float, ...]
) -> ObjectKind:
    part = ObjectPart("box", (length / 2, width / 2, height / 2), (*color, 1.0))  # type: ignore[arg-type]
    return ObjectKind(name, mass, height / 2, (length**2 + width**2) ** 0.5 / 2, (part,))


def _bowl() -> ObjectKind:
    red = (0.72, 0.16, 0.14, 1.0)
    foot = ObjectPart("cylinder", (0.050, 0.0105, 0.0), red, height=-0.017)
    rim = ObjectPart("cylinder", (0.0795, 0.0165, 0.0), red, height=0.010)
    hollow = ObjectPart(
        "cylinder", (0.073, 0.001, 0.0), (0.42, 0.07, 0.07, 1.0), height=0.0275, collides=False
    )
    return ObjectKind("024_bowl", 0.147, 0.0275, 0.0795, (foot, rim, hollow))


def _apple() -> ObjectKind:
    # A cylinder rather than a sphere: it must not roll off a table.
    red = (0.78, 0.13, 0.12, 1.0)
    body = ObjectPart("cylinder", (0.036, 0.035, 0.0), red)
    return ObjectKind("013_apple", 0.068, 0.035, 0.036, (body,))


# Sizes and masses: YCB object set (Calli et al. 2015). Cartons stand as they do on a shelf, except
# pudding and gelatin, which lie on their broad side.
OBJECT_KINDS: dict[str, ObjectKind] = {
    kind.name: kind
    for kind in (
        _can("002_master_chef_can", 0.414, 0.102, 0.139, (0.13, 0.24, 0.58)),
        _carton("003_cracker_box", 0.411, 0.060, 0.158, 0.210, (0.76, 0.13, 0.11)),
        _carton("004_sugar_box", 0.514, 0.038, 0.089, 0.175, (0.95, 0.80, 0.18)),
        _can("005_tomato_soup_can", 0.349, 0.066, 0.101, (0.86, 0.24, 0.17)),
        _can("007_tuna_fish_can", 0.171, 0.085, 0.033, (0.30, 0.55, 0.78)),
        _carton("008_pudding_box", 0.187, 0.110, 0.089, 0.035, (0.45, 0.24, 0.13)),
        _carton("009_gelatin_box", 0.097, 0.085, 0.073, 0.028, (0.88, 0.38, 0.52)),
        _carton("010_potted_meat_can", 0.370, 0.097, 0.050, 0.082, (0.17, 0.42, 0.36)),
        _bowl(),
        _apple(),
    )
}

# Three of each YCB item of HAB (clutter and targets of Tidy House and Prepare Groceries), then the
# apple and the bowl that Set Table asks for, and one more soup can to make thirty.
SLOT_KINDS: tuple[str, ...] = (
    *(name for name in OBJECT_KINDS if name != "013_apple" for _ in range(3)),
    "013_apple",
    "024_bowl",
    "005_tomato_soup_can",
)


def half_height(kind: str) -> float:
    """Height of the centre of an upright object above its support [m]."""
    return OBJECT_KINDS[kind].half_height


def footprint_radius(kind: str) -> float:
    """Radius of the upright cylinder that contains the object [m]."""
    return OBJECT_KINDS[kind].footprint_radius
