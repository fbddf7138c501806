"""The Simulator contract: N worlds side by side, N = 1 included.

World frame: right-handed, z up. Base frame: x forward, y left, origin on the floor under the robot.
Units: metres, radians, seconds, newtons. Quaternions are wxyz. All arrays have leading axis N.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rearrange.episodes.episode import Episode
from rearrange.robot.kinematics import JOINT_COUNT
from rearrange.scenes.apartment import ARTICULATED_JOINTS

Array = Any  # NumPy array or torch tensor: the array API is all that tasks may use
CONTROL_STEP = 1.0 / 30.0  # [s], one action
PHYSICS_STEP = 1.0 / 120.0  # [s], four substeps per action
OBJECT_SLOT_COUNT = 30
NOTHING = -1  # in index arrays: no object, no handle


@dataclass
class SimState:
    """What tasks may know of N worlds after a step. Arrays are reused: copy what must outlive a step.

    Attributes:
        base_pose: x, y, yaw [N, 3].
        base_blocked: The last base motion was clamped by an obstacle [N] bool.
        arm_joints: Measured joint angles [N, 7].
        arm_velocities: Measured joint velocities [N, 7].
        end_effector_position: Suction tip, world frame [N, 3].
        end_effector_rotation: World from end effector [N, 3, 3]; x points out of the gripper.
        end_effector_in_base: Suction tip, base frame [N, 3].
        object_position: Centres, world frame [N, 30, 3]; unused slots are parked far away.
        object_rotation: Quaternions wxyz [N, 30, 4].
        articulated_joints: Order of scenes.ARTICULATED_JOINTS [N, 5]; rad for doors, m for drawers.
        handle_position: World frame [N, 5, 3].
        held_object: Slot in the gripper or NOTHING [N] int.
        held_handle: Handle in the gripper or NOTHING [N] int.
        touched_object: Slot that the suction cup touches or NOTHING [N] int.
        touched_handle: Handle that the suction cup touches or NOTHING [N] int.
        hold_violated: The grasp broke in this step because the object slipped too far [N] bool.
        contact_force: Largest normal contact force on the robot or on what it holds [N].
    """

    base_pose: Array
    base_blocked: Array
    arm_joints: Array
    arm_velocities: Array
    end_effector_position: Array
    end_effector_rotation: Array
    end_effector_in_base: Array
    object_position: Array
    object_rotation: Array
    articulated_joints: Array
    handle_position: Array
    held_object: Array
    held_handle: Array
    touched_object: Array
    touched_handle: Array
    hold_violated: Array
    contact_force: Array

    @classmethod
    def empty(cls, count: int) -> SimState:
        """Of `count` worlds that were never reset, in NumPy arrays."""
        handles = len(ARTICULATED_JOINTS)
        return cls(
            base_pose=np.zeros((count, 3)),
            base_blocked=np.zeros(count, bool),
            arm_joints=np.zeros((count, JOINT_COUNT)),
            arm_velocities=np.zeros((count, JOINT_COUNT)),
            end_effector_position=np.zeros((count, 3)),
            end_effector_rotation=np.zeros((count, 3, 3)),
            end_effector_in_base=np.zeros((count, 3)),
            object_position=np.zeros((count, OBJECT_SLOT_COUNT, 3)),
            object_rotation=np.zeros((count, OBJECT_SLOT_COUNT, 4)),
            articulated_joints=np.zeros((count, handles)),
            handle_position=np.zeros((count, handles, 3)),
            held_object=np.full(count, NOTHING),
            held_handle=np.full(count, NOTHING),
            touched_object=np.full(count, NOTHING),
            touched_handle=np.full(count, NOTHING),
            hold_violated=np.zeros(count, bool),
            contact_force=np.zeros(count),
        )


@runtime_checkable
class Simulator(Protocol):
    """N simulated apartments. Implementations must pass `rearrange.sim.conformance`."""

    world_count: int
    state: SimState

    def reset(self, world_ids: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Load the episodes into the worlds and update `state` there; other worlds stay untouched."""
        ...

    def step(self, action: np.ndarray) -> None:
        """Advance every world by CONTROL_STEP and update `state`.

        Args:
            action: [N, 10] in physical units: change of the seven arm joint targets [rad], grip
                (>= 0: hold or try to grasp, < 0: let go), base forward [m], base turn [rad].
        """
        ...

    def render_depth(self, size: int | None = None) -> np.ndarray:
        """Depth along the optical axis of the head camera [N, H, W], metres, float32.

        Args:
            size: Height and width in pixels; None for the simulator's own setting.
        """
        ...

    def close(self) -> None:
        """Free what the simulator holds; safe to call twice."""
        ...
