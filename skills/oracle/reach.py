"""Where to stand and how to bring the hand to a point: the plan that all oracles share.

A reach has two base poses on one line: at the `stage` the arm can unfold from its resting posture
and be driven about; from there the base goes straight to the `stand`, where the hand comes down
on the target.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rearrange.navigation import OccupancyGrid, distance_field
from rearrange.robot import RobotSpec
from rearrange.robot.kinematics import forward
from skills.oracle.arm_planner import plan_arm, straight_arm
from skills.oracle.base_planner import FORWARD_STEP, BasePlanner
from skills.oracle.collision import arm_clearance, planning_of
from skills.oracle.descents import RISE_STEP, Descents, Way
from skills.oracle.finger_grasp import Turns
from skills.oracle.obstacles import Obstacles

# Base to target, horizontal [m].
STAND_DISTANCES = (0.40, 0.45, 0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80)
FEW_DISTANCES = STAND_DISTANCES[::2]  # for ways with many aims
FAR_DISTANCES = (0.6, 0.7, 0.8, 0.9, 1.0, 1.15, 1.3)  # likewise, where nothing can be reached [m]
STAND_BEARINGS = 36
BEST_DISTANCE = 0.6  # [m]
STAGE_STEP = 0.1  # [m]
STAGE_COUNT = 8
UNFOLD_STRIDE = 3  # of the possible stages, those where a way around things is searched for
UNFOLDS = 8  # searches that may fail before a way is given up
CONTACT_MARGIN = 0.006  # [m], arm to anything but the target while it comes down
LOAD_FREE_RISE = 0.03  # [m], below which a load may touch what it stands on
READY_MARGIN = 0.012  # [m]
ARM_MARGIN = 0.02  # [m]


@dataclass(frozen=True)
class Reach:
    """A plan for one reach.

    Attributes:
        stand: Base pose while the hand is at the target [3].
        stage: Base pose while the arm unfolds and folds, straight behind [3].
        heights: Postures from the target upwards, RISE_STEP apart [K, J], rad.
        unfold: Way points of the arm at the stage, from resting to the highest posture [P, J], rad.
        way: Index of the way in which the hand comes.
    """

    stand: np.ndarray
    stage: np.ndarray
    heights: np.ndarray
    unfold: np.ndarray
    way: int

    @property
    def retreat(self) -> float:
        """Distance from stand to stage [m]."""
        return math.dist(self.stand[:2], self.stage[:2])


class ReachPlanner:
    """Finds reaches in a snapshot of one world."""

    def __init__(
        self,
        robot: RobotSpec,
        grid: OccupancyGrid,
        obstacles: Obstacles,
        joints: np.ndarray,
        ways: Sequence[Way],
        load: np.ndarray,
        loaded: bool,
        base: BasePlanner | None = None,
        turns: Turns | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: Who reaches.
            grid: Floor of the apartment.
            obstacles: Everything solid but the object in question.
            joints: Present posture of the arm [J], rad.
            ways: How the hand may come to the target, best first.
            load: Spheres of what is held [S, 5]; before a pick, of what will be, as it would hang
                under a hand that points straight down.
            loaded: The load is in the hand already (place) or will be (pick).
            base: Planner of the drives; None makes one from the grid and the obstacles.
            turns: Makes of postures [K, J] at a base pose [3] those with the hand turned about its axis that
                will do; None: any will.
        """
        self.robot, self.arm = robot, planning_of(robot).spheres
        self.grid, self.obstacles, self.ways = grid, obstacles, tuple(ways)
        self.load, self.loaded = load, loaded
        self.joints = np.asarray(joints, float).copy()
        whole = np.vstack([self.arm, load])
        self.moving = whole if loaded else self.arm
        self.unfolds_left = UNFOLDS
        self.turns = turns or (lambda heights, _: iter((heights,)))
        self.base = base or BasePlanner(robot, grid, obstacles, self.joints, whole)

    def find(
        self, start: np.ndarray, target: np.ndarray, effort: int = 60, skip: int = 0
    ) -> Reach | None:
        """The first feasible reach: the best way, and among its stands the nearest.

        Args:
            start: Present base pose [3].
            target: What the aims refer to, world frame [3], m.
            effort: Standing places that are tried.
            skip: Feasible reaches to pass over, for another try after a failure.
        """
        stands = self._stands(start, target, STAND_DISTANCES)[:effort]
        descents = Descents(self.robot, self.ways, float(target[2]))
        around = [self.obstacles.near(stand[0], stand[1], 1.3) for _, stand in stands]
        for k in range(len(self.ways)):
            self.unfolds_left = UNFOLDS
            for (distance, stand), local in zip(stands, around, strict=True):
                for heights in self._clear_descents(descents, k, distance, stand, local):
                    stage = self._stage(stand, heights)
                    if stage is None:
                        continue
                    if skip > 0:
                        skip -= 1
                        break
                    return Reach(stand, stage[0], heights, stage[1], k)
        return None

    def approach(self, start: np.ndarray, target: np.ndarray) -> list[np.ndarray]:
        """Base poses near the target that face it and can be driven to, cheapest first [3] each."""
        stands = self._stands(start, target, FAR_DISTANCES)
        return [stand for _, stand in stands if self.base.is_free(stand)]

    def _stands(
        self, start: np.ndarray, target: np.ndarray, distances: Sequence[float]
    ) -> list[tuple[float, np.ndarray]]:
        """Distances [m] and base poses around the target that face it, cheapest first."""
        field = distance_field(self.grid, (float(start[0]), float(start[1])))
        ranked = []
        for distance in distances:
            for k in range(STAND_BEARINGS):
                yaw = 2 * math.pi * k / STAND_BEARINGS
                x = float(target[0]) - distance * math.cos(yaw)
                y = float(target[1]) - distance * math.sin(yaw)
                clearance = self.grid.clearance_at(x, y)
                if clearance < self.robot.base.radius + 0.01 or not self.grid.on_island(x, y):
                    continue
                stand = np.array([x, y, math.remainder(yaw, 2 * math.pi)])
                if self.base.slack(stand)[0] < 0.0:
                    continue
                away = field.at(x, y)
                turn = abs(math.remainder(yaw - start[2], 2 * math.pi)) if away < 1.5 else 0.0
                cost = away / FORWARD_STEP + 10.0 * turn
                cost += 80.0 * abs(distance - BEST_DISTANCE) - 40.0 * min(
                    clearance - self.robot.base.radius, 0.2
                )
                ranked.append((cost, len(ranked), (distance, stand)))
        return [stand for _, _, stand in sorted(ranked)]

    def _clear_descents(
        self, descents: Descents, k: int, distance: float, stand: np.ndarray, local: Obstacles
    ) -> Iterator[np.ndarray]:
        """Descents that stay clear of everything [K, J] each, from the target upwards."""
        way = self.ways[k]
        if not way.thorough and distance not in FEW_DISTANCES:
            return
        for index in range(len(way.aims)):
            for posture in descents.of(k, index, distance):
                for heights in self.turns(posture, stand):
                    clear = self._clear_part(heights, stand, local)
                    if clear > 0 and (clear - 1) * RISE_STEP >= way.rise - 1e-6:
                        yield heights[:clear]

    def _clear_part(self, heights: np.ndarray, stand: np.ndarray, local: Obstacles) -> int:
        """How many postures, counted from the target, keep arm and load clear."""
        world = (stand, local.boxes, local.cylinders)
        load = self._load_at(heights[0])
        for k, joints in enumerate(heights):
            if self._gap(joints, self.arm, *world) < CONTACT_MARGIN:
                return k
            risen = k * RISE_STEP >= LOAD_FREE_RISE or len(heights) == 1
            if risen and self._gap(joints, load, *world) < 0.0:
                return k
        return len(heights)

    def _load_at(self, contact: np.ndarray) -> np.ndarray:
        """Spheres of the load, upright in the contact posture [S, 5]."""
        if self.loaded:
            return self.load
        _, rotation = forward(self.robot, contact)
        spheres = self.load.copy()
        # As given, the load hangs under a hand that points down: x there is -z of the world.
        world = np.column_stack([spheres[:, 3], spheres[:, 2], -spheres[:, 1]])
        spheres[:, 1:4] = world @ rotation
        return spheres

    def _stage(
        self, stand: np.ndarray, heights: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """A stage straight behind the stand, and how the arm unfolds there.

        The nearest where the arm can move in a straight line of joint angles: that takes the
        fewest steps by far. Else the nearest where it can move at all.
        """
        ready = heights[-1]
        spheres = np.vstack([self.arm, self._load_at(heights[0])])
        stages = []
        for k in range(STAGE_COUNT + 1):
            back = k * STAGE_STEP
            stage = stand - back * np.array([math.cos(stand[2]), math.sin(stand[2]), 0.0])
            local = self.obstacles.near(stage[0], stage[1], 1.3)
            margin = self._gap(ready, spheres, stage, local.boxes, local.cylinders)
            if self.base.slack(stage)[0] < 0.0 or margin < (READY_MARGIN if k else CONTACT_MARGIN):
                break
            if self.base.is_free(stage):
                stages.append((stage, local))
        for stage, local in stages:
            unfold = self._unfold(stage, ready, local, direct=True)
            if unfold is not None:
                return stage, unfold
        for stage, local in stages[::UNFOLD_STRIDE]:
            if self.unfolds_left <= 0:
                return None
            unfold = self._unfold(stage, ready, local, direct=False)
            if unfold is not None:
                return stage, unfold
            self.unfolds_left -= 1
        return None

    def _unfold(
        self, stage: np.ndarray, ready: np.ndarray, local: Obstacles, direct: bool
    ) -> np.ndarray | None:
        """Way points of the arm from its present posture to the highest one [P, J], or None."""
        world = (stage, self.moving, local.boxes, local.cylinders)
        if direct:
            return straight_arm(self.robot, self.joints, ready, *world, ARM_MARGIN)
        return plan_arm(self.robot, self.joints, ready, *world, ARM_MARGIN)

    def _gap(
        self,
        joints: np.ndarray,
        spheres: np.ndarray,
        base: np.ndarray,
        boxes: np.ndarray,
        cylinders: np.ndarray,
    ) -> float:
        return arm_clearance(self.robot, joints, base, spheres, boxes, cylinders)


def to_base(base_pose: np.ndarray, point: np.ndarray) -> np.ndarray:
    """A world point [3] in the base frame of a pose (x, y, yaw)."""
    cosine, sine = math.cos(base_pose[2]), math.sin(base_pose[2])
    dx, dy = point[0] - base_pose[0], point[1] - base_pose[1]
    return np.array([cosine * dx + sine * dy, cosine * dy - sine * dx, point[2]])
