"""A robot as data: all that anybody but its builder has to know of it.

The kind of robot is fixed: a kinematic base that moves over the floor, an arm of hinges and slides on it, a
suction cup or two fingers at the end, a depth camera that is rigid with the base. Everything else is in a
RobotSpec. The base frame has x forward, y left, z up and its origin on the floor under the robot; metres and
radians.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import mujoco
import numpy as np

from rearrange.errors import UserError
from rearrange.robot.actions import OTHERS, ActionLayout
from rearrange.robot.fingers import Fingers
from rearrange.robot.joint import AXES, Joint, Vector
from rearrange.robot.planning import PlanningModel
from rearrange.scenes.objects import ObjectKind

AXIS, LOW, HIGH, UNIT, CHAIN_COLUMNS = 3, 4, 5, 6, 7  # columns of `RobotSpec.chain`
SLIDE = 3  # a slide's axis is this much above that of a hinge
WIDEST_BASE = 0.3  # [m], radius for which homes are furnished and floors mapped


@dataclass(frozen=True)
class Base:
    """What the robot stands on.

    Attributes:
        radius: Of the disc that has to be free of walls and furniture [m].
        drive_force: What it can push with [N].
        turn_torque: Likewise about the vertical [N m].
        body: Name of its body in the model; all others of the robot hang on it.
    """

    radius: float
    drive_force: float
    turn_torque: float
    body: str


@dataclass(frozen=True)
class HeadCamera:
    """The depth camera, rigid with the base.

    Attributes:
        position: Base frame [m].
        target: A point that it looks at, base frame [m].
        field_of_view: Horizontal [deg].
    """

    position: Vector
    target: Vector
    field_of_view: float


@dataclass(frozen=True)
class Reach:
    """How far the robot gets, as tasks sample places to stand.

    Attributes:
        ahead: Farthest place of a handle before the robot [m].
        aside: Likewise to each side [m].
        standing: Distance from which the arm reaches things on open receptacles [m].
        trunk_radius: Of a disc around what carries the arm, with some air [m].
        arm_radius: Likewise around each link of the resting arm [m].
    """

    ahead: float
    aside: float
    standing: float
    trunk_radius: float
    arm_radius: float


@dataclass(frozen=True, eq=False)
class RobotSpec:
    """A robot.

    Attributes:
        name: How users call it.
        build: Adds its bodies, joints and actuators to a spec; see `rearrange.robot.parts`.
        joints: Of the arm, from the base on.
        mount: What the first joint's offset begins at, base frame [m].
        gripper_offset: Of the gripper in the last joint's frame [m].
        tip_offset: Of the suction cup's front in the gripper's frame, along x, or of the middle between
            the fingers' pads [m].
        resting_arm: Joint angles with which it is at rest [rad, of slides m].
        resting_tip: Where skills must bring the tip in the end, base frame [m].
        gripper_body: Body that the cup is on, or the fingers, and what it holds.
        suction_geom: The cup; empty where there are fingers.
        base: What it stands on.
        camera: What it sees with.
        reach: How far it gets.
        planning: What oracles and sense-plan-act skills have to know; None: it is only for policies.
        fingers: With which it holds; None: it has a suction cup.
    """

    name: str
    build: Callable[[mujoco.MjSpec], None]
    joints: tuple[Joint, ...]
    mount: Vector
    gripper_offset: Vector
    tip_offset: float
    resting_arm: tuple[float, ...]
    resting_tip: Vector
    gripper_body: str
    suction_geom: str
    base: Base
    camera: HeadCamera
    reach: Reach
    planning: PlanningModel | None = None
    fingers: Fingers | None = None

    def __post_init__(self) -> None:
        """Raise a UserError that names the field that cannot be right."""
        names = [joint.name for joint in self.joints]
        if not names or len(set(names)) < len(names):
            raise UserError(f"robot '{self.name}': joints: each needs a name of its own: {names}")
        for joint in self.joints:
            if joint.name in OTHERS:
                raise UserError(
                    f"robot '{self.name}': joints: '{joint.name}' names another number of an action "
                    f"({', '.join(OTHERS)}): rename the joint"
                )
            if joint.axis not in AXES:
                raise UserError(
                    f"robot '{self.name}': {joint.name}: axis must be one of {', '.join(AXES)}, "
                    f"found '{joint.axis}'"
                )
            if joint.slides < 0.0 or (
                joint.slides and not np.isfinite((joint.low, joint.high)).all()
            ):
                raise UserError(
                    f"robot '{self.name}': {joint.name}: slides must be 0, or above 0 between finite "
                    f"limits, found {joint.slides:g} between {joint.low:g} and {joint.high:g}"
                )
        if len(self.resting_arm) != len(names):
            raise UserError(
                f"robot '{self.name}': resting_arm must have {len(names)} angles, "
                f"found {len(self.resting_arm)}"
            )
        if not 0.0 < self.base.radius <= WIDEST_BASE:
            raise UserError(
                f"robot '{self.name}': base.radius must be at most {WIDEST_BASE:g} m, to which homes "
                f"leave room, found {self.base.radius:g}"
            )

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(joint.name for joint in self.joints)

    @property
    def tip(self) -> Vector:
        """The suction cup's front, or the middle between the pads, in the gripper's frame [m]."""
        return (self.tip_offset, 0.0, 0.0)

    @cached_property
    def takers(self) -> tuple[str, ...]:
        """Geoms by which it takes things: the cup, or both pads."""
        return (self.suction_geom,) if self.fingers is None else self.fingers.pads

    def can_hold(self, kind: ObjectKind) -> bool:
        """Return whether the hand can take such a thing, upright: fingers must go around it."""
        return self.fingers is None or self.fingers.can_hold(kind)

    @cached_property
    def actions(self) -> ActionLayout:
        """Where the numbers of its action stand."""
        return ActionLayout(self.joint_names, self.units)

    @cached_property
    def chain(self) -> np.ndarray:
        """The arm for compiled kinematics [J + 3, CHAIN_COLUMNS]: mount, joints, gripper, tip.

        A row has the offset [m]; a joint's also its axis (0, 1, 2; of a slide 3, 4, 5), its limits and its
        unit [rad, of a slide m].
        """
        rows = np.zeros((len(self.joints) + 3, CHAIN_COLUMNS))
        rows[0, :3] = self.mount
        for row, joint in zip(rows[1:], self.joints, strict=False):
            axis = list(AXES).index(joint.axis) + SLIDE * bool(joint.slides)
            row[:] = (*joint.offset, axis, joint.low, joint.high, joint.unit)
        rows[-2, :3] = self.gripper_offset
        rows[-1, 0] = self.tip_offset
        return rows

    @cached_property
    def limits(self) -> np.ndarray:
        """Low and high of the joints [2, J], rad, of slides m."""
        return self.chain[1:-2, LOW:UNIT].T.copy()

    @cached_property
    def units(self) -> np.ndarray:
        """What counts as one radian of each joint [J], rad, of slides m."""
        return np.array([joint.unit for joint in self.joints])

    def swing(self, change: np.ndarray) -> float:
        """The largest of changes of the joints [J], with slides in their units [rad]."""
        return float(np.abs(change / self.units).max())
