"""What an apartment is: rooms, furniture, receptacles and splits, as plain data.

World frame: right-handed, z up, metres, radians; the floor is z = 0. Nothing here knows MuJoCo.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, update_wrapper
from typing import Any, Generic, Literal, TypeVar

from rearrange.errors import UserError

Split = Literal["train", "val", "test"]

# Two collections of homes: eleven plans drawn by hand, and plans without end. A layout is the number of a plan.
CLASSIC, GENERATED = "classic", "generated"
LAYOUTS_OF: Mapping[str, Mapping[str, Sequence[int]]] = {
    CLASSIC: {"train": (0, 1, 2, 5, 6, 7, 8, 9, 10), "val": (3,), "test": (4,)},
    GENERATED: {"train": range(1000, 5000), "val": range(5000, 5100), "test": range(5100, 5200)},
}
LAYOUTS_OF_SPLIT = LAYOUTS_OF[CLASSIC]
DEFAULT_HOMES = GENERATED  # where nobody says which: the one place that decides
VARIATION_COUNT = 21
HOMES: dict[str, Any] = {  # of an option `--homes`, as argparse takes it
    "default": DEFAULT_HOMES,
    "choices": tuple(LAYOUTS_OF),
    "help": f"eleven plans drawn by hand, or plans without end; default: {DEFAULT_HOMES}",
}
# Of the generated apartments, which are too many, a process keeps so many: more than the worlds that a worker
# steps. Each takes about a megabyte with its grid and its model.
KEPT_COUNT = 64

# The eight open receptacles of Tidy House (facts: habitat-lab v0.3.4), then those inside furniture.
OPEN_RECEPTACLES = (
    "table_01",
    "table_02",
    "chair_01",
    "sofa",
    "tvstand",
    "sink",
    "counter_left",
    "counter_right",
)
CLOSED_RECEPTACLES = ("fridge_middle", "drawer_right_top")

# Articulated joints in the order of `SimState.articulated_joints`; each has one handle.
ARTICULATED_JOINTS = (
    "fridge_door",
    "drawer_right_top",
    "drawer_left_top",
    "drawer_middle",
    "drawer_bottom",
)

# Closed footprints in their own frames with handles and worktop: x_min, y_min, x_max, y_max [m].
FRIDGE_FOOTPRINT = (-0.34, -0.35, 0.37, 0.35)
CABINET_FOOTPRINT = (-0.30, -0.48, 0.335, 0.48)


def layouts_of(split: str, homes: str = DEFAULT_HOMES) -> Sequence[int]:
    """The layouts of a split of a collection of homes; raises UserError if there is no such thing."""
    check_homes(homes)
    if split not in LAYOUTS_OF[homes]:
        raise UserError(f"split must be one of {', '.join(LAYOUTS_OF[homes])}, not '{split}'")
    return LAYOUTS_OF[homes][split]


def check_split(split: str) -> str:
    """Return the split or raise a UserError that lists those that exist."""
    if split not in LAYOUTS_OF_SPLIT:
        raise UserError(f"unknown split '{split}': choose one of {', '.join(LAYOUTS_OF_SPLIT)}")
    return split


def check_homes(homes: str) -> str:
    """Return the name of a collection of homes or raise a UserError that lists those that exist."""
    if homes not in LAYOUTS_OF:
        raise UserError(f"homes must be one of {', '.join(LAYOUTS_OF)}, not '{homes}'")
    return homes


def collection_of(layout: int) -> tuple[str, str] | None:
    """The collection and the split that a layout belongs to; None if there is no such layout."""
    for homes, splits in LAYOUTS_OF.items():
        for split, layouts in splits.items():
            if layout in layouts:
                return homes, split
    return None


def split_of_layout(layout: int) -> str | None:
    """The split that a layout belongs to, in whatever collection; None if there is no such one."""
    found = collection_of(layout)
    return None if found is None else found[1]


def ranges_of(split: str) -> str:
    """The layouts of a split in words, for messages."""
    told = ", ".join(map(str, LAYOUTS_OF[CLASSIC][split]))
    generated = LAYOUTS_OF[GENERATED][split]
    return f"{told}, {generated[0]} to {generated[-1]}"


@dataclass(frozen=True)
class Solid:
    """One primitive of a piece of furniture or of the building.

    Attributes:
        kind: MuJoCo primitive.
        position: Centre in the world frame [m].
        size: MuJoCo half sizes: box (x, y, z), cylinder (radius, half height, 0) [m].
        yaw: Rotation about z [rad].
        color: RGBA in [0, 1].
        group: 0 furniture, 2 walls, 3 ceiling (the caster hides groups in dollhouse views).
        collides: False for decoration that nothing can touch (rugs, pictures).
        part: Name of the piece of furniture it belongs to ("" for the building).
    """

    kind: Literal["box", "cylinder"]
    position: tuple[float, float, float]
    size: tuple[float, float, float]
    yaw: float = 0.0
    color: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)
    group: int = 0
    collides: bool = True
    part: str = ""


@dataclass(frozen=True)
class Receptacle:
    """A flat rectangle on which objects may stand; keep whole footprints inside it.

    Attributes:
        name: One of OPEN_RECEPTACLES or CLOSED_RECEPTACLES.
        position: Centre of the surface, world frame, all doors and drawers closed [m].
        half_extents: Half sizes of the usable rectangle along its own x and y [m].
        yaw: Rotation of the rectangle about z [rad].
        clearance: Free height above the surface [m].
        joint: Name of the articulated joint that carries it (drawers), or None.
    """

    name: str
    position: tuple[float, float, float]
    half_extents: tuple[float, float]
    yaw: float
    clearance: float = 10.0
    joint: str | None = None


@dataclass(frozen=True)
class ArticulatedPose:
    """Where the fridge or the drawer cabinet stands.

    Attributes:
        position: Centre of its footprint, on the floor [m]; the front is half its depth further
        along +x. yaw: Direction of +x, out of its front [rad].
    """

    position: tuple[float, float, float]
    yaw: float


@dataclass(frozen=True)
class Apartment:
    """One generated apartment.

    Attributes:
        layout: Number of the floor plan (decides the split).
        variation: Variation of the layout, 0 to 20.
        bounds: Inner rectangle of the building (x_min, y_min, x_max, y_max) [m].
        rooms: Named room rectangles (x_min, y_min, x_max, y_max) [m].
        solids: All static geometry.
        receptacles: By name.
        fridge: Frame of the fridge.
        cabinet: Frame of the drawer cabinet.
        colors: RGBA of what is not a Solid: "ground", "fridge", "cabinet", "worktop", "handle".
    """

    layout: int
    variation: int
    bounds: tuple[float, float, float, float]
    rooms: dict[str, tuple[float, float, float, float]]
    solids: tuple[Solid, ...]
    receptacles: dict[str, Receptacle]
    fridge: ArticulatedPose
    cabinet: ArticulatedPose
    colors: dict[str, tuple[float, float, float, float]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Stable identifier, also written to episode files."""
        return f"layout{self.layout}_variation{self.variation:02d}"


Made = TypeVar("Made")


class kept_by_apartment(Generic[Made]):  # noqa: N801 - a decorator
    """Cache of what a function makes of (layout, variation), per process.

    Keeps what is made of the classic apartments, and of the last KEPT_COUNT generated ones.
    """

    def __init__(self, make: Callable[[int, int], Made]) -> None:
        """Wrap the function."""
        self._classic = lru_cache(maxsize=None)(make)
        self._generated = lru_cache(maxsize=KEPT_COUNT)(make)
        update_wrapper(self, make)

    def __call__(self, layout: int, variation: int) -> Made:
        """What the function returns for the apartment."""
        classic = any(layout in layouts for layouts in LAYOUTS_OF[CLASSIC].values())
        return (self._classic if classic else self._generated)(layout, variation)

    def cache_clear(self) -> None:
        """Forget everything."""
        self._classic.cache_clear()
        self._generated.cache_clear()
