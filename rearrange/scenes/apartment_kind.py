"""APARTMENT: the kind of home that this repository brings, drawn by hand or generated without end."""

from __future__ import annotations

from rearrange.scenes.apartment import BOX_SLOT_COUNT, CYLINDER_SLOT_COUNT, OPEN_RECEPTACLES
from rearrange.scenes.furnishing import OPENING
from rearrange.scenes.generator import draw_apartment
from rearrange.scenes.objects import OBJECT_KINDS, SLOT_KINDS
from rearrange.scenes.registry import LAYOUTS_OF, register_homes
from rearrange.scenes.spec import SceneSpec

APARTMENT = SceneSpec(
    name="apartment",
    layouts=dict(LAYOUTS_OF),
    make=draw_apartment,
    open_receptacles=OPEN_RECEPTACLES,
    furniture=OPENING,
    objects=tuple(OBJECT_KINDS[kind] for kind in SLOT_KINDS),
    box_count=BOX_SLOT_COUNT,
    cylinder_count=CYLINDER_SLOT_COUNT,
    labels={"tvstand": "TV stand"},
)
register_homes(APARTMENT)
