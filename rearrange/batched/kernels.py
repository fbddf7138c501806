"""A world's control step on a device, but for the physics: the arithmetic of `rearrange.sim`, for Warp.

One thread a world. `rearrange.sim.kernels`, `suction` and `free_robot.teleport` say what each does and why.
What tasks see is double; what goes to and comes from mujoco-warp is single.
"""

from __future__ import annotations

import math

import warp as wp  # pyright: ignore[reportMissingImports]

from rearrange.batched.floor_kernels import clamp
from rearrange.batched.records import Body, Floors, Own, Rules, Seen, Topology
from rearrange.sim.kernels import SLOWEST, SUBSTEP_COUNT
from rearrange.sim.suction import AWAKE, SUCTION_GAP

wp.set_module_options({"enable_backward": False})

double = wp.float64
vec2d, vec3d, vec4d = wp.vec2d, wp.vec3d, wp.vec4d
PI = wp.constant(wp.float64(math.pi))
ZERO, HALF, ONE, TWO = (wp.constant(wp.float64(x)) for x in (0.0, 0.5, 1.0, 2.0))
SUBSTEPS, LEAST_PACE = (wp.constant(wp.float64(x)) for x in (SUBSTEP_COUNT, SLOWEST))
GAP = wp.constant(SUCTION_GAP)
JUST_AWAKE = wp.constant(int(AWAKE))
NOTHING, NONE = wp.constant(-1), wp.constant(wp.int64(-1))
NOT_NEAR = wp.constant(1.0e9)  # [m]


@wp.func
def wrapped(angle: wp.float64):
    """An angle between -pi and pi [rad]."""
    return angle - TWO * PI * wp.floor((angle + PI) / (TWO * PI))


@wp.func
def inverse(rotation: wp.quat):
    """Inverse of a rotation that is kept as wxyz, as a quaternion in Warp's order xyzw."""
    return wp.quat(-rotation[1], -rotation[2], -rotation[3], rotation[0])


@wp.func
def single(place: wp.vec3d):
    """A place in single precision."""
    return wp.vec3(float(place[0]), float(place[1]), float(place[2]))


@wp.func
def let_go(i: int, seen: Seen, own: Own, body: Body, at: Topology):
    """Release what world i holds; see `Suction.release`."""
    held, handle = int(seen.held_object[i]), int(seen.held_handle[i])
    if held != NOTHING:
        body.eq_active[i, at.weld_rows[held]] = False
        body.tree_asleep[i, at.object_trees[held]] = JUST_AWAKE
        own.leaving[i] = held
        seen.held_object[i] = NONE
    if handle != NOTHING:
        body.eq_active[i, at.connect_rows[handle]] = False
        seen.held_handle[i] = NONE


@wp.func
def take_object(i: int, slot: int, seen: Seen, own: Own, body: Body, at: Topology):
    """Weld an object to the hand where it is, but for a gap; see `Suction.attach_object`."""
    back, turn = inverse(own.hand_rotation[i]), seen.object_rotation[i, slot]
    offset = wp.quat_rotate(back, single(seen.object_position[i, slot]) - own.hand_position[i])
    relative = back * wp.quat(float(turn[1]), float(turn[2]), float(turn[3]), float(turn[0]))
    row = at.weld_rows[slot]
    data = body.eq_data[i, row]
    for k in range(3):
        data[k] = 0.0
        data[3 + k] = offset[k]
        data[7 + k] = relative[k]
    data[3] = offset[0] + GAP
    data[6] = relative[3]
    body.eq_data[i, row] = data
    body.eq_active[i, row] = True
    seen.held_object[i] = wp.int64(slot)


