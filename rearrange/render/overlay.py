"""Marks on pictures: wireframe boxes, ghosts of goals, depth in colour."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rearrange.render.camera import Camera

Array = NDArray[Any]
Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
GREY: Colour = (150, 150, 150)
GREEN: Colour = (90, 200, 110)

_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
_EDGES = [(a, b) for a in range(8) for b in range(a) if (a ^ b) in (1, 2, 4)]
# Depth colours from near to far: warm and light to cool and dark.
_RAMP = np.array(
    [(255, 244, 214), (252, 190, 110), (226, 104, 84), (142, 54, 110), (64, 34, 96), (16, 14, 44)],
    float,
)


@dataclass(frozen=True)
class View:
    """Where a picture was taken from, with its depth.

    Attributes:
        camera: Lens and image size.
        position: Camera position [3], metres.
        rotation: World-from-camera rotation [3, 3], columns (right, up, backward).
        depth: z-depth of the picture [H, W], metres.
    """

    camera: Camera
    position: Array
    rotation: Array
    depth: Array

    def project(self, points: ArrayLike) -> tuple[Array, Array]:
        """Pixel coordinates (column, row) [..., 2] and z-depth [...] of world points [..., 3]."""
        local = (np.asarray(points, float) - self.position) @ self.rotation
        depth = -local[..., 2]
        scale = 0.5 * self.camera.width / self.camera.half_width
        scale = scale / np.where(np.abs(depth) < 1e-9, 1e-9, depth)
        column = local[..., 0] * scale + 0.5 * self.camera.width - 0.5
        row = 0.5 * self.camera.height - 0.5 - local[..., 1] * scale
        return np.stack([column, row], axis=-1), depth


def _stamp(
    image: Array, view: View, points: Array, colour: Colour, thickness: int, hidden: float
) -> None:
    """Draw world points [P, 3]; those behind the picture's depth keep `hidden` of their opacity."""
    pixels, depth = view.project(points)
    corner = np.rint(pixels - 0.5 * (thickness - 1)).astype(int)
    step = np.arange(thickness)
    x = (corner[:, 0, None, None] + step[:, None] + 0 * step).ravel()
    y = (corner[:, 1, None, None] + step + 0 * step[:, None]).ravel()
    z = np.repeat(depth, thickness * thickness)
    good = (z > 0.01) & (x >= 0) & (y >= 0) & (x < image.shape[1]) & (y < image.shape[0])
    x, y, z = x[good], y[good], z[good]
    share = np.where(z <= view.depth[y, x] * 1.002 + 0.01, 1.0, hidden)
    order = np.argsort(share, kind="stable")  # the most opaque touch of a pixel comes last
    x, y, share = x[order], y[order], share[order, None]
    mixed = image[y, x] * (1.0 - share) + np.asarray(colour, float) * share
    image[y, x] = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)


def _blend(image: Array, opacity: Array, colour: Array) -> None:
    """Mix a colour [3] or [H, W, 3] into image [H, W, 3] in place, by opacity [H, W]."""
    rows, columns = np.nonzero(opacity)
    share = opacity[rows, columns, None]
    paint = colour[rows, columns] if colour.ndim == 3 else colour
    mixed = image[rows, columns] * (1.0 - share) + paint * share
    image[rows, columns] = np.clip(mixed + 0.5, 0, 255).astype(np.uint8)


def draw_line(
    image: Array,
    view: View,
    start: ArrayLike,
    end: ArrayLike,
    colour: Colour = WHITE,
    thickness: int = 2,
    hidden: float = 0.15,
) -> Array:
    """Draw a line between two world points into image [H, W, 3] in place; return it.

    Args:
        image: sRGB picture, uint8.
        view: Where the picture was taken from.
        start: World point [3], metres.
        end: World point [3], metres.
        colour: sRGB.
        thickness: Pixels.
        hidden: Opacity in [0, 1] of what lies behind the picture's surfaces.
    """
    ends = np.array([start, end], float)
    local = (ends - view.position) @ view.rotation
    near = 0.02
    if (local[:, 2] > -near).all():
        return image
    if (local[:, 2] > -near).any():  # cut the part behind the camera off
        f = (-near - local[0, 2]) / (local[1, 2] - local[0, 2])
        ends[int(local[1, 2] > -near)] = ends[0] + f * (ends[1] - ends[0])
    pixels, depth = view.project(ends)
    count = int(min(np.abs(pixels[1] - pixels[0]).max() * 1.5 + 2.0, 4096))
    f = np.linspace(0.0, 1.0, count)
    f = f * depth[0] / (depth[1] + f * (depth[0] - depth[1]))  # even steps on the picture
    _stamp(image, view, ends[0] + f[:, None] * (ends[1] - ends[0]), colour, thickness, hidden)
    return image


