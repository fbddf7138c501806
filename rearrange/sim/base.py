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

    The robot has J joints, the home O object slots and P parts that open. All arrays are views into
    `worlds`.
    """

    robot: RobotSpec  # whose arm it is, in all worlds
    scene: SceneSpec  # the kind of home in which the worlds are
    worlds: np.ndarray  # one record of `world_state` per world [N]
    base_pose: np.ndarray  # x, y, yaw [N, 3]
    base_blocked: np.ndarray  # the last base motion was clamped by an obstacle [N] bool
    arm_joints: np.ndarray  # measured joint angles, of slides travels [N, J]
    arm_velocities: np.ndarray  # measured joint velocities [N, J]
    end_effector_position: np.ndarray  # suction tip, world frame [N, 3]
    end_effector_rotation: np.ndarray  # world from it [N, 3, 3]; x points out of the gripper
    end_effector_in_base: np.ndarray  # suction tip, base frame [N, 3]
    resting_tip: np.ndarray  # where skills bring the tip, base frame [N, 3]: a constant
    object_position: np.ndarray  # centres, world frame [N, O, 3]; unused slots are parked far away
    object_rotation: np.ndarray  # quaternions wxyz [N, O, 4]
    articulated_joints: np.ndarray  # order of SceneSpec.parts [N, P]; doors: rad, drawers: m
    handle_position: np.ndarray  # world frame [N, P, 3]
    held_object: np.ndarray  # slot in the gripper or NOTHING [N] int
    held_handle: np.ndarray  # handle in the gripper or NOTHING [N] int
    touched_object: np.ndarray  # slot that the suction cup touches or NOTHING [N] int
    touched_handle: np.ndarray  # handle that the suction cup touches or NOTHING [N] int
    hold_violated: np.ndarray  # the grasp broke in this step: the object slipped too far [N] bool
    contact_force: np.ndarray  # largest normal contact force on the robot or on what it holds [N]

    def __init__(self, count: int, robot: RobotSpec, scene: SceneSpec = APARTMENT) -> None:
        """Of `count` worlds that were never reset: zeros, and nothing is held or touched."""
        self.robot, self.scene = robot, scene
        self.worlds = np.zeros(count, world_state(robot, scene))
        for name in self.worlds.dtype.fields or ():
            setattr(self, name, self.worlds[name])
        for array in (self.held_object, self.held_handle, self.touched_object, self.touched_handle):
            array[:] = NOTHING
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

    def render_depth(
        self,
        size: int | None = None,
        unit: float = 1.0,
        ids: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Depth along the optical axis of the head camera [N, H, W], float32; a fresh array.

        Args:
            size: Height and width in pixels; None for the simulator's own setting.
            unit: What counts as 1 [m].
            ids: Of these worlds alone; None: of all.
        """
        ...

    def camera_pose(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Head camera of world i: position [3] and world-from-camera rotation [3, 3]."""
        ...

    def close(self) -> None:
        """Free what the simulator holds; safe to call twice."""
        ...
