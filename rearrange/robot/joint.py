"""A joint of a robot's arm."""

from __future__ import annotations

import math
from dataclasses import dataclass

Vector = tuple[float, float, float]
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True)
class Joint:
    """A hinge or a slide of the arm.

    Attributes:
        name: Of the joint in the model, of its actuator, and of its number in an action.
        offset: Of its frame in that of the link before [m].
        axis: x, y or z of its own frame, about which it turns or along which it slides.
        low: Limit [rad, of a slide m]; infinite, with `high`, where it turns without end.
        high: Likewise.
        slides: Of a slide, how far it goes while a hinge turns by one radian [m]; 0: a hinge. All that is
            set in radians, such as an action's step or the noise of a start, is so much of it in metres.
    """

    name: str
    offset: Vector
    axis: str
    low: float = -math.inf
    high: float = math.inf
    slides: float = 0.0

    @property
    def unit(self) -> float:
        """What counts as one radian [rad, of a slide m]."""
        return self.slides or 1.0
