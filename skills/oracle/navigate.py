"""Navigate with privileged state: drive to where the arm can reach, facing the target."""

from __future__ import annotations

import numpy as np

from rearrange.sim.base import SimState
from skills.oracle.oracle import Actions, Oracle
from skills.oracle.pick import pick_planner
from skills.oracle.place import place_planner


class NavigateOracle(Oracle):
    """Drives to the stage of a reach; the arm stays as it is."""

    def reset(
        self,
        state: SimState,
        i: int,
        slot: int,
        goal: np.ndarray | tuple[float, ...] | None = None,
    ) -> None:
        """Begin in world i.

        Args:
            state: State of all worlds.
            i: World.
            slot: Object to be picked, or to be placed at the goal.
            goal: Where to place the held object [3], m; None to go and pick.
        """
        self.slot = slot
        self.goal = None if goal is None else np.asarray(goal, dtype=float)
        self._begin(state, i, self._run())

    def _run(self) -> Actions:
        for attempt in range(self.config.attempts):
            if self.goal is None:
                planner, target = pick_planner(self, self.slot)
            else:
                planner, target = place_planner(self, self.slot, self.goal)
            reach = planner.find(self.base_pose, target, effort=80 + 100 * attempt, skip=attempt)
            if reach is None:
                self.failure = "navigate: no reach"
                continue
            if (yield from self._go_to(planner.base, reach.stage)):
                self.failure = ""
                return True
            self.failure = "navigate: no way"
        return False