@wp.func
def take_handle(i: int, handle: int, seen: Seen, own: Own, body: Body, at: Topology):
    """Join the suction tip and a handle by a ball."""
    away = single(seen.end_effector_position[i]) - own.part_position[i, handle]
    on_part = wp.quat_rotate(inverse(own.part_rotation[i, handle]), away)
    row = at.connect_rows[handle]
    data = body.eq_data[i, row]
    for k in range(3):
        data[k] = 0.0
        data[3 + k] = on_part[k]
    data[0] = float(at.tip_offset)
    body.eq_data[i, row] = data
    body.eq_active[i, row] = True
    seen.held_handle[i] = wp.int64(handle)


@wp.func
def grip(i: int, wants: bool, seen: Seen, own: Own, body: Body, at: Topology):
    """Do what the suction cup has to, and see whether what was let go is away from the hand."""
    slot, handle = int(seen.touched_object[i]), int(seen.touched_handle[i])
    if not wants:
        let_go(i, seen, own, body, at)
    elif seen.held_object[i] == NONE and seen.held_handle[i] == NONE:
        if slot != NOTHING:
            take_object(i, slot, seen, own, body, at)
        elif handle != NOTHING:
            take_handle(i, handle, seen, own, body, at)
    left = own.leaving[i]
    if left != NOTHING:
        away = wp.length(seen.object_position[i, left] - seen.end_effector_position[i])
        if int(seen.held_object[i]) == left or away > at.object_lengths[left]:
            own.leaving[i] = NOTHING
    own.apart[i] = own.leaving[i]
    if seen.held_object[i] != NONE:
        own.apart[i] = int(seen.held_object[i])


@wp.func
def slowed(pace: wp.vec2d, commanded: wp.vec3d):
    """Motion that a base makes of the commanded one, at a pace."""
    return vec3d(pace[0] * commanded[0], pace[0] * commanded[1], pace[1] * commanded[2])


@wp.kernel
def begin(
    action: wp.array2d[wp.float64], seen: Seen, own: Own, body: Body, at: Topology,
    rules: Rules, floors: Floors,
):  # fmt: skip
    """Command arm, base and suction cup of a world; see `begin_step`. Actions [N, J + 3]."""
    i = wp.tid()
    joints = at.joint_count
    for k in range(joints):
        measured = double(body.qpos[i, at.arm_qpos + k])
        target = own.targets[i, k] + action[i, k]
        target = wp.max(wp.min(target, measured + rules.lead[k]), measured - rules.lead[k])
        target = wp.max(wp.min(target, rules.limits[1, k]), rules.limits[0, k])
        own.targets[i, k] = target
        body.ctrl[i, k] = float(target)
    pose, forward, turn = seen.base_pose[i], action[i, joints + 1], action[i, joints + 2]
    heading = pose[2] + HALF * turn
    dx, dy = forward * wp.cos(heading), forward * wp.sin(heading)
    there = clamp(floors, own.home[i], pose[0], pose[1], dx, dy, rules.radius, rules.slide)
    seen.base_blocked[i] = there[2] != ZERO
    own.place[i] = pose
    move = vec3d((there[0] - pose[0]) / SUBSTEPS, (there[1] - pose[1]) / SUBSTEPS, turn / SUBSTEPS)
    if forward != ZERO or turn != ZERO:
        seen.base_pose[i] = vec3d(there[0], there[1], wrapped(pose[2] + turn))
    grip(i, action[i, joints] >= ZERO, seen, own, body, at)
    own.commanded[i] = move
    pace = own.pace[i]
    slow = rules.stall and (pace[0] < ONE or pace[1] < ONE)
    own.slow[i] = slow
    if slow:
        pace = vec2d(wp.min(TWO * pace[0], ONE), wp.min(TWO * pace[1], ONE))
        own.pace[i] = pace
        move = slowed(pace, move)
    own.move[i] = move


