"""Charts of an evaluation as SVG text, without any library: a report must open from a file, offline."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from planner.labels import label_of
from rearrange.sim.base import CONTROL_STEP
from skills.command import counted
from skills.statistics import Proportion

COLORS = ("#2563eb", "#d97706", "#059669", "#dc2626", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f")
FAULT = "#dc2626"
STEPS_PER_SECOND = round(1 / CONTROL_STEP)
FRONT, SECTORS = math.radians(30), 6  # of a map of hand-offs: to either side, and in all
MANY = 20  # starts: fewer are drawn paler
TIMELINE = 860.0  # wide


@dataclass(frozen=True)
class Series:
    """One line of a chart: a name, and a rate per place on the x axis; None: it has none there."""

    name: str
    rates: tuple[Proportion | None, ...]


@dataclass(frozen=True)
class Start:
    """Start of a skill relative to its target, and its result.

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
    step = max(74.0, 620.0 / max(1, len(places)))  # as wide as the longest name
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


def bar_chart(counts: dict[str, int], total: int) -> str:
    """Horizontal bars, of any width: how many of the episodes failed for each cause."""
    most = max(1, *counts.values())
    rows = [
        f"<span>{escape(name)}</span>"
        f'<i style="width:{count / most:.1%};background:{label_of(name.partition(":")[0]).colour}"></i>'
        f"<span>{count} ({count / total:.1%})</span>"
        for name, count in counts.items()
    ]
    return f'<div class="bars">{"".join(rows)}</div>'


def hand_off_map(starts: Sequence[Start], title: str, rings: Sequence[float]) -> str:
    """Success by where the target was, seen from above by the robot, which looks up.

    Args:
        starts: Where the skill began.
        title: For those who cannot see.
        rings: Outer radii of the rings [m].
    """
    size, side = 420.0, 2 * FRONT / SECTORS
    middle, foot = size * math.sin(FRONT) + 12, size + 24
    groups: dict[tuple[int, int], list[bool]] = {}
    elsewhere: list[bool] = []
    for start in starts:
        ring = next((k for k, r in enumerate(rings) if start.distance <= r), len(rings))
        turn = math.remainder(start.heading, 2 * math.pi)
        inside = ring < len(rings) and abs(turn) < FRONT
        sector = math.floor((turn + FRONT) / side)
        found = groups.setdefault((ring, sector), []) if inside else elsewhere
        found.append(start.success)
    parts = []
    for k, ring in enumerate(rings):
        inner, outer = size * k / len(rings), size * (k + 1) / len(rings)
        for sector in range(SECTORS):
            low = sector * side - FRONT
            path = _ring_piece((middle, foot), inner, outer, low, low + side)
            told, look = f"{rings[k - 1] if k else 0:g} to {ring:g} m: none", 'fill="none"'
            if found := groups.get((k, sector)):
                share, n = sum(found) / len(found), len(found)
                look = f'fill="{_shade(share)}" fill-opacity="{0.3 + 0.7 * min(1, n / MANY):.2f}"'
                told = told.replace("none", f"{share:.0%} of {n}")
                x, y = _at((middle, foot), (inner + outer) / 2, low + side / 2)
                parts.append(text(x, y + 3.5, str(n), kind="small"))
            piece = f'<path class="cell" d="{path}" {look}><title>{told}</title></path>'
            parts.insert(0, piece)  # below the numbers
        if (ring / 0.5).is_integer():
            x, y = _at((middle, foot), outer, -FRONT)
            parts.append(text(x + 6, y + 12, f"{ring:g} m", "start", "faint"))
    parts.append(text(middle, 14, "ahead"))
    parts.append(f'<circle cx="{middle:.1f}" cy="{foot}" r="4" fill="#0f172a"/>')
    parts += _color_bar(12, foot - 18)
    rest = f"{len(elsewhere)} elsewhere"
    if elsewhere:
        rest += f" ({sum(elsewhere) / len(elsewhere):.0%})"
    parts.append(text(2 * middle + 18, foot - 2, rest, "end", "small"))
    return svg(2 * middle + 30, foot + 10, parts, title)


def _color_bar(left: float, top: float) -> list[str]:
    """The colours of shares, from 0 to 100 %."""
    pieces = 20
    bar = [
        f'<rect x="{left + 5 * k}" y="{top}" width="5.5" height="7" fill="{_shade(k / (pieces - 1))}"/>'
        for k in range(pieces)
    ]
    labels = [
        text(left + pieces * 5 * share, top + 17, f"{share:.0%}", kind="small")
        for share in (0.0, 0.5, 1.0)
    ]
    return bar + labels


def timeline(segments: Sequence[Segment], longest: int, title: str) -> str:
    """An episode as a bar of skills; where something went wrong the bar has a red foot."""
    parts, x = [], 0.0
    for segment in segments:
        length = TIMELINE * segment.steps / max(1, longest)
        color = label_of(segment.skill).colour
        told = f"{segment.skill} {segment.label}: {counted(segment.steps, 'step')}"
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
    return svg(TIMELINE, 20, parts, title)


def time_axis(longest: int) -> str:
    """The scale of timelines of up to `longest` steps: steps, and the seconds that they are."""
    seconds = longest / STEPS_PER_SECOND
    tick = next((each for each in (1, 2, 5, 10, 20, 50) if seconds / each <= 5), 100)
    parts = [text(0, 26, "0", "start")]
    for k in range(1, int(seconds / tick) + 1):
        steps = k * tick * STEPS_PER_SECOND
        x = TIMELINE * steps / max(1, longest)
        parts.append(f'<line class="tick" x1="{x:.1f}" x2="{x:.1f}" y1="31" y2="38"/>')
        anchor = "middle" if x < TIMELINE - 70 else "end"
        parts.append(text(x, 26, f"{steps} ({k * tick} s)", anchor))
    return svg(TIMELINE, 38, parts, "steps and seconds")


def _interval(rate: Proportion) -> str:
    return f"{rate.mean:.1%} ({100 * rate.low:.1f} to {100 * rate.high:.1f})"


def _shade(share: float) -> str:
    """From red over pale yellow to green, all light enough for dark numbers."""
    ends = ((248, 113, 113), (254, 240, 190), (74, 222, 128))
    low, high = (ends[0], ends[1]) if share < 0.5 else (ends[1], ends[2])
    part = 2 * share if share < 0.5 else 2 * share - 1
    mixed = (round(a + part * (b - a)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def _at(center: tuple[float, float], radius: float, angle: float) -> tuple[float, float]:
    """A point at an angle to the left of straight up [rad]."""
    return center[0] - radius * math.sin(angle), center[1] - radius * math.cos(angle)


def _ring_piece(
    center: tuple[float, float], inner: float, outer: float, low: float, high: float
) -> str:
    corners = [
        _at(center, r, t) for r, t in ((inner, low), (outer, low), (outer, high), (inner, high))
    ]
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = corners
    return (
        f"M{ax:.1f} {ay:.1f} L{bx:.1f} {by:.1f} A{outer:.1f} {outer:.1f} 0 0 0 {cx:.1f} {cy:.1f} "
        f"L{dx:.1f} {dy:.1f} A{inner:.1f} {inner:.1f} 0 0 1 {ax:.1f} {ay:.1f}Z"
    )
