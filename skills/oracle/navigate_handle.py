"""Navigate to a handle with privileged state."""

from __future__ import annotations

import math

import numpy as np

from skills.oracle.handle_oracle import HandleOracle, open_grasp, sweeps
from skills.oracle.handle_planner import HandlePlanner, drive_cost
from skills.oracle.oracle import ATTEMPTS, Actions

SWEEP_AHEAD, SWEEP_ASIDE = (1.05, 1.2, 1.35), (-0.1, 0.1, -0.3)  # base from the furniture [m]


class NavigateToHandle(HandleOracle):
    """Drives to where a closed part can be opened, or an open one closed; the arm stays as it is."""

    def _run(self) -> Actions:
        opens = self.opening < 0.5 * self.fixture.part.opened_least
        for attempt in range(ATTEMPTS):
            planner = self.handle_planner()
            if opens:
                grasp = open_grasp(planner, self.base_pose, attempt)[0]
            elif self.fixture.is_door:
                pose = self._sweep_pose(planner)
                if pose is not None and (yield from self._go_to(planner.base, pose)):
                    return True
                grasp = None
            else:
                grasp = planner.find(self.base_pose, 0.0, attempt)
            if grasp is not None and (yield from self._go_to(planner.base, grasp.stage)):
                return True
        self.failure = "navigate: no way to the handle"
        return False

    def _sweep_pose(self, planner: HandlePlanner) -> np.ndarray | None:
        """The nearest pose [3] before the furniture from which the open door can be swept shut."""
        face, yaw = self.fixture.frame, self.fixture.frame.yaw
        poses = []
        for ahead in SWEEP_AHEAD:
            for aside in (self.fixture.door.sense * side for side in SWEEP_ASIDE):
                x = face.position[0] + ahead * math.cos(yaw) - aside * math.sin(yaw)
                y = face.position[1] + ahead * math.sin(yaw) + aside * math.cos(yaw)
                poses.append(np.array([x, y, math.remainder(yaw + math.pi, 2 * math.pi)]))
        for pose in sorted(poses, key=lambda pose: drive_cost(self.base_pose, pose)):
            if planner.base.is_free(pose) and any(
                self.sweep_plan(pose, posture, farthest) is not None
                for posture, farthest in sweeps(self.spec, self.fixture.door)
            ):
                return pose
        return None
