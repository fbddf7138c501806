"""Furnish generated plans: as those drawn by hand, but with sofas against walls, and beds in all bedrooms."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from math import pi, sin

import numpy as np

from rearrange.scenes import decoration, pieces
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.building import CEILING, OUTER_THICKNESS, YAW
from rearrange.scenes.floor_plans import FloorPlan, Rect, Spot
from rearrange.scenes.furnishing import Part, RejectedError, ahead
from rearrange.scenes.home_decoration import HomeDecoration, Run
from rearrange.scenes.palettes import mixed_palette
from rearrange.scenes.pieces import Color
from rearrange.scenes.plans import draw_plans

TRIALS = 2  # of furnishing a new plan
TO_WALL = (3.45, 5.3)  # [m], depths of living rooms where the sofa's back is against the wall
BEHIND_SOFA = 0.02  # [m]
TV_DEPTH, SOFA_DEPTH = 0.5, 0.88  # [m]
BESIDE_TABLE = 0.45  # [m], between low table and dining table at least
WITH_ISLAND = 0.9  # chance that there is an island if it finds room


@lru_cache(maxsize=1024)
def generated_plan(layout: int) -> FloorPlan:
    """The plan of a number: the first that is drawn in which all that is needed finds room; cached."""
    return find_plan(layout, Counter())


def find_plan(layout: int, rejected: Counter[str]) -> FloorPlan:
    """As `generated_plan`; counts the draws that were no plan, or could not be furnished, by their reason."""
    for index, plan in enumerate(draw_plans(layout, rejected)):
        reason = ""
        for trial in range(TRIALS):
            rng = np.random.default_rng([layout, index, trial, 4409])
            try:
                HomeFurnisher(layout, 0, rng, plan).furnish_needed()
                return plan
            except RejectedError as error:
                reason = str(error)
        rejected[reason] += 1
    raise RuntimeError(f"no floor plan for layout {layout}")


class HomeFurnisher(HomeDecoration):
    """Furnishes a generated plan."""

    def __init__(
        self, layout: int, variation: int, rng: np.random.Generator, plan: FloorPlan | None = None
    ) -> None:
        """Begin with a plan on trial, or with that of the layout."""
        self._on_trial = plan
        super().__init__(layout, variation, rng)
        self.palette = mixed_palette(layout, variation)

    def _draw_plan(self) -> FloorPlan:
        return self._on_trial or generated_plan(self.layout)

    def _build(self) -> None:
        super()._build()
        for void in self.plan.voids:
            x0, y0, x1, y1 = void
            self.footprints.append(
                ((x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2, 0.0)
            )
        for x0, y0, x1, y1 in self.plan.mouths:
            self.keepouts.append(pieces.keepout(x0, x1, y0, y1))
        runs = self._runs_along_outer_walls() + self.runs[len(self.outer_runs) :]
        self.runs = [run for run in runs if not self._faces_outside(run)]
        self.outer_runs = tuple(run for run in self.runs if self._is_outer(run))

    def _runs_along_outer_walls(self) -> list[Run]:
        """Their inner sides, without those of what lies outside."""
        width, depth = self.plan.size
        runs: list[Run] = []
        for side, at in (("S", 0.0), ("N", depth)):
            for low, high in _without(self.plan.voids, 0, "WSEN".index(side), at, (0.0, width)):
                runs.append((low, at, high - low, YAW[side]))
        for side, at in (("W", 0.0), ("E", width)):
            for low, high in _without(self.plan.voids, 1, "WSEN".index(side), at, (0.0, depth)):
                runs.append((at, low, high - low, YAW[side]))
        return runs

    def _faces_outside(self, run: Run) -> bool:
        """Whether a side of a wall looks out of the building."""
        x, y = _middle(run, 0.2)
        return any(r[0] < x < r[2] and r[1] < y < r[3] for r in self.plan.voids)

    def _is_outer(self, run: Run) -> bool:
        """Whether there is no room behind a wall."""
        x, y = _middle(run, -0.3)
        return not any(r[0] < x < r[2] and r[1] < y < r[3] for r in self.plan.rooms.values())

    def _build_outer_walls(self, colors: list[Color]) -> None:
        width, depth = self.plan.size
        t, standing = OUTER_THICKNESS, (0.0, CEILING)
        for low, high in _without(self.plan.voids, 0, 1, 0.0, (-t, width + t)):
            self._wall((low, high), (-t, 0.0), standing, colors[0])
        for low, high in _without(self.plan.voids, 0, 3, depth, (-t, width + t)):
            self._wall((low, high), (depth, depth + t), standing, colors[1])
        for low, high in _without(self.plan.voids, 1, 0, 0.0, (0.0, depth)):
            self._wall((-t, 0.0), (low, high), standing, colors[2])
        for low, high in _without(self.plan.voids, 1, 2, width, (0.0, depth)):
            self._wall((width, width + t), (low, high), standing, colors[3])

    def _build_floors(self) -> None:
        p = self.palette
        for name, (x0, y0, x1, y1) in self.plan.rooms.items():
            color = p.tile if name.split("_")[0] in ("kitchen", "bath") else p.floor
            slab = pieces.box((x0, x1), (y0, y1), (-0.02, 0.001), color, collides=False)
            self.building.append(slab)

    def _place_living(self) -> None:
        """The television on one wall, the sofa against the one opposite, else free in the room."""
        spots = [
            self.plan.television[int(i)] for i in self.rng.permutation(len(self.plan.television))
        ]
        spots.sort(key=lambda spot: not self._sofa_at_wall(spot))
        for spot in spots:
            for _ in range(6):
                marks = self._marks()
                if self._place_living_at(spot):
                    if self._reachable():
                        return
                    self._undo(marks)
        raise RejectedError("no room for sofa and television")

    def _place_living_at(self, spot: Spot) -> bool:
        p, rng, group = self.palette, self.rng, self._draw_living()
        to_sofa = group.depth / 2 + float(rng.uniform(0.88, 0.96)) + 0.88
        sofa_x = 0.42 + float(rng.uniform(0.88, 1.0)) + group.depth / 2 + to_sofa
        if self._sofa_at_wall(spot):
            at_wall = (self._depth_to_wall(spot) or 0.0) - BEHIND_SOFA
            if sofa_x > at_wall:
                return False
            sofa_x = at_wall
        table_x = sofa_x - to_sofa
        carpet = decoration.rug(p.rug, (group.depth + 1.3) / 2, float(rng.uniform(1.0, 1.3)))
        parts: list[Part] = [
            (group.stand, 0.0, 0.0, 0.0),
            (group.table, table_x, -group.shift, 0.0),
            (group.sofa, sofa_x, 0.0, pi),
            (carpet, table_x, -group.shift, 0.0),
        ]
        if not self._on_wall(parts, [spot], tries=8, ends=0.0):
            return False
        self.living = (*self.pieces[-3].solids[0].position[:2], self.pieces[-2].receptacles[0].yaw)
        self.coffee_half = (group.depth / 2, group.length / 2)
        x, y, yaw = self.living
        front, back = TV_DEPTH, sofa_x - SOFA_DEPTH
        middle = ahead((x, y), yaw, (front + back) / 2 - table_x)
        self.keepouts.append(  # nothing but the armchair stands among them
            (*middle, (back - front) / 2, group.length / 2 + BESIDE_TABLE, yaw)
        )
        return True

    def _sofa_at_wall(self, spot: Spot) -> bool:
        """Whether the sofa's back is against the wall opposite to the television."""
        depth = self._depth_to_wall(spot)
        return depth is not None and TO_WALL[0] <= depth <= TO_WALL[1]

    def _place_dining(self) -> None:
        """With an island before the kitchen line, if both find room."""
        marks = self._marks()
        if self.rng.uniform() < WITH_ISLAND:
            self._place_island()
        try:
            super()._place_dining()
        except RejectedError:
            if self._marks() == marks:
                raise
            self._undo(marks)
            super()._place_dining()

    def _depth_to_wall(self, spot: Spot) -> float | None:
        """From a wall of the living room to the one opposite [m]; None if it is open there."""
        opposite = {"N": "S", "S": "N", "E": "W", "W": "E"}[spot.side]
        if not any(each.side == opposite for each in self._around(self.plan.rooms["living"])):
            return None
        x0, y0, x1, y1 = self._inner(self.plan.rooms["living"])
        return (y1 - y0 if spot.side in "NS" else x1 - x0) - 0.02

    def _apartment(self) -> Apartment:
        """With a name of its own for every piece that stands on the floor."""
        seen: set[str] = set()
        for index, piece in enumerate(self.pieces):
            if piece.name in seen and not piece.receptacles:
                self.pieces[index] = replace(piece, name=self._name(piece.name))
            seen.add(piece.name)
        return super()._apartment()


def _middle(run: Run, distance: float) -> tuple[float, float]:
    """The point so far ahead of the middle of a stretch of wall [m]."""
    x, y, length, yaw = run
    along_x = abs(sin(yaw)) > 0.5
    middle = (x + length / 2, y) if along_x else (x, y + length / 2)
    return ahead(middle, yaw, distance)


def _without(
    voids: tuple[Rect, ...], along: int, side: int, at: float, span: tuple[float, float]
) -> list[tuple[float, float]]:
    """What of a span is left without the voids whose side lies at a coordinate."""
    spans, low = [], span[0]
    gaps = sorted((v[along], v[along + 2]) for v in voids if abs(v[side] - at) < 1e-6)
    for start, end in gaps:
        if start - low > 0.2:
            spans.append((low, start))
        low = end
    if span[1] - low > 0.2:
        spans.append((low, span[1]))
    return spans
