"""Place with privileged state: stage, unfold, drive in, lower, let go, rise, back out, fold."""

from __future__ import annotations

import math

import numpy as np

from rearrange.robot import RobotSpec
from rearrange.robot.actions import LET_GO
from rearrange.robot.kinematics import forward, solve_ik
from rearrange.scenes.objects import ObjectKind
from rearrange.sim.base import NOTHING, SimState
from skills.oracle.collision import arm_clearance, load_spheres, planning_of
from skills.oracle.oracle import ATTEMPTS, Actions, Oracle
from skills.oracle.reach import Reach, ReachPlanner, to_base
from skills.oracle.set_down import set_down_ways

TOUCHDOWN = 15.0  # [N], contact force on the load that means it stands

LEAST_SIDE = 0.5  # horizontal part of a face's normal from which on the hand leaves sideways
ASIDE = (0.03, 0.015)  # [m], how far, if it can
SHIFT_ERROR, LARGEST_SHIFT = 0.01, 0.4  # [m], [rad], of the postures for that


class PlaceOracle(Oracle):
    """Puts what is held at a goal and brings the empty hand back to rest."""

    def reset(self, state: SimState, slot: int, goal: np.ndarray | tuple[float, ...]) -> None:
        """Begin in a world.

        Args:
            state: Of the world.
            slot: Object in the hand.
            goal: Wanted centre of the object, world frame [3], m.
        """
        self.slot, self.goal = slot, np.asarray(goal, dtype=float)
        self._begin(state, self._run())

    def _run(self) -> Actions:
        for attempt in range(ATTEMPTS):
            if self.held != self.slot:
                break
            planner, target = place_planner(self, self.slot, self.goal)
            reach = planner.find(
                self.base_pose, target, effort=60 + 60 * attempt, skip=attempt // 2
            )
            if reach is None:
                self.failure = "place: no reach"
                continue
            if not (yield from self._go_to(planner.base, reach.stage)):
                self.failure = "place: no way"
                continue
            yield from self.follow(reach.unfold)
            yield from self._straight(reach.retreat)
            yield from self._lower(reach)
            yield from self.follow(self._departure(reach), settle=False)
            yield from self._straight(-reach.retreat)
            if (yield from self._fold(NOTHING)):
                self.failure = ""
                return True
        self.failure = self.failure or "place: lost the object"
        yield from self._fold(self.held)
        return False

    def _lower(self, reach: Reach) -> Actions:
        """Lower the object to just over the goal, or until it touches down, and let go."""
        yield from self.settle(reach.heights[-1])
        down = reach.heights[::-1]
        for reference in self.slowly(down):
            near = self.spec.swing(self.joints - down[-1]) < 0.1
            if near and self.state.contact_force[0] > TOUCHDOWN:
                break
            yield self.toward(reference)
        yield from self.settle(down[-1], still=True)  # what stands must not be toppled
        for _ in range(4):
            yield self.command(grip=LET_GO)
        return True

    def _departure(self, reach: Reach) -> np.ndarray:
        """Postures [K, J] in which the empty hand rises, first away from the face that it held.

        A cup that is pulled up along the side of a tall object would topple it.
        """
        position, rotation = self.object_pose(self.slot)
        tip = np.array(self.state.end_effector_position[0], dtype=float)
        side = rotation @ face_towards(self.kind_of(self.slot), rotation.T @ (tip - position))
        side[2] = 0.0
        rise = np.vstack([self.joints, reach.heights[1:]])
        if np.linalg.norm(side) < LEAST_SIDE:
            return rise
        base = self.base_pose
        away = to_base(np.array([0.0, 0.0, base[2]]), side / np.linalg.norm(side))
        local = self.obstacles(self.slot).near(base[0], base[1], 1.3)
        arm = planning_of(self.spec).spheres
        for length in ASIDE:
            heights = _shifted(self.spec, rise, away * length)
            if heights is not None and all(
                arm_clearance(self.spec, joints, base, arm, local.boxes, local.cylinders) > 0.0
                for joints in heights
            ):
                return np.vstack([rise[:1], heights])
        return rise


def _shifted(robot: RobotSpec, heights: np.ndarray, offset: np.ndarray) -> np.ndarray | None:
    """Postures [K, J] with the hand moved by an offset (base frame [3], m), or None."""
    shifted = []
    for joints in heights:
        position, rotation = forward(robot, joints)
        moved, error = solve_ik(robot, position + offset, rotation[:, 0], joints, restarts=0)
        if error > SHIFT_ERROR or robot.swing(moved - joints) > LARGEST_SHIFT:
            return None
        shifted.append(moved)
    return np.array(shifted)


def face_towards(kind: ObjectKind, point: np.ndarray) -> np.ndarray:
    """Outward normal of the face of an object that is nearest to a point, object frame [3] each."""
    reach = point / np.array(half_extents(kind))
    if kind.parts[0].kind != "box":
        around = math.hypot(reach[0], reach[1])
        if around > abs(reach[2]):
            return np.array([reach[0], reach[1], 0.0]) / around
        return np.array([0.0, 0.0, math.copysign(1.0, reach[2])])
    normal = np.zeros(3)
    axis = int(np.abs(reach).argmax())
    normal[axis] = math.copysign(1.0, reach[axis])
    return normal


def half_extents(kind: ObjectKind) -> tuple[float, float, float]:
    """Half sizes of the upright box around an object [m]."""
    if kind.parts[0].kind == "box":
        return kind.parts[0].size
    return kind.footprint_radius, kind.footprint_radius, kind.half_height


def place_planner(oracle: Oracle, slot: int, goal: np.ndarray) -> tuple[ReachPlanner, np.ndarray]:
    """Planner for setting down what is held, and where its centre has to come [3], m."""
    kind = oracle.kind_of(slot)
    position, rotation = oracle.load_in_hand(slot)
    planner = ReachPlanner(
        oracle.spec,
        oracle.grid,
        oracle.obstacles(slot),
        oracle.joints,
        set_down_ways(kind, position, rotation),
        load_spheres(oracle.spec, kind, position, rotation),
        loaded=True,
    )
    return planner, np.asarray(goal, float)
