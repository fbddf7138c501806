"""Kinematics of the Fetch arm: chain, limits, forward kinematics, Jacobian, inverse kinematics.

The single source of these numbers, for the physics model too. Everything is in the base frame: x
forward, y left, z up, origin on the floor under the robot; metres and radians. The torso lift
does not move. Offsets and limits: the robot maker's public URDF (ZebraDevs/fetch_ros).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rearrange.caching import cached_njit

JOINT_COUNT = 7
JOINT_NAMES = (
    "shoulder_pan",
    "shoulder_lift",
    "upperarm_roll",
    "elbow_flex",
    "forearm_roll",
    "wrist_flex",
    "wrist_roll",
)
TORSO_OFFSET = (-0.086875, 0.0, 0.37743)  # of the torso at zero lift, base frame [m]
TORSO_LIFT = 0.15  # [m]
# Per joint: offset in the previous link's frame [m] and axis of rotation in its own.
CHAIN: tuple[tuple[tuple[float, float, float], tuple[float, float, float]], ...] = (
    ((0.119525, 0.0, 0.34858), (0.0, 0.0, 1.0)),
    ((0.117, 0.0, 0.06), (0.0, 1.0, 0.0)),
    ((0.219, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ((0.133, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ((0.197, 0.0, 0.0), (1.0, 0.0, 0.0)),
    ((0.1245, 0.0, 0.0), (0.0, 1.0, 0.0)),
    ((0.1385, 0.0, 0.0), (1.0, 0.0, 0.0)),
)
GRIPPER_OFFSET = (0.16645, 0.0, 0.0)  # gripper link in the last joint's frame [m]
END_EFFECTOR_OFFSET = (0.08, 0.0, 0.0)  # suction tip in the gripper's frame [m]
JOINT_LIMITS = (
    (-1.6056, 1.6056),
    (-1.221, 1.518),
    (-math.inf, math.inf),
    (-2.251, 2.251),
    (-math.inf, math.inf),
    (-2.16, 2.16),
    (-math.inf, math.inf),
)  # (low, high) [rad]; infinite for continuous joints
VELOCITY_LIMITS = (1.256, 1.454, 1.571, 1.521, 1.571, 2.268, 2.268)  # [rad/s]
# Brings the tip to RESTING_END_EFFECTOR, pointing down, with room to every joint limit [rad].
# habitat-lab's own angles (-0.45, -1.08, 0.1, 0.935, -0.001, 1.573, 0.005) leave the tip 0.29 m
# from it on this chain.
RESTING_ARM = (-0.75, -0.96, 1.93, 1.2, -0.79, 1.98, 0.0)
RESTING_END_EFFECTOR = (0.5, 0.0, 1.0)  # where skills must bring the suction tip, base frame [m]

DIRECTION_LEVER = 0.1  # metres of error that one radian of wrong approach counts

_OFFSETS = np.array([offset for offset, _ in CHAIN] + [GRIPPER_OFFSET, END_EFFECTOR_OFFSET])
_AXES = np.array([axis for _, axis in CHAIN]).argmax(axis=1)  # 0, 1, 2 for x, y, z
_LOW = np.array([low for low, _ in JOINT_LIMITS])
_HIGH = np.array([high for _, high in JOINT_LIMITS])
_DAMPING = 0.03
_LARGEST_STEP = 0.4  # [rad] per iteration and joint
_PULL = 0.08  # null-space share of the way to the preferred posture per iteration
_SPREAD = 0.9  # [rad], standard deviation of restart seeds


def forward(
    joints: np.ndarray | tuple[float, ...], torso_lift: float = TORSO_LIFT
) -> tuple[np.ndarray, np.ndarray]:
    """Pose of the end effector.

    Args:
        joints: Joint angles [7], rad.
        torso_lift: Height of the torso over its lowest position [m].

    Returns:
        Position [3] in metres and rotation (base from end effector) [3, 3].
    """
    positions, rotations = link_frames(joints, torso_lift)
    return positions[-1], rotations[-1]


def link_frames(
    joints: np.ndarray | tuple[float, ...], torso_lift: float = TORSO_LIFT
) -> tuple[np.ndarray, np.ndarray]:
    """Frames of the seven links, the gripper and the end effector.

    Args:
        joints: Joint angles [7], rad.
        torso_lift: Height of the torso over its lowest position [m].

    Returns:
        Origins [9, 3] in metres and rotations (base from link) [9, 3, 3].
    """
    return frames_kernel(np.asarray(joints, dtype=np.float64), float(torso_lift))


def jacobian(joints: np.ndarray | tuple[float, ...], torso_lift: float = TORSO_LIFT) -> np.ndarray:
    """Geometric Jacobian of the end effector.

    Args:
        joints: Joint angles [7], rad.
        torso_lift: Height of the torso over its lowest position [m].

    Returns:
        [6, 7]: linear velocity (m per rad) above angular velocity, base frame.
    """
    positions, rotations = link_frames(joints, torso_lift)
    return _jacobian(positions, rotations, positions[-1])


def solve_ik(
    position: np.ndarray | tuple[float, ...],
    approach: np.ndarray | tuple[float, ...] | None = None,
    seed: np.ndarray | tuple[float, ...] = RESTING_ARM,
    *,
    axis: np.ndarray | tuple[float, ...] = (1.0, 0.0, 0.0),
    point: np.ndarray | tuple[float, ...] = (0.0, 0.0, 0.0),
    preferred: np.ndarray | tuple[float, ...] | None = None,
    restarts: int = 12,
    tolerance: float = 1e-3,
    torso_lift: float = TORSO_LIFT,
) -> tuple[np.ndarray, float]:
    """Joint angles that bring the end effector to a position, by damped least squares.

    Deterministic. Tries the seed first, then the resting posture, then random postures around the
    seed, and stops at the first try within the tolerance.

    Args:
        position: Wanted end effector position, base frame [3], m.
        approach: Wanted direction of `axis`, base frame [3]; None leaves it free.
        seed: Where to start [7], rad.
        axis: Axis that shall point along the approach, end-effector frame [3], unit length.
        point: Point that shall reach the position, end-effector frame [3], m; the tip itself.
        preferred: Posture towards which the free motion pulls [7], rad; None for the seed.
        restarts: Tries beyond the first.
        tolerance: Error that is good enough [m].
        torso_lift: Height of the torso over its lowest position [m].

    Returns:
        Joint angles [7] within the limits, and their error [m]: distance to the position plus
        DIRECTION_LEVER times the angle between approach and reached direction.
    """
    goal = np.asarray(position, dtype=np.float64)
    direction = np.zeros(3)
    if approach is not None:
        direction = np.asarray(approach, dtype=np.float64)
        direction = direction / np.linalg.norm(direction)
    start = np.asarray(seed, dtype=np.float64)
    posture = start if preferred is None else np.asarray(preferred, dtype=np.float64)
    tool = np.array([axis, point], dtype=np.float64)
    best, best_error = start, math.inf
    for guess in _guesses(start, restarts):
        joints, error = _descend(
            goal,
            direction,
            tool,
            np.clip(guess, _LOW, _HIGH),
            posture,
            tolerance,
            float(torso_lift),
        )
        if error < best_error:
            best, best_error = joints, error
        if best_error <= tolerance:
            break
    return best, best_error


def _guesses(seed: np.ndarray, restarts: int) -> Iterator[np.ndarray]:
    """Postures [7] from which to look for a solution: the seed, rest, then random ones."""
    yield seed
    if restarts > 0:
        yield np.asarray(RESTING_ARM)
    generator = np.random.default_rng(0)
    for _ in range(restarts - 1):
        yield seed + generator.normal(0.0, _SPREAD, JOINT_COUNT)


@cached_njit
def frames_kernel(joints: np.ndarray, torso_lift: float) -> tuple[np.ndarray, np.ndarray]:
    """`link_frames` for compiled callers: origins [9, 3] and rotations [9, 3, 3]."""
    count = len(_OFFSETS)
    positions = np.empty((count, 3))
    rotations = np.empty((count, 3, 3))
    point = np.array([TORSO_OFFSET[0], TORSO_OFFSET[1], TORSO_OFFSET[2] + torso_lift])
    turn = np.eye(3)
    for link in range(count):
        for row in range(3):
            for column in range(3):
                point[row] += turn[row, column] * _OFFSETS[link, column]
        if link < JOINT_COUNT:
            cosine, sine = math.cos(joints[link]), math.sin(joints[link])
            first, second = (_AXES[link] + 1) % 3, (_AXES[link] + 2) % 3
            for row in range(3):
                a, b = turn[row, first], turn[row, second]
                turn[row, first] = cosine * a + sine * b
                turn[row, second] = cosine * b - sine * a
        positions[link] = point
        rotations[link] = turn
    return positions, rotations


@cached_njit
def _jacobian(positions: np.ndarray, rotations: np.ndarray, tip: np.ndarray) -> np.ndarray:
    """Geometric Jacobian [6, 7] of a point on the last link from the link frames."""
    result = np.empty((6, JOINT_COUNT))
    for joint in range(JOINT_COUNT):
        axis = rotations[joint, :, _AXES[joint]]
        arm = tip - positions[joint]
        result[0, joint] = axis[1] * arm[2] - axis[2] * arm[1]
        result[1, joint] = axis[2] * arm[0] - axis[0] * arm[2]
        result[2, joint] = axis[0] * arm[1] - axis[1] * arm[0]
        result[3:, joint] = axis
    return result


@cached_njit
def _task_error(
    position: np.ndarray, pointing: np.ndarray, goal: np.ndarray, direction: np.ndarray
) -> tuple[np.ndarray, float]:
    """Task error [6] (metres, lever-weighted rotation) and its scalar measure [m]."""
    error = np.zeros(6)
    error[:3] = goal - position
    total = math.sqrt(error[0] ** 2 + error[1] ** 2 + error[2] ** 2)
    if direction[0] != 0.0 or direction[1] != 0.0 or direction[2] != 0.0:
        x, y, z = pointing
        cross = np.array(
            [
                y * direction[2] - z * direction[1],
                z * direction[0] - x * direction[2],
                x * direction[1] - y * direction[0],
            ]
        )
        sine = math.sqrt((cross**2).sum())
        angle = math.atan2(sine, x * direction[0] + y * direction[1] + z * direction[2])
        if sine > 1e-9:
            error[3:] = DIRECTION_LEVER * cross * (angle / sine)
        elif angle > 1.0:  # exactly opposite: turn about any axis across
            error[3:] = DIRECTION_LEVER * angle * np.array([y - z, z - x, x - y])
        total += DIRECTION_LEVER * angle
    return error, total


@cached_njit
def _task_jacobian(
    task: np.ndarray, pointing: np.ndarray, directed: bool, frozen: np.ndarray
) -> np.ndarray:
    """Jacobian of the task error [6, 7] from that of the tool: turning about its axis is free."""
    task = task.copy()
    for joint in range(JOINT_COUNT):
        along = (pointing * task[3:, joint]).sum()
        for row in range(3):
            turn = task[3 + row, joint] - along * pointing[row]
            task[3 + row, joint] = DIRECTION_LEVER * turn if directed else 0.0
        if frozen[joint]:
            task[:, joint] = 0.0
    return task


@cached_njit
def _descend(
    goal: np.ndarray,
    direction: np.ndarray,
    tool: np.ndarray,
    seed: np.ndarray,
    preferred: np.ndarray,
    tolerance: float,
    torso_lift: float,
) -> tuple[np.ndarray, float]:
    """One run of damped least squares from one seed: best joints [7] and their error [m]."""
    joints = seed.copy()
    best, best_error, stalled = joints.copy(), math.inf, 0
    directed = (direction**2).sum() > 0.0
    frozen = np.zeros(JOINT_COUNT, dtype=np.bool_)
    for _ in range(150):
        positions, rotations = frames_kernel(joints, torso_lift)
        pointing = rotations[-1] @ tool[0]
        position = positions[-1] + rotations[-1] @ tool[1]
        error, total = _task_error(position, pointing, goal, direction)
        whole = _jacobian(positions, rotations, position)
        stalled = 0 if total < 0.99 * best_error else stalled + 1
        if total < best_error:
            best, best_error = joints.copy(), total
        if best_error < 0.2 * tolerance or stalled > 25:
            break
        frozen[:] = False
        for _ in range(3):  # freeze joints that the step would push beyond a limit, and solve again
            task = _task_jacobian(whole, pointing, directed, frozen)
            damping = _DAMPING * min(1.0, 0.05 + 4.0 * total)
            inverse = task.T @ np.linalg.inv(task @ task.T + damping**2 * np.eye(6))
            step = inverse @ error
            pull = _PULL * (preferred - joints) * min(1.0, 0.1 + 3.0 * total)
            step += pull - inverse @ (task @ pull)
            step *= _LARGEST_STEP / max(_LARGEST_STEP, np.abs(step).max())
            violates = (
                ((joints + step < _LOW) & (joints <= _LOW + 1e-9))
                | ((joints + step > _HIGH) & (joints >= _HIGH - 1e-9))
            ) & ~frozen
            if not violates.any():
                break
            frozen |= violates
        joints = np.minimum(np.maximum(joints + step, _LOW), _HIGH)
    return best, best_error
