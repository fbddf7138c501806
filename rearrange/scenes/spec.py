"""SceneSpec: everything that is to be said about one kind of home, in one place.

The apartments of this repository are the first kind (`apartment_kind.py`). Another package registers its own
by an entry point of the group `rearrange.homes`; docs/extend.md goes through it.

Furniture that opens stands in a frame of its own: origin in the centre of its footprint on the floor, x out of
its front, z up, metres and radians. A door hangs on a hinge at its +y end, or opens clockwise and hangs at its
-y end; its angle is positive. A drawer comes out along x.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from rearrange.errors import UserError
from rearrange.scenes.apartment import VARIATION_COUNT, Apartment, ArticulatedPose
from rearrange.scenes.objects import ObjectKind

Point = tuple[float, float]
Layouts = Mapping[str, Mapping[str, Sequence[int]]]  # collection of homes -> split -> layouts


@dataclass(frozen=True, kw_only=True)
class Part(ABC):
    """A door or drawer with a handle: one joint of the home.

    Body and joint are called `name` in the compiled model, and the handle's geom `handle_<name>`.

    Attributes:
        name: In episodes and plans.
        range: Of the joint, from closed on [rad or m].
        label: For people.
        receptacle: Name of the receptacle that it shuts, or "".
        tasks: Names of the tasks whose sampled episodes are about it.
        kind: Its type in the planning domain, "" where it takes no part in plans.
        laid_open: How far it is open where an episode starts with it open [rad or m].
        opened_beyond: From when on a plan counts it as opened [rad or m].
        aims: How far an oracle wants to open it, best first [rad or m].
        opened_least: How far it has to be open for an oracle to be content [rad or m].
        central_share: Share of its receptacle's width and of its depth in which the centres of objects lie.
        marker: What habitat-lab calls its handle in its own scenes.
    """

    name: str
    range: tuple[float, float]
    label: str
    receptacle: str = ""
    tasks: tuple[str, ...] = ()
    kind: str = ""
    laid_open: float
    opened_beyond: float
    aims: tuple[float, ...]
    opened_least: float
    central_share: float = 1.0
    marker: str = ""

    @property
    @abstractmethod
    def turns(self) -> bool:
        """Whether it is a door; a drawer slides."""

    @abstractmethod
    def faced(self, value: float) -> Point:
        """What a robot faces that shall open or close it, in the furniture's frame [m]."""

    @abstractmethod
    def handle_at(self, value: float) -> Point:
        """Place of its handle on the floor plane at a value of its joint, in the furniture's frame [m]."""

    @abstractmethod
    def before(self, value: float) -> Point:
        """The nearest place to stand before it, likewise [m]."""


@dataclass(frozen=True, kw_only=True)
class Door(Part):
    """A part that turns.

    Attributes:
        hinge: Of the axis, in the furniture's frame [m].
        width: Of the panel [m].
        depth: Of the panel and what is fixed to it, along its normal from the axis [m].
        lower_edge: Height at which the panel begins [m].
        handle: Centre of the handle from the axis, closed [m].
        handle_span: Where along the panel the handle is, with air, and how far it stands out [m].
        before_closed: The nearest place to stand before it while it is closed, in the furniture's frame [m].
        before_open: Likewise while it is open, clear of it [m].
        pushed: How far from the hinge an arm may push it shut, best first [m]: near its edge it may slip off.
        clockwise: How it opens, seen from above.
    """

    hinge: Point
    width: float
    depth: tuple[float, float]
    lower_edge: float
    handle: Point
    handle_span: tuple[float, float, float]
    before_closed: Point
    before_open: Point
    pushed: tuple[float, ...]
    clockwise: bool = False

    @property
    def sense(self) -> float:
        """1 if it opens counterclockwise, seen from above, else -1."""
        return -1.0 if self.clockwise else 1.0

    @property
    def turns(self) -> bool:
        """See Part."""
        return True

    def faced(self, value: float) -> Point:
        """The centre of the furniture."""
        return 0.0, 0.0

    def handle_at(self, value: float) -> Point:
        """See Part."""
        c, s = math.cos(value), self.sense * math.sin(value)
        x, y = np.asarray(self.hinge) + np.array([[c, -s], [s, c]]) @ self.handle
        return float(x), float(y)

    def before(self, value: float) -> Point:
        """See Part."""
        return self.before_open if value > 0.0 else self.before_closed


@dataclass(frozen=True, kw_only=True)
class Drawer(Part):
    """A part that slides, and carries what is in it.

    Attributes:
        handle: Centre of the handle in the furniture's frame, closed [m].
        standing: How far before the handle one stands, at the nearest [m].
    """

    handle: Point
    standing: float

    @property
    def turns(self) -> bool:
        """See Part."""
        return False

    def faced(self, value: float) -> Point:
        """The handle."""
        return self.handle_at(value)

    def handle_at(self, value: float) -> Point:
        """See Part."""
        return self.handle[0] + value, self.handle[1]

    def before(self, value: float) -> Point:
        """See Part."""
        x, y = self.handle_at(value)
        return x + self.standing, y


@dataclass(frozen=True, kw_only=True, eq=False)
class Furniture:
    """A piece of furniture with parts that open; `Apartment.frames` says where it stands.

    Attributes:
        name: Of its body.
        size: Depth, width and height of the box around it, closed [m].
        build: Adds its body, then those of its parts in their order, to a MuJoCo spec. Boxes only, the handle
            of a part last; see `add_box` and `add_part`.
        parts: What opens.
        painted: Colour of an `Apartment` -> its geoms of that colour.
    """

    name: str
    size: tuple[float, float, float]
    build: Callable[[Any], None]
    parts: tuple[Part, ...]
    painted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, eq=False)
