"""Slices of a world's physics that every step reads or writes."""

from __future__ import annotations

import mujoco
import numpy as np

from rearrange.robot import RobotSpec
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.free_robot import FreeRobot


class WorldViews:
    """What is read or written of a world's MjData in every step, and what else it steps with.

    MuJoCo keeps its arrays in place for life and indices are the same in all apartments, so these
    slices are made once; making them anew would cost a tenth of a step.
    """

    def __init__(self, world: ApartmentModel, data: mujoco.MjData, robot: RobotSpec) -> None:
        """Slice the arrays of `data`."""
        count, first = len(robot.joints), world.first_object_body
        slots = len(world.scene.objects)
        self.qpos = data.qpos
        self.arm_joints = data.qpos[world.arm_qpos : world.arm_qpos + count]
        self.arm_velocities = data.qvel[world.arm_qvel : world.arm_qvel + count]
        self.arm_targets = data.ctrl[:count]
        self.base_position = data.mocap_pos[0]  # the base is the only mocap body
        self.base_rotation = data.mocap_quat[0]
        self.hand_position = data.xpos[world.gripper_body]
        self.hand_rotation = data.xmat[world.gripper_body].reshape(3, 3)
        start = world.object_qpos
        self.objects = data.qpos[start : start + 7 * slots].reshape(-1, 7)
        self.object_position = data.xpos[first : first + slots]
        self.object_rotation = data.xquat[first : first + slots]
        self.geom_position = data.geom_xpos
        self.geom_rotation = data.geom_xmat
        self.free_robot, self.loaded_robot = FreeRobot(robot, False), FreeRobot(robot, True)
        # What `step_free` wants of the apartment's MjData.
        self.physics = (
            data._address, data.qpos, data.qvel, data.qacc_warmstart, data.ctrl, self.base_position,
            self.base_rotation, world.arm_qpos, world.arm_qvel, world.object_qpos,
            world.object_qvel, self.objects,
        )  # fmt: skip
        self.load_awake = False  # MuJoCo wakes what is grasped in its next step
        self.moving_boxes = np.zeros((0, 0))  # where doors and drawers are, see Clearance
        self.doors_known = False
        self.pace = np.ones(
            2
        )  # share of the commanded motion that the base makes: driving, turning
        self.commanded = np.zeros(3)  # motion per substep in this step: m, m, rad