@wp.func
def carry(
    i: int, held: int, old: wp.vec3d, new: wp.vec3d, turn: wp.float64, body: Body, at: Topology
):
    """Move what is held rigidly with the base."""
    start = at.object_qpos + 7 * held
    cos, sin = wp.cos(turn), wp.sin(turn)
    u, v = double(body.qpos[i, start]) - old[0], double(body.qpos[i, start + 1]) - old[1]
    body.qpos[i, start] = float(new[0] + cos * u - sin * v)
    body.qpos[i, start + 1] = float(new[1] + sin * u + cos * v)
    cos, sin = wp.cos(HALF * turn), wp.sin(HALF * turn)
    w, x = double(body.qpos[i, start + 3]), double(body.qpos[i, start + 4])
    y, z = double(body.qpos[i, start + 5]), double(body.qpos[i, start + 6])
    body.qpos[i, start + 3] = float(cos * w - sin * z)
    body.qpos[i, start + 4] = float(cos * x - sin * y)
    body.qpos[i, start + 5] = float(cos * y + sin * x)
    body.qpos[i, start + 6] = float(cos * z + sin * w)


@wp.func
def teleport(i: int, move: wp.vec3d, seen: Seen, own: Own, body: Body, at: Topology):
    """Move the base of world i and what it holds; see `free_robot.teleport`."""
    old = own.place[i]
    new = old + move
    own.place[i] = new
    height = body.mocap_pos[i, 0][2]
    body.mocap_pos[i, 0] = wp.vec3(float(new[0]), float(new[1]), height)
    half = HALF * new[2]
    body.mocap_quat[i, 0] = wp.quat(float(wp.cos(half)), 0.0, 0.0, float(wp.sin(half)))
    held = int(seen.held_object[i])
    if held != NOTHING and (move[0] != ZERO or move[1] != ZERO or move[2] != ZERO):
        carry(i, held, old, new, move[2], body, at)


@wp.kernel
def move_base(seen: Seen, own: Own, body: Body, at: Topology):
    """Move a world's base by a substep's part of the way."""
    i = wp.tid()
    own.push[i] = wp.vec3(0.0, 0.0, 0.0)
    own.yielded[i] = False
    teleport(i, own.move[i], seen, own, body, at)


@wp.kernel
def yield_base(seen: Seen, own: Own, body: Body, at: Topology, rules: Rules):
    """Take back what the wheels could not have made, and slow down; see `yield_to`."""
    i = wp.tid()
    push, move, pace = own.push[i], own.move[i], own.pace[i]
    along = move[0] * double(push[0]) + move[1] * double(push[1])
    drives = along < -rules.drive_force * wp.sqrt(move[0] * move[0] + move[1] * move[1])
    turns = move[2] * double(push[2]) < -rules.turn_torque * wp.abs(move[2])
    if not (drives or turns):
        return
    back = vec3d(ZERO, ZERO, ZERO)
    if drives:
        pace[0] = wp.max(HALF * pace[0], LEAST_PACE)
        back[0] = -move[0]
        back[1] = -move[1]
    if turns:
        pace[1] = wp.max(HALF * pace[1], LEAST_PACE)
        back[2] = -move[2]
    teleport(i, back, seen, own, body, at)
    own.pace[i] = pace
    own.move[i] = slowed(pace, own.commanded[i])
    own.yielded[i] = True
    seen.base_blocked[i] = True


