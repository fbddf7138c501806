"""Motions of the base, arm held still, by a hybrid A* search over position and heading.

The base is kinematic, so a plan is simply the list of actions that the simulator is to be given.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from rearrange.caching import cached_njit
from rearrange.navigation.geodesic import distance_field
from rearrange.navigation.heap import pop, push
from rearrange.navigation.occupancy import OccupancyGrid, clearance_field, interpolate
from rearrange.robot import RobotSpec
from rearrange.robot.spec import CHAIN_COLUMNS
from skills.oracle import collision
from skills.oracle.collision import place_spheres, planning_of
from skills.oracle.obstacles import Obstacles

FORWARD_STEP = 0.0833  # [m] per action
TURN_STEP = 0.0833  # [rad] per action
BASE_MARGIN = 0.003  # [m], around the base
ARM_MARGIN = 0.03  # [m]
BODY_MARGIN = 0.02  # [m]
ESCAPE = 0.025  # [m], part of ARM_MARGIN that a way out of a tight spot may use up
SHORT = 1.0  # [m], straight drives that are tried both forwards and in reverse
EXACT_MARGIN = 0.015  # [m], of arm and load, measured between bodies and not from above
EXACT_LIMIT = 10_000  # nodes of a search that measures so
GREED = 1.3  # weight of the distance that is left


class Lattice(NamedTuple):
    """How finely a search goes over the floor.

    Attributes:
        primitives: Motions: number of actions, forward [m] and turn [rad] of each, cost in actions
            of each [P, 4].
        position_bin: Of two poses in one bin the search follows one [m].
        headings: Bins of a full turn.
    """

    primitives: np.ndarray
    position_bin: float
    headings: int


def _lattice(position_bin: float, headings: int, straight: int, turning: int) -> Lattice:
    """The lattice whose motions take so many actions, without and with a turn."""
    primitives = [
        (straight, FORWARD_STEP, 0.0, 1.0),
        (turning, FORWARD_STEP, 0.07, 1.0),
        (turning, FORWARD_STEP, -0.07, 1.0),
        (turning, 0.0, TURN_STEP, 1.0),
        (turning, 0.0, -TURN_STEP, 1.0),
        (straight, -FORWARD_STEP, 0.0, 1.5),
    ]
    return Lattice(np.array(primitives), position_bin, headings)


LATTICES = (_lattice(0.1, 24, 2, 3), _lattice(0.05, 72, 1, 1))  # the second where the first fails


class Floor(NamedTuple):
    """What a drive has to keep clear of.

    Attributes:
        clearance: Of the base, see OccupancyGrid [nx, ny], m.
        band: Distance to what stands at the height of arm and load [nx, ny], m.
        origin_x: World position of the lower corner of cell [0, 0] [m].
        origin_y: Likewise [m].
        cell: Cell size [m].
        discs: Arm and load seen from above: x, y in the base frame, radius [S, 3], m.
        opened: Distance to open doors and drawers, per layer of PlanningModel [L, nx, ny], m.
        body: Base and trunk: layer, x, y, radius [D, 4], m; none where nothing stands open.
        radius: Of the base, with its margin [m].
        joints: Arm posture during the drive [J], rad.
        spheres: Arm and load [S, 5], see collision.py; none: seen from above is seen well enough.
        boxes: Where it is not: all that is solid, as in Obstacles [B, 8].
        cylinders: Likewise [C, 5].
        chain: See RobotSpec.
        own_body: PlanningModel.body.
    """

    clearance: np.ndarray
    band: np.ndarray
    origin_x: float
    origin_y: float
    cell: float
    discs: np.ndarray
    opened: np.ndarray
    body: np.ndarray
    radius: float
    joints: np.ndarray = np.zeros(0)
    spheres: np.ndarray = np.zeros((0, 5))
    boxes: np.ndarray = np.zeros((0, 8))
    cylinders: np.ndarray = np.zeros((0, 5))
    chain: np.ndarray = np.zeros((0, CHAIN_COLUMNS))
    own_body: np.ndarray = np.zeros(0)


class BasePlanner:
    """Plans drives in one world with the arm (and load) in a fixed posture.

    Attributes:
        robot: Who drives.
        grid: Floor of the apartment.
        floor: What the search needs.
        exact: What it needs where arm and load stand over something, as seen from above, or None.
    """

    exact: Floor | None = None

    def __init__(
        self,
        robot: RobotSpec,
        grid: OccupancyGrid,
        obstacles: Obstacles,
        joints: np.ndarray,
        spheres: np.ndarray,
    ) -> None:
        """Prepare the fields.

        Args:
            robot: Who drives.
            grid: Floor of the apartment.
            obstacles: Everything solid.
            joints: Arm posture during the drive [J], rad.
            spheres: Arm and load, see collision.py.
        """
        model = planning_of(robot)
        arm = np.asarray(joints, float)
        centers, radii = place_spheres(robot, arm, spheres), spheres[:, 4]
        low, high = (centers[:, 2] - radii).min() - 0.02, (centers[:, 2] + radii).max() + 0.02
        self.robot, self.grid = robot, grid
        band = self._field(obstacles.between(low, high))
        discs = np.column_stack([centers[:, :2], radii])
        opened, body = np.zeros((1, 1, 1), np.float32), np.zeros((0, 4))
        if len(obstacles.opened):
            between = obstacles.opened_between
            opened = np.stack([self._field(between(*heights)) for *heights, _ in model.layers])
            rows = [(k, *disc) for k, (*_, parts) in enumerate(model.layers) for disc in parts]
            body = np.array(rows)
        wide, where = robot.base.radius + BASE_MARGIN, (*grid.origin, grid.cell)
        self.floor = Floor(grid.clearance, band, *where, discs, opened, body, wide)
        self.exact = self.floor._replace(
            joints=arm, spheres=np.asarray(spheres, float), boxes=obstacles.boxes,
            cylinders=obstacles.cylinders, chain=robot.chain, own_body=model.body,
        )  # fmt: skip

    def _field(self, footprints: np.ndarray) -> np.ndarray:
        """Distance to footprints [M, 6] everywhere on the grid [nx, ny], m."""
        grid = self.grid
        bounds = np.array(grid.apartment.bounds)
        return clearance_field(grid.clearance.shape, grid.origin, grid.cell, bounds, footprints)

    def slack(self, pose: np.ndarray) -> tuple[float, float]:
        """Clearance of base and arm beyond what a drive needs at a pose (x, y, yaw) [m]."""
        return _slack(self.floor, float(pose[0]), float(pose[1]), float(pose[2]))

    def is_free(self, pose: np.ndarray) -> bool:
        """True if base and arm may be driven to this pose."""
        return min(self.slack(pose)) >= 0.0

    def plan(self, start: np.ndarray, goal: np.ndarray, limit: int = 60_000) -> np.ndarray | None:
        """Actions (forward [m], turn [rad]) [K, 2] from one pose to another, or None.

        Args:
            start: x, y, yaw [3].
            goal: x, y, yaw [3].
            limit: Nodes after which a search gives up.
        """
        field = distance_field(self.grid, (float(goal[0]), float(goal[1])))
        start, goal = np.asarray(start, float).copy(), np.asarray(goal, float).copy()
        attempts = [(self.floor, limit)]
        if self.exact is not None and self.slack(start)[1] < 0.0:
            # A skill may leave the hand over a table's edge, from which no way leads for one who
            # looks from above only.
            attempts.append((self.exact, EXACT_LIMIT))
        for floor, nodes in attempts:
            for lattice in LATTICES:
                actions = _search(floor, field.distance, start, goal, nodes, lattice)
                if actions is not None:
                    return actions
        return None


@cached_njit
def _slack(floor: Floor, x: float, y: float, yaw: float) -> tuple[float, float]:
    geometry = (floor.origin_x, floor.origin_y, floor.cell)
    base = interpolate(floor.clearance, *geometry, x, y) - floor.radius
    cosine, sine = math.cos(yaw), math.sin(yaw)
    for k in range(len(floor.body)):
        layer, dx, dy, radius = floor.body[k]
        px, py = x + cosine * dx - sine * dy, y + sine * dx + cosine * dy
        room = interpolate(floor.opened[int(layer)], *geometry, px, py)
        base = min(base, room - radius - BODY_MARGIN)
    discs, arm = floor.discs, 10.0
    for s in range(len(discs)):
        px = x + cosine * discs[s, 0] - sine * discs[s, 1]
        py = y + sine * discs[s, 0] + cosine * discs[s, 1]
        room = interpolate(floor.band, *geometry, px, py)
        arm = min(arm, room - discs[s, 2])
    arm -= ARM_MARGIN
    if arm < 0.0 and len(floor.spheres) > 0:
        arm_and_body = (floor.joints, floor.chain, floor.own_body)
        world = (np.array((x, y, yaw)), floor.spheres, floor.boxes, floor.cylinders)
        arm = max(arm, collision._clearance(*arm_and_body, *world, -1.0) - EXACT_MARGIN)
    return base, arm


@cached_njit
def _wrap(angle: float) -> float:
    return (angle + math.pi) % (2 * math.pi) - math.pi


@cached_njit
def _advance(pose: np.ndarray, forward: float, turn: float) -> None:
    """One action, as the simulator does it: the motion follows the mean heading."""
    heading = pose[2] + 0.5 * turn
    pose[0] += forward * math.cos(heading)
    pose[1] += forward * math.sin(heading)
    pose[2] = _wrap(pose[2] + turn)


@cached_njit
def _direct(pose: np.ndarray, goal: np.ndarray, reverse: bool) -> np.ndarray:
    """Actions [K, 2] that turn, drive straight and turn again, forwards or in reverse."""
    dx, dy = goal[0] - pose[0], goal[1] - pose[1]
    length = math.hypot(dx, dy)
    heading = math.atan2(dy, dx) + (math.pi if reverse else 0.0) if length > 1e-3 else goal[2]
    first, last = _wrap(heading - pose[2]), _wrap(goal[2] - heading)
    counts = (
        math.ceil(abs(first) / TURN_STEP),
        math.ceil(length / FORWARD_STEP),
        math.ceil(abs(last) / TURN_STEP),
    )
    actions = np.zeros((counts[0] + counts[1] + counts[2], 2))
    for k in range(counts[0]):
        actions[k, 1] = first / counts[0]
    for k in range(counts[1]):
        actions[counts[0] + k, 0] = (-length if reverse else length) / counts[1]
    for k in range(counts[2]):
        actions[counts[0] + counts[1] + k, 1] = last / counts[2]
    return actions


@cached_njit
def _drivable(
    floor: Floor, pose: np.ndarray, actions: np.ndarray, base_least: float, arm_least: float
) -> bool:
    """True if actions [K, 2] from a pose keep base and arm clear; moves `pose` to the end."""
    for k in range(len(actions)):
        _advance(pose, actions[k, 0], actions[k, 1])
        base, arm = _slack(floor, pose[0], pose[1], pose[2])
        if base < base_least or arm < arm_least:
            return False
    return True


@cached_njit
def _unroll(
    primitives: np.ndarray,
    parents: np.ndarray,
    moves: np.ndarray,
    node: int,
    tail: np.ndarray,
) -> np.ndarray:
    """Actions [K, 2] to a node and on with the tail."""
    count, walk = len(tail), node
    while parents[walk] >= 0:
        count += int(primitives[moves[walk], 0])
        walk = parents[walk]
    actions = np.empty((count, 2))
    actions[count - len(tail) :] = tail
    end, walk = count - len(tail), node
    while parents[walk] >= 0:
        primitive = primitives[moves[walk]]
        for _ in range(int(primitive[0])):
            end -= 1
            actions[end, 0], actions[end, 1] = primitive[1], primitive[2]
        walk = parents[walk]
    return actions


@cached_njit
def _bin(floor: Floor, lattice: Lattice, pose: np.ndarray) -> tuple[int, int, int]:
    """Bin of a pose in the search: row, column, heading."""
    heading = int((pose[2] + math.pi) / (2 * math.pi) * lattice.headings) % lattice.headings
    row = int((pose[0] - floor.origin_x) / lattice.position_bin)
    return row, int((pose[1] - floor.origin_y) / lattice.position_bin), heading


@cached_njit
def _remaining(floor: Floor, distance: np.ndarray, pose: np.ndarray, goal: np.ndarray) -> float:
    """Estimate of the way that is left from a pose [m]."""
    ix = int((pose[0] - floor.origin_x) / floor.cell)
    iy = int((pose[1] - floor.origin_y) / floor.cell)
    left = distance[ix, iy]
    return left if np.isfinite(left) else 3.0 + math.hypot(pose[0] - goal[0], pose[1] - goal[1])


@cached_njit
def _connect(
    floor: Floor, here: np.ndarray, goal: np.ndarray, base_least: float, arm_least: float
) -> tuple[bool, np.ndarray]:
    """Whether turning, driving straight and turning leads to the goal, and these actions [K, 2]."""
    first, second = _direct(here, goal, False), _direct(here, goal, True)
    near = math.hypot(here[0] - goal[0], here[1] - goal[1]) < SHORT
    if near and len(second) < len(first):
        first, second = second, first
    if _drivable(floor, here.copy(), first, base_least, arm_least):
        return True, first
    if near:
        return _drivable(floor, here.copy(), second, base_least, arm_least), second
    return False, second


@cached_njit
def _search(
    floor: Floor,
    distance: np.ndarray,
    start: np.ndarray,
    goal: np.ndarray,
    limit: int,
    lattice: Lattice,
) -> np.ndarray | None:
    """Weighted hybrid A*; actions [K, 2] or None."""
    base, arm = _slack(floor, start[0], start[1], start[2])
    # From a start in a tight spot, the way out may be a little tighter still: straight back along a
    # door that is not quite parallel, say.
    base_least = min(0.0, base - 1e-3)
    arm_least = min(0.0, arm - 1e-3, max(arm, 0.0) - ESCAPE)
    rows = math.ceil(distance.shape[0] * floor.cell / lattice.position_bin)
    columns = math.ceil(distance.shape[1] * floor.cell / lattice.position_bin)
    closed = np.zeros((rows, columns, lattice.headings), dtype=np.bool_)
    poses = np.empty((limit, 3))
    parents, moves = np.full(limit, -1), np.zeros(limit, dtype=np.int64)
    costs, keys = np.zeros(limit), np.zeros(limit)
    heap = np.empty(limit, dtype=np.int64)
    poses[0], heap[0] = start, 0
    waiting, count = 1, 1
    pose, actions = start.copy(), np.empty((3, 2))
    while waiting > 0:
        node = pop(heap, waiting, keys)
        waiting -= 1
        place = _bin(floor, lattice, poses[node])
        if closed[place]:
            continue
        closed[place] = True
        arrives, tail = _connect(floor, poses[node], goal, base_least, arm_least)
        if arrives:
            return _unroll(lattice.primitives, parents, moves, node, tail)
        for move in range(len(lattice.primitives)):
            steps, forward, turn, cost = lattice.primitives[move]
            pose[:] = poses[node]
            actions[:, 0], actions[:, 1] = forward, turn
            if not _drivable(floor, pose, actions[: int(steps)], base_least, arm_least):
                continue
            if count >= limit:
                return None
            poses[count], parents[count], moves[count] = pose, node, move
            costs[count] = costs[node] + steps * cost
            left = _remaining(floor, distance, pose, goal)
            keys[count] = costs[count] + GREED * left / FORWARD_STEP
            waiting = push(heap, waiting, keys, count)
            count += 1
    return None
