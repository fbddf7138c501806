"""Windows, bedrooms and decoration of generated homes, within the slots of the compiled model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import cos, hypot, pi, sin

from rearrange.scenes import bedroom_furniture, decoration, furniture
from rearrange.scenes.apartment import BOX_SLOT_COUNT, CYLINDER_SLOT_COUNT
from rearrange.scenes.floor_plans import Rect
from rearrange.scenes.furnishing import Part, RejectedError, ahead
from rearrange.scenes.home_kitchen import HomeKitchen
from rearrange.scenes.pieces import Piece

KEPT_BOXES = 6  # slots that optional furniture leaves to pictures
PICTURES = 5  # at most
MORE_WINDOWS = ("kitchen", "study", "dining", "living", "bath", "bath_2")  # where there is wall
BEFORE_WINDOW = 0.35  # [m], where nothing is put that comes after the window
APART = 1.5  # [m], between plants and lamps at least
IN_CORNER = 0.27  # [m], from both walls to the middle of a plant or a lamp

Run = tuple[float, float, float, float]  # of wall: x, y of its start, length, yaw of its normal


class HomeDecoration(HomeKitchen):
    """Furnishes bedrooms, hangs windows and pictures, decorates."""

    def furnish_needed(self) -> None:
        """Also with a window in the living room and in every bedroom."""
        super().furnish_needed()
        for name in self.plan.rooms:
            kind = name.split("_")[0]
            if kind in ("living", "bedroom") and not self._hang_window(name, tries=30):
                raise RejectedError(f"no wall for a window in the {kind}")

    def _optional(self, place: Callable[[], bool]) -> bool:
        """As for other homes, within the slots of the compiled model."""
        marks = self._marks()
        if not super()._optional(place):
            return False
        if self._slots_left()[0] >= KEPT_BOXES and self._slots_left()[1] >= 0:
            return True
        self._undo(marks)
        return False

    def _slots_left(self) -> tuple[int, int]:
        """Boxes and cylinders that may still be added."""
        standing = [piece for piece in self.pieces if piece.name not in ("fridge", "cabinet")]
        boxes = sum(piece.box_count for piece in standing)
        boxes += sum(solid.kind == "box" for solid in self.building)
        count = len(self.building) + sum(len(piece.solids) for piece in standing)
        return BOX_SLOT_COUNT - boxes, CYLINDER_SLOT_COUNT - (count - boxes)

    def _furnish_bedroom(self, rect: Rect) -> None:
        """The bed, without which it is no bedroom; that of the first is the widest."""
        p, rng, spots = self.palette, self.rng, self._around(rect)
        first = rect == self.plan.rooms["bedroom"]
        wide = float(rng.choice([1.4, 1.6, 1.8] if first else [0.9, 1.2, 1.4]))
        for width in (wide, wide - 0.2, 0.9):
            side = width / 2 + 0.30
            parts: list[Part] = [
                (self._bed(width), 0.0, 0.0, 0.0),
                (bedroom_furniture.nightstand(p, self._name("nightstand"), True), 0.0, side, 0.0),
            ]
            if first and width > 1.3:
                stand = bedroom_furniture.nightstand(
                    p, self._name("nightstand"), bool(rng.uniform() < 0.5)
                )
                rug = decoration.rug(p.rug, 0.75, width / 2 + 0.5)
                parts += [(stand, 0.0, -side, 0.0), (rug, 1.65, 0.0, 0.0)]
            if self._add(spots, *parts, ends=0.0 if width > 1.3 else 0.8, tries=30):
                return
            if self._add(spots, parts[0], ends=0.8, tries=20):
                return
        raise RejectedError("no room for a bed")

    def _decorate(self) -> None:
        """What is missed most comes first, since slots are few."""
        p, rng, rooms = self.palette, self.rng, self.plan.rooms
        spots = {name: self._around(rect) for name, rect in rooms.items()}
        self._hang_window("kitchen", tries=10)
        for name in rooms:
            if name.startswith("bedroom"):
                for width in (float(rng.uniform(1.0, 1.6)), 1.0, 0.8):
                    wardrobe = bedroom_furniture.wardrobe(p, width)
                    if self._add(spots[name], (wardrobe, 0.0, 0.0, 0.0), ends=0.9):
                        break
        self._in_corner("living", decoration.floor_lamp(p, self._name("lamp")))
        bookcase = self._bookcase(float(rng.uniform(0.8, 1.3)))
        self._add(spots["living"], (bookcase, 0.0, 0.0, 0.0), ends=0.7)
        for name in MORE_WINDOWS[1:]:
            if name in rooms:
                self._hang_window(name, tries=10)
        self._furnish_kitchen(rooms["kitchen"], spots["kitchen"])
        self._furnish_entrance()
        for name in ("bedroom_2", "bedroom_3"):
            if name in rooms and rng.uniform() < 0.6:
                chair = (furniture.office_chair(p), 0.80, -0.15, pi)
                desk = bedroom_furniture.desk(p, float(rng.uniform(1.0, 1.3)))
                self._add(spots[name], (desk, 0.0, 0.0, 0.0), chair, ends=0.7)
        dresser = bedroom_furniture.dresser(p, float(rng.uniform(0.8, 1.1)))
        self._add(spots["bedroom"], (dresser, 0.0, 0.0, 0.0))
        order = ("living", "dining", "bedroom", "bedroom_2", "living")
        for name in order[: 2 + int(rng.integers(3))]:
            if name in rooms:
                height = float(rng.uniform(0.9, 1.5))
                self._in_corner(name, decoration.plant(p, self._name("plant"), height))
        self._hang_pictures()

    def _furnish_entrance(self) -> None:
        """A narrow table or a bench in the hall, else in the corridor or a day room."""
        p, rng = self.palette, self.rng
        name = next(name for name in ("hall", "dining", "living") if name in self.plan.rooms)
        width = float(rng.uniform(0.8, 1.1))
        piece = (
            bedroom_furniture.console if rng.uniform() < 0.7 else bedroom_furniture.shoe_bench
        )(p, width)
        self._add(self._around(self.plan.rooms[name]), (piece, 0.0, 0.0, 0.0), ends=0.7)

    def _in_corner(self, room: str, piece: Piece) -> bool:
        """Put something small into a corner of a room, where two walls meet."""
        rect = self.plan.rooms[room]
        spots = self._around(rect)
        x0, y0, x1, y1 = self._inner(rect)
        corners = []
        for first, x, toward_x in (("W", x0, 1.0), ("E", x1, -1.0)):
            for second, y, toward_y in (("S", y0, 1.0), ("N", y1, -1.0)):
                meet = [
                    any(s.side == first and s.rect[1] - 0.1 < y < s.rect[3] + 0.1 for s in spots),
                    any(s.side == second and s.rect[0] - 0.1 < x < s.rect[2] + 0.1 for s in spots),
                ]
                near = [
                    hypot(x - other.solids[0].position[0], y - other.solids[0].position[1])
                    for other in self.pieces
                    if other.name.startswith(("plant", "lamp"))
                ]
                if all(meet) and min(near, default=APART) >= APART:
                    corners.append((x + IN_CORNER * toward_x, y + IN_CORNER * toward_y))
        for index in self.rng.permutation(len(corners)):
            x, y = corners[int(index)]
            if self._optional(lambda: self._try([(piece, 0.0, 0.0, 0.0)], x, y, 0.0)):  # noqa: B023
                return True
        return False

    def _hang_window(self, room: str, tries: int) -> bool:
        """A window in an outer wall of a room, before which nothing tall is put later."""
        small = room.startswith("bath")
        sill = 1.06 if room.startswith("bedroom") else 0.94  # the head of a bed may hide its frame
        for attempt in range(tries):
            widest = 0.7 if small else 1.6 - 0.8 * attempt / tries  # a narrow one rather than none
            width = float(self.rng.uniform(0.5 if small else 0.7, widest))
            piece = decoration.window(self.palette, width)
            if self._hang(piece, width + 0.12, (sill, 2.16), self.outer_runs, room):
                x, y, _ = self.pieces[-1].solids[0].position
                yaw = self.pieces[-1].solids[0].yaw
                middle = ahead((x, y), yaw, BEFORE_WINDOW / 2)
                self.keepouts.append((*middle, BEFORE_WINDOW / 2, width / 2, yaw))
                return True
        return False

    def _hang_pictures(self) -> None:
        p, rng = self.palette, self.rng
        colors = (p.cushion, p.rug, p.bedding, p.fabric, p.accent_wall)
        pictures = 0
        for _ in range(30):
            if pictures == PICTURES or self._slots_left()[0] < 2:
                return
            width, height = float(rng.uniform(0.4, 0.9)), float(rng.uniform(0.4, 0.6))
            color = colors[int(rng.integers(len(colors)))]
            piece = decoration.picture(p.wood_dark, color, width, height, 1.55)
            heights = (1.55 - height / 2, 1.55 + height / 2)
            pictures += self._hang(piece, width, heights, self.runs, None)

    def _hang(
        self,
        piece: Piece,
        width: float,
        heights: tuple[float, float],
        runs: Sequence[Run],
        room: str | None,
    ) -> bool:
        """Hang something on a free stretch of wall, of a room or of any."""
        stretches = [run if room is None else _within(run, self.plan.rooms[room]) for run in runs]
        stretches = [run for run in stretches if run is not None and run[2] > width + 0.3]
        if not stretches or self._slots_left()[0] < len(piece.solids):
            return False
        x, y, length, yaw = stretches[int(self.rng.integers(len(stretches)))]
        t = float(self.rng.uniform(width / 2 + 0.15, length - width / 2 - 0.15))
        point = (x + t, y) if abs(sin(yaw)) > 0.5 else (x, y + t)
        if not self._wall_is_free(point, yaw, width, heights):
            return False
        self.pieces.append(piece.moved(*point, yaw))
        return True


def _within(run: Run, rect: Rect) -> Run | None:
    """What of a stretch of wall bounds a room, looking into it."""
    x, y, length, yaw = run
    if abs(sin(yaw)) > 0.5:
        low, high = max(x, rect[0]), min(x + length, rect[2])
        inside = rect[1] - 0.1 < y + 0.2 * sin(yaw) < rect[3] + 0.1
        at_side = min(abs(y - rect[1]), abs(y - rect[3])) < 0.11
        return (low, y, high - low, yaw) if inside and at_side and high > low else None
    low, high = max(y, rect[1]), min(y + length, rect[3])
    inside = rect[0] - 0.1 < x + 0.2 * cos(yaw) < rect[2] + 0.1
    at_side = min(abs(x - rect[0]), abs(x - rect[2])) < 0.11
    return (x, low, high - low, yaw) if inside and at_side and high > low else None
