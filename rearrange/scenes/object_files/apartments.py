"""Our apartments with objects from files: a kind of home of its own, so that ours stay what they are."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rearrange.scenes.apartment import Apartment
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.generator import draw_apartment
from rearrange.scenes.object_files.declaration import read_declaration
from rearrange.scenes.object_files.kinds import read_objects
from rearrange.scenes.registry import LAYOUTS_OF
from rearrange.scenes.spec import SceneSpec

# Numbers of layouts: ours, moved. How far follows from the set's name, so that files know them anywhere
FIRST_NUMBER, STRIDE, NAMES = 1_000_000_000, 10_000, 100_000


def apartments_with(path: Path) -> SceneSpec:
    """Our apartments, with the objects of a YAML file in place of ours.

    Args:
        path: Resolved.

    Raises:
        UserError: A file cannot be read, or makes no object.
    """
    words = read_declaration(path)
    first = FIRST_NUMBER + STRIDE * (zlib.crc32(words.name.encode()) % NAMES)

    def make(layout: int, variation: int) -> Apartment:
        return replace(draw_apartment(layout - first, variation), layout=layout)

    splits = LAYOUTS_OF[words.homes].items()
    return replace(
        APARTMENT,
        name=words.name,
        file=str(path),
        layouts={words.name: {split: _moved(layouts, first) for split, layouts in splits}},
        make=make,
        objects=read_objects(path),
    )


def _moved(layouts: Sequence[int], by: int) -> Sequence[int]:
    if isinstance(layouts, range):
        return range(layouts.start + by, layouts.stop + by, layouts.step)
    return tuple(layout + by for layout in layouts)
