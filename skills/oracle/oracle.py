"""What the oracles have in common: sensing from privileged state, moving the arm, driving.

An oracle is a generator of actions that is resumed once per step; its local variables are its
state machine.
"""

from __future__ import annotations

import math

import numpy as np

from rearrange.navigation import OccupancyGrid
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.objects import ObjectKind
from rearrange.sim.base import NOTHING, SimState
from skills.oracle.arm import Actions, Arm
from skills.oracle.arm_planner import plan_arm
from skills.oracle.base_planner import BasePlanner
from skills.oracle.collision import load_spheres, planning_of
from skills.oracle.obstacles import Obstacles, matrix_of, obstacles_of
from skills.oracle.reach import ARM_MARGIN

SLOW_STEP = 0.06  # [m per action] of the base with the arm stretched out
DRIFT = 0.02  # [m, rad], deviation from a drive's plan that ends it
ATTEMPTS = 5  # plans that are tried before an oracle gives up


class Oracle(Arm):
    """Base of the oracles; acts in a simulator with one world."""

    def __init__(self, grid: OccupancyGrid) -> None:
        """Make an oracle for the apartment with this floor, which names the apartment too."""
        self.grid = grid
        self.failure = ""  # why the oracle gave up, empty if it did not
        self._steps: Actions | None = None
        self._state: SimState | None = None
        self.targets, self._targets_known = np.zeros(0), False
        self._finished = True

    # --- driven from outside --------------------------------------------------------------------

    def act(self, state: SimState) -> np.ndarray:
        """Choose the next action.

        Returns:
            [J + 3]: J joint target changes [rad], grip, forward [m], turn [rad].
        """
        self._state = state
        if self._steps is not None and not self._finished:
            try:
                return next(self._steps)
            except StopIteration:
                self._finished = True
        return self.command()

    @property
    def done(self) -> bool:
        """True once nothing is left to do, be it by success or by giving up (see `failure`)."""
        return self._finished

    def _begin(self, state: SimState, steps: Actions) -> None:
        self._state, self._steps = state, steps
        self.targets = np.array(state.arm_joints[0], dtype=float)
        self._targets_known = False  # those of the simulator are not part of its state
        self._finished, self.failure = False, ""

    # --- sensing --------------------------------------------------------------------------------

    @property
    def state(self) -> SimState:
        """State at the last call."""
        assert self._state is not None, "reset() comes first"
        return self._state

    @property
    def spec(self) -> RobotSpec:
        """Who acts."""
        return self.state.robot

    @property
    def base_pose(self) -> np.ndarray:
        """x, y, yaw [3], a copy."""
        return np.array(self.state.base_pose[0], dtype=float)

    @property
    def joints(self) -> np.ndarray:
        """Measured arm joints [J], a copy."""
        return np.array(self.state.arm_joints[0], dtype=float)

    @property
    def holding(self) -> bool:
        """Return whether an object is in the gripper."""
        return self.held != NOTHING

    @property
    def speed(self) -> float:
        """Speed of the fastest arm joint [rad/s]."""
        return self.spec.swing(self.state.arm_velocities[0])

    @property
    def held(self) -> int:
        """Slot in the gripper or NOTHING."""
        return int(self.state.held_object[0])

    @property
    def apartment(self) -> Apartment:
        """What the grid is of."""
        assert isinstance(self.grid.apartment, Apartment)  # oracles work in no other building
        return self.grid.apartment

    def obstacles(self, without: int) -> Obstacles:
        """Everything solid now, but one object."""
        return obstacles_of(self.apartment, self.state, without)

    def object_pose(self, slot: int) -> tuple[np.ndarray, np.ndarray]:
        """Position [3] and rotation (world from object) [3, 3] of an object."""
        position = np.array(self.state.object_position[0, slot], dtype=float)
        return position, matrix_of(self.state.object_rotation[0, slot])

    def kind_of(self, slot: int) -> ObjectKind:
        """What stands in a slot."""
        return self.state.scene.objects[slot]

    def load_in_hand(self, slot: int) -> tuple[np.ndarray, np.ndarray]:
        """Position [3] and rotation [3, 3] of an object in the end-effector frame."""
        position, rotation = self.object_pose(slot)
        hand = np.array(self.state.end_effector_rotation[0], dtype=float)
        tip = np.array(self.state.end_effector_position[0], dtype=float)
        return hand.T @ (position - tip), hand.T @ rotation

    def spheres(self) -> np.ndarray:
        """Arm and what it holds [S, 5]."""
        arm = planning_of(self.spec).spheres
        if self.held == NOTHING:
            return arm
        load = load_spheres(self.spec, self.kind_of(self.held), *self.load_in_hand(self.held))
        return np.vstack([arm, load])

    # --- acting ---------------------------------------------------------------------------------

    def _drive(self, actions: np.ndarray) -> Actions:
        """Carry out base actions [K, 2]; False as soon as the base is not where it should be."""
        expected = self.base_pose
        for forward, turn in actions:
            yield self.command(forward=float(forward), turn=float(turn))
            heading = expected[2] + 0.5 * turn
            expected += (forward * math.cos(heading), forward * math.sin(heading), turn)
            gap = self.base_pose - expected
            gap[2] = math.remainder(gap[2], 2 * math.pi)
            if np.abs(gap).max() > DRIFT:
                return False
        return True

    def _straight(self, length: float) -> Actions:
        """Drive straight by so many metres, slowly."""
        if abs(length) < 1e-6:
            return True
        count = math.ceil(abs(length) / SLOW_STEP)
        return (yield from self._drive(np.array([(length / count, 0.0)] * count).reshape(-1, 2)))

    def _go_to(self, planner: BasePlanner, pose: np.ndarray) -> Actions:
        """Drive to a pose (x, y, yaw); False if there is no way or it was left."""
        for _ in range(ATTEMPTS):
            gap = pose - self.base_pose
            gap[2] = math.remainder(gap[2], 2 * math.pi)
            if np.abs(gap).max() < 0.005:
                return True
            actions = planner.plan(self.base_pose, pose)
            if actions is None:
                return False
            if (yield from self._drive(actions)):
                return True
        return False

    def _fold(self, without: int) -> Actions:
        """Bring the arm back to rest, from farther away if it cannot be done here."""
        for attempt in range(4):
            base = self.base_pose
            local = self.obstacles(without).near(base[0], base[1], 1.4)
            margin = ARM_MARGIN if attempt < 2 else 0.0
            path = plan_arm(
                self.spec,
                self.joints,
                np.array(self.spec.resting_arm),
                base,
                self.spheres(),
                local.boxes,
                local.cylinders,
                margin,
            )
            if path is not None:
                return (yield from self.follow(path))
            yield from self._straight(-0.2)
        return False
