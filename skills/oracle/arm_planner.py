"""Paths of the arm between two postures, by bidirectional rapidly exploring random trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rearrange.caching import cached_njit
from rearrange.robot import RobotSpec
from rearrange.robot.spec import HIGH, LOW, UNIT
from skills.oracle.collision import _clearance, planning_of

# Of slides, all that is in radians here is in their units.
CHECK_STEP = 0.06  # [rad], largest change of a joint between two checks
EXTEND_STEP = 0.3  # [rad], length of a branch
TREE_SIZE = 2000
TREES = 3  # searches, of which the shortest path counts
SHORTCUTS = 100
FARTHEST = 3.3  # [rad], where the search ends for joints without limits


def plan_arm(
    robot: RobotSpec,
    start: np.ndarray,
    goal: np.ndarray,
    base_pose: np.ndarray,
    spheres: np.ndarray,
    boxes: np.ndarray,
    cylinders: np.ndarray,
    margin: float,
) -> np.ndarray | None:
    """A path of the arm that keeps its distance, with the base standing still.

    Args:
        robot: Whose arm.
        start: Joint angles [J], rad.
        goal: Joint angles [J], rad.
        base_pose: x, y, yaw [3].
        spheres: Arm and load, see collision.py [S, 5].
        boxes: Obstacles [B, 8].
        cylinders: Obstacles [C, 5].
        margin: Wanted distance to obstacles [m]; less where start or goal have less.

    Returns:
        Way points [K, J] from start to goal, to be joined by straight lines, or None.
    """
    start, goal = np.ascontiguousarray(start, float), np.ascontiguousarray(goal, float)
    world = _world(robot, base_pose, spheres, boxes, cylinders)
    best, shortest = None, np.inf
    for seed in range(TREES):
        path = _plan(start, goal, world, margin, np.random.default_rng(seed))
        if path is None and seed >= 1:
            break
        length = np.inf
        if path is not None:
            moves = np.diff(path, axis=0) / robot.units
            length = float(np.abs(moves).max(axis=1).sum())
        if length < shortest:
            best, shortest = path, length
        if best is not None and len(best) == 2:
            break
    return best


def straight_arm(
    robot: RobotSpec,
    start: np.ndarray,
    goal: np.ndarray,
    base_pose: np.ndarray,
    spheres: np.ndarray,
    boxes: np.ndarray,
    cylinders: np.ndarray,
    margin: float,
) -> np.ndarray | None:
    """As `plan_arm`, but only the straight line of joint angles [2, J], or None."""
    start, goal = np.ascontiguousarray(start, float), np.ascontiguousarray(goal, float)
    world = _world(robot, base_pose, spheres, boxes, cylinders)
    margin = _attainable(start, goal, world, margin)
    return np.array([start, goal]) if line_is_clear(start, goal, world, margin) else None


class World(NamedTuple):
    """Arguments of `collision.arm_clearance` that stay the same during a search."""

    base_pose: np.ndarray
    spheres: np.ndarray
    boxes: np.ndarray
    cylinders: np.ndarray
    chain: np.ndarray
    body: np.ndarray


def _world(
    robot: RobotSpec,
    base_pose: np.ndarray,
    spheres: np.ndarray,
    boxes: np.ndarray,
    cylinders: np.ndarray,
) -> World:
    pose, body = np.ascontiguousarray(base_pose, float), planning_of(robot).body
    return World(pose, spheres, boxes, cylinders, robot.chain, body)


@cached_njit
def _gap(joints: np.ndarray, world: World, enough: float) -> float:
    """`collision._clearance` in a world [m]."""
    return _clearance(
        joints, world.chain, world.body, world.base_pose, world.spheres, world.boxes, world.cylinders,
        enough,
    )  # fmt: skip


@cached_njit
def line_is_clear(
    start: np.ndarray,
    goal: np.ndarray,
    world: World,
    margin: float,
) -> bool:
    """True if the straight line to a posture keeps `margin` [m]; the start is not checked."""
    units = world.chain[1:-2, UNIT]
    count = int(np.ceil(np.abs((goal - start) / units).max() / CHECK_STEP))
    for k in range(1, count + 1):
        joints = start + (goal - start) * (k / count)
        if _gap(joints, world, margin) < margin:
            return False
    return True


@cached_njit
def _nearest(tree: np.ndarray, size: int, point: np.ndarray, units: np.ndarray) -> int:
    best, index = np.inf, 0
    for k in range(size):
        away = (((tree[k] - point) / units) ** 2).sum()
        if away < best:
            best, index = away, k
    return index


@cached_njit
def _trace(tree: np.ndarray, parents: np.ndarray, leaf: int) -> np.ndarray:
    """Nodes [K, J] from the root to a leaf."""
    count, node = 0, leaf
    while node >= 0:
        count += 1
        node = parents[node]
    path = np.empty((count, tree.shape[1]))
    node = leaf
    for k in range(count - 1, -1, -1):
        path[k] = tree[node]
        node = parents[node]
    return path


@cached_njit
def _shorten(
    path: np.ndarray, world: World, margin: float, generator: np.random.Generator
) -> np.ndarray:
    """Replace random stretches of a path [K, J] by straight lines where these are clear."""
    for _ in range(SHORTCUTS):
        count = len(path)
        if count <= 2:
            break
        first, last = generator.integers(0, count - 1), generator.integers(1, count)
        if last <= first + 1:
            continue
        head = path[first] + generator.random() * (path[first + 1] - path[first])
        tail = path[last - 1] + generator.random() * (path[last] - path[last - 1])
        if first + 3 + count - last <= count + 1 and line_is_clear(head, tail, world, margin):
            kept = np.empty((first + 3 + count - last, path.shape[1]))
            kept[: first + 1] = path[: first + 1]
            kept[first + 1] = head
            kept[first + 2] = tail
            kept[first + 3 :] = path[last:]
            path = kept
    return path


@cached_njit
def _attainable(start: np.ndarray, goal: np.ndarray, world: World, margin: float) -> float:
    """The margin [m], or less where start or goal have less."""
    for end in (start, goal):
        gap = _gap(end, world, -1.0)
        margin = min(margin, gap - 1e-3)
    return margin


@cached_njit
def _grow(
    trees: np.ndarray,
    parents: np.ndarray,
    sizes: np.ndarray,
    side: int,
    target: np.ndarray,
    world: World,
    margin: float,
    keep_going: bool,
) -> int:
    """Branch a tree towards a target once, or until reached or blocked; last new node or -1."""
    tree, units = trees[side], world.chain[1:-2, UNIT]
    node = _nearest(tree, sizes[side], target, units)
    last = -1
    while sizes[side] < len(tree):
        step = target - tree[node]
        length = np.sqrt(((step / units) ** 2).sum())
        if length < 1e-9:
            return node
        point = tree[node] + step * min(1.0, EXTEND_STEP / length)
        if not line_is_clear(tree[node], point, world, margin):
            return last
        tree[sizes[side]] = point
        parents[side, sizes[side]] = node
        node = last = sizes[side]
        sizes[side] += 1
        if not keep_going:
            return last
    return last


@cached_njit
def _plan(
    start: np.ndarray,
    goal: np.ndarray,
    world: World,
    margin: float,
    generator: np.random.Generator,
) -> np.ndarray | None:
    """Path [K, J] or None."""
    margin = _attainable(start, goal, world, margin)
    if line_is_clear(start, goal, world, margin):
        direct = np.empty((2, len(start)))
        direct[0], direct[1] = start, goal
        return direct
    low = np.maximum(world.chain[1:-2, LOW], -FARTHEST)
    high = np.minimum(world.chain[1:-2, HIGH], FARTHEST)
    trees = np.empty((2, TREE_SIZE, len(start)))
    parents = np.full((2, TREE_SIZE), -1)
    sizes = np.ones(2, dtype=np.int64)
    trees[0, 0], trees[1, 0] = start, goal
    side = int(sizes.argmin())  # 0, but no literal: _grow would be compiled for that too
    while sizes.max() < TREE_SIZE - 1:
        target = low + (high - low) * generator.random(len(start))
        node = _grow(trees, parents, sizes, side, target, world, margin, False)
        if node >= 0:
            tip = trees[side, node].copy()
            met = _grow(trees, parents, sizes, 1 - side, tip, world, margin, True)
            if met >= 0 and np.abs(trees[1 - side, met] - tip).max() < 1e-6:
                ends = (node, met) if side == 0 else (met, node)
                head = _trace(trees[0], parents[0], ends[0])
                tail = _trace(trees[1], parents[1], ends[1])[::-1]
                return _shorten(np.concatenate((head, tail[1:])), world, margin, generator)
        side = 1 - side if sizes[side] > sizes[1 - side] else side
    return None