class SceneSpec:
    """A kind of home. All homes of a kind compile to the same bodies, joints and geoms.

    Attributes:
        name: Of the kind.
        layouts: Which homes there are, by numbers that no other kind has.
        make: The home of a layout and a variation, the same in every process.
        open_receptacles: Those that every home has and that need no opening.
        furniture: What opens.
        objects: What each object slot holds.
        box_count: Static boxes that a home may have.
        cylinder_count: Likewise cylinders.
        labels: Receptacle -> its name for people, where that does not follow from its name.
        variations: How many of each layout are drawn; fewer than 21 where they would look alike.
        looks: Adds to a MuJoCo spec what is only seen, the same in every home of the kind.
        file: That says what is in it, for messages; "" where none does.
    """

    name: str
    layouts: Layouts
    make: Callable[[int, int], Apartment]
    open_receptacles: tuple[str, ...]
    furniture: tuple[Furniture, ...]
    objects: tuple[ObjectKind, ...]
    box_count: int
    cylinder_count: int
    labels: Mapping[str, str] = field(default_factory=dict)
    variations: int = VARIATION_COUNT
    looks: Callable[[Any], None] | None = None
    file: str = ""

    def __post_init__(self) -> None:
        """Raise a UserError where something is missing."""
        for what, there in (("furniture", self.parts), ("objects", self.objects)):
            if not there:
                raise UserError(f"homes of kind {self.name}: {what}: at least one is needed")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """All that opens, in the order of `SimState.articulated_joints`."""
        return tuple(part for piece in self.furniture for part in piece.parts)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """Names of the parts."""
        return tuple(part.name for part in self.parts)

    @cached_property
    def closed_receptacles(self) -> tuple[str, ...]:
        """Receptacles that a part shuts."""
        return tuple(part.receptacle for part in self.parts if part.receptacle)

    @cached_property
    def receptacles(self) -> tuple[str, ...]:
        """All receptacles."""
        return (*self.open_receptacles, *self.closed_receptacles)

    @cached_property
    def slot_kinds(self) -> tuple[str, ...]:
        """Name of the kind of object in each slot."""
        return tuple(kind.name for kind in self.objects)

    @cached_property
    def object_bodies(self) -> tuple[str, ...]:
        """Name of each slot's body."""
        return tuple(f"object_{slot:02d}" for slot in range(len(self.objects)))

    @property
    def where(self) -> str:
        """Its file, or else its name, for messages."""
        return self.file or f"homes of kind {self.name}"

    @cached_property
    def first_layout(self) -> int:
        """Any layout of the kind."""
        return next(layouts[0] for splits in self.layouts.values() for layouts in splits.values())

    def index(self, joint: str) -> int:
        """Place of a part in `parts`."""
        return self.joints.index(joint)

    def part(self, joint: str) -> Part:
        """A part by its name.

        Raises:
            UserError: The home has none of that name.
        """
        if joint not in self.joints:
            raise UserError(
                f"no joint '{joint}' in homes of kind {self.name}: choose one of {', '.join(self.joints)}"
            )
        return self.parts[self.index(joint)]

    def part_of(self, receptacle: str) -> Part | None:
        """The part that shuts a receptacle; None where nothing does."""
        return self._part_of.get(receptacle)

    @cached_property
    def _part_of(self) -> dict[str, Part]:
        return {part.receptacle: part for part in self.parts if part.receptacle}

    def parts_for(self, task: str) -> tuple[Part, ...]:
        """The parts that a task's sampled episodes are about.

        Raises:
            UserError: There is none.
        """
        found = tuple(part for part in self.parts if task in part.tasks)
        if not found:
            told = "; ".join(
                f"{part.name}: {', '.join(part.tasks) or 'none'}" for part in self.parts
            )
            raise UserError(
                f"{task}: no part of homes of kind {self.name} has it among its tasks ({told})"
            )
        return found

    def furniture_of(self, joint: str) -> Furniture:
        """The piece of furniture of which a part is one."""
        return next(piece for piece in self.furniture if any(p.name == joint for p in piece.parts))

    def frame_of(self, apartment: Apartment, joint: str) -> ArticulatedPose:
        """Where in a home of the kind the furniture stands of which a part is one."""
        return apartment.frames[self.furniture_of(joint).name]

    def slots_of(self, kind: str) -> list[int]:
        """Slots that hold this kind of object.

        Raises:
            UserError: There is none.
        """
        if kind not in self.slot_kinds:
            there = ", ".join(dict.fromkeys(self.slot_kinds))
            raise UserError(f"homes of kind {self.name} have no object '{kind}', only {there}")
        return [slot for slot, name in enumerate(self.slot_kinds) if name == kind]

    def title(self, name: str) -> str:
        """A receptacle or a part for people, for example "table 1" for table_01."""
        part = self.part_of(name) or next((part for part in self.parts if part.name == name), None)
        if part is not None:
            return part.label
        if name in self.labels:
            return self.labels[name]
        words = name.replace("_0", " ").split("_")
        # counter_left is the left counter.
        return " ".join(reversed(words)) if words[-1] in ("left", "right") else " ".join(words)

    def parked_position(self, slot: int) -> tuple[float, float, float]:
        """Where an unused object rests [m]."""
        return (-50.0 - slot, -50.0, self.objects[slot].half_height)
