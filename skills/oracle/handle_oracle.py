"""What the oracles that open, close and drive to handles have in common."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from rearrange.robot import RobotSpec
from rearrange.robot.kinematics import solve_ik
from rearrange.scenes.spec import Door
from rearrange.sim.base import SimState
from skills.oracle.arm import SETTLE_STEPS
from skills.oracle.arm_planner import plan_arm
from skills.oracle.base_planner import FORWARD_STEP, TURN_STEP
from skills.oracle.fixtures import Fixture
from skills.oracle.handle_planner import Grasp, HandlePlanner
from skills.oracle.oracle import DRIFT, Actions, Oracle
from skills.oracle.reach import ARM_MARGIN
from skills.oracle.riding import CRUISE, GAIN, OVERSHOOT, bolted, lever, next_speed, progress
from skills.oracle.sweep_planner import plan_sweep

ARM_PACE = 0.024  # [rad per action] that the arm follows without lagging far behind
UNFOLDING_MARGIN = 0.025  # [m], arm to anything while it unfolds on the way
SETTLED = 0.04  # [rad], joint error with which the arm counts as arrived
# Tips of a hand that hooks behind the door, base frame, on the other side if it opens clockwise [m], and
# how it points.
HOOKS, HOOK_HEIGHT, HOOK_DIRECTION = ((0.65, -0.4), (0.8, -0.4)), 1.02, (0.5, 0.0, -0.87)


class HandleOracle(Oracle):
    """What opening and closing have in common."""

    fixture: Fixture

    def reset(self, state: SimState, joint: str) -> None:
        """Begin in a world.

        Args:
            state: Of the world.
            joint: One of SceneSpec.joints.
        """
        self.fixture = Fixture.of(self.apartment, joint)
        self._begin(state, self._run())

    def _run(self) -> Actions:
        raise NotImplementedError

    @property
    def opening(self) -> float:
        """Present value of the joint [m or rad]."""
        return float(self.state.articulated_joints[0, self.fixture.index])

    @property
    def holds_handle(self) -> bool:
        """True while the cup holds the handle in question."""
        return int(self.state.held_handle[0]) == self.fixture.index

    @property
    def touches_handle(self) -> bool:
        """True while the cup touches the handle in question."""
        return int(self.state.touched_handle[0]) == self.fixture.index

    def handle_planner(self) -> HandlePlanner:
        """Planner for the world as it is now."""
        return HandlePlanner(
            self.spec,
            self.grid,
            self.fixture,
            self.obstacles(self.held),
            self.opening,
            self.joints,
            self.spheres(),
        )

    def sweep_plan(
        self, start: np.ndarray, posture: np.ndarray, farthest: float
    ) -> np.ndarray | None:
        """Base actions [K, 2] from a base pose [3] that close the door with the arm in a posture."""
        return plan_sweep(
            self.spec,
            self.grid,
            self.fixture,
            self.obstacles(self.held),
            self.opening,
            start,
            posture,
            self.spheres(),
            farthest,
        )

    def _way_to(self, posture: np.ndarray) -> np.ndarray | None:
        """Way points of the arm [K, J] to a posture with the base where it is, or None."""
        base = self.base_pose
        local = self.obstacles(self.held).near(base[0], base[1], 1.4)
        world = base, self.spheres(), local.boxes, local.cylinders
        return plan_arm(self.spec, self.joints, posture, *world, ARM_MARGIN)

    def _unfold_at(self, planner: HandlePlanner, grasp: Grasp) -> Actions:
        """Drive to the stage and unfold, on the way if there is room; True if it got there."""
        actions = planner.base.plan(self.base_pose, grasp.stage)
        posture = grasp.unfold[-1]
        if actions is not None and len(actions):
            yield from self.find_targets()
            first = self._first_unfolding(planner, actions, posture)
            if first is not None and (yield from self._drive_unfolding(actions, first, posture)):
                unfold = np.vstack([self.joints, posture])
                return (yield from self.follow(unfold))
        if not (yield from self._go_to(planner.base, grasp.stage)):
            return False
        return (yield from self.follow(grasp.unfold))

    def settle(self, goal: np.ndarray, still: bool = False) -> Actions:
        """Wait for the arm to come near enough: the way to a handle and rest leave room for that."""
        for _ in range(SETTLE_STEPS):
            if self.spec.swing(goal - self.joints) < SETTLED:
                return True
            yield self.command(goal - self.targets)
        return self.spec.swing(goal - self.joints) < 2.0 * SETTLED

    def _first_unfolding(
        self, planner: HandlePlanner, actions: np.ndarray, posture: np.ndarray
    ) -> int | None:
        """The action of a drive [K, 2] with which the arm may start to unfold, or None."""
        start, length = self.joints, self.spec.swing(posture - self.joints)
        whole = math.ceil(length / ARM_PACE)
        poses, pose = [], self.base_pose
        for forward, turn in actions:
            heading = pose[2] + 0.5 * turn
            step = (forward * math.cos(heading), forward * math.sin(heading), turn)
            pose = np.add(pose, step)
            poses.append(pose)
        for count in (whole, 2 * whole // 3, whole // 3):
            first = max(len(actions) - count, 0)
            # The arm may be as fast as its targets or as slow as half of that.
            if count > 0 and all(
                planner.arm_clearance(poses[k], start + (posture - start) * min(share, 1.0))
                > UNFOLDING_MARGIN
                for k in range(first, len(actions))
                for share in np.linspace(0.5, 2.0, 4) * ((k - first + 1) / whole)
            ):
                return first
        return None

    def _drive_unfolding(self, actions: np.ndarray, first: int, posture: np.ndarray) -> Actions:
        """Carry out base actions [K, 2] and unfold from the first-th on; False if the base is off."""
        start, expected = self.joints, self.base_pose
        length = max(self.spec.swing(posture - start), 1e-9)
        for k, (forward, turn) in enumerate(actions):
            share = min(max(k - first + 1, 0) * ARM_PACE / length, 1.0)
            arm = start + (posture - start) * share - self.targets
            yield self.command(arm, float(forward), float(turn))
            heading = expected[2] + 0.5 * turn
            expected += (forward * math.cos(heading), forward * math.sin(heading), turn)
            gap = self.base_pose - expected
            gap[2] = math.remainder(gap[2], 2 * math.pi)
            if np.abs(gap).max() > DRIFT:
                return False
        return True

    def _ride(
        self,
        grasp: Grasp,
        end: float,
        grip: float,
        cruise: float = CRUISE,
        gain: float = GAIN,
        until: Callable[[], bool] = lambda: False,
    ) -> Actions:
        """Move the base as if bolted to the part, from where it is, until the part would be at `end`.

        Args:
            grasp: Posture and contact.
            end: Opening up to which the base moves [m or rad]; may lie beyond the joint's limits.
            grip: HOLD or LET_GO.
            cruise: Largest motion of the hand per action [m].
            gain: Largest change of that from one action to the next [m].
            until: Ends the motion early.

        Returns:
            True if `until` came true or there was none that did not.
        """
        here, speed = self._progress(grasp), 0.0
        arm = lever(self.fixture, self.opening)
        if self.fixture.is_door:
            radius = float(np.linalg.norm(grasp.contact[:2] - self.fixture.hinge))
            cruise = min(cruise, 0.95 * min(TURN_STEP, FORWARD_STEP / radius) * arm)
        while not until():
            left = abs(end - here) * arm
            if left < 1e-4:
                return False
            speed = next_speed(speed, left, cruise, gain)
            here += math.copysign(speed / arm, end - here)
            goal = self.fixture.carried(grasp.contact, grasp.opening, here)
            kept = grasp.unfold[-1] - self.targets
            yield self.command(kept, *bolted(self.base_pose, goal), grip)
        return True

    def _progress(self, grasp: Grasp) -> float:
        """The opening to which the present base pose belongs [m or rad]."""
        return progress(self.fixture, grasp, self.base_pose)

    def _slack(self) -> float:
        """OVERSHOOT in units of the joint."""
        return OVERSHOOT / lever(self.fixture, self.opening)


@lru_cache(maxsize=8)
def sweeps(robot: RobotSpec, door: Door) -> tuple[tuple[np.ndarray, float], ...]:
    """Ways to sweep a door shut, best first: posture [J] (rad), farthest point pushed (m)."""
    rest = np.array(robot.resting_arm)
    tips = [(x, door.sense * y, HOOK_HEIGHT) for x, y in HOOKS]
    hooks = [solve_ik(robot, tip, HOOK_DIRECTION, rest, restarts=0)[0] for tip in tips]
    return tuple((posture, farthest) for farthest in door.pushed for posture in (rest, *hooks))


def open_grasp(
    planner: HandlePlanner, start: np.ndarray, skip: int = 0
) -> tuple[Grasp | None, float]:
    """A grasp from which the part can be opened as far as possible, and how far [m or rad]."""
    grasp, ends = None, planner.fixture.part.aims
    for end in ends:
        grasp = planner.find(start, end, skip)
        if grasp is not None:
            return grasp, end
    return None, ends[-1]
