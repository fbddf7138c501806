"""Apartments: plans, furniture, articulated fridge and drawers, household objects, splits.

`generate_apartment` gives plain data, `build_spec` turns it into a MuJoCo spec of fixed topology.
"""

from rearrange.scenes.apartment import (
    ARTICULATED_JOINTS,
    CABINET_FOOTPRINT,
    CLOSED_RECEPTACLES,
    FRIDGE_FOOTPRINT,
    LAYOUTS_OF_SPLIT,
    OPEN_RECEPTACLES,
    VARIATION_COUNT,
    Apartment,
    ArticulatedPose,
    Receptacle,
    Solid,
    Split,
)
from rearrange.scenes.compile import (
    ARTICULATED_BIT,
    OBJECT_BIT,
    OBJECT_BODIES,
    ROBOT_BIT,
    ROBOT_COLLIDES_WITH,
    STATIC_BIT,
    build_spec,
    parked_position,
)
from rearrange.scenes.generator import apartments_of_split, generate_apartment
from rearrange.scenes.objects import (
    OBJECT_KINDS,
    SLOT_KINDS,
    ObjectKind,
    ObjectPart,
    footprint_radius,
    half_height,
)

__all__ = [
    "ARTICULATED_BIT",
    "ARTICULATED_JOINTS",
    "CABINET_FOOTPRINT",
    "CLOSED_RECEPTACLES",
    "FRIDGE_FOOTPRINT",
    "LAYOUTS_OF_SPLIT",
    "OBJECT_BIT",
    "OBJECT_BODIES",
    "OBJECT_KINDS",
    "OPEN_RECEPTACLES",
    "ROBOT_BIT",
    "ROBOT_COLLIDES_WITH",
    "SLOT_KINDS",
    "STATIC_BIT",
    "VARIATION_COUNT",
    "Apartment",
    "ArticulatedPose",
    "ObjectKind",
    "ObjectPart",
    "Receptacle",
    "Solid",
    "Split",
    "apartments_of_split",
    "build_spec",
    "footprint_radius",
    "generate_apartment",
    "half_height",
    "parked_position",
]
