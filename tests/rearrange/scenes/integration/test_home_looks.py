"""What a person expects of a generated home: windows, doors that clear furniture, beds and sofas at walls."""

from collections import Counter
from dataclasses import replace
from functools import lru_cache
from math import cos, hypot, pi, sin

import pytest

from rearrange.scenes.apartment import Apartment, Solid
from rearrange.scenes.furnishing import EASY_RADIUS
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.homes import generated_plan
from rearrange.scenes.placement import Box2, FloorGrid, overlap
from rearrange.scenes.registry import GENERATED, layouts_of
from tests.helpers.apartment_checks import flat, obstacles, vertical

LAYOUTS = layouts_of("val", GENERATED)
BEFORE_DOOR = 0.6  # [m], free on both sides of the middle of a wall with a door
AT_WALL = 0.04  # [m]
BEHIND = 0.6  # [m], behind what stands free in a room
PLANTS_APART = 0.9  # [m]


@lru_cache
def home(index: int) -> Apartment:
    return generate_apartment(LAYOUTS[index], 0)


def is_wall(solid: Solid) -> bool:
    return solid.part == "" and solid.group == 2 and vertical(solid)[0] == 0.0


def back_of(solid: Solid, depth: float) -> Box2:
    """The floor behind a box whose front is +x."""
    x, y, _ = solid.position
    away = -(solid.size[0] + depth / 2)
    x, y = x + away * cos(solid.yaw), y + away * sin(solid.yaw)
    return x, y, depth / 2, solid.size[1] - 0.02, solid.yaw


def parts(home: Apartment, name: str) -> list[Solid]:
    """The first solid of every piece whose name begins so."""
    first: dict[str, Solid] = {}
    for solid in home.solids:
        if solid.part.startswith(name):
            first.setdefault(solid.part, solid)
    return list(first.values())


def rooms_without_window(home: Apartment) -> list[str]:
    panes = [s.position for s in home.solids if s.part.startswith("window")]
    return [
        f"no window in the {name}"
        for name, (x0, y0, x1, y1) in home.rooms.items()
        if name.split("_")[0] in ("living", "bedroom")
        and not any(x0 - 0.1 < p[0] < x1 + 0.1 and y0 - 0.1 < p[1] < y1 + 0.1 for p in panes)
    ]


def away_from_walls(home: Apartment) -> list[str]:
    """Beds stand at walls; a sofa too, or free, but not with a gap behind it that leads nowhere."""
    walls = [flat(s) for s in home.solids if is_wall(s)]
    found = [
        f"{headboard.part} away from the wall"
        for headboard in parts(home, "bed_")
        if not any(overlap(back_of(headboard, AT_WALL), wall) for wall in walls)
    ]
    back = next(s for s in home.solids if s.part == "sofa" and s.size[2] > 0.3)
    at_wall = any(overlap(back_of(back, AT_WALL), wall) for wall in walls)
    if not at_wall and any(overlap(back_of(back, BEHIND), wall) for wall in walls):
        found.append("a gap behind the sofa")
    return found


def things_in_doors(home: Apartment) -> list[str]:
    """Furniture before the openings of walls, and where halls and corridors open into rooms."""
    plan = generated_plan(home.layout)
    free: list[Box2] = []
    for wall in plan.walls:
        for start, end, _ in wall.openings:
            middle, half = (start + end) / 2, (end - start) / 2
            free.append(
                (middle, wall.at, half, BEFORE_DOOR, 0.0)
                if wall.axis == "x"
                else (wall.at, middle, BEFORE_DOOR, half, 0.0)
            )
    for x0, y0, x1, y1 in plan.mouths:
        free.append(((x0 + x1) / 2, (y0 + y1) / 2, (x1 - x0) / 2, (y1 - y0) / 2, 0.0))
    return [
        f"{solid.part} in a door"
        for solid in home.solids
        if solid.collides and solid.part and vertical(solid)[0] < 1.3
        if any(overlap(area, flat(solid), -0.01) for area in free)
    ]