def draw_box(
    image: Array,
    view: View,
    center: ArrayLike,
    half_size: ArrayLike,
    rotation: ArrayLike | None = None,
    colour: Colour = WHITE,
    thickness: int = 2,
    hidden: float = 0.15,
) -> Array:
    """Draw the twelve edges of a box into image in place; return it.

    Args:
        image: sRGB picture [H, W, 3], uint8.
        view: Where the picture was taken from.
        center: World position [3], metres.
        half_size: Half sizes [3], metres.
        rotation: World-from-box rotation [3, 3], upright if None.
        colour: sRGB.
        thickness: Pixels.
        hidden: Opacity in [0, 1] of edges behind the picture's surfaces.
    """
    turn = np.eye(3) if rotation is None else np.asarray(rotation, float).reshape(3, 3)
    corners = np.asarray(center, float) + (_CORNERS * np.asarray(half_size, float)) @ turn.T
    for a, b in _EDGES:
        draw_line(image, view, corners[a], corners[b], colour, thickness, hidden)
    return image


def _window(view: View, center: Array, radius: float) -> tuple[slice, slice]:
    """Rows and columns that a ball may cover; all of them when the camera is close to it."""
    pixel, depth = view.project(center)
    height, width = view.depth.shape
    if depth < 1.5 * radius + 0.02:
        far = depth < -radius
        return (slice(0, 0), slice(0, 0)) if far else (slice(0, height), slice(0, width))
    offset = np.abs((center - view.position) @ view.rotation)[:2] / depth
    stretch = 1.0 + float(offset.max())
    scale = 0.5 * width / view.camera.half_width
    reach = scale * radius * stretch * stretch / (depth - radius) + 2.0
    low = np.clip(np.floor(pixel - reach), 0, (width, height)).astype(int)
    high = np.clip(np.ceil(pixel + reach) + 1, 0, (width, height)).astype(int)
    return slice(low[1], high[1]), slice(low[0], high[0])


def _ghost(
    image: Array, view: View, window: tuple[slice, slice], enter: Array, normal: Array,
    colour: Colour, opacity: float,
) -> Array:  # fmt: skip
    """Mix a translucent body in, given the z-depth [h, w] and normal [h, w, 3] in a window."""
    front = np.isfinite(enter) & (enter > 0.01) & (enter < view.depth[window])
    light = 0.72 + 0.28 * np.clip(normal @ np.array((0.36, -0.28, 0.89)), -1.0, 1.0)
    paint = np.asarray(colour, float) * light[..., None]
    _blend(image[window], np.where(front, opacity, 0.0), paint)
    return image


def draw_ghost_sphere(
    image: Array,
    view: View,
    center: ArrayLike,
    radius: float,
    colour: Colour = GREY,
    opacity: float = 0.6,
) -> Array:
    """Draw a translucent sphere into image [H, W, 3] in place, hidden by what is in front."""
    middle = np.asarray(center, float)
    window = _window(view, middle, radius)
    rays = view.camera.rays()[window] @ view.rotation.T
    offset = view.position - middle
    a, b = (rays * rays).sum(axis=-1), rays @ offset
    square = b * b - a * (offset @ offset - radius * radius)
    enter = np.where(square > 0.0, (-b - np.sqrt(np.maximum(square, 0.0))) / a, np.inf)
    normal = (offset + rays * np.where(np.isfinite(enter), enter, 0.0)[..., None]) / radius
    return _ghost(image, view, window, enter, normal, colour, opacity)


def draw_ghost_box(
    image: Array,
    view: View,
    center: ArrayLike,
    half_size: ArrayLike,
    colour: Colour = GREEN,
) -> Array:
    """Draw a translucent upright box into image [H, W, 3] in place, hidden by what is in front."""
    half, middle = np.asarray(half_size, float), np.asarray(center, float)
    window = _window(view, middle, float(np.linalg.norm(half)))
    rays = view.camera.rays()[window] @ view.rotation.T
    rays = np.where(np.abs(rays) < 1e-12, 1e-12, rays)
    offset = view.position - middle
    low, high = (-half - offset) / rays, (half - offset) / rays
    each = np.minimum(low, high)
    enter, leave = each.max(axis=-1), np.maximum(low, high).min(axis=-1)
    enter = np.where(enter < leave, enter, np.inf)
    axis = each.argmax(axis=-1)
    sign = -np.sign(np.take_along_axis(rays, axis[..., None], axis=-1))
    return _ghost(image, view, window, enter, sign * np.eye(3)[axis], colour, 0.5)


def colour_depth(depth: Array, near: float = 0.0, far: float = 10.0) -> Array:
    """Picture [H, W, 3], uint8, of a depth image [H, W] in metres: near is light, far is dark."""
    level = np.clip((depth - near) / (far - near), 0.0, 1.0) * (len(_RAMP) - 1)
    low = np.minimum(level.astype(int), len(_RAMP) - 2)
    f = (level - low)[..., None]
    return (_RAMP[low] * (1.0 - f) + _RAMP[low + 1] * f + 0.5).astype(np.uint8)
