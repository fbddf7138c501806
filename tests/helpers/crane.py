"""A second robot, as another package would write it: five joints on a mast, on a slim base."""

import mujoco

from rearrange.robot import Base, HeadCamera, Joint, Reach, RobotSpec
from rearrange.robot.parts import (
    Motor,
    add_base,
    add_link,
    arm_geom,
    base_geom,
    cover,
    suction_geom,
)

YELLOW, BLACK = (0.95, 0.75, 0.1, 1.0), (0.1, 0.1, 0.1, 1.0)
MAST = (0.0, 0.0, 0.75)  # its top, base frame [m]
JOINTS = (
    Joint("pan", (0.1, 0.0, 0.1), "z", -2.5, 2.5),
    Joint("lift", (0.06, 0.0, 0.05), "y", -1.8, 1.5),
    Joint("elbow", (0.4, 0.0, 0.0), "y", -2.4, 2.4),
    Joint("wrist", (0.35, 0.0, 0.0), "y", -2.2, 2.2),
    Joint("roll", (0.1, 0.0, 0.0), "x"),
)
MOTORS = (
    Motor(40.0, 400.0, 0.15),
    Motor(120.0, 500.0, 0.15),
    Motor(80.0, 400.0, 0.1),
    Motor(40.0, 200.0, 0.05),
    Motor(8.0, 60.0, 0.03),
)
LINKS = ((0.06, 2.0), (0.05, 2.5), (0.045, 2.0), (0.04, 1.0), (0.04, 0.3))  # radius [m], mass [kg]


def build(spec: mujoco.MjSpec) -> None:
    base = add_base(spec, "crane_base")
    base_geom(base, "cylinder", BLACK, size=[0.25, 0.15, 0], pos=[0, 0, 0.16])
    base_geom(base, "box", YELLOW, size=[0.06, 0.06, 0.25], pos=[-0.06, 0, 0.55])
    link = base.add_body(name="crane_mast", pos=list(MAST))
    for index, (joint, motor, (radius, mass)) in enumerate(zip(JOINTS, MOTORS, LINKS, strict=True)):
        link = add_link(spec, link, f"crane_{joint.name}", joint, motor)
        end = JOINTS[index + 1].offset if index + 1 < len(JOINTS) else (0.05, 0.0, 0.0)
        add = cover if index == 0 else arm_geom
        add(link, "capsule", YELLOW, fromto=[0, 0, 0, *end], size=[radius, 0, 0], mass=mass)
    hand = link.add_body(name="crane_hand", pos=[0.1, 0, 0], gravcomp=1.0)
    arm_geom(hand, "box", BLACK, size=[0.03, 0.04, 0.03], pos=[-0.03, 0, 0], mass=0.8)
    suction_geom(
        hand, "cylinder", YELLOW, name="crane_cup", size=[0.03, 0.035, 0], pos=[0.025, 0, 0],
        quat=[0.5**0.5, 0, 0.5**0.5, 0], mass=0.1,
    )  # fmt: skip


CRANE = RobotSpec(
    name="crane",
    build=build,
    joints=JOINTS,
    mount=MAST,
    gripper_offset=(0.1, 0.0, 0.0),
    tip_offset=0.06,
    resting_arm=(0.0, -1.5228, 1.9333, 1.1603, 0.0),
    resting_tip=(0.5, 0.0, 0.9),
    gripper_body="crane_hand",
    suction_geom="crane_cup",
    base=Base(radius=0.27, drive_force=300.0, turn_torque=60.0, body="crane_base"),
    camera=HeadCamera(position=(0.1, 0.0, 1.3), target=(0.75, 0.0, 0.95), field_of_view=80.0),
    reach=Reach(ahead=1.1, aside=0.7, standing=0.8, trunk_radius=0.15, arm_radius=0.12),
)
