"""Two fingers that close on a thing from both sides and hold it by friction: as data, and in a model.

Frame of the hand: that of the gripper's body, x out of the palm, the fingers slide along y.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco

from rearrange.robot.joint import Vector
from rearrange.scenes.compile import BASE_BIT, ROBOT_BIT, ROBOT_COLLIDES_WITH
from rearrange.scenes.objects import ObjectKind

# The heaviest thing weighs 0.514 kg, 5.0 N. Two pads whose friction is 1 carry it with 2.5 N each.
HOLD_FORCE = 2.5  # [N], of both fingers on the same thing, from which it counts as held
HOLD_STEPS = (
    3  # of 1/30 s, for which they press so: fingers that meet a thing bounce off it once or twice
)
ROOM = 0.004  # [m], on each side of a thing that open fingers have to go around

# Rubber: sliding, and torsion of a patch of 1 cm radius, 2/3 of it [m]
PAD_FRICTION = (1.0, 0.007, 0.0001)
# As stiff as contacts between things: an arm's softer ones would let a finger sink 2 cm into what it holds.
# (time constant [s], damping ratio), and impedance from 0.95 on: 30 N press the pads in by half a millimetre
PAD_SOLREF, PAD_SOLIMP = (0.02, 1.0), (0.95, 0.99, 0.001, 0.5, 2.0)
# Friction as hard as that against normal forces; with the homes' 3 a thing creeps out of the hand faster
IMPEDANCE_RATIO = 10.0


@dataclass(frozen=True)
class Fingers:
    """Two fingers, coupled as by one motor, so that the hand's middle stays where it is.

    Attributes:
        joints: Names of their slides, the left finger's first (+y), each from 0, closed, to `travel`.
        pads: Names of their geoms, likewise.
        travel: Of each finger [m].
        half: Half sizes of a pad, along x, y and z [m].
        center: x of the pads' centres [m].
        palm: x of the palm's front [m].
        force: With which each presses at most [N].
        speed: With which each closes or opens [m/s].
        mass: Of each [kg].
        armature: Reflected inertia of the motor, on each [kg].
    """

    joints: tuple[str, str]
    pads: tuple[str, str]
    travel: float
    half: Vector
    center: float
    palm: float
    force: float
    speed: float
    mass: float
    armature: float

    @property
    def opening(self) -> float:
        """Between the pads when they are open [m]."""
        return 2.0 * self.travel

    @property
    def end(self) -> float:
        """The fingers' ends, along x [m]."""
        return self.center + self.half[0]

    def can_hold(self, kind: ObjectKind) -> bool:
        """Return whether the open fingers go around the narrow side of an upright thing."""
        return min(kind.widths) + 2.0 * ROOM <= self.opening


def add_fingers(
    spec: mujoco.MjSpec, gripper: mujoco.MjsBody, fingers: Fingers, color: tuple[float, ...]
) -> None:
    """Add both fingers with their motors to a hand; to be called after all joints of the arm.

    Args:
        spec: Spec of a home, changed in place: friction becomes harder in it.
        gripper: Body of the hand.
        fingers: Their numbers.
        color: RGBA.
    """
    spec.option.impratio = IMPEDANCE_RATIO
    for joint, pad, side in zip(fingers.joints, fingers.pads, (1.0, -1.0), strict=True):
        body = gripper.add_body(name=joint, gravcomp=1.0)
        body.add_joint(
            name=joint,
            type=mujoco.mjtJoint.mjJNT_SLIDE,
            axis=[0.0, side, 0.0],
            limited=True,
            range=[0.0, fingers.travel],
            armature=fingers.armature,
            damping=fingers.force
            / fingers.speed,  # the speed at which the motor's force is used up
        )
        body.add_geom(
            name=pad,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=[fingers.center, side * fingers.half[1], 0.0],
            size=list(fingers.half),
            mass=fingers.mass,
            rgba=list(color),
            contype=ROBOT_BIT,
            conaffinity=ROBOT_COLLIDES_WITH | BASE_BIT,
            group=1,
            priority=1,
            condim=4,
            friction=PAD_FRICTION,
            solref=PAD_SOLREF,
            solimp=PAD_SOLIMP,
        )
        motor = spec.add_actuator(name=joint, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        # Its whole force from a twentieth of the way on
        motor.set_to_position(kp=fingers.force / (0.05 * fingers.travel))
        motor.forcelimited = True
        motor.forcerange = [-fingers.force, fingers.force]
    coupling = spec.add_equality(
        name="fingers",
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=fingers.joints[1],
        name2=fingers.joints[0],
    )
    coupling.data[:5] = (0.0, 1.0, 0.0, 0.0, 0.0)
