"""Pinhole cameras: the lens, and where a camera looks."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

NEAR, FAR = 0.01, 10.0  # depths that are seen, metres


@dataclass(frozen=True)
class Camera:
    """A pinhole lens with square pixels.

    Pixel (i, j) looks along the ray through its centre, row 0 at the top.

    Attributes:
        height: Image rows.
        width: Image columns.
        horizontal_fov: Full opening angle from the left to the right edge, degrees.
    """

    height: int
    width: int
    horizontal_fov: float

    def __post_init__(self) -> None:
        if self.height < 1 or self.width < 1:
            raise ValueError(f"image size must be positive, got {self.height}x{self.width}")
        if not 0.0 < self.horizontal_fov < 180.0:
            raise ValueError(f"horizontal_fov must be in (0, 180), got {self.horizontal_fov}")

    @property
    def half_width(self) -> float:
        """Half the image width on the plane one metre ahead, metres."""
        return math.tan(math.radians(self.horizontal_fov) / 2.0)

    @property
    def half_height(self) -> float:
        """Half the image height on the plane one metre ahead, metres."""
        return self.half_width * self.height / self.width

    def lens(self, near: float = NEAR, far: float = FAR) -> NDArray[np.float64]:
        """What the caster's kernels take [4]: half width, half height, nearest, farthest depth, metres."""
        return np.array((self.half_width, self.half_height, near, far))

    def rays(self) -> NDArray[np.float64]:
        """Ray directions [H, W, 3] in the camera frame (right, up, backward), z = -1."""
        columns = ((np.arange(self.width) + 0.5) * 2.0 / self.width - 1.0) * self.half_width
        rows = (1.0 - (np.arange(self.height) + 0.5) * 2.0 / self.height) * self.half_height
        rays = np.empty((self.height, self.width, 3))
        rays[..., 0] = columns
        rays[..., 1] = rows[:, None]
        rays[..., 2] = -1.0
        return rays


def look_at(eye: ArrayLike, target: ArrayLike) -> NDArray[np.float64]:
    """Rotation of an upright camera at `eye` that looks at `target`.

    Args:
        eye: Camera position [3], metres, world frame (z up).
        target: Point in the middle of the image [3], metres.

    Returns:
        World-from-camera rotation [3, 3] with columns (right, up, backward): the camera looks
        along -z, as in MuJoCo. Looking straight up or down, image up is world +y.
    """
    forward = np.asarray(target, float) - np.asarray(eye, float)
    length = np.linalg.norm(forward)
    if length < 1e-12:
        raise ValueError("eye and target coincide")
    forward = forward / length
    right = np.cross(forward, (0.0, 0.0, 1.0))
    if np.linalg.norm(right) < 1e-9:
        right = np.array((1.0, 0.0, 0.0))
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(right, forward), -forward], axis=1)


def look_from(
    camera: Camera,
    points: ArrayLike,
    azimuth: float,
    elevation: float,
    margin: float = 0.12,
    nearest: float = 2.0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Pose of a camera that looks down on some points and holds all of them in its image.

    Args:
        camera: Lens.
        points: What must be seen [P, 3], metres, world frame.
        azimuth: Heading of the view, rad; 0 looks along +x.
        elevation: How steeply it looks down, rad, less than a right angle.
        margin: Share of the image at each edge that stays free of points.
        nearest: The camera keeps this distance to the middle of the points, metres.

    Returns:
        Position [3] and world-from-camera rotation [3, 3], see `look_at`.
    """
    seen = np.asarray(points, float).reshape(-1, 3)
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    level = math.cos(elevation)
    forward = (level * math.cos(azimuth), level * math.sin(azimuth), -math.sin(elevation))
    rotation = look_at(np.zeros(3), forward)
    local = (seen - middle) @ rotation
    usable = np.array((camera.half_width, camera.half_height)) * (1.0 - 2.0 * margin)
    # |right| <= usable * (distance + ahead), and likewise up, for every point
    distance = (np.abs(local[:, :2]) / usable).max(axis=1) + local[:, 2]
    away = max(float(distance.max()), nearest)
    return middle - away * np.asarray(forward), rotation
