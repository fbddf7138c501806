"""Compiled parts of a step: in Python they would cost more than the physics."""

from __future__ import annotations

import math

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.navigation.base_motion import clamp_kernel
from rearrange.robot.actions import forward_of, grip_of, turn_of
from rearrange.sim.base import NOTHING

SUBSTEP_COUNT = 4
KEEP, LET_GO, TAKE = 0, 1, 2  # what the suction cup has to do
SLOWEST = 1 / 16  # pace of a base that is held up
_KERNEL = {"nogil": True, "error_model": "numpy"}


@cached_njit(**_KERNEL)
def place_base(position, rotation, x, y, yaw):  # type: ignore[no-untyped-def]
    """Put the base's position [3] and quaternion [4] on the floor at x, y with heading yaw."""
    position[0], position[1] = x, y
    rotation[0], rotation[3] = math.cos(0.5 * yaw), math.sin(0.5 * yaw)


@cached_njit(**_KERNEL)
def begin_step(  # type: ignore[no-untyped-def]
    worlds, i, action, targets, measured, control, lead, limits, floor, frame, radius, slide, motion
):  # fmt: skip
    """Command the arm, and decide where world i's base goes in this step.

    Args:
        worlds: Records of `world_state` [N]; base_pose and base_blocked of world i are updated.
        i: World.
        action: Of all worlds [N, J + 3].
        targets: Of the arm's joints, updated [N, J], rad.
        measured: Arm joints as they are [J], rad.
        control: Written: what is commanded [J], rad.
        lead: Targets stay this close to the measured joints [J], rad, of slides m.
        limits: Low and high of the joints [2, J], rad.
        floor: Clearance of the floor's cells [nx, ny], m.
        frame: x and y of the floor's origin and its cell size [3], m.
        radius: Of the base [m].
        slide: Whether the base glides along obstacles.
        motion: Written: where the base is (x, y, yaw) and its motion per substep [6].

    Returns:
        What the suction cup has to do: KEEP, LET_GO or TAKE.
    """
    for k in range(len(measured)):
        target = targets[i, k] + action[i, k]
        target = max(min(target, measured[k] + lead[k]), measured[k] - lead[k])
        targets[i, k] = control[k] = max(min(target, limits[1, k]), limits[0, k])
    world = worlds[i]
    pose, forward, turn = world.base_pose, action[i, forward_of(world)], action[i, turn_of(world)]
    x, y, yaw = pose[0], pose[1], pose[2]
    # HAB turns and drives in one action: the motion follows the mean heading.
    heading = yaw + 0.5 * turn
    dx, dy = forward * math.cos(heading), forward * math.sin(heading)
    new_x, new_y, blocked = clamp_kernel(
        floor, frame[0], frame[1], frame[2], x, y, dx, dy, radius, slide
    )
    worlds[i].base_blocked = blocked
    motion[0], motion[1], motion[2] = x, y, yaw
    motion[3], motion[4] = (new_x - x) / SUBSTEP_COUNT, (new_y - y) / SUBSTEP_COUNT
    motion[5] = turn / SUBSTEP_COUNT
    if forward != 0.0 or turn != 0.0:
        pose[0], pose[1] = new_x, new_y
        pose[2] = (yaw + turn + math.pi) % (2 * math.pi) - math.pi
    holds = world.held_object != NOTHING or world.held_handle != NOTHING
    touches = world.touched_object != NOTHING or world.touched_handle != NOTHING
    if action[i, grip_of(world)] < 0.0:
        return LET_GO if holds else KEEP
    return TAKE if touches and not holds else KEEP


@cached_njit(**_KERNEL)
def set_motion(motion, commanded, pace):  # type: ignore[no-untyped-def]
    """Make the base's motion per substep that of its pace; the arguments are those of `keep_pace`."""
    motion[3], motion[4] = pace[0] * commanded[0], pace[0] * commanded[1]
    motion[5] = pace[1] * commanded[2]


