"""What makes rooms lived in: bedroom, study, bath, the rest of the kitchen, and decoration everywhere.

None of it is needed by a task: what would block the way is left out.
"""

from __future__ import annotations

from dataclasses import replace
from math import pi, sin

from rearrange.scenes import bedroom_furniture, decoration, furniture
from rearrange.scenes.floor_plans import Rect, Spot
from rearrange.scenes.furnishing import Furnishing, Part, ahead
from rearrange.scenes.pieces import Piece
from rearrange.scenes.placement import Box2, any_overlap


class Rooms(Furnishing):
    """Furnishes rooms by their kind."""

    def _furnish_bedroom(self, rect: Rect) -> None:
        p, rng = self.palette, self.rng
        spots = self._around(rect)
        width = float(rng.choice([1.4, 1.6, 1.6, 1.8]))
        for _ in range(4):
            bed = self._bed(width)
            side = width / 2 + 0.30
            parts: list[Part] = [
                (bed, 0.0, 0.0, 0.0),
                (bedroom_furniture.nightstand(p, self._name("nightstand"), True), 0.0, side, 0.0),
                (
                    bedroom_furniture.nightstand(
                        p, self._name("nightstand"), bool(rng.uniform() < 0.5)
                    ),
                    0.0,
                    -side,
                    0.0,
                ),
                (decoration.rug(p.rug, 0.75, width / 2 + 0.5), 1.65, 0.0, 0.0),
            ]
            if self._add(spots, *parts, ends=0.0, tries=30):
                break
            if width < 1.3 and self._add(spots, *parts[:2], ends=0.9, tries=30):
                break
            width -= 0.2
        self._add(
            spots,
            (bedroom_furniture.wardrobe(p, float(rng.uniform(1.2, 1.6))), 0.0, 0.0, 0.0),
            ends=0.9,
        )
        if rng.uniform() < 0.6:
            self._add(
                spots, (bedroom_furniture.dresser(p, float(rng.uniform(0.8, 1.1))), 0.0, 0.0, 0.0)
            )
        if rng.uniform() < 0.5:
            self._add(spots, (furniture.stool(p, self._name("stool")), 0.2, 0.0, 0.0))

    def _furnish_study(self, rect: Rect) -> None:
        p, rng = self.palette, self.rng
        spots = self._around(rect)
        self._add(
            spots,
            (bedroom_furniture.desk(p, float(rng.uniform(1.2, 1.5))), 0.0, 0.0, 0.0),
            (
                furniture.office_chair(p),
                0.82,
                -0.18 + float(rng.uniform(-0.08, 0.08)),
                pi + float(rng.uniform(-0.5, 0.5)),
            ),
            ends=0.2,
        )
        self._add(spots, (self._bookcase(1.1), 0.0, 0.0, 0.0))
        if rng.uniform() < 0.5:
            self._add(spots, (self._bed(0.9), 0.0, 0.0, 0.0), ends=0.9)
        else:
            self._add(
                spots, (furniture.armchair(p, self._name("armchair"), p.fabric), 0.45, 0.0, 0.0)
            )
        middle = ((rect[0] + rect[2]) / 2, (rect[1] + rect[3]) / 2)
        self._try([(decoration.round_rug(p.rug, 0.8), 0.0, 0.0, 0.0)], *middle, 0.0)

    def _furnish_bath(self, rect: Rect) -> None:
        p = self.palette
        spots = self._around(rect)
        self._add(spots, (bedroom_furniture.bathtub(p), 0.0, 0.0, 0.0), ends=0.9, tries=40)
        self._add(spots, (bedroom_furniture.washbasin(p), 0.0, 0.0, 0.0), tries=40)
        self._add(spots, (bedroom_furniture.toilet(p), 0.0, 0.0, 0.0), tries=40)

    def _furnish_kitchen(self, rect: Rect, spots: list[Spot]) -> None:
        """An island with stools or a small round table where there is room; a bin."""
        p, rng = self.palette, self.rng
        stools = [self._name("stool"), self._name("stool")]
        if rng.uniform() < 0.5:
            length = float(rng.uniform(1.1, 1.5))
            parts: list[Part] = [(furniture.island(p, length), 0.0, 0.0, 0.0)]
            parts += [
                (furniture.stool(p, name, 0.17, 0.62), 0.58, y, 0.0)
                for name, y in zip(stools, (-0.3, 0.3), strict=True)
            ]
        else:
            parts = [(furniture.bistro_table(p), 0.0, 0.0, 0.0)]
            parts += [
                (furniture.stool(p, name), x, y, 0.0)
                for name, x, y in zip(stools, (0.0, 0.5), (-0.5, 0.0), strict=True)
            ]

        def place() -> bool:
            for _ in range(12):
                x, y = float(rng.uniform(rect[0], rect[2])), float(rng.uniform(rect[1], rect[3]))
                if self._try(parts, x, y, float(rng.integers(4)) * pi / 2, rect):
                    return True
            return False

        for _ in range(3):
            if self._optional(place):
                break
        self._add(spots, (furniture.bin_(p), 0.17, 0.0, 0.0), ends=0.8)

    def _bed(self, width: float) -> Piece:
        """With a name of its own: there may be one in the bedroom and one in the study."""
        return replace(bedroom_furniture.bed(self.palette, width), name=self._name("bed"))

    def _bookcase(self, width: float) -> Piece:
        p, rng = self.palette, self.rng
        books = [p.cushion, p.rug, p.fabric, p.bedding, p.accent_wall]
        colors = tuple(books[int(i)] for i in rng.permutation(len(books))[:4])
        height = float(rng.choice([1.2, 1.9]))
        return bedroom_furniture.bookcase(p, self._name("bookcase"), width, height, colors)

    def _decorate(self) -> None:
        p, rng = self.palette, self.rng
        rooms = self.plan.rooms
        open_rooms = [name for name in ("living", "dining", "hall") if name in rooms]
        spots = {name: self._around(rooms[name]) for name in rooms}
        self._furnish_kitchen(rooms["kitchen"], spots["kitchen"])
        everywhere = [spot for name in open_rooms for spot in spots[name]]
        self._add(
            spots["living"],
            (decoration.floor_lamp(p, self._name("lamp")), 0.22, 0.0, 0.0),
            ends=0.7,
        )
        self._add(spots["living"], (self._bookcase(float(rng.uniform(0.8, 1.3))), 0.0, 0.0, 0.0))
        hall = spots.get("hall", everywhere)
        if rng.uniform() < 0.7:
            self._add(
                hall, (bedroom_furniture.console(p, float(rng.uniform(0.9, 1.2))), 0.0, 0.0, 0.0)
            )
        else:
            self._add(
                hall, (bedroom_furniture.shoe_bench(p, float(rng.uniform(0.8, 1.1))), 0.0, 0.0, 0.0)
            )
        for name in ("living", "dining", "bedroom", "living")[: 2 + int(rng.integers(3))]:
            pot = decoration.plant(p, self._name("plant"), float(rng.uniform(0.9, 1.5)))
            self._add(spots[name], (pot, 0.24, 0.0, 0.0), ends=0.8)
        if rng.uniform() < 0.5:
            self._add(everywhere, (furniture.stool(p, self._name("stool")), 0.2, 0.0, 0.0))
        self._hang_windows_and_pictures()

    def _hang_windows_and_pictures(self) -> None:
        p, rng = self.palette, self.rng
        colors = (p.cushion, p.rug, p.bedding, p.fabric, p.accent_wall)
        windows = pictures = 0
        for attempt in range(70):
            outer = attempt < 30
            runs = self.outer_runs if outer else self.runs
            if (outer and windows >= 5) or (not outer and pictures >= 6):
                continue
            x, y, length, yaw = runs[int(rng.integers(len(runs)))]
            if outer:
                width = float(rng.uniform(0.9, 1.5))
                piece, z = decoration.window(p, width), (0.94, 2.16)
                width += 0.12
            else:
                width, height = float(rng.uniform(0.4, 0.9)), float(rng.uniform(0.4, 0.6))
                color = colors[int(rng.integers(len(colors)))]
                piece = decoration.picture(p.wood_dark, color, width, height, 1.55)
                z = (1.55 - height / 2, 1.55 + height / 2)
            if length < width + 0.4:
                continue
            t = float(rng.uniform(width / 2 + 0.2, length - width / 2 - 0.2))
            along_x = abs(sin(yaw)) > 0.5
            point = (x + t, y) if along_x else (x, y + t)
            if self._wall_is_free(point, yaw, width, z):
                self.pieces.append(piece.moved(*point, yaw))
                windows, pictures = windows + outer, pictures + (not outer)

    def _wall_is_free(
        self, point: tuple[float, float], yaw: float, width: float, z: tuple[float, float]
    ) -> bool:
        """Whether nothing stands or hangs there, and no other wall ends there."""
        area: Box2 = (*ahead(point, yaw, 0.16), 0.15, width / 2 + 0.12, yaw)
        solids = [s for s in self.building if s.collides]
        solids += [s for piece in self.pieces for s in piece.solids if piece.name != "pendant"]
        boxes: list[Box2] = []
        for solid in solids:
            half = solid.size[2] if solid.kind == "box" else solid.size[1]
            if solid.position[2] + half >= z[0] and solid.position[2] - half <= z[1]:
                sx, sy = solid.size[0], solid.size[1] if solid.kind == "box" else solid.size[0]
                boxes.append((*solid.position[:2], sx, sy, solid.yaw))
        return not any_overlap(area, boxes)
