"""In which orientations a held object may be let go, and how high its centre then is.

An orientation is named by the axis of the object that points up; the heading stays free.
"""

from __future__ import annotations

import math

import numpy as np

from rearrange.scenes.objects import ObjectKind
from skills.oracle.descents import EXACT, LOOSE, SHORT, Aim, Way

DROP = 0.004  # [m], height of the lowest point over the surface at which an object is let go
CRUDE_DROP = 0.04  # [m], likewise where nothing gentler can be reached
DROPPED = (1.5e-2, 0.0, 0.6)  # limits of a way, see descents.py
LEANS = (0.4, 0.8, 1.2)  # [rad], orientations between standing and lying
AROUND = 8  # directions of leaning


def support_height(kind: ObjectKind, up: np.ndarray) -> float:
    """Height of the centre over the lowest point when `up` (object frame [3], unit) is up [m]."""
    heights = []
    for part in kind.parts:
        if not part.collides:
            continue
        if part.kind == "box":
            extent = float(np.abs(up) @ np.array(part.size))
        else:
            extent = part.size[0] * math.hypot(up[0], up[1]) + part.size[1] * abs(float(up[2]))
        heights.append(extent - part.height * float(up[2]))
    return max(heights)


def lying_axes(kind: ObjectKind) -> list[np.ndarray]:
    """Axes of the object that point up when it rests other than upright, object frame [3] each."""
    axes = [np.array([0.0, 0.0, -1.0])]
    if kind.parts[0].kind == "box":
        axes += [np.array(axis, float) for axis in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0))]
    else:
        axes += [_leaning(math.pi / 2, around) for around in _directions()]
    return axes


def set_down_ways(kind: ObjectKind, position: np.ndarray, rotation: np.ndarray) -> tuple[Way, ...]:
    """Ways of setting down what is held, gentle ones first.

    Args:
        kind: What is held.
        position: Its centre in the end-effector frame [3], m.
        rotation: End effector from object [3, 3].
    """

    def aim(up: np.ndarray, drop: float) -> Aim:
        # Targets are goals, which assume that the object stands upright.
        height = support_height(kind, up) - kind.half_height + drop
        return Aim(position, rotation @ up, (0.0, 0.0, 1.0), height)

    upright = aim(np.array([0.0, 0.0, 1.0]), DROP)
    lying = tuple(aim(up, DROP) for up in lying_axes(kind))
    leaning = tuple(aim(_leaning(lean, around), DROP) for lean in LEANS for around in _directions())
    askew = (_leaning(LEANS[1], around) for around in _directions())
    dropped = tuple(
        aim(up, CRUDE_DROP) for up in (np.array([0.0, 0.0, 1.0]), *lying_axes(kind), *askew)
    )
    return (
        Way((upright,), *EXACT),
        Way((upright,), *SHORT),
        Way((upright,), *LOOSE),
        Way(lying, *EXACT),
        Way(lying, *LOOSE),
        Way(leaning, *EXACT, thorough=False),
        Way(leaning, *LOOSE, thorough=False),
        Way(dropped, *DROPPED, thorough=False),
    )


def _directions() -> list[float]:
    return [2 * math.pi * k / AROUND for k in range(AROUND)]


def _leaning(lean: float, around: float) -> np.ndarray:
    """Axis that is up when an object leans by an angle, in the object's frame [3]."""
    side = math.sin(lean)
    return np.array([side * math.cos(around), side * math.sin(around), math.cos(lean)])
