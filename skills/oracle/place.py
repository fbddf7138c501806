"""Place with privileged state: stage, unfold, drive in, lower, let go, rise, back out, fold."""

from __future__ import annotations

import numpy as np

from rearrange.sim.base import NOTHING, SimState
from skills.oracle.collision import load_spheres
from skills.oracle.oracle import RELEASE, Actions, Oracle, kind_of
from skills.oracle.reach import Reach, ReachPlanner, Tool

DROP = 0.004  # [m], height over the goal at which the object is let go
TOUCHDOWN = 15.0  # [N], contact force on the load that means it stands


class PlaceOracle(Oracle):
    """Puts what is held at a goal and brings the empty hand back to rest."""

    def reset(
        self, state: SimState, i: int, slot: int, goal: np.ndarray | tuple[float, ...]
    ) -> None:
        """Begin in world i.

        Args:
            state: State of all worlds.
            i: World.
            slot: Object in the hand.
            goal: Wanted centre of the object, world frame [3], m.
        """
        self.slot, self.goal = slot, np.asarray(goal, dtype=float)
        self._begin(state, i, self._run())

    def _run(self) -> Actions:
        for attempt in range(self.config.attempts):
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
            yield from self._follow(reach.unfold)
            yield from self._straight(reach.retreat)
            yield from self._lower(reach)
            yield from self._follow(reach.heights, settle=False)
            yield from self._straight(-reach.retreat)
            if (yield from self._fold(NOTHING)):
                self.failure = ""
                return True
        self.failure = self.failure or "place: lost the object"
        yield from self._fold(self.held)
        return False

    def _lower(self, reach: Reach) -> Actions:
        """Lower the object to just over the goal, or until it touches down, and let go."""
        yield from self._settle(reach.heights[-1])
        down = reach.heights[::-1]
        for reference in self._slowly(down):
            near = np.abs(self.joints - down[-1]).max() < 0.1
            if near and self.state.contact_force[self._world] > TOUCHDOWN:
                break
            yield self._command(reference - self._targets)
        yield from self._settle(down[-1])
        for _ in range(4):
            yield self._command(grip=RELEASE)
        return True


def place_planner(oracle: Oracle, slot: int, goal: np.ndarray) -> tuple[ReachPlanner, np.ndarray]:
    """Planner for setting down what is held, and where its centre has to come [3], m."""
    position, rotation = oracle.load_in_hand(slot)
    load = load_spheres(kind_of(slot), position, rotation)
    tool = Tool(position, rotation[:, 2], load)
    planner = ReachPlanner(oracle.grid, oracle.obstacles(slot), oracle.joints, tool, loaded=True)
    return planner, np.asarray(goal, float) + np.array([0.0, 0.0, DROP])
