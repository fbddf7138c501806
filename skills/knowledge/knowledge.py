"""All that a robot knows in one episode beside its task, at one of three levels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.errors import check_choice
from skills.knowledge.body import Body, Position
from skills.knowledge.senses import Observed, Senses, Truth

LEVELS: dict[str, str] = {
    "hab": "start positions as in HAB, wherever a drawer has carried an object since",
    "robot": "what the robot can know itself: a drawer that it sees, or its hand's travel, moves what is told",
    "privileged": "what the simulator knows of drawers, objects and doors: an upper bound",
}
DEFAULT_LEVEL = "robot"


def check_level(level: str) -> str:
    """The level; raises a UserError if there is none of that name."""
    return check_choice("knowledge", level, LEVELS)


class Knowledge:
    """Follows one episode.

    How far a drawer has come out the robot sees while it stands near. Elsewhere it takes that from its own
    hand: what the cup takes while an opening skill runs is the handle, and until the cup is empty the hand
    and the drawer move together. Pushed shut it believes a drawer once the closing skill has ended by
    itself: a push is not felt. What else moves a drawer out of its sight it does not notice, nor how things
    slide in one. A drawer that is open when the episode begins counts from there.

    Attributes:
        level: One of LEVELS.
        body: The robot itself.
        senses: What it can tell of objects, doors and its hand at a hand-off.
    """

    def __init__(
        self,
        world: RearrangeEnv,
        level: str = DEFAULT_LEVEL,
        drawers: Mapping[int, str] | None = None,
        senses: Senses | None = None,
    ) -> None:
        """Begin with an episode that the world was just reset to.

        Args:
            world: The environment.
            level: One of LEVELS.
            drawers: Target index -> joint of the drawer in which its object starts.
            senses: Instead of those of the level.

        Raises:
            UserError: There is no such level.
        """
        self.level = check_level(level)
        self.body = Body(world)
        self.senses: Senses = senses or (Truth() if level == "privileged" else Observed())
        self._world, self._drawers = world, dict(drawers or {})
        self._handles = np.array(world.state.handle_position[0], dtype=float)  # when it began
        self._travels: dict[str, np.ndarray] = {}  # joint -> in the plane [2], m
        self._gripped: str | None = None  # the joint whose handle is held
        self._was_holding, self._hand = self.body.is_holding, self._hand_now()

    def watch(self, opens: bool, joint: str | None) -> None:
        """Take notice of a step.

        Args:
            opens: What acts is a skill that opens something.
            joint: What it was told to open or close, if anything.
        """
        holding, hand = self.body.is_holding, self._hand_now()
        if not holding:
            self._gripped = None
        elif not self._was_holding:
            self._gripped = joint if opens else None
        elif self._gripped is not None:
            travel = self._travels.get(self._gripped, np.zeros(2))
            self._travels[self._gripped] = travel + (hand - self._hand)
        self._was_holding, self._hand = holding, hand

    def believe_shut(self, joint: str | None) -> None:
        """A closing skill has ended by itself."""
        if joint is not None:
            self._travels.pop(joint, None)

    def told(self, target_index: int, start: Position) -> Position:
        """Told position of an object that nothing but its drawer has moved [3], m, world frame.

        Args:
            target_index: Place in the episode's targets.
            start: Where it was when the episode began.
        """
        joint = self._drawers.get(target_index)
        if joint is None:
            return start
        x, y, z = (float(value) for value in np.asarray(start) + self._carried(joint))
        return x, y, z

    def _carried(self, joint: str) -> np.ndarray:
        """Displacement of a drawer's contents [3], m."""
        if self.level == "hab":
            return np.zeros(3)
        if self.senses.opening(self._world, joint) is None:
            return np.append(self._travels.get(joint, np.zeros(2)), 0.0)
        index = self._world.state.scene.index(joint)
        return self._world.state.handle_position[0, index] - self._handles[index]

    def _hand_now(self) -> np.ndarray:
        return np.array(self.body.hand[:2])
