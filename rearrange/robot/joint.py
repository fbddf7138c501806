"""A joint of a robot's arm."""

from __future__ import annotations

import math
from dataclasses import dataclass

Vector = tuple[float, float, float]
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Joint:
    """A hinge of the arm.

    Attributes:
        name: Of the joint in the model, of its actuator, and of its number in an action.
        offset: Of its frame in that of the link before [m].
        axis: x, y or z of its own frame.
        low: Limit [rad]; infinite, with `high`, where it turns without end.
        high: Likewise.
    """

    name: str
    offset: Vector
    axis: str
    low: float = -math.inf
    high: float = math.inf
