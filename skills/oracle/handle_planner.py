"""Where to stand and how to hold the arm to move a drawer or a door by its handle.

The hand is brought to the handle with the arm in one posture, and from then on the arm keeps still:
the base moves as if it were bolted to the part. For a drawer that is a straight drive; for the door
it is an arc around the hinge, which a base that can only drive and turn follows if its heading is
tangential. So a plan is a posture and the base pose at which that posture touches the handle.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rearrange.navigation import OccupancyGrid
from rearrange.robot import RobotSpec
from rearrange.robot.kinematics import forward, solve_ik
from skills.oracle.arm_planner import plan_arm
from skills.oracle.base_planner import BASE_MARGIN, FORWARD_STEP, TURN_STEP, BasePlanner
from skills.oracle.collision import arm_clearance, planning_of
from skills.oracle.fixtures import Fixture
from skills.oracle.obstacles import Obstacles

REACHES = tuple(np.arange(0.35, 0.81, 0.05).round(2).tolist())  # tip ahead of the base [m]
# Tip to the left of the base, to the right of it for doors that open clockwise [m]
SIDES = tuple(np.arange(-0.6, 0.21, 0.1).round(2).tolist())
# Directions of the hand, base frame; None: the nearest to rest that there is.
DIRECTIONS = (None, (0.5, 0.0, -0.87), (0.87, 0.0, -0.5), (1.0, 0.0, 0.0))
LEAST_SIDE = 0.05  # [m], tip from the hinge across the heading of the base
LEAST_LEVER = math.hypot(REACHES[0], LEAST_SIDE)  # [m], a door's handle from its hinge
SHIFTS = (0.0, -0.05, 0.05)  # of the tip along the handle of a drawer [m]
BELOW = 0.03  # [m], tip under the middle of the door's handle: more of a hanging cup touches it
PUSH_BELOW = (
    0.04  # [m], likewise under a drawer's handle that is pushed, lest the hand slip over it
)
IK_ERROR = 3e-3  # [m]
SELF_MARGIN = 0.01  # [m], arm to the robot itself
STATIC_MARGIN = 0.015  # [m], arm to anything while the hand is at the handle
PART_MARGIN = 0.006  # [m], arm (cup: without the handle) to the part that moves
UNFOLD_MARGIN = 0.02  # [m]
# How far the stage lies from the contact, nearest first: door [rad], drawer [m].
LEADS = {True: (0.22, 0.35, 0.5), False: (0.12, 0.25, 0.4)}
RETREAT = {
    True: 0.22,
    False: 0.08,
}  # how far the hand leaves an opened part: door [rad], drawer [m]
SAMPLES = 24  # poses along the way that are checked
DOOR_GAP = 0.30  # [m], base to the plane of the door
ARM_STEP = 0.0375  # [rad] per action
ARM_WEIGHT = 4.0  # the arm moves twice, at half the speed that its targets could have
CHOICE = 5  # feasible grasps of which the one with the shortest drive counts,
APART = 0.12  # so far from each other [m, half of a rad]
LARGEST_COUNT = 150  # candidates that are looked at
LARGEST_STAGED = 10  # of these, for which the arm's way is planned


@dataclass(frozen=True)
class Posture:
    """An arm that holds the tip somewhere in front of the robot.

    Attributes:
        joints: [J], rad.
        tip: Base frame [3], m.
        axis: Direction of the hand, base frame [3].
        cost: Actions to get there from rest.
    """

    joints: np.ndarray
    tip: np.ndarray
    axis: np.ndarray
    cost: float


@dataclass(frozen=True)
class Grasp:
    """A plan for one handle.

    Attributes:
        contact: Base pose at which the cup touches the handle of the part as it stands now [3].
        stage: Base pose at which the arm unfolds [3].
        unfold: Way points of the arm at the stage, the last is kept from then on [P, J], rad.
        opening: Of the part when the plan was made [m or rad].
    """

    contact: np.ndarray
    stage: np.ndarray
    unfold: np.ndarray
    opening: float


@lru_cache(maxsize=16)
def postures(robot: RobotSpec, height: float, sense: float = 1.0) -> tuple[Posture, ...]:
    """Postures with the tip at a height [m] for doors that open so (Door.sense), and for drawers.

    Nearest to rest first in each place.
    """
    rest, spheres = np.array(robot.resting_arm), planning_of(robot).spheres
    nothing = np.zeros((0, 8)), np.zeros((0, 5))
    found = []
    for x in REACHES:
        for y in SIDES:
            for direction in DIRECTIONS:
                joints, error = solve_ik(robot, (x, sense * y, height), direction, rest, restarts=0)
                if error > IK_ERROR:
                    continue
                if arm_clearance(robot, joints, np.zeros(3), spheres, *nothing) < SELF_MARGIN:
                    continue
                tip, rotation = forward(robot, joints)
                cost = robot.swing(joints - rest) / ARM_STEP
                found.append(Posture(joints, tip, rotation[:, 0], cost))
    return tuple(found)


class HandlePlanner:
    """Finds grasps of one handle in a snapshot of one world."""

    def __init__(
        self,
        robot: RobotSpec,
        grid: OccupancyGrid,
        fixture: Fixture,
        obstacles: Obstacles,
        opening: float,
        joints: np.ndarray,
        spheres: np.ndarray,
        base: BasePlanner | None = None,
    ) -> None:
        """Prepare.

        Args:
            robot: Whose hand.
            grid: Floor of the apartment.
            fixture: Part whose handle it is.
            obstacles: Everything solid.
            opening: Of the part now [m or rad].
            joints: Present posture of the arm [J], rad.
            spheres: Arm and load.
            base: Planner of the drives; None makes one from the grid and the obstacles.
        """
        self.robot, self.model = robot, planning_of(robot)
        self.grid, self.fixture, self.obstacles, self.opening = grid, fixture, obstacles, opening
        self.joints, self.spheres = np.asarray(joints, float).copy(), spheres
        self.base = base or BasePlanner(robot, grid, obstacles, self.joints, spheres)
        self.static = fixture.without(obstacles, opening)
        self.part = fixture.boxes(opening)

    def find(self, start: np.ndarray, end: float, skip: int = 0) -> Grasp | None:
        """The cheapest feasible grasp.

        Args:
            start: Present base pose [3].
            end: Opening to which the part is to be moved [m or rad].
            skip: Feasible grasps to pass over, for another try after a failure.
        """
        lead = LEADS[self.fixture.is_door][0]
        contacts = list(self._contacts(end > self.opening))
        ranked = sorted(
            (drive_cost(start, self._ahead(contact, lead)) + ARM_WEIGHT * posture.cost, k)
            for k, (contact, posture) in enumerate(contacts)
        )
        looked_at, tried, best, shortest = 0, 0, None, np.inf
        left, chosen = skip + CHOICE, []
        for _, k in ranked:
            contact, posture = contacts[k]
            if not self._base_fits(contact, end):
                continue
            looked_at += 1
            if looked_at > LARGEST_COUNT or left == 0:
                break
            if not self._arm_fits(contact, posture.joints, end):
                continue
            if any(_near(contact, other) for other in chosen):
                continue
            tried += 1
            if tried > LARGEST_STAGED + skip:
                break
            grasp = self._staged(contact, posture.joints)
            if grasp is None:
                continue
            left -= 1
            if left >= CHOICE:
                continue
            chosen.append(contact)
            actions = self.base.plan(start, grasp.stage)
            length = np.inf if actions is None else len(actions) + ARM_WEIGHT * posture.cost
            if length < shortest:
                best, shortest = grasp, length
        return best

    def _staged(self, contact: np.ndarray, joints: np.ndarray) -> Grasp | None:
        """The plan with the nearest stage from which the contact can be driven to, or None."""
        for lead in LEADS[self.fixture.is_door]:
            stage = self._ahead(contact, lead)
            if not self.base.is_free(stage):
                continue
            unfold = self._unfold(stage, joints)
            if unfold is not None:
                return Grasp(contact, stage, unfold, self.opening)
        return None

    def _ahead(self, contact: np.ndarray, lead: float) -> np.ndarray:
        """Where the base would be if the part were opened by this much more."""
        return self.fixture.carried(contact, self.opening, self.opening + lead)

    def _contacts(self, pulls: bool) -> Iterator[tuple[np.ndarray, Posture]]:
        """Base poses [3] at which a posture touches the handle."""
        face = self.fixture.handle(self.opening)
        outward = self.fixture.outward(self.opening)
        if self.fixture.is_door:
            height = round(float(face[2]) - BELOW, 3)
            for posture in postures(self.robot, height, self.fixture.door.sense):
                contact = self._door_contact(face[:2], outward, posture)
                if contact is not None:
                    yield contact, posture
            return
        along = np.array([-outward[1], outward[0]])
        yaw = math.atan2(-outward[1], -outward[0])
        below = 0.0 if pulls else PUSH_BELOW
        for posture in postures(self.robot, round(float(face[2]) - below, 3)):
            if posture.axis[0] < 0.0:
                continue
            for shift in SHIFTS:
                tip = face[:2] + shift * along + self._cup_extent(posture.axis[0]) * outward
                yield np.array([*(tip - _turned(posture.tip, yaw)), yaw]), posture

    def _door_contact(
        self, face: np.ndarray, outward: np.ndarray, posture: Posture
    ) -> np.ndarray | None:
        """Base pose [3] with a heading along the arc around the hinge, or None."""
        extent, pose, sense = self.model.cup_radius, np.zeros(3), self.fixture.door.sense
        for _ in range(2):
            lever = face + extent * outward - self.fixture.hinge
            ahead = float(posture.tip[0])
            # Tip to the left of the hinge, to its right if the door opens clockwise
            side = math.sqrt(max(float(lever @ lever) - ahead**2, 0.0))
            if side <= LEAST_SIDE or side - sense * posture.tip[1] <= 0.3:
                return None
            yaw = (
                math.atan2(lever[1], lever[0])
                + sense * math.atan2(ahead, side)
                - sense * math.pi / 2
            )
            position = self.fixture.hinge + lever - _turned(posture.tip, yaw)
            pose = np.array([*position, math.remainder(yaw, 2 * math.pi)])
            inward = float(_turned(posture.axis, yaw) @ -outward)
            if inward < -0.05:
                return None
            extent = self._cup_extent(inward)
        if (pose[:2] - self.fixture.hinge) @ outward < DOOR_GAP:
            return None
        return pose

    def _base_fits(self, contact: np.ndarray, end: float) -> bool:
        """The base stays clear of the walls and furniture all the way."""
        radius = self.robot.base.radius + BASE_MARGIN
        return all(
            self.grid.clearance_at(pose[0], pose[1]) >= radius for pose in self._way(contact, end)
        )

    def _way(self, contact: np.ndarray, end: float) -> Iterator[np.ndarray]:
        """Base poses [3] from one end of the motion to the other, stage and retreat included."""
        low, high = sorted((self.opening, end))
        high += RETREAT[self.fixture.is_door]
        for opening in np.linspace(low, high, SAMPLES):
            yield self.fixture.carried(contact, self.opening, float(opening))

    def _arm_fits(self, contact: np.ndarray, joints: np.ndarray, end: float) -> bool:
        """The arm stays clear of everything but the handle that its cup touches."""
        local = self.static.near(contact[0], contact[1], 2.5)
        robot, arm, count = self.robot, self.model.spheres, self.model.cup_spheres
        cup, rest = arm[-count:], arm[:-count]
        none = np.zeros((0, 5))
        if arm_clearance(robot, joints, contact, rest, self.part, none) < PART_MARGIN:
            return False
        if arm_clearance(robot, joints, contact, cup, self.part[:-1], none) < PART_MARGIN:
            return False
        return all(
            arm_clearance(robot, joints, pose, arm, local.boxes, local.cylinders) >= STATIC_MARGIN
            for pose in self._way(contact, end)
        )

    def arm_clearance(self, base: np.ndarray, joints: np.ndarray) -> float:
        """Distance of arm and load to anything with the base at a pose [3] [m]."""
        local = self.obstacles.near(base[0], base[1], 1.3)
        return arm_clearance(self.robot, joints, base, self.spheres, local.boxes, local.cylinders)

    def _unfold(self, stage: np.ndarray, joints: np.ndarray) -> np.ndarray | None:
        local = self.obstacles.near(stage[0], stage[1], 1.3)
        world = stage, self.spheres, local.boxes, local.cylinders
        return plan_arm(self.robot, self.joints, joints, *world, UNFOLD_MARGIN)

    def _cup_extent(self, inward: float) -> float:
        """How far the cup reaches beyond its tip towards a face [m].

        Args:
            inward: Cosine of the angle between the hand and the direction to the face.
        """
        return self.model.cup_radius * math.sqrt(max(1.0 - inward * inward, 0.0))


def _near(pose: np.ndarray, other: np.ndarray) -> bool:
    """True if two base poses [3] are much the same."""
    turn = abs(math.remainder(pose[2] - other[2], 2 * math.pi))
    return math.dist(pose[:2], other[:2]) + 0.5 * turn < APART


def drive_cost(start: np.ndarray, goal: np.ndarray) -> float:
    """Actions to turn, drive straight (forwards or in reverse) and turn again, obstacles ignored."""
    dx, dy = goal[0] - start[0], goal[1] - start[1]
    length = math.hypot(dx, dy)
    turns = []
    for offset in (0.0, math.pi):
        heading = math.atan2(dy, dx) + offset if length > 1e-3 else goal[2]
        first = math.remainder(heading - start[2], 2 * math.pi)
        last = math.remainder(goal[2] - heading, 2 * math.pi)
        turns.append((abs(first) + abs(last)) / TURN_STEP)
    return length / FORWARD_STEP + min(turns)


def _turned(vector: np.ndarray, yaw: float) -> np.ndarray:
    """The horizontal part [2] of a vector in the base frame, world frame."""
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return np.array([cosine * vector[0] - sine * vector[1], sine * vector[0] + cosine * vector[1]])
