"""Where to stand and how to bring the hand to a point: the plan that all three oracles share.

A reach has two base poses on one line: at the `stage` the arm can unfold from its resting posture
and be driven about; from there the base goes straight to the `stand`, where the hand comes down
on the target from above.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rearrange.navigation import OccupancyGrid, distance_field
from rearrange.robot.kinematics import RESTING_ARM, forward, solve_ik
from skills.oracle.arm_planner import plan_arm
from skills.oracle.base_planner import FORWARD_STEP, BasePlanner
from skills.oracle.collision import ARM_SPHERES, arm_clearance
from skills.oracle.obstacles import Obstacles

STAND_DISTANCES = (
    0.40,
    0.45,
    0.50,
    0.55,
    0.60,
    0.65,
    0.70,
    0.75,
    0.8,
)  # base to target, horizontal [m]
STAND_BEARINGS = 36
BEST_DISTANCE = 0.6  # [m]
# Tilts of a picking hand, forwards from straight down [rad]. What is taken with a tilted hand can
# be set down upright on high surfaces, which an arm reaching straight down cannot; so those come
# first.
STEEP_TILTS, FLAT_TILTS = (0.6, 0.9), (0.3, 0.0)
# Largest error of the inverse kinematics [m], least rise [m] and largest jump of a joint between
# neighbouring heights [rad]: first exact and smooth, then less so.
LIMITS = ((3e-3, 0.06, 0.15), (1.2e-2, 0.04, 0.15), (1.2e-2, 0.04, 0.6))
RISE_STEP = 0.02  # [m]
LARGEST_RISE = 0.24  # [m]
STAGE_STEP = 0.1  # [m]
STAGE_COUNT = 8
CONTACT_MARGIN = 0.006  # [m], arm to anything but the target while it comes down
LOAD_FREE_RISE = 0.03  # [m], below which a load may touch what it stands on
READY_MARGIN = 0.012  # [m]
ARM_MARGIN = 0.02  # [m]
SMALL_JUMP = 0.15  # [rad], between neighbouring heights: the hand stays on its line
LARGEST_SWING = 0.006  # [m]
SEEDS = (
    RESTING_ARM,
    (0.0, -0.5, 0.0, 1.3, 0.0, 0.77, 0.0),  # elbow up
    (0.75, -0.96, -1.93, 1.2, 0.79, 1.98, 0.0),  # elbow out to the right
)


@dataclass(frozen=True)
class Tool:
    """What of the hand has to come to the target.

    Attributes:
        point: End-effector frame [3], m.
        axis: Axis whose direction matters, end-effector frame [3].
        load: Spheres of what is held [S, 5]; before a pick, as it would hang under a hand that
        points
            straight down.
    """

    point: np.ndarray
    axis: np.ndarray
    load: np.ndarray


@dataclass(frozen=True)
class Way:
    """How the hand may come down.

    Attributes:
        directions: Directions of the tool's axis to try, base frame [3] each.
        error: Largest error of the inverse kinematics [m].
        rise: Least height from which to come down [m].
        jump: Largest change of a joint between neighbouring heights [rad].
    """

    directions: tuple[tuple[float, float, float], ...]
    error: float
    rise: float
    jump: float


@dataclass(frozen=True)
class Reach:
    """A plan for one reach.

    Attributes:
        stand: Base pose while the hand is at the target [3].
        stage: Base pose while the arm unfolds and folds, straight behind [3].
        heights: Postures from the target upwards, RISE_STEP apart [K, 7], rad.
        unfold: Way points of the arm at the stage, from resting to the highest posture [P, 7], rad.
    """

    stand: np.ndarray
    stage: np.ndarray
    heights: np.ndarray
    unfold: np.ndarray

    @property
    def retreat(self) -> float:
        """Distance from stand to stage [m]."""
        return math.dist(self.stand[:2], self.stage[:2])


class ReachPlanner:
    """Finds reaches in a snapshot of one world."""

    def __init__(
        self,
        grid: OccupancyGrid,
        obstacles: Obstacles,
        joints: np.ndarray,
        tool: Tool,
        loaded: bool,
    ) -> None:
        """Prepare.

        Args:
            grid: Floor of the apartment.
            obstacles: Everything solid but the object in question.
            joints: Present posture of the arm [7], rad.
            tool: What has to come to the target.
            loaded: The load is in the hand already (place) or will be (pick).
        """
        self.grid, self.obstacles, self.tool, self.loaded = grid, obstacles, tool, loaded
        self.joints = np.asarray(joints, float).copy()
        self.spheres = np.vstack([ARM_SPHERES, tool.load])
        self.base = BasePlanner(grid, obstacles, self.joints, self.spheres)

    def find(
        self, start: np.ndarray, target: np.ndarray, effort: int = 60, skip: int = 0
    ) -> Reach | None:
        """The first feasible reach, nearest standing places first.

        Args:
            start: Present base pose [3].
            target: Where the tool's point has to come, world frame [3], m.
            effort: Standing places that are tried.
            skip: Feasible reaches to pass over, for another try after a failure.
        """
        stands = self._stands(start, target)[:effort]
        for way in self._ways():
            for stand in stands:
                local = self.obstacles.near(stand[0], stand[1], 1.3)
                for heights in self._descents(stand, target, local, way):
                    stage = self._stage(stand, heights)
                    if stage is None:
                        continue
                    if skip > 0:
                        skip -= 1
                        break
                    return Reach(stand, stage[0], heights, stage[1])
        return None

    def _ways(self) -> tuple[Way, ...]:
        """Ways of holding the hand, best first."""
        if self.loaded:
            return tuple(Way(((0.0, 0.0, 1.0),), *limits) for limits in LIMITS)
        exact, _, loose = LIMITS
        steep = tuple(_tilted(tilt) for tilt in STEEP_TILTS)
        flat = tuple(_tilted(tilt) for tilt in FLAT_TILTS)
        return Way(steep, *exact), Way(flat, *exact), Way((*steep, *flat), *loose)

    def _stands(self, start: np.ndarray, target: np.ndarray) -> list[np.ndarray]:
        """Base poses around the target that face it, cheapest first."""
        field = distance_field(self.grid, (float(start[0]), float(start[1])))
        ranked = []
        for distance in STAND_DISTANCES:
            for k in range(STAND_BEARINGS):
                yaw = 2 * math.pi * k / STAND_BEARINGS
                x = float(target[0]) - distance * math.cos(yaw)
                y = float(target[1]) - distance * math.sin(yaw)
                clearance = self.grid.clearance_at(x, y)
                if clearance < 0.31 or not self.grid.on_island(x, y):
                    continue
                away = field.at(x, y)
                turn = abs(math.remainder(yaw - start[2], 2 * math.pi)) if away < 1.5 else 0.0
                cost = away / FORWARD_STEP + 10.0 * turn
                cost += 80.0 * abs(distance - BEST_DISTANCE) - 40.0 * min(clearance - 0.3, 0.2)
                ranked.append(
                    (cost, len(ranked), np.array([x, y, math.remainder(yaw, 2 * math.pi)]))
                )
        return [stand for _, _, stand in sorted(ranked)]

    def _descents(
        self, stand: np.ndarray, target: np.ndarray, local: Obstacles, way: Way
    ) -> Iterator[np.ndarray]:
        """Postures from the target upwards [K, 7] for every way to hold the hand."""
        position = to_base(stand, target)
        for direction in way.directions:
            for seed in SEEDS:
                contact, error = self._solve(position, direction, np.array(seed), restarts=2)
                if error > way.error:
                    continue
                if self._arm_clearance(contact, stand, local) < CONTACT_MARGIN:
                    continue
                heights = self._rise(contact, stand, position, direction, local, way)
                if (len(heights) - 1) * RISE_STEP >= way.rise - 1e-6:
                    yield heights

    def _solve(
        self, position: np.ndarray, direction: tuple[float, ...], seed: np.ndarray, restarts: int
    ) -> tuple[np.ndarray, float]:
        return solve_ik(
            position,
            direction,
            seed,
            axis=self.tool.axis,
            point=self.tool.point,
            restarts=restarts,
            tolerance=1e-3,
        )

    def _arm_clearance(self, joints: np.ndarray, base: np.ndarray, local: Obstacles) -> float:
        return arm_clearance(joints, base, ARM_SPHERES, local.boxes, local.cylinders)

    def _rise(
        self,
        contact: np.ndarray,
        stand: np.ndarray,
        position: np.ndarray,
        direction: tuple[float, ...],
        local: Obstacles,
        way: Way,
    ) -> np.ndarray:
        """Postures straight up from the contact as far as arm and load stay clear [K, 7]."""
        load = self._load_at(contact)
        heights = [contact]
        for k in range(1, round(LARGEST_RISE / RISE_STEP) + 1):
            rise = k * RISE_STEP
            joints, error = self._solve(
                position + np.array([0.0, 0.0, rise]), direction, heights[-1], restarts=0
            )
            if error > way.error or self._swings(heights[-1], joints, way.jump):
                break
            if self._arm_clearance(joints, stand, local) < CONTACT_MARGIN:
                break
            if rise >= LOAD_FREE_RISE:
                gap = arm_clearance(joints, stand, load, local.boxes, local.cylinders)
                if gap < 0.0:
                    break
            heights.append(joints)
        return np.array(heights)

    def _swings(self, lower: np.ndarray, upper: np.ndarray, largest: float) -> bool:
        """True if the hand would leave the straight line between two neighbouring heights."""
        jump = float(np.abs(upper - lower).max())
        if jump <= SMALL_JUMP:
            return False
        points = [
            position + rotation @ self.tool.point
            for position, rotation in (forward(q) for q in (lower, (lower + upper) / 2, upper))
        ]
        off = float(np.linalg.norm(points[1] - (points[0] + points[2]) / 2))
        return jump > largest or off > LARGEST_SWING

    def _load_at(self, contact: np.ndarray) -> np.ndarray:
        """Spheres of the load, upright in the contact posture [S, 5]."""
        if self.loaded:
            return self.tool.load
        _, rotation = forward(contact)
        spheres = self.tool.load.copy()
        # As given, the load hangs under a hand that points down: x there is -z of the world.
        world = np.column_stack([spheres[:, 3], spheres[:, 2], -spheres[:, 1]])
        spheres[:, 1:4] = world @ rotation
        return spheres

    def _stage(
        self, stand: np.ndarray, heights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The nearest stage straight behind the stand and how the arm unfolds there."""
        ready = heights[-1]
        spheres = np.vstack([ARM_SPHERES, self._load_at(heights[0])])
        for k in range(STAGE_COUNT + 1):
            back = k * STAGE_STEP
            stage = stand - back * np.array([math.cos(stand[2]), math.sin(stand[2]), 0.0])
            local = self.obstacles.near(stage[0], stage[1], 1.3)
            margin = arm_clearance(ready, stage, spheres, local.boxes, local.cylinders)
            if self.base.slack(stage)[0] < 0.0 or margin < (READY_MARGIN if k else CONTACT_MARGIN):
                return None
            if not self.base.is_free(stage):
                continue
            moving = self.spheres if self.loaded else ARM_SPHERES
            unfold = plan_arm(
                self.joints, ready, stage, moving, local.boxes, local.cylinders, ARM_MARGIN
            )
            if unfold is not None:
                return stage, unfold
        return None


def _tilted(angle: float) -> tuple[float, float, float]:
    """Direction of a hand that points down, tilted forwards by an angle [rad], base frame."""
    return math.sin(angle), 0.0, -math.cos(angle)


def to_base(base_pose: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A world point [3] in the base frame of a pose (x, y, yaw)."""
    cosine, sine = math.cos(base_pose[2]), math.sin(base_pose[2])
    dx, dy = point[0] - base_pose[0], point[1] - base_pose[1]
    return np.array([cosine * dx + sine * dy, cosine * dy - sine * dx, point[2]])
