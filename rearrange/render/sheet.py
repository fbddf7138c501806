"""Contact sheets: pictures and text on one page, and numbered tags that do not cover each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

Picture = NDArray[Any]
Colour = tuple[int, int, int]

PAPER: Colour = (250, 250, 248)
INK: Colour = (28, 31, 38)
FAINT: Colour = (110, 116, 128)
LEADER: Colour = (40, 44, 52)
# Where a tag may stand around its point, in steps of its own size: the nearest first.
_PLACES = [
    (dx * r, dy * r)
    for r in (1.0, 1.8, 2.8, 4.0)
    for dx, dy in ((1, -1), (-1, -1), (1, 1), (-1, 1), (0, -1.3), (0, 1.3), (1.3, 0), (-1.3, 0))
]


def font(size: int) -> ImageFont.ImageFont | ImageFont.FreeTypeFont:
    """Pillow's own font: the same on every machine."""
    return ImageFont.load_default(size)


@dataclass(frozen=True)
class Tag:
    """A short text beside a point of a picture.

    Attributes:
        text: What it says.
        pixel: Column and row of the point.
        plate: Colour behind the letters.
    """

    text: str
    pixel: tuple[float, float]
    plate: Colour


def draw_tags(picture: Picture, tags: Sequence[Tag], size: int = 13) -> Picture:
    """Write tags into picture [H, W, 3] in place, each where it covers no other tag or point.

    Points outside the picture get none. The first place that is free is taken; a tag that finds none
    stands at its nearest place all the same.
    """
    height, width = picture.shape[:2]
    canvas = Image.fromarray(picture)
    draw = ImageDraw.Draw(canvas)
    letters = font(size)
    shown = [tag for tag in tags if 0 <= tag.pixel[0] < width and 0 <= tag.pixel[1] < height]
    taken = [(c - 4.0, r - 4.0, c + 4.0, r + 4.0) for c, r in (tag.pixel for tag in shown)]
    for tag in shown:
        x0, y0, x1, y1 = draw.textbbox((0, 0), tag.text, font=letters)
        half = 0.5 * (x1 - x0) + 4.0, 0.5 * (y1 - y0) + 3.0
        places = [_plate(tag.pixel, half, place) for place in _PLACES]
        inside = [p for p in places if p[0] >= 0 and p[1] >= 0 and p[2] <= width and p[3] <= height]
        free = [p for p in inside if not any(_overlap(p, other) for other in taken)]
        plate = (free or inside or places)[0]
        taken.append(plate)
        middle = (plate[0] + plate[2]) / 2, (plate[1] + plate[3]) / 2
        draw.line([tag.pixel, middle], fill=LEADER, width=1)
        draw.rounded_rectangle(plate, 3, fill=tag.plate, outline=LEADER)
        draw.text(middle, tag.text, font=letters, fill=INK, anchor="mm")
    picture[...] = np.asarray(canvas)
    return picture


def _plate(
    pixel: tuple[float, float], half: tuple[float, float], place: tuple[float, float]
) -> tuple[float, float, float, float]:
    """Bounds of a tag of this half size at one of _PLACES around a pixel."""
    x, y = pixel[0] + place[0] * (half[0] + 6.0), pixel[1] + place[1] * (half[1] + 6.0)
    return x - half[0], y - half[1], x + half[0], y + half[1]


def _overlap(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


class Sheet:
    """A page on which pictures and lines of text are put; `pixels` is what it looks like."""

    def __init__(self, width: int, height: int) -> None:
        """An empty page [pixels]."""
        self._canvas = Image.new("RGB", (width, height), PAPER)
        self._draw = ImageDraw.Draw(self._canvas)

    @property
    def pixels(self) -> Picture:
        """The page [H, W, 3], uint8."""
        return np.array(self._canvas)

    def put(self, picture: Picture, left: int, top: int, caption: str = "") -> None:
        """Put a picture [H, W, 3] with a thin frame; the caption stands above it."""
        height, width = picture.shape[:2]
        self._canvas.paste(Image.fromarray(picture), (left, top))
        frame = (left - 1, top - 1, left + width, top + height)
        self._draw.rectangle(frame, outline=FAINT)
        if caption:
            self.text(caption, left, top - 18, 13, FAINT)

    def text(self, text: str, left: int, top: int, size: int = 14, colour: Colour = INK) -> None:
        """Write one line."""
        self._draw.text((left, top), text, font=font(size), fill=colour)

    def width_of(self, text: str, size: int = 14) -> int:
        """Width of a line [pixels]."""
        return int(self._draw.textlength(text, font=font(size)))

    def swatch(self, left: int, top: int, colour: Colour, text: str) -> None:
        """A line of a legend: a small square of the colour and what it stands for."""
        self._draw.rectangle((left, top + 3, left + 11, top + 14), fill=colour, outline=FAINT)
        self.text(text, left + 18, top, 13)

    def save(self, path: Any, kind: str = "PNG") -> None:
        """Write a picture of a kind that Pillow knows into a file, or what is open as one."""
        self._canvas.save(path, kind, optimize=True)
