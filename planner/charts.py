"""Charts of an evaluation as SVG text, without any library: a report must open from a file, offline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

COLORS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f")
SKILL_COLORS = {
    "navigate": "#94a3b8",
    "pick": "#2563eb",
    "place": "#059669",
    "open_cab": "#d97706",
    "close_cab": "#b45309",
    "open_fridge": "#7c3aed",
    "close_fridge": "#5b21b6",
    "reset_arm": "#e2e8f0",
    "monolithic": "#0891b2",
}
FAULT = "#dc2626"
_OTHER = "#0891b2"


@dataclass(frozen=True)
class Rate:
    """A share with its 95 % interval, all from 0 to 1."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Series:
    """One line of a chart: a name, and a rate per place on the x axis; None: it has none there."""

    name: str
    rates: tuple[Rate | None, ...]


@dataclass(frozen=True)
class Start:
    """Where a skill began, and whether it did what it was meant to do.

    Attributes:
        distance: From the base to the target in the plane [m].
        heading: Of the target, from straight ahead, left positive [rad].
        success: Whether nothing went wrong in it.
    """

    distance: float
    heading: float
    success: bool


@dataclass(frozen=True)
class Segment:
    """One skill in an episode's timeline."""

    skill: str
    steps: int
    deviation: str | None
    label: str


def svg(width: float, height: float, parts: Sequence[str], title: str) -> str:
    """Parts as a picture that shrinks with the page."""
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(title)}" '
        f'style="max-width:{width:g}px">{"".join(parts)}</svg>'
    )


def text(x: float, y: float, said: str, anchor: str = "middle", kind: str = "") -> str:
    """A line of text."""
    style = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{escape(said)}</text>'


def line_chart(places: Sequence[str], lines: Sequence[Series], title: str) -> str:
    """Success after every interaction, one line per evaluation, with 95 % intervals."""
    left, top, height = 48.0, 14.0, 240.0
    step = max(44.0, 620.0 / max(1, len(places)))
    width = step * len(places)
    parts = []
    for percent in range(0, 101, 25):
        y = top + height * (1 - percent / 100)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + width}" y1="{y}" y2="{y}"/>')
        parts.append(text(left - 6, y + 4, f"{percent} %", "end"))
    for k, name in enumerate(places):
        parts.append(text(left + step * (k + 0.5), top + height + 18, name.replace("_", " ")))
    for index, line in enumerate(lines):
        color = COLORS[index % len(COLORS)]
        shift = 7.0 * (index - (len(lines) - 1) / 2)
        pieces: list[list[str]] = [[]]  # a place without a rate interrupts the line
        for k, rate in enumerate(line.rates):
            if rate is None:
                pieces.append([])
                continue
            x = left + step * (k + 0.5) + shift
            mean, low, high = (top + height * (1 - v) for v in (rate.mean, rate.low, rate.high))
            pieces[-1].append(f"{x:.1f},{mean:.1f}")
            told = f"{line.name}, {places[k]}: {_interval(rate)}"
            parts.append(
                f'<g><title>{escape(told)}</title><line x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" '
                f'y2="{high:.1f}" stroke="{color}" stroke-width="2" opacity=".45"/>'
                f'<circle cx="{x:.1f}" cy="{mean:.1f}" r="4" fill="{color}"/></g>'
            )
        parts += [
            f'<polyline points="{" ".join(piece)}" fill="none" stroke="{color}" stroke-width="1.6"/>'
            for piece in pieces
            if piece
        ]
    return svg(left + width + 8, top + height + 28, parts, title)


def bar_chart(counts: dict[str, int], total: int, title: str) -> str:
    """Horizontal bars: how many of the episodes failed for each cause."""
    left, row, width = 250.0, 24.0, 320.0
    parts = []
    for k, (name, count) in enumerate(counts.items()):
        y = k * row
        length = width * count / max(1, max(counts.values()))
        color = SKILL_COLORS.get(name.partition(":")[0], _OTHER)
        parts.append(text(left - 8, y + 16, name, "end"))
        parts.append(
            f'<rect x="{left}" y="{y + 4}" width="{length:.1f}" height="16" rx="2" fill="{color}"/>'
        )
        share = f"{count} ({count / total:.1%})"
        parts.append(text(left + length + 6, y + 16, share, "start"))
    return svg(left + width + 90, max(1, len(counts)) * row + 4, parts, title)