@cached_njit(**_KERNEL)
def keep_pace(motion, commanded, pace):  # type: ignore[no-untyped-def]
    """Remember the motion that is commanded in this step; make it that of its pace, twice the last step's.

    Args:
        motion: See `begin_step`: of the first substep.
        commanded: Written: motion per substep [3], m, m, rad.
        pace: Share of it that is made, of driving and of turning, updated [2].

    Returns:
        Whether the base had been held up.
    """
    commanded[:] = motion[3:]
    if pace[0] == 1.0 and pace[1] == 1.0:
        return False
    for k in range(2):
        pace[k] = min(2.0 * pace[k], 1.0)
    set_motion(motion, commanded, pace)
    return True


@cached_njit(**_KERNEL)
def yield_to(push, motion, pace, force, torque):  # type: ignore[no-untyped-def]
    """Halve the pace of what of the base's motion goes against more than its wheels can push.

    Args:
        push: On the robot: force along x and y [N], torque about the vertical through the base [N m].
        motion: See `begin_step`: of the last substep.
        pace: Share of the commanded motion that is made, of driving and of turning, updated [2].
        force: Of the wheels [N].
        torque: Of the wheels about the vertical [N m].

    Returns:
        Whether the wheels cannot drive, and whether they cannot turn.
    """
    drive = motion[3] * push[0] + motion[4] * push[1] < -force * math.hypot(motion[3], motion[4])
    turn = motion[5] * push[2] < -torque * abs(motion[5])
    if drive:
        pace[0] = max(0.5 * pace[0], SLOWEST)
    if turn:
        pace[1] = max(0.5 * pace[1], SLOWEST)
    return drive, turn


@cached_njit(**_KERNEL)
def read_world(  # type: ignore[no-untyped-def]
    worlds, i, hold_threshold, arm_joints, arm_velocities, hand_position, hand_rotation, object_position,
    object_rotation, qpos, joint_qpos, geom_position, handle_geoms, reach,
):  # fmt: skip
    """Write what tasks may know of world i, but contacts and grasps, into its record.

    `reach` is how far the suction tip is before the gripper [m].

    Returns:
        Whether an object that is held has slipped farther from the tip than the threshold [m].
    """
    state = worlds[i]
    for k in range(len(arm_joints)):
        state.arm_joints[k], state.arm_velocities[k] = arm_joints[k], arm_velocities[k]
    tip = state.end_effector_position
    for k in range(3):
        for m in range(3):
            state.end_effector_rotation[k, m] = hand_rotation[k, m]
        tip[k] = hand_position[k] + reach * hand_rotation[k, 0]
    local = geometry.to_base_frame(state.base_pose, tip)
    for k in range(3):
        state.end_effector_in_base[k] = local[k]
    for o in range(len(object_position)):
        for k in range(3):
            state.object_position[o, k] = object_position[o, k]
        for k in range(4):
            state.object_rotation[o, k] = object_rotation[o, k]
    for k in range(len(joint_qpos)):
        state.articulated_joints[k] = qpos[joint_qpos[k]]
        for m in range(3):
            state.handle_position[k, m] = geom_position[handle_geoms[k], m]
    state.touched_object, state.touched_handle, state.contact_force = NOTHING, NOTHING, 0.0
    state.hold_violated = False
    if state.held_object != NOTHING:
        return geometry.distance(state.object_position[state.held_object], tip) >= hold_threshold
    return False


@cached_njit(**_KERNEL)
def place_camera(base_pose, offset, mount, position, rotation):  # type: ignore[no-untyped-def]
    """Write position [3] and rotation [3, 3] of a camera that is fixed to the base.

    Args:
        base_pose: x, y, yaw [3].
        offset: Of the camera in the base frame (3 numbers) [m].
        mount: Base from camera [3, 3].
        position: World frame [3].
        rotation: World from camera [3, 3].
    """
    cos, sin = math.cos(base_pose[2]), math.sin(base_pose[2])
    position[0] = base_pose[0] + cos * offset[0] - sin * offset[1]
    position[1] = base_pose[1] + sin * offset[0] + cos * offset[1]
    position[2] = offset[2]
    for k in range(3):
        rotation[0, k] = cos * mount[0, k] - sin * mount[1, k]
        rotation[1, k] = sin * mount[0, k] + cos * mount[1, k]
        rotation[2, k] = mount[2, k]
