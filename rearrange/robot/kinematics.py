"""Kinematics of a robot's arm: forward kinematics, Jacobian, inverse kinematics.

Everything is in the base frame: x forward, y left, z up, origin on the floor under the robot; metres and
radians. Values of joints that slide are in metres, wherever it says rad. Compiled functions take
`RobotSpec.chain`, and are compiled once for all robots.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rearrange.caching import cached_njit
from rearrange.robot.spec import AXIS, HIGH, LOW, SLIDE, UNIT, RobotSpec

Vector = np.ndarray | tuple[float, ...]

DIRECTION_LEVER = 0.1  # metres of error that one radian of wrong approach counts

_DAMPING = 0.03
_LARGEST_STEP = 0.4  # [rad] per iteration and joint, of slides in their units
_PULL = 0.08  # null-space share of the way to the preferred posture per iteration
_SPREAD = 0.9  # [rad], standard deviation of restart seeds


def forward(robot: RobotSpec, joints: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Pose of the end effector.

    Args:
        robot: Whose arm.
        joints: Joint angles [J], rad.

    Returns:
        Position [3] in metres and rotation (base from end effector) [3, 3].
    """
    positions, rotations = link_frames(robot, joints)
    return positions[-1], rotations[-1]


def link_frames(robot: RobotSpec, joints: Vector) -> tuple[np.ndarray, np.ndarray]:
    """Frames of the links, the gripper and the end effector.

    Args:
        robot: Whose arm.
        joints: Joint angles [J], rad.

    Returns:
        Origins [J + 2, 3] in metres and rotations (base from link) [J + 2, 3, 3].
    """
    return frames_kernel(np.asarray(joints, dtype=np.float64), robot.chain)


def jacobian(robot: RobotSpec, joints: Vector) -> np.ndarray:
    """Geometric Jacobian of the end effector.

    Args:
        robot: Whose arm.
        joints: Joint angles [J], rad.

    Returns:
        [6, J]: linear velocity (m per rad, of slides m per m) above angular velocity, base frame.
    """
    positions, rotations = link_frames(robot, joints)
    return _jacobian(positions, rotations, positions[-1], robot.chain)


def solve_ik(
    robot: RobotSpec,
    position: Vector,
    approach: Vector | None = None,
    seed: Vector | None = None,
    *,
    axis: Vector = (1.0, 0.0, 0.0),
    point: Vector = (0.0, 0.0, 0.0),
    restarts: int = 12,
    tolerance: float = 1e-3,
) -> tuple[np.ndarray, float]:
    """Joint angles that bring the end effector to a position, by damped least squares.

    Deterministic. Tries the seed first, then the resting posture, then random postures around the
    seed, and stops at the first try within the tolerance.

    Args:
        robot: Whose arm.
        position: Wanted end effector position, base frame [3], m.
        approach: Wanted direction of `axis`, base frame [3]; None leaves it free.
        seed: Where to start [J], rad, and towards which the free motion pulls; None for the resting posture.
        axis: Axis that shall point along the approach, end-effector frame [3], unit length.
        point: Point that shall reach the position, end-effector frame [3], m; the tip itself.
        restarts: Tries beyond the first.
        tolerance: Error that is good enough [m].

    Returns:
        Joint angles [J] within the limits, and their error [m]: distance to the position plus
        DIRECTION_LEVER times the angle between approach and reached direction.
    """
    goal = np.asarray(position, dtype=np.float64)
    direction = np.zeros(3)
    if approach is not None:
        direction = np.asarray(approach, dtype=np.float64)
        direction = direction / np.linalg.norm(direction)
    start = np.asarray(robot.resting_arm if seed is None else seed, dtype=np.float64)
    tool = np.array([axis, point], dtype=np.float64)
    best, best_error = start, math.inf
    for guess in _guesses(robot, start, restarts):
        joints, error = _descend(
            goal,
            direction,
            tool,
            np.clip(guess, *robot.limits),
            start,
            tolerance,
            robot.chain,
        )
        if error < best_error:
            best, best_error = joints, error
        if best_error <= tolerance:
            break
    return best, best_error