def hand_off_map(starts: Sequence[Start], title: str, rings: Sequence[float]) -> str:
    """Success by where the target was, seen from above by the robot, which looks up.

    Args:
        starts: Where the skill began.
        title: For those who cannot see.
        rings: Outer radii of the rings [m]; what is farther falls into the last.
    """
    sectors, size, margin = 12, 150.0, 26.0
    middle = size + margin
    groups: dict[tuple[int, int], list[bool]] = {}
    for start in starts:
        ring = next((k for k, r in enumerate(rings) if start.distance <= r), len(rings) - 1)
        turn = (start.heading + math.pi / sectors) % (2 * math.pi)
        groups.setdefault((ring, int(turn / (2 * math.pi) * sectors)), []).append(start.success)
    parts = []
    for k in range(len(rings)):
        inner, outer = size * k / len(rings), size * (k + 1) / len(rings)
        for sector in range(sectors):
            found = groups.get((k, sector), [])
            share = sum(found) / len(found) if found else 0.0
            fill = _shade(share) if found else "none"
            at = f"{rings[k - 1] if k else 0:g} to {rings[k]:g} m"
            told = f"{at}: {share:.0%} of {len(found)}"
            low, high = (sector + side for side in (-0.5, 0.5))
            path = _ring_piece(middle, inner, outer, low / sectors, high / sectors)
            parts.append(
                f'<path class="cell" d="{path}" fill="{fill}"><title>{told}</title></path>'
            )
            if found and len(found) >= 2:
                x, y = _at(middle, (inner + outer) / 2, sector / sectors)
                parts.append(text(x, y + 3.5, str(len(found)), kind="small"))
        parts.append(text(middle + 3, middle - outer + 11, f"{rings[k]:g} m", "start", "faint"))
    parts.append(text(middle, 16, "ahead"))
    return svg(2 * middle, 2 * middle, parts, title)


def timeline(segments: Sequence[Segment], longest: int, title: str) -> str:
    """An episode as a bar of skills; where something went wrong the bar has a red foot."""
    width, height = 860.0, 20.0
    parts, x = [], 0.0
    for segment in segments:
        length = width * segment.steps / max(1, longest)
        color = SKILL_COLORS.get(segment.skill, _OTHER)
        told = f"{segment.skill} {segment.label}: {segment.steps} steps"
        told += f", {segment.deviation}" if segment.deviation else ""
        parts.append(
            f'<g><title>{escape(told)}</title><rect x="{x:.1f}" y="0" '
            f'width="{max(length, 0.6):.1f}" height="14" fill="{color}"/>'
        )
        if segment.deviation:
            parts.append(
                f'<rect x="{x:.1f}" y="15" width="{max(length, 5):.1f}" height="4" fill="{FAULT}"/>'
            )
        parts.append("</g>")
        x += length
    return svg(width, height, parts, title)


def _interval(rate: Rate) -> str:
    return f"{rate.mean:.1%} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _shade(share: float) -> str:
    """From red over pale yellow to green."""
    ends = ((220, 38, 38), (254, 240, 190), (22, 163, 74))
    low, high = (ends[0], ends[1]) if share < 0.5 else (ends[1], ends[2])
    part = 2 * share if share < 0.5 else 2 * share - 1
    mixed = (round(a + part * (b - a)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _at(middle: float, radius: float, turn: float) -> tuple[float, float]:
    """A point at a share of a full turn to the left of straight up."""
    angle = 2 * math.pi * turn
    return middle - radius * math.sin(angle), middle - radius * math.cos(angle)


def _ring_piece(middle: float, inner: float, outer: float, low: float, high: float) -> str:
    corners = [
        _at(middle, r, t) for r, t in ((inner, low), (outer, low), (outer, high), (inner, high))
    ]
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    return (
        f"M{ax:.1f} {ay:.1f} L{bx:.1f} {by:.1f} A{outer:.1f} {outer:.1f} 0 0 0 {cx:.1f} {cy:.1f} "
        f"L{dx:.1f} {dy:.1f} A{inner:.1f} {inner:.1f} 0 0 1 {ax:.1f} {ay:.1f}Z"
    )
