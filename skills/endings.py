"""Endings of policies' skills, from what the robot can tell."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from rearrange.robot import RobotSpec
from skills.base import SkillArgument
from skills.knowledge import Body


class Ending:
    """Judges one use of a skill.

    Attributes:
        config: Of the skill's task, as the policy is judged by.
        robot: Who acts.
    """

    def __init__(self, config: Any, robot: RobotSpec) -> None:
        """Take the numbers of the task, and who acts."""
        self.config, self.robot = config, robot

    def begin(self, body: Body, argument: SkillArgument | None) -> None:
        """Begin a use; a policy of a whole scenario is told no argument."""

    def watch(self, action: np.ndarray) -> None:
        """Take notice of the action that is about to be carried out, in the simulator's units [J + 3]."""

    def is_over(self, body: Body, stop: bool) -> bool:
        """Return whether the skill is over after a step.

        Args:
            body: The robot.
            stop: The policy calls stop in this step.
        """
        raise NotImplementedError

    def at_rest(self, body: Body) -> bool:
        """True if the hand is at its resting place."""
        return body.to_rest < self.config.rest_threshold


class Stops(Ending):
    """The policy says itself when it is done."""

    def is_over(self, body: Body, stop: bool) -> bool:
        """See Ending."""
        del body
        return stop


class StopsNear(Ending):
    """The policy says itself when it has arrived; stop counts within `stop_distance` of the place."""

    def begin(self, body: Body, argument: SkillArgument | None) -> None:
        """Remember where to go."""
        assert argument is not None
        self._goal = argument.position

    def is_over(self, body: Body, stop: bool) -> bool:
        """See Ending."""
        if not stop:
            return False
        return math.dist(body.base_pose[:2], self._goal[:2]) <= self.config.stop_distance


class HoldsAtRest(Ending):
    """Something is held and the hand is back at its resting place."""

    def is_over(self, body: Body, stop: bool) -> bool:
        """See Ending."""
        del stop
        return body.is_holding and self.at_rest(body)


class EmptyAtRest(Ending):
    """Nothing is held any more and the hand is back at its resting place."""

    def is_over(self, body: Body, stop: bool) -> bool:
        """See Ending."""
        del stop
        return not body.is_holding and self.at_rest(body)


class StopsAfterwards(Ending):
    """The policy says itself when a drawer or door is moved, or its grasp broke.

    How far the part has come the robot does not know, nor whether it is the right one. Stop counts once
    the hand has held something or left its resting place by `stop_zone`, and is back and empty.
    """

    def begin(self, body: Body, argument: SkillArgument | None) -> None:
        """Begin; the hand has done nothing yet."""
        del argument
        self._acted, self._was_holding = False, body.is_holding
        self._grips = False  # the cup was told to hold

    def watch(self, action: np.ndarray) -> None:
        """See Ending."""
        self._grips = bool(action[self.robot.actions.grip] >= 0.0)

    def is_over(self, body: Body, stop: bool) -> bool:
        """See Ending."""
        holding, zone = body.is_holding, self.config.stop_zone
        broke = self._grips and self._was_holding and not holding
        self._was_holding = holding
        self._acted = self._acted or holding or body.to_rest > zone
        counts = zone <= 0.0 or (self._acted and not holding and self.at_rest(body))
        return broke or bool(stop and counts)