@wp.kernel
def look(again: bool, seen: Seen, own: Own, body: Body, at: Topology, rules: Rules):
    """Read what tasks may know, but objects and contacts; `again`: only where the base was put back."""
    i = wp.tid()
    if again and not own.yielded[i]:
        return
    pace = own.pace[i]
    if rules.stall and (own.slow[i] or pace[0] < ONE or pace[1] < ONE):
        place = own.place[i]
        seen.base_pose[i] = vec3d(place[0], place[1], wrapped(place[2]))
    for k in range(at.joint_count):
        seen.arm_joints[i, k] = double(body.qpos[i, at.arm_qpos + k])
        seen.arm_velocities[i, k] = double(body.qvel[i, at.arm_qvel + k])
    hand, turned = body.xpos[i, at.gripper_body], wp.mat33d(body.xmat[i, at.gripper_body])
    own.hand_position[i] = hand
    own.hand_rotation[i] = body.xquat[i, at.gripper_body]
    tip = vec3d(hand) + at.tip_offset * vec3d(turned[0, 0], turned[1, 0], turned[2, 0])
    pose = seen.base_pose[i]
    cos, sin, u, v = wp.cos(pose[2]), wp.sin(pose[2]), tip[0] - pose[0], tip[1] - pose[1]
    seen.end_effector_rotation[i] = turned
    seen.end_effector_position[i] = tip
    seen.end_effector_in_base[i] = vec3d(cos * u + sin * v, cos * v - sin * u, tip[2])
    for k in range(at.part_count):
        seen.articulated_joints[i, k] = double(body.qpos[i, at.joint_qpos[k]])
        seen.handle_position[i, k] = vec3d(body.geom_xpos[i, at.handle_geoms[k]])
        own.part_position[i, k] = body.xpos[i, at.part_bodies[k]]
        own.part_rotation[i, k] = body.xquat[i, at.part_bodies[k]]
    held, handle = int(seen.held_object[i]), int(seen.held_handle[i])
    apart = ZERO
    if held != NOTHING:
        apart = wp.length(vec3d(body.xpos[i, at.first_object_body + held]) - tip)
    elif handle != NOTHING:
        grasp, turn = body.eq_data[i, at.connect_rows[handle]], own.part_rotation[i, handle]
        on_part = wp.quat_rotate(
            wp.quat(turn[1], turn[2], turn[3], turn[0]), wp.vec3(grasp[3], grasp[4], grasp[5])
        )
        apart = wp.length(vec3d(own.part_position[i, handle] + on_part) - tip)
    own.slipped[i] = apart >= rules.hold_threshold and (held != NOTHING or handle != NOTHING)
    seen.touched_object[i] = NONE
    seen.touched_handle[i] = NONE
    seen.hold_violated[i] = False
    own.near_object[i] = NOT_NEAR
    own.near_handle[i] = NOT_NEAR
    own.force[i] = 0.0


@wp.kernel
def look_at_objects(again: bool, seen: Seen, own: Own, body: Body, at: Topology):
    """Read where the object of a slot is in a world; see `look`."""
    i, slot = wp.tid()
    if again and not own.yielded[i]:
        return
    turn = body.xquat[i, at.first_object_body + slot]
    seen.object_position[i, slot] = vec3d(body.xpos[i, at.first_object_body + slot])
    seen.object_rotation[i, slot] = vec4d(
        double(turn[0]), double(turn[1]), double(turn[2]), double(turn[3])
    )


@wp.kernel
def finish(seen: Seen, own: Own, body: Body, at: Topology):
    """Tell the force, and let go of what has slipped."""
    i = wp.tid()
    seen.contact_force[i] = double(own.force[i])
    if own.slipped[i]:
        let_go(i, seen, own, body, at)
        seen.hold_violated[i] = True


@wp.kernel
def home_of(
    which: wp.array[wp.int32], home: wp.array[wp.int32],
    homes: wp.array[wp.int32],
):  # fmt: skip
    """Tell the home of each world that is reset, -1 of others."""
    i = wp.tid()
    homes[i] = home[i] if which[i] >= 0 else NOTHING


@wp.kernel
def begin_episode(which: wp.array[wp.int32], seen: Seen, own: Own, body: Body, at: Topology):
    """Set what the simulator remembers of a world that was reset."""
    i = wp.tid()
    if which[i] < 0:
        return
    own.leaving[i] = NOTHING
    own.apart[i] = int(seen.held_object[i])
    own.pace[i] = vec2d(ONE, ONE)
    own.place[i] = seen.base_pose[i]
    own.hand_position[i] = body.xpos[i, at.gripper_body]
    own.hand_rotation[i] = body.xquat[i, at.gripper_body]
    for k in range(at.part_count):
        own.part_position[i, k] = body.xpos[i, at.part_bodies[k]]
        own.part_rotation[i, k] = body.xquat[i, at.part_bodies[k]]
