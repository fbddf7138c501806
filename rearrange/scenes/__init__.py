"""Apartments: plans, furniture, articulated fridge and drawers, household objects, splits.

`generate_apartment` gives plain data, `build_spec` turns it into a MuJoCo spec of fixed topology.
"""

from rearrange.scenes.apartment import Apartment, ArticulatedPose, Receptacle, Solid
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.compile import (
    ARTICULATED_BIT,
    OBJECT_BIT,
    ROBOT_BIT,
    ROBOT_COLLIDES_WITH,
    STATIC_BIT,
    add_box,
    add_part,
    build_spec,
)
from rearrange.scenes.generator import apartments_of_split, generate_apartment
from rearrange.scenes.objects import (
    OBJECT_KINDS,
    ObjectKind,
    ObjectPart,
    footprint_radius,
    half_height,
)
from rearrange.scenes.registry import LAYOUTS_OF_SPLIT, VARIATION_COUNT, register_homes
from rearrange.scenes.spec import Door, Drawer, Furniture, Part, SceneSpec

__all__ = [
    "APARTMENT",
    "ARTICULATED_BIT",
    "LAYOUTS_OF_SPLIT",
    "OBJECT_BIT",
    "OBJECT_KINDS",
    "ROBOT_BIT",
    "ROBOT_COLLIDES_WITH",
    "STATIC_BIT",
    "VARIATION_COUNT",
    "Apartment",
    "ArticulatedPose",
    "Door",
    "Drawer",
    "Furniture",
    "ObjectKind",
    "ObjectPart",
    "Part",
    "Receptacle",
    "SceneSpec",
    "Solid",
    "add_box",
    "add_part",
    "apartments_of_split",
    "build_spec",
    "footprint_radius",
    "generate_apartment",
    "half_height",
    "register_homes",
]
