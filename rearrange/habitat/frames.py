"""Positions and rotations in Habitat's world and in ours.

Habitat's world has y up and its quaternions are xyzw. Everything keeps its own z-up frame within the
world, so only poses in the world are turned.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_HALF = math.sqrt(0.5)
# Habitat from ours: a quarter turn about x, as a matrix and as a quaternion wxyz.
_TURN = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)])
_TURN_QUATERNION = np.array([_HALF, -_HALF, 0.0, 0.0])
_BACK_QUATERNION = np.array([_HALF, _HALF, 0.0, 0.0])


def to_habitat_position(position: Any) -> np.ndarray:
    """Points of our world [..., 3] (z up) in Habitat's (y up), m: (x, y, z) becomes (x, z, -y)."""
    return np.asarray(position, float) @ _TURN.T


def from_habitat_position(position: Any) -> np.ndarray:
    """Points of Habitat's world [..., 3] in ours, m: (x, y, z) becomes (x, -z, y)."""
    return np.asarray(position, float) @ _TURN


def from_habitat_cells(
    corner: Any, cells: np.ndarray, size: float
) -> tuple[tuple[float, float], np.ndarray]:
    """Cells of a floor of Habitat's world [nx, nz] in ours: origin [2], m, and cells [nx, ny].

    Args:
        corner: x and z of the lower corner of the first cell [m].
        cells: Anything of each.
        size: Of a cell [m].
    """
    x, z = (float(part) for part in corner)
    return (x, -(z + cells.shape[1] * size)), cells[:, ::-1]  # its z is our -y


def to_habitat_rotation(rotation: Any) -> np.ndarray:
    """Quaternions wxyz of things in our world [..., 4] as xyzw in Habitat's; their own axes stay."""
    return np.roll(_multiply(_TURN_QUATERNION, np.asarray(rotation, float)), -1, axis=-1)


def from_habitat_rotation(rotation: Any) -> np.ndarray:
    """Quaternions xyzw of things in Habitat's world [..., 4] as wxyz in ours; their own axes stay."""
    return _multiply(_BACK_QUATERNION, np.roll(np.asarray(rotation, float), 1, axis=-1))


def _multiply(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Product of a quaternion [4] and many [..., 4], wxyz."""
    w, x, y, z = first
    a, b, c, d = np.moveaxis(second, -1, 0)
    product = (
        w * a - x * b - y * c - z * d,
        w * b + x * a + y * d - z * c,
        w * c - x * d + y * a + z * b,
        w * d + x * c - y * b + z * a,
    )
    return np.stack(product, axis=-1)


def rotation_matrix(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrix [3, 3] of a unit quaternion wxyz."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        ]
    )


def quaternion_of(matrix: np.ndarray) -> np.ndarray:
    """Unit quaternion wxyz of a rotation matrix [3, 3]."""
    # The eigenvector of the largest eigenvalue of this symmetric matrix (Bar-Itzhack 2000).
    (a, b, c), (d, e, f), (g, h, i) = matrix
    keys = np.array(
        [
            (a + e + i, h - f, c - g, d - b),
            (h - f, a - e - i, d + b, g + c),
            (c - g, d + b, e - a - i, h + f),
            (d - b, g + c, h + f, i - a - e),
        ]
    )
    return np.linalg.eigh(keys)[1][:, -1]


def heading(yaw: float) -> np.ndarray:
    """Quaternion wxyz of a turn about the vertical."""
    return np.array([math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)])


def to_habitat_pose(position: Any, rotation: Any) -> tuple[np.ndarray, np.ndarray]:
    """Position [3] and quaternion xyzw [4] in Habitat's world of a pose in ours (wxyz)."""
    return to_habitat_position(position), to_habitat_rotation(rotation)
