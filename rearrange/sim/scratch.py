"""Scratch memory of a thread that draws what cameras see."""

from __future__ import annotations

import numpy as np

from rearrange.render.caster import scratch_image
from rearrange.render.projection import WORK_SHAPE


class Scratch:
    """Arrays that only one thread writes to.

    Attributes:
        work: Of the caster.
        eye: Position of the camera [3].
        turn: Its world-from-camera rotation [3, 3].
    """

    def __init__(self) -> None:
        """Allocate it."""
        self.work, self.eye, self.turn = np.zeros(WORK_SHAPE), np.empty(3), np.empty((3, 3))
        self._images: dict[int, np.ndarray] = {}

    def image(self, size: int) -> np.ndarray:
        """A scratch image of a size."""
        if size not in self._images:
            self._images[size] = scratch_image(size, size, np.float32)
        return self._images[size]
