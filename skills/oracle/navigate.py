"""Navigate with privileged state: drive to where the arm can reach, facing the target."""

from __future__ import annotations

import numpy as np

from rearrange.sim.base import SimState
from skills.oracle.oracle import ATTEMPTS, Actions, Oracle
from skills.oracle.pick import pick_planner
from skills.oracle.place import place_planner
from skills.oracle.reach import ReachPlanner

LAST_RESORTS = 10  # poses near a target out of reach that are tried


class NavigateOracle(Oracle):
    """Drives to the stage of a reach; the arm stays as it is."""

    def reset(
        self,
        state: SimState,
        slot: int,
        goal: np.ndarray | tuple[float, ...] | None = None,
    ) -> None:
        """Begin in a world.

        Args:
            state: Of the world.
            slot: Object to be picked, or to be placed at the goal.
            goal: Where to place the held object [3], m; None to go and pick.
        """
        self.slot = slot
        self.goal = None if goal is None else np.asarray(goal, dtype=float)
        self._begin(state, self._run())

    def _run(self) -> Actions:
        for attempt in range(ATTEMPTS):
            planner, target = self._planner()
            effort = 80 + 100 * attempt
            reach = planner.find(self.base_pose, target, effort, skip=attempt)
            if reach is None:
                break
            if (yield from self._go_to(planner.base, reach.stage)):
                self.failure = ""
                return True
        return (yield from self._come_near())

    def _come_near(self) -> Actions:
        """Drive to where the target is in front of the robot: the next skill may see a way."""
        planner, target = self._planner()
        for pose in planner.approach(self.base_pose, target)[:LAST_RESORTS]:
            if (yield from self._go_to(planner.base, pose)):
                self.failure = ""
                return True
        self.failure = "navigate: no way"
        return False

    def _planner(self) -> tuple[ReachPlanner, np.ndarray]:
        if self.goal is None:
            return pick_planner(self, self.slot)
        return place_planner(self, self.slot, self.goal)
