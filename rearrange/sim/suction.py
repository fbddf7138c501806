"""The suction cup: taking, holding and letting go of objects and handles."""

from __future__ import annotations

import math

import mujoco
import numpy as np

from rearrange.scenes.objects import ObjectKind
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.free_robot import FreeRobot
from rearrange.sim.kernels import LET_GO, TAKE
from rearrange.sim.views import WorldViews

# A grasp keeps this gap so that the held object and the cup stop pushing each other [m].
SUCTION_GAP = 0.001
AWAKE = -1 - mujoco.mjMINAWAKE  # of a tree's `tree_asleep`: it begins to count until it sleeps
_UPSIDE = (math.sqrt(0.5), 0.0, -math.sqrt(0.5), 0.0)  # quaternion of an object held from above


def top_grasp(kind: ObjectKind) -> tuple[float, ...]:
    """Pose of an object under the suction tip, by its top face, in the end effector's frame [7]."""
    # The object's z axis looks against the gripper's x axis.
    return (kind.half_height + SUCTION_GAP, 0.0, 0.0, *_UPSIDE)


class Suction:
    """The grasps of N worlds; see rearrange.sim.grip.

    Attributes:
        leaving: Slot of what was let go and is not away from the hand yet, or NOTHING [N].
    """

    def __init__(self, state: SimState, hold_threshold: float) -> None:
        """Hold nothing; `state` is the simulator's, the threshold that of its config [m]."""
        self.state, self._hold_threshold = state, hold_threshold
        self.leaving = np.full(len(state.worlds), NOTHING)
        self._grasps = np.zeros((len(state.worlds), 10))  # what is written to the model's eq_data

    def reset(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> None:
        """Hold nothing; all constraints are as in a new MjData."""
        del world, data
        self.state.held_object[i] = self.state.held_handle[i] = self.leaving[i] = NOTHING

    def begin_step(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, change: int,
        holds: bool,
    ) -> None:  # fmt: skip
        """Take what is touched, or let go."""
        del holds
        if change == LET_GO:
            self.release(i, world, data)
        elif change == TAKE:
            self.take(i, world, data, views)
        self.write_grasp(i, world)
        if self.leaving[i] != NOTHING:
            self.see_whether_it_left(i, world)

    def end_step(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, touching: bool, slipped: bool
    ) -> None:
        """Let go of what has slipped too far (HAB's hold violation).

        HAB joins the hand to a handle's middle, and so measures from there; a cup takes it where it touches it.
        """
        del touching
        if self.state.held_handle[i] != NOTHING:
            slipped = self._off_handle(i, world, data) >= self._hold_threshold
        if slipped:
            self.release(i, world, data)
            self.state.hold_violated[i] = True

    def passes(self, i: int) -> int:
        """The load, which does not touch the robot, as in HAB; nor what was, until away from the hand."""
        held = int(self.state.held_object[i])
        return held if held != NOTHING else int(self.leaving[i])

    def free_robot(self, i: int, views: WorldViews) -> FreeRobot | None:
        """The robot with or without a load; what is joined to a handle moves a part of the apartment."""
        if self.state.held_handle[i] != NOTHING:
            return None
        return views.free_robot if self.state.held_object[i] == NOTHING else views.loaded_robot

    def take(self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews) -> None:
        """Grasp what the cup touched at the end of the last step."""
        slot, handle = int(self.state.touched_object[i]), int(self.state.touched_handle[i])
        if slot != NOTHING:
            self.attach_object(i, world, data, views, slot)
        else:
            self._attach_handle(i, world, data, handle)

    def attach_object(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, slot: int,
        gap: float = SUCTION_GAP,
    ) -> None:  # fmt: skip
        """Weld the object to the gripper where it is, but for the gap [m]."""
        body = world.first_object_body + slot
        rotation = data.xmat[world.gripper_body].reshape(3, 3)
        offset = rotation.T @ (data.xpos[body] - data.xpos[world.gripper_body])
        offset[0] += gap
        inverse = np.empty(4)
        relative = np.empty(4)
        mujoco.mju_negQuat(inverse, data.xquat[world.gripper_body])
        mujoco.mju_mulQuat(relative, inverse, data.xquat[body])
        self._grasps[i] = (0.0, 0.0, 0.0, *offset, *relative)
        data.eq_active[world.weld_rows[slot]] = True
        self.state.held_object[i] = slot
        self.write_grasp(i, world)
        views.load_awake = False
        views.loaded_robot.take(world.model, body, int(world.weld_rows[slot]))

    def _attach_handle(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, handle: int
    ) -> None:
        """Join the gripper and the handle by a ball constraint at the suction tip."""
        body = int(world.model.geom_bodyid[world.handle_geoms[handle]])
        tip = self.state.end_effector_position[i]
        on_body = data.xmat[body].reshape(3, 3).T @ (tip - data.xpos[body])
        self._grasps[i, :3] = self.state.robot.tip
        self._grasps[i, 3:6] = on_body
        data.eq_active[world.connect_rows[handle]] = True
        self.state.held_handle[i] = handle

    def _off_handle(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> float:
        """How far the tip is from where it took the handle [m]."""
        body = int(world.model.geom_bodyid[world.handle_geoms[self.state.held_handle[i]]])
        taken = data.xpos[body] + data.xmat[body].reshape(3, 3) @ self._grasps[i, 3:6]
        return float(np.linalg.norm(taken - self.state.end_effector_position[i]))

    def release(self, i: int, world: ApartmentModel, data: mujoco.MjData) -> None:
        """Let go of what is held; an object meets the robot again once it is away from the hand."""
        if self.state.held_object[i] != NOTHING:
            data.eq_active[world.weld_rows[self.state.held_object[i]]] = False
            # Held still long enough it would fall asleep at once, in the air
            body = world.first_object_body + int(self.state.held_object[i])
            data.tree_asleep[world.model.body_treeid[body]] = AWAKE
            self.leaving[i] = self.state.held_object[i]
            self.state.held_object[i] = NOTHING
        if self.state.held_handle[i] != NOTHING:
            data.eq_active[world.connect_rows[self.state.held_handle[i]]] = False
            self.state.held_handle[i] = NOTHING

    def see_whether_it_left(self, i: int, world: ApartmentModel) -> None:
        """What was let go meets the robot again once it is farther from the hand than it is long, as in HAB."""
        slot = int(self.leaving[i])
        away = self.state.object_position[i, slot] - self.state.end_effector_position[i]
        if self.state.held_object[i] == slot or np.linalg.norm(away) > world.object_lengths[slot]:
            self.leaving[i] = NOTHING

    def write_grasp(self, i: int, world: ApartmentModel) -> None:
        """Put this world's grasp into the model that it shares with others."""
        if self.state.held_object[i] != NOTHING:
            row = world.weld_rows[self.state.held_object[i]]
            world.model.eq_data[row, :10] = self._grasps[i]
        elif self.state.held_handle[i] != NOTHING:
            row = world.connect_rows[self.state.held_handle[i]]
            world.model.eq_data[row, :6] = self._grasps[i, :6]

    def put_into_hand(
        self, i: int, world: ApartmentModel, data: mujoco.MjData, views: WorldViews, slot: int,
        grasp: tuple[float, ...] | None,
    ) -> None:  # fmt: skip
        """Hold an object in this pose in the end effector's frame; None holds it by its top face."""
        mujoco.mj_kinematics(world.model, data)
        kind = world.scene.objects[slot]
        pose = np.array(top_grasp(kind) if grasp is None else grasp, dtype=float)
        hand, rotation = data.xpos[world.gripper_body], data.xmat[world.gripper_body].reshape(3, 3)
        start = world.object_qpos + 7 * slot
        reach = np.add(pose[:3], self.state.robot.tip)
        data.qpos[start : start + 3] = hand + rotation @ reach
        turn = np.empty(4)
        mujoco.mju_mulQuat(turn, data.xquat[world.gripper_body], pose[3:])
        data.qpos[start + 3 : start + 7] = turn / np.linalg.norm(turn)
        mujoco.mj_kinematics(world.model, data)
        self.attach_object(i, world, data, views, slot, SUCTION_GAP if grasp is None else 0.0)
