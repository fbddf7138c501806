"""What the robot of the sense-plan-act skills remembers, senses and makes of it.

All coordinates are in the start frame.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.robot import RobotSpec
from rearrange.scenes.objects import ObjectKind, ObjectPart
from skills.oracle.collision import load_spheres, planning_of
from skills.oracle.descents import Way
from skills.oracle.fixtures import Fixture
from skills.oracle.obstacles import Obstacles
from skills.oracle.reach import ReachPlanner
from skills.spa.depth import eye_of, is_self, points_of, to_start_frame
from skills.spa.floor import SeenBasePlanner
from skills.spa.observed import Observed
from skills.spa.voxels import SHRINK, VoxelMap

NEAR = 2.2  # [m], half width of the square whose obstacles the arm minds
DARING_SHRINK = 0.024  # [m] that boxes lose on each side, see Senses.obstacles
NO_CYLINDERS = np.zeros((0, 5))
SENSE_EVERY = 3  # steps from one depth image to the next
SLIPPED = 0.02  # [m], part of an action that the base did not carry out: a bump
BUMP_DISTANCE = 0.31  # [m], base centre to what it bumped into
FOCUS_RADIUS, FOCUS_FRAMES = 0.9, 40  # [m], points around the target that are kept, in images
STEPS_PER_SECOND = 30.0


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

    def spheres(self, robot: RobotSpec) -> np.ndarray:
        """As in skills.oracle.collision [S, 5]."""
        return load_spheres(robot, self.kind, self.position, self.rotation)


def cylinder(radius: float, half_height: float) -> ObjectKind:
    """An unknown object as an upright cylinder [m]."""
    part = ObjectPart("cylinder", (radius, half_height, 0.0), (0.5, 0.5, 0.5, 1.0))
    return ObjectKind("seen", 0.0, half_height, radius, (part,))


class Senses:
    """Memory and senses; one for all skills, so that what one has seen the next one knows.

    Attributes:
        spec: Its body.
        seen: Map of the running episode.
        focus: Place that the skill was told [3], start frame, m.
        load: What is held, None if nothing is.
        models: Joint -> boxes of the furniture that it belongs to, as it stands [B, 8].
        opened: Joint -> the part and how far the robot has opened it [m or rad].
        failure: Why the last skill gave up.
    """

    def __init__(self) -> None:
        """Nothing seen yet."""
        self.seen, self.failure = VoxelMap(), ""
        self.load: Load | None = None
        self.models: dict[str, np.ndarray] = {}
        self.opened: dict[str, tuple[Fixture, float]] = {}
        self._observed: Observed | None = None
        self._steps = -1

    def attend(self, world: RearrangeEnv, position: tuple[float, float, float]) -> np.ndarray:
        """Begin a skill; forget everything where an episode has begun.

        Returns:
            The position that the skill was told [3], start frame, m.
        """
        self.spec, now = world.robot, Observed(world)
        known = self._observed is not None and self._observed.is_of(world)
        if not known or now.steps == 0 or now.steps < self._steps:
            self._observed = now
            self.seen, self.load, self.models, self.opened = VoxelMap(), None, {}, {}
            self._frames: deque[np.ndarray] = deque(maxlen=FOCUS_FRAMES)
            self.focus = np.full(3, np.inf)
        if not self.holding:
            self.load = None  # it was lost, or others have put it down
        focus = self.observed.to_start_frame(position)
        if np.abs(focus - self.focus).max() > 0.02:
            self._frames.clear()
        self.focus = focus
        self.failure = ""
        self.targets, self._targets_known = self.joints, False
        self._previous, self.speed = self.joints, 0.0
        self._since = SENSE_EVERY
        self._wanted: np.ndarray | None = None  # where the last action should bring the base
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
        """Measured arm joints [J], rad."""
        return self.observed.joints

    @property
    def holding(self) -> bool:
        """Whether the gripper holds anything."""
        return self.observed.is_holding

    @property
    def spheres(self) -> np.ndarray:
        """Arm and what it holds [S, 5]."""
        arm = planning_of(self.spec).spheres
        if self.load is None or not self.holding:
            return arm
        return np.vstack([arm, self.load.spheres(self.spec)])

    def sense(self) -> None:
        """Take notice of the last step; look every SENSE_EVERY steps."""
        joints, pose = self.joints, self.base_pose
        self.speed = STEPS_PER_SECOND * self.spec.swing(joints - self._previous)
        self._previous, self._steps = joints, self.observed.steps
        if self._wanted is not None:
            lost = self._wanted[:2] - pose[:2]
            length = float(np.linalg.norm(lost))
            if length > SLIPPED:
                place = pose[:2] + BUMP_DISTANCE * lost / length
                self.seen.bump(float(place[0]), float(place[1]))
        self._since += 1
        if self._since >= SENSE_EVERY:
            self._since = 0
            self.look()

    def look(self) -> np.ndarray:
        """Add a depth image to the map; returns its points without the robot's own [P, 3]."""
        depth, pose = self.observed.depth, self.base_pose
        eye = eye_of(self.spec.camera)
        points = points_of(depth, eye)
        points = points[~is_self(self.spec, points, self.joints, self.holding)]
        points = to_start_frame(points, pose)
        self.seen.carve(depth, pose, eye)
        self.seen.add(points)
        near = np.hypot(*(points[:, :2] - self.focus[:2]).T) < FOCUS_RADIUS
        if near.any():
            self._frames.append(points[near])
        return points

    def around_focus(self, newest: int = FOCUS_FRAMES) -> np.ndarray:
        """Points of the newest images within FOCUS_RADIUS of what the skill was told [P, 3]."""
        frames = list(self._frames)[-newest:]
        return np.vstack(frames) if frames else np.zeros((0, 3))

    def base_planner(self, target: np.ndarray, daring: bool = False) -> SeenBasePlanner:
        """Planner over the map as it is now; see SeenBasePlanner."""
        pose, joints = self.base_pose, self.joints
        return SeenBasePlanner(self.spec, self.seen, pose, target, joints, self.spheres, daring)

    def obstacles(self, center: np.ndarray, daring: bool = False) -> Obstacles:
        """What was seen around a place [2+]; models stand in for furniture that was recognised.

        Daring takes voxels for less than what may be in them, to reach between things.
        """
        shrink = DARING_SHRINK if daring else SHRINK
        models = np.vstack([*self.models.values(), np.zeros((0, 8))])
        return Obstacles(self.seen.boxes(center, NEAR, models, shrink), NO_CYLINDERS)

    def reach_planner(
        self,
        target: np.ndarray,
        ways: Sequence[Way],
        load: np.ndarray,
        loaded: bool,
        daring: bool,
    ) -> ReachPlanner:
        """A planner of reaches to a target [3]; see ReachPlanner and SeenBasePlanner."""
        pose, joints = self.base_pose, self.joints
        spheres = np.vstack([planning_of(self.spec).spheres, load])
        base = SeenBasePlanner(self.spec, self.seen, pose, target, joints, spheres, daring)
        around = self.obstacles(target, daring)
        return ReachPlanner(self.spec, base.grid, around, joints, ways, load, loaded, base)
