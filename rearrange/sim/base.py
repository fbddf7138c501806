"""The Simulator contract: N worlds side by side, N = 1 included.

World frame: right-handed, z up. Base frame: x forward, y left, origin on the floor under the robot.
Units: metres, radians, seconds, newtons. Quaternions are wxyz. All arrays have leading axis N.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from rearrange.caching import one_dtype
from rearrange.episodes.episode import Episode
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec

CONTROL_STEP = 1.0 / 30.0  # [s], one action
PHYSICS_STEP = 1.0 / 120.0  # [s], four substeps per action
NOTHING = -1  # in index arrays: no object, no handle


def world_state(robot: RobotSpec, scene: SceneSpec) -> np.dtype:
    """One world's part of a SimState, as compiled tasks and kernels read it; they are compiled for each."""
    joints, slots, parts = len(robot.joints), len(scene.objects), len(scene.parts)
    return one_dtype(
        [
            ("base_pose", "f8", 3),
            ("base_blocked", "?"),
            ("arm_joints", "f8", (joints,)),
            ("arm_velocities", "f8", (joints,)),
            ("end_effector_position", "f8", 3),
            ("end_effector_rotation", "f8", (3, 3)),
            ("end_effector_in_base", "f8", 3),
            ("resting_tip", "f8", 3),
            ("object_position", "f8", (slots, 3)),
            ("object_rotation", "f8", (slots, 4)),
            ("articulated_joints", "f8", (parts,)),
            ("handle_position", "f8", (parts, 3)),
            ("held_object", "i8"),
            ("held_handle", "i8"),
            ("touched_object", "i8"),
            ("touched_handle", "i8"),
            ("hold_violated", "?"),
            ("contact_force", "f8"),
        ]
    )


class SimState:
    """What tasks may know of N worlds after a step. Arrays are reused: copy what must outlive a step.

    Attributes:
        robot: Whose arm it is, in all worlds.
        scene: The kind of home in which the worlds are: it has O object slots and P parts that open.
        worlds: All of it, one record of `world_state` per world [N]; the others are views into it.
        base_pose: x, y, yaw [N, 3].
        base_blocked: The last base motion was clamped by an obstacle [N] bool.
        arm_joints: Measured joint angles [N, J].
        arm_velocities: Measured joint velocities [N, J].
        end_effector_position: Suction tip, world frame [N, 3].
        end_effector_rotation: World from end effector [N, 3, 3]; x points out of the gripper.
        end_effector_in_base: Suction tip, base frame [N, 3].
        resting_tip: Where skills must bring the tip, base frame [N, 3]: a constant of the robot.
        object_position: Centres, world frame [N, O, 3]; unused slots are parked far away.
        object_rotation: Quaternions wxyz [N, O, 4].
        articulated_joints: Order of SceneSpec.parts [N, P]; rad for doors, m for drawers.
        handle_position: World frame [N, P, 3].
        held_object: Slot in the gripper or NOTHING [N] int.
        held_handle: Handle in the gripper or NOTHING [N] int.
        touched_object: Slot that the suction cup touches or NOTHING [N] int.
        touched_handle: Handle that the suction cup touches or NOTHING [N] int.
        hold_violated: The grasp broke in this step because the object slipped too far [N] bool.
        contact_force: Largest normal contact force on the robot or on what it holds [N].
    """

    def __init__(self, count: int, robot: RobotSpec, scene: SceneSpec = APARTMENT) -> None:
        """Of `count` worlds that were never reset: zeros, and nothing is held or touched."""
        self.robot, self.scene = robot, scene
        worlds = self.worlds = np.zeros(count, world_state(robot, scene))
        self.base_pose: np.ndarray = worlds["base_pose"]
        self.base_blocked: np.ndarray = worlds["base_blocked"]
        self.arm_joints: np.ndarray = worlds["arm_joints"]
        self.arm_velocities: np.ndarray = worlds["arm_velocities"]
        self.end_effector_position: np.ndarray = worlds["end_effector_position"]
        self.end_effector_rotation: np.ndarray = worlds["end_effector_rotation"]
        self.end_effector_in_base: np.ndarray = worlds["end_effector_in_base"]
        self.resting_tip: np.ndarray = worlds["resting_tip"]
        self.object_position: np.ndarray = worlds["object_position"]
        self.object_rotation: np.ndarray = worlds["object_rotation"]
        self.articulated_joints: np.ndarray = worlds["articulated_joints"]
        self.handle_position: np.ndarray = worlds["handle_position"]
        self.held_object: np.ndarray = worlds["held_object"]
        self.held_handle: np.ndarray = worlds["held_handle"]
        self.touched_object: np.ndarray = worlds["touched_object"]
        self.touched_handle: np.ndarray = worlds["touched_handle"]
        self.hold_violated: np.ndarray = worlds["hold_violated"]
        self.contact_force: np.ndarray = worlds["contact_force"]
        for held in ("held_object", "held_handle", "touched_object", "touched_handle"):
            worlds[held] = NOTHING
        self.resting_tip[:] = robot.resting_tip


@runtime_checkable
class Simulator(Protocol):
    """N simulated homes of one kind. Implementations must pass `rearrange.testing.conformance`."""

    world_count: int
    state: SimState

    def reset(self, world_ids: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Load the episodes into the worlds and update `state` there; other worlds stay untouched."""
        ...

    def step(self, action: np.ndarray) -> None:
        """Advance every world by CONTROL_STEP and update `state`.

        Args:
            action: [N, J + 3] in physical units: change of the J arm joint targets [rad], grip
                (>= 0: hold or try to grasp, < 0: let go), base forward [m], base turn [rad].
        """
        ...

    def render_depth(self, size: int | None = None, unit: float = 1.0) -> np.ndarray:
        """Depth along the optical axis of the head camera [N, H, W], float32; a fresh array.

        Args:
            size: Height and width in pixels; None for the simulator's own setting.
            unit: What counts as 1 [m].
        """
        ...

    def camera_pose(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Head camera of world i: position [3] and world-from-camera rotation [3, 3]."""
        ...

    def close(self) -> None:
        """Free what the simulator holds; safe to call twice."""
        ...
