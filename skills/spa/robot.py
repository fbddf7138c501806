"""The robot of the sense-plan-act skills: what it remembers, senses and can do with its body.

Motions are generators of actions that are resumed once per step and return whether they
succeeded. All coordinates are in the start frame.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.robot.kinematics import JOINT_LIMITS, RESTING_ARM
from rearrange.scenes.objects import ObjectKind, ObjectPart
from skills.oracle.arm_planner import plan_arm
from skills.oracle.collision import ARM_SPHERES, load_spheres
from skills.oracle.descents import RISE_STEP, Way
from skills.oracle.obstacles import Obstacles
from skills.oracle.reach import ARM_MARGIN, ReachPlanner
from skills.spa.depth import is_self, points_of, to_start_frame
from skills.spa.floor import SeenBasePlanner
from skills.spa.observed import Observed
from skills.spa.voxels import VoxelMap

HOLD, RELEASE = 1.0, -1.0
NEAR = 2.2  # [m], half width of the square whose obstacles the arm minds
NO_CYLINDERS = np.zeros((0, 5))
Actions = Generator[np.ndarray, None, bool]
SENSE_EVERY = 3  # steps from one depth image to the next
CHECK_EVERY = 6  # steps from one look at the way ahead to the next
ARM_STEP = 0.0375  # [rad] per step
DESCENT_STEP = 0.012  # [m] per step of the hand near things
SLOW_STEP = 0.06  # [m] per step of the base with the arm stretched out
TARGET_LEAD = 0.15  # [rad], as in the simulator's controller
SETTLE_STEPS, SETTLE_ERROR = 20, 0.015  # [rad]
STILL = 0.08  # [rad/s]
ARRIVED = 0.03  # [m, rad], gap to a drive's goal
SLIPPED = 0.02  # [m], part of an action that the base did not carry out: a bump
BUMP_DISTANCE = 0.31  # [m], base centre to what it bumped into
LARGEST_DRIFT = 0.06  # [m, rad], from a drive's plan before it is made anew
REPLANS = 12
RECOVERY_RADIUS = 1.0  # [m]
FOCUS_RADIUS, FOCUS_FRAMES = 0.9, 40  # [m], points around the target that are kept, in images

_LOW, _HIGH = np.array(JOINT_LIMITS).T


@dataclass(frozen=True)
class Load:
    """What the robot believes to hold.

    Attributes:
        kind: The upright cylinder that it looked like.
        position: Its centre in the end-effector frame [3], m.
        rotation: End effector from object [3, 3].
    """

    kind: ObjectKind
    position: np.ndarray
    rotation: np.ndarray

    @property
    def spheres(self) -> np.ndarray:
        """As in skills.oracle.collision [S, 5]."""
        return load_spheres(self.kind, self.position, self.rotation)


def cylinder(radius: float, half_height: float) -> ObjectKind:
    """An unknown object as an upright cylinder [m]."""
    part = ObjectPart("cylinder", (radius, half_height, 0.0), (0.5, 0.5, 0.5, 1.0))
    return ObjectKind("seen", 0.0, half_height, radius, (part,))


class Robot:
    """Body and memory; one for all skills, so that what one has seen the next one knows.

    Attributes:
        seen: Map of the running episode.
        load: What is held, None if nothing is.
        models: Joint -> boxes of the furniture that it belongs to, as it stands [B, 8].
        failure: Why the last skill gave up.
    """

    def __init__(self) -> None:
        """A robot that has not seen a world."""
        self.seen, self.load, self.failure = VoxelMap(), None, ""
        self.models: dict[str, np.ndarray] = {}
        self._observed: Observed | None = None
        self._steps = -1

    def attend(self, world: RearrangeEnv, position: tuple[float, float, float]) -> np.ndarray:
        """Begin a skill; forget everything where an episode has begun.

        Returns:
            The position that the skill was told [3], start frame, m.
        """
        now = Observed(world)
        known = self._observed is not None and self._observed.is_of(world)
        if not known or now.steps == 0 or now.steps < self._steps:
            self._observed = now
            self.seen, self.load, self.models = VoxelMap(), None, {}
            self._frames: deque[np.ndarray] = deque(maxlen=FOCUS_FRAMES)
            self._focus = np.full(3, np.inf)
        focus = self.observed.to_start_frame(position)
        if np.abs(focus - self._focus).max() > 0.02:
            self._frames.clear()
        self._focus = focus
        self.failure = ""
        self._targets, self._targets_known = self.joints, False
        self._previous, self._speed = self.joints, 0.0
        self._since, self._wanted = SENSE_EVERY, None
        return focus

    # --- sensing --------------------------------------------------------------------------------

    @property
    def observed(self) -> Observed:
        """What the world shows."""
        assert self._observed is not None, "attend() comes first"
        return self._observed

    @property
    def base_pose(self) -> np.ndarray:
        """x, y, yaw [3]."""
        return self.observed.base_pose

    @property
    def joints(self) -> np.ndarray:
        """Measured arm joints [7], rad."""
        return self.observed.joints

    @property
    def holding(self) -> bool:
        """Whether the gripper holds anything."""
        return self.observed.is_holding

    @property
    def spheres(self) -> np.ndarray:
        """Arm and what it holds [S, 5]."""
        if self.load is None or not self.holding:
            return ARM_SPHERES
        return np.vstack([ARM_SPHERES, self.load.spheres])

    def sense(self) -> None:
        """Take notice of the last step; look every SENSE_EVERY steps."""
        joints, pose = self.joints, self.base_pose
        self._speed = 30.0 * float(np.abs(joints - self._previous).max())
        self._previous, self._steps = joints, self.observed.steps
        if self._wanted is not None:
            lost = self._wanted[:2] - pose[:2]
            if np.hypot(*lost) > SLIPPED:
                place = pose[:2] + BUMP_DISTANCE * lost / np.hypot(*lost)
                self.seen.bump(float(place[0]), float(place[1]))
        self._since += 1
        if self._since >= SENSE_EVERY:
            self._since = 0
            self.look()

    def look(self) -> np.ndarray:
        """Add a depth image to the map; returns its points without the robot's own [P, 3]."""
        depth, pose = self.observed.depth, self.base_pose
        points = points_of(depth)
        points = points[~is_self(points, self.joints, self.holding)]
        points = to_start_frame(points, pose)
        self.seen.carve(depth, pose)
        self.seen.add(points)
        near = np.hypot(*(points[:, :2] - self._focus[:2]).T) < FOCUS_RADIUS
        if near.any():
            self._frames.append(points[near])
        return points

    def around_focus(self, newest: int = FOCUS_FRAMES) -> np.ndarray:
        """Points of the newest images within FOCUS_RADIUS of what the skill was told [P, 3]."""
        frames = list(self._frames)[-newest:]
        return np.vstack(frames) if frames else np.zeros((0, 3))

    # --- acting ---------------------------------------------------------------------------------

    def command(
        self,
        arm: np.ndarray | None = None,
        forward: float = 0.0,
        turn: float = 0.0,
        grip: float | None = None,
    ) -> np.ndarray:
        """One action [10]; remembers joint targets and where the base should get to."""
        action = np.zeros(10)
        if arm is not None:
            action[:7] = np.clip(arm, -ARM_STEP, ARM_STEP)
        action[7] = grip if grip is not None else (HOLD if self.holding else RELEASE)
        action[8], action[9] = forward, turn
        measured = self.joints
        targets = np.clip(
            self._targets + action[:7], measured - TARGET_LEAD, measured + TARGET_LEAD
        )
        self._targets = np.clip(targets, _LOW, _HIGH)
        self._wanted = advanced(self.base_pose, forward, turn)
        return action

    def toward(self, posture: np.ndarray, grip: float | None = None) -> np.ndarray:
        """One action of the arm towards a posture [7]."""
        return self.command(posture - self._targets, grip=grip)

    def find_targets(self) -> Actions:
        """Once per skill: learn the joint targets that were left behind, at rest."""
        if not self._targets_known:
            for _ in range(SETTLE_STEPS):
                if self._speed < STILL:
                    break
                yield self.command()
            self._targets, self._targets_known = self.joints, True
        return True

    def follow(self, path: np.ndarray, settle: bool = True) -> Actions:
        """Move the arm along way points [K, 7] that are joined by straight lines."""
        yield from self.find_targets()
        for first, second in pairwise(path):
            count = max(1, math.ceil(float(np.abs(second - first).max()) / ARM_STEP))
            for k in range(1, count + 1):
                reference = first + (second - first) * (k / count)
                yield self.toward(reference)
                for _ in range(3):  # the arm lags: let it catch up
                    if np.abs(reference - self._targets).max() < 0.02:
                        break
                    yield self.toward(reference)
        return (yield from self.settle(path[-1])) if settle else True

    def settle(self, goal: np.ndarray, still: bool = False) -> Actions:
        """Wait for the arm to arrive (and to stand still), and push if it does not."""
        for k in range(SETTLE_STEPS):
            error = goal - self.joints
            near = np.abs(error).max() < SETTLE_ERROR
            if near and (not still or self._speed < STILL):
                return True
            yield self.toward(goal) if k <= SETTLE_STEPS // 2 else self.command(0.3 * error)
        return bool(np.abs(goal - self.joints).max() < 3 * SETTLE_ERROR)

    def slowly(self, heights: np.ndarray) -> list[np.ndarray]:
        """References [7] along postures RISE_STEP apart [K, 7], at the speed of descents."""
        references = []
        for first, second in pairwise(heights):
            swing = float(np.abs(second - first).max())
            least = math.ceil(RISE_STEP / DESCENT_STEP)
            count = max(least, math.ceil(swing / (0.7 * ARM_STEP)))
            references += [first + (second - first) * (k / count) for k in range(1, count + 1)]
        return references

    def straight(self, length: float) -> Actions:
        """Drive straight by so many metres, slowly; False if the base did not follow."""
        if abs(length) < 1e-6:
            return True
        count = math.ceil(abs(length) / SLOW_STEP)
        goal = advanced(self.base_pose, length, 0.0)
        for _ in range(count):
            yield self.command(forward=length / count)
        return bool(np.abs(goal - self.base_pose)[:2].max() < ARRIVED)

    def turn(self, angle: float) -> Actions:
        """Turn on the spot [rad]."""
        count = math.ceil(abs(angle) / 0.0833)
        for _ in range(count):
            yield self.command(turn=angle / count)
        return True

    def base_planner(self, target: np.ndarray, daring: bool = False) -> SeenBasePlanner:
        """Planner over the map as it is now; see SeenBasePlanner."""
        pose, joints = self.base_pose, self.joints
        return SeenBasePlanner(self.seen, pose, target, joints, self.spheres, daring)

    def obstacles(self, center: np.ndarray) -> Obstacles:
        """What was seen around a place [2+]; models stand in for furniture that was recognised."""
        models = np.vstack([*self.models.values(), np.zeros((0, 8))])
        return Obstacles(self.seen.boxes(center, NEAR, models), NO_CYLINDERS)

    def reach_planner(
        self,
        target: np.ndarray,
        ways: Sequence[Way],
        load: np.ndarray,
        loaded: bool,
        daring: bool,
    ) -> ReachPlanner:
        """A planner of reaches to a target [3]; see ReachPlanner and SeenBasePlanner."""
        pose, joints, spheres = self.base_pose, self.joints, np.vstack([ARM_SPHERES, load])
        base = SeenBasePlanner(self.seen, pose, target, joints, spheres, daring)
        return ReachPlanner(base.grid, self.obstacles(target), joints, ways, load, loaded, base)

    def drive_to(
        self, goal: Callable[[SeenBasePlanner], np.ndarray | None], daring: bool = False
    ) -> Actions:
        """Drive to a pose, planning anew as the map grows.

        Args:
            goal: Chooses the pose (x, y, yaw) [3] in the present map, None if there is none; asked
                again before each plan.
            daring: See SeenBasePlanner.
        """
        target = self._focus
        for _ in range(REPLANS):
            planner = self.base_planner(target, daring)
            pose = goal(planner)
            if pose is None:
                return False
            if gap(pose, self.base_pose) < ARRIVED:
                return True
            actions = planner.plan(self.base_pose, pose)
            if actions is None:
                return False
            if (yield from self._drive(actions, target, daring)):
                return True
        return False

    def _drive(self, actions: np.ndarray, target: np.ndarray, daring: bool) -> Actions:
        """Carry out base actions [K, 2]; False once the way is not as planned."""
        expected = self.base_pose
        for k, (forward, turn) in enumerate(actions):
            if k % CHECK_EVERY == CHECK_EVERY - 1:
                planner = self.base_planner(target, daring)
                if self._is_blocked(actions[k:], planner):
                    return False
            yield self.command(forward=float(forward), turn=float(turn))
            expected = advanced(expected, float(forward), float(turn))
            if gap(expected, self.base_pose) > LARGEST_DRIFT:
                return False
        return True

    def _is_blocked(self, actions: np.ndarray, planner: SeenBasePlanner) -> bool:
        """Whether something is in the way of the actions that are left [K, 2]."""
        pose = self.base_pose
        least = [min(slack, 0.0) - 0.02 for slack in planner.slack(pose)]
        for forward, turn in actions:
            pose = advanced(pose, float(forward), float(turn))
            base, arm = planner.slack(pose)
            if base < least[0] or arm < least[1]:
                return True
        return False

    def recover(self) -> Actions:
        """Forget what seems to be close by and look around, as nothing else helps."""
        self.seen.forget(self.base_pose, RECOVERY_RADIUS, 0.0, np.inf)
        self.seen.bumps[:] = False
        yield from self.turn(2 * math.pi)
        return True

    def fold(self) -> Actions:
        """Bring the arm back to rest, from farther away if it cannot be done here."""
        rest = np.array(RESTING_ARM)
        for attempt in range(3):
            base = self.base_pose
            boxes = self.obstacles(base).near(base[0], base[1], 1.4).boxes
            margin = ARM_MARGIN if attempt == 0 else 0.0
            path = plan_arm(self.joints, rest, base, self.spheres, boxes, NO_CYLINDERS, margin)
            if path is not None:
                return (yield from self.follow(path))
            yield from self.straight(-0.2)
        return (yield from self.follow(np.array([self.joints, rest])))


def advanced(pose: np.ndarray, forward: float, turn: float) -> np.ndarray:
    """A base pose [3] after one action: the motion follows the mean heading."""
    heading = pose[2] + 0.5 * turn
    x, y = pose[0] + forward * math.cos(heading), pose[1] + forward * math.sin(heading)
    return np.array([x, y, math.remainder(pose[2] + turn, 2 * math.pi)])


def gap(first: np.ndarray, second: np.ndarray) -> float:
    """Largest difference of two base poses [3], m or rad."""
    turn = abs(math.remainder(first[2] - second[2], 2 * math.pi))
    return max(float(np.abs(first[:2] - second[:2]).max()), turn)