def _guesses(robot: RobotSpec, seed: np.ndarray, restarts: int) -> Iterator[np.ndarray]:
    """Postures [J] from which to look for a solution: the seed, rest, then random ones."""
    yield seed
    if restarts > 0:
        yield np.asarray(robot.resting_arm)
    generator = np.random.default_rng(0)
    for _ in range(restarts - 1):
        yield seed + generator.normal(0.0, _SPREAD, len(seed)) * robot.units


@cached_njit
def frames_kernel(joints: np.ndarray, chain: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`link_frames` for compiled callers: origins [J + 2, 3] and rotations [J + 2, 3, 3]."""
    count, driven = len(chain) - 1, len(chain) - 3
    positions, rotations = np.empty((count, 3)), np.empty((count, 3, 3))
    turns = np.empty((driven, 2))
    for joint in range(driven):
        turns[joint, 0], turns[joint, 1] = math.cos(joints[joint]), math.sin(joints[joint])
    for row in range(3):  # no row needs another, and so all of one stays in registers
        point, x = chain[0, row], 1.0 if row == 0 else 0.0
        y, z = 1.0 if row == 1 else 0.0, 1.0 if row == 2 else 0.0
        for link in range(count):
            point += x * chain[link + 1, 0]
            point += y * chain[link + 1, 1]
            point += z * chain[link + 1, 2]
            if link < driven:
                cosine, sine = turns[link, 0], turns[link, 1]
                axis = chain[link + 1, AXIS]
                if axis == 0.0:
                    y, z = cosine * y + sine * z, cosine * z - sine * y
                elif axis == 1.0:
                    z, x = cosine * z + sine * x, cosine * x - sine * z
                elif axis == 2.0:
                    x, y = cosine * x + sine * y, cosine * y - sine * x
                else:
                    point += joints[link] * (x if axis == 3.0 else y if axis == 4.0 else z)
            positions[link, row] = point
            rotations[link, row, 0], rotations[link, row, 1], rotations[link, row, 2] = x, y, z
    return positions, rotations


@cached_njit
def _jacobian(
    positions: np.ndarray, rotations: np.ndarray, tip: np.ndarray, chain: np.ndarray
) -> np.ndarray:
    """Geometric Jacobian [6, J] of a point on the last link from the link frames."""
    count = len(chain) - 3
    result = np.empty((6, count))
    for joint in range(count):
        kind = int(chain[joint + 1, AXIS])
        axis = rotations[joint, :, kind % SLIDE]
        if kind >= SLIDE:
            result[:3, joint], result[3:, joint] = axis, 0.0
            continue
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
    """Jacobian of the task error [6, J] from that of the tool: turning about its axis is free."""
    task = task.copy()
    for joint in range(task.shape[1]):
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
    chain: np.ndarray,
) -> tuple[np.ndarray, float]:
    """One run of damped least squares from one seed: best joints [J] and their error [m]."""
    low, high, units = chain[1:-2, LOW], chain[1:-2, HIGH], chain[1:-2, UNIT]
    joints = seed.copy()
    best, best_error, stalled = joints.copy(), math.inf, 0
    directed = (direction**2).sum() > 0.0
    frozen = np.zeros(len(joints), dtype=np.bool_)
    for _ in range(150):
        positions, rotations = frames_kernel(joints, chain)
        pointing = rotations[-1] @ tool[0]
        position = positions[-1] + rotations[-1] @ tool[1]
        error, total = _task_error(position, pointing, goal, direction)
        whole = _jacobian(positions, rotations, position, chain) * units
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
            pull = _PULL * ((preferred - joints) / units) * min(1.0, 0.1 + 3.0 * total)
            step += pull - inverse @ (task @ pull)
            step *= _LARGEST_STEP / max(_LARGEST_STEP, np.abs(step).max())
            moved = joints + step * units
            violates = (
                ((moved < low) & (joints <= low + 1e-9))
                | ((moved > high) & (joints >= high - 1e-9))
            ) & ~frozen
            if not violates.any():
                break
            frozen |= violates
        joints = np.minimum(np.maximum(joints + step * units, low), high)
    return best, best_error
