"""A home from its two files: the kind of home, its one apartment, and what is odd about it."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from rearrange.compiled_models import Notes, flat_texture, geom_color, is_drawn
from rearrange.declarations import FilesError
from rearrange.scenes.apartment import CEILING_GROUP, WALL_GROUP, Apartment, Solid
from rearrange.scenes.home_files.declaration import Declaration, read_declaration
from rearrange.scenes.home_files.looks import CEILING, add_look
from rearrange.scenes.home_files.model import FileModel, load_model
from rearrange.scenes.home_files.parts import Opening, make_opening
from rearrange.scenes.home_files.places import Place, find_place, measured
from rearrange.scenes.home_files.shapes import Shape, exact_shape, hollow_share, shapes_of
from rearrange.scenes.spec import SceneSpec

# Numbers of layouts, three for each home. They follow from its name, so that files know them anywhere
FIRST_NUMBER, NAMES = 1_000_000, 300_000_000
WALL = (1.6, 0.3, 0.15)  # of a wall: least height, greatest begin and half thickness [m]
FLOOR_COLOR = (0.62, 0.55, 0.46, 1.0)
SLAB = 0.0155  # half thickness of what is seen of the floor, half a millimetre above it [m]
HOLLOW = 0.4  # share of a mesh's hull that is empty from which on it is worth a word
SEEN_ONLY = 0.0005  # [m], by which a floor of triangles stands above the slab


class HomeError(FilesError):
    """A home whose files do not go together."""

    CHECK = "rearrange check-scene"


@dataclass(frozen=True)
class FileHome:
    """A home from files.

    Attributes:
        spec: The kind of home, which has this one home in every split.
        notes: Faults, for which it cannot be used, and remarks.
        path: Its YAML file.
    """

    spec: SceneSpec
    notes: Notes
    path: Path


@cache
def read_home(path: Path) -> FileHome:
    """The home of a YAML file, faults and all; kept, as long as the process lives.

    Args:
        path: Resolved.

    Raises:
        UserError: It cannot be read at all, or what it says of the model cannot be found.
    """
    declaration = read_declaration(path)
    notes = Notes()
    source = load_model(declaration, notes)
    solids = _solids(source)
    places = _places(source, declaration)
    openings = _openings(source, declaration, places)
    if notes.faults:
        raise HomeError(path, notes.faults)
    boxes = [(shape, source.title(geom)) for geom, shape in _all_shapes(source)]
    receptacles = {
        name: measured(place, declaration.receptacles[name].clearance, boxes, notes)
        for name, place in places.items()
    }
    for opening in openings:
        name = opening.part.receptacle
        if name and opening.part.turns and receptacles[name].joint:
            notes.faults.append(f"receptacles.{name}: it is on the door {opening.part.name} itself")
    apartment = Apartment(
        layout=0,
        variation=0,
        bounds=(0.0, 0.0, *source.bounds),
        rooms={"room": (0.0, 0.0, *source.bounds)},
        solids=tuple(solids),
        receptacles=receptacles,
        frames={opening.furniture.name: opening.frame for opening in openings},
    )
    return FileHome(_spec(declaration, source, apartment, openings), notes, path)


def usable_home(path: Path) -> SceneSpec:
    """The kind of home of a YAML file, as `read_home`; raises HomeError also where it has faults."""
    home = read_home(path)
    if home.notes.faults:
        read_home.cache_clear()  # who mends it in a notebook is not told of it again
        raise HomeError(path, home.notes.faults)
    return home.spec


def _spec(
    declaration: Declaration, source: FileModel, apartment: Apartment, openings: list[Opening]
) -> SceneSpec:
    shut = {opening.part.receptacle for opening in openings}
    first = FIRST_NUMBER + 3 * (zlib.crc32(declaration.name.encode()) % NAMES)
    kinds = [solid.kind for solid in apartment.solids]

    def make(layout: int, variation: int) -> Apartment:
        return replace(apartment, layout=layout, variation=variation)

    return SceneSpec(
        name=declaration.name,
        layouts={declaration.name: {"train": (first,), "val": (first + 1,), "test": (first + 2,)}},
        make=make,
        open_receptacles=tuple(name for name in apartment.receptacles if name not in shut),
        furniture=tuple(opening.furniture for opening in openings),
        objects=declaration.objects,
        box_count=kinds.count("box"),
        cylinder_count=kinds.count("cylinder"),
        variations=1,
        looks=_Looks(source),
        file=str(declaration.path),
    )


def _still(source: FileModel) -> list[int]:
    """Geoms that never move."""
    return [geom for geom in range(source.model.ngeom) if geom not in source.part_of]


def _solids(source: FileModel) -> list[Solid]:
    """All that stands still and is a box or a cylinder, seen or touched, and the floor."""
    width, depth = source.bounds
    color = next((geom_color(source.model, geom) for geom in sorted(source.floor)), FLOOR_COLOR)
    center = width / 2, depth / 2, SEEN_ONLY - SLAB
    solids = [Solid("box", center, (width / 2, depth / 2, SLAB), color=color, collides=False)]
    for geom in _still(source):
        if geom in source.floor:
            continue
        collides, drawn = source.collides(geom), is_drawn(source.model, geom)
        exact = exact_shape(source.model, source.data, geom)
        shapes = [exact] if exact is not None else []
        if exact is None and collides:
            shapes = shapes_of(source.model, source.data, geom)
            _note_hollow(source, geom)
        if not collides and not drawn:
            continue
        alpha_zero = (0.0, 0.0, 0.0, 0.0)
        color = geom_color(source.model, geom) if exact is not None and drawn else alpha_zero
        solids += [_solid(shape, color, collides, source.title(geom)) for shape in shapes]
    return solids


def _solid(
    shape: Shape, color: tuple[float, float, float, float], collides: bool, name: str
) -> Solid:
    half = shape.half if shape.kind == "box" else (shape.half[0], shape.half[2], 0.0)
    group = 0
    least_height, begin, thickness = WALL
    if shape.low > CEILING:
        group = CEILING_GROUP
    elif shape.high > least_height and shape.low < begin and min(shape.half[:2]) < thickness:
        group = WALL_GROUP if shape.kind == "box" and max(shape.half[:2]) > 0.4 else 0
    kind = "box" if shape.kind == "box" else "cylinder"
    return Solid(kind, shape.center, half, shape.yaw, color, group, collides, name)


def _note_hollow(source: FileModel, geom: int) -> None:
    share = hollow_share(source.model, geom)
    if share > HOLLOW:
        source.notes.remarks.append(
            f"{source.title(geom)}: {share:.0%} of its convex hull is empty and counts as solid: give it "
            "collision geoms of convex pieces"
        )


def _all_shapes(source: FileModel) -> list[tuple[int, Shape]]:
    """What collides in the home with everything shut."""
    model, data = source.model, source.data
    return [
        (geom, shape)
        for geom in range(model.ngeom)
        if source.collides(geom)
        for shape in shapes_of(model, data, geom)
    ]


def _places(source: FileModel, declaration: Declaration) -> dict[str, Place]:
    found = {name: find_place(source, name, w.at) for name, w in declaration.receptacles.items()}
    return {name: place for name, place in found.items() if place is not None}


def _openings(
    source: FileModel, declaration: Declaration, places: dict[str, Place]
) -> list[Opening]:
    """The parts; receptacles that move are moved by nothing but their own drawer."""
    found: list[Opening] = []
    for name, words in declaration.parts.items():
        if name not in source.closed:
            continue
        place = places.get(words.shuts)
        opening = make_opening(source, name, words, place.receptacle if place else None)
        if opening is not None:
            found.append(opening)
    for name, place in places.items():
        joint = place.receptacle.joint
        if joint and declaration.parts[joint].shuts != name:
            source.notes.faults.append(
                f"receptacles.{name}: it moves with {joint}: write shuts: {name} there"
            )
    return found


@dataclass(frozen=True, eq=False)
class _Looks:
    """Adds what stands still, is seen, and is neither an upright box nor an upright cylinder."""

    source: FileModel

    def __call__(self, spec: Any) -> None:
        source = self.source
        body = spec.worldbody.add_body(name="home/looks")
        for geom in _still(source):
            plain = flat_texture(source.model, int(source.model.geom_matid[geom])) < 0
            is_slab = geom in source.floor and source.model.geom_type[geom] == 0 and plain
            if is_slab or not is_drawn(source.model, geom):
                continue
            if geom not in source.floor and exact_shape(source.model, source.data, geom):
                continue
            place = source.data.geom_xpos[geom].copy()
            if geom in source.floor:
                place[2] += 2 * SEEN_ONLY
            rotation = source.data.geom_xmat[geom].reshape(3, 3)
            add_look(spec, body, source, geom, place, rotation)