def rooms_out_of_reach(home: Apartment) -> list[str]:
    """Rooms that are not joined by passages of 0.8 m, fridge and drawers closed."""
    grid = FloorGrid(home.bounds[2:], obstacles(home), EASY_RADIUS - 0.01)
    cells = grid.main_component()
    found = []
    for name, (x0, y0, x1, y1) in home.rooms.items():
        i, j = (grid.x > x0) & (grid.x < x1), (grid.y > y0) & (grid.y < y1)
        if not cells[i][:, j].any():
            found.append(f"no way to the {name}")
    return found


def plants_in_a_row(home: Apartment) -> list[str]:
    pots = [s.position for s in parts(home, "plant")]
    return [
        "plants in a row"
        for i, a in enumerate(pots)
        for b in pots[:i]
        if hypot(a[0] - b[0], a[1] - b[1]) < PLANTS_APART
    ]


def complaints(home: Apartment) -> list[str]:
    """All that a person would find wrong."""
    return [
        *rooms_without_window(home),
        *away_from_walls(home),
        *things_in_doors(home),
        *rooms_out_of_reach(home),
        *plants_in_a_row(home),
    ]


def without(home: Apartment, part: str) -> Apartment:
    return replace(home, solids=tuple(s for s in home.solids if not s.part.startswith(part)))


def moved(home: Apartment, part: str, x: float, y: float) -> Apartment:
    """A piece moved in the frame of its own first solid."""
    yaw = parts(home, part)[0].yaw
    dx, dy = cos(yaw) * x - sin(yaw) * y, sin(yaw) * x + cos(yaw) * y
    solids = tuple(
        replace(s, position=(s.position[0] + dx, s.position[1] + dy, s.position[2]))
        if s.part.startswith(part)
        else s
        for s in home.solids
    )
    return replace(home, solids=solids)


@pytest.mark.parametrize("tens", range(4))
def test_nobody_would_complain(tens):
    for index in range(10 * tens, 10 * tens + 10):
        assert complaints(home(index)) == [], home(index).name


@pytest.mark.slow
def test_nobody_would_complain_of_two_hundred():
    found = Counter(
        reason
        for layout in layouts_of("train", GENERATED)[:200]
        for reason in complaints(generate_apartment(layout, 0))
    )
    assert not found


def test_faults_are_found():
    first = home(0)
    assert "no window in the living" in complaints(without(first, "window"))
    assert "bed_02 away from the wall" in complaints(moved(first, "bed_02", 0.3, 0.0))
    assert "no way to the kitchen" in complaints(
        replace(first, rooms={**first.rooms, "kitchen": first.rooms["kitchen"][:2] * 2})
    )
    at_wall = next(h for h in map(home, range(20)) if "a gap" not in str(complaints(h)))
    assert "a gap behind the sofa" in complaints(moved(at_wall, "sofa", 0.3, 0.0))
    opening = next(w for w in generated_plan(first.layout).walls if w.openings)
    middle = sum(opening.openings[0][:2]) / 2
    x, y = (middle, opening.at) if opening.axis == "x" else (opening.at, middle)
    box = Solid("box", (x, y, 0.3), (0.2, 0.2, 0.3), pi / 4, part="box")
    assert "box in a door" in complaints(replace(first, solids=(*first.solids, box)))
    pots = tuple(
        Solid("cylinder", (x + dx, y, 0.3), (0.15, 0.3, 0.0), part=f"plant_9{dx}")
        for dx in (0.0, 0.5)
    )
    assert "plants in a row" in complaints(replace(first, solids=(*first.solids, *pots)))


def test_kitchens_and_sofas_of_every_kind():
    kinds: Counter[str] = Counter()
    for index in range(40):
        names = {solid.part for solid in home(index).solids}
        kinds.update(names & {"corner_unit", "island"})
        back = next(s for s in home(index).solids if s.part == "sofa" and s.size[2] > 0.3)
        walls = [flat(s) for s in home(index).solids if is_wall(s)]
        kinds["sofa at a wall"] += any(overlap(back_of(back, AT_WALL), wall) for wall in walls)
    assert 8 <= kinds["corner_unit"] <= 32
    assert kinds["island"] >= 3
    assert kinds["sofa at a wall"] >= 20
