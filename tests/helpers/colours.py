"""Colours of a picture."""

import numpy as np


def colours_of(pixels: np.ndarray) -> set[tuple[int, int, int]]:
    """All different colours of 8-bit pixels [..., 3]; sorting numbers is faster than a set of every pixel's."""
    packed = np.unique(pixels.reshape(-1, 3) @ np.array([65536, 256, 1]))
    return {(int(c) >> 16, int(c) >> 8 & 255, int(c) & 255) for c in packed}
