"""One's own function as a skill."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rearrange.errors import UserError
from rearrange.registration import as_shipped
from rearrange.robot import RobotSpec
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import make_task
from skills.observing import ObservingSkill, ending_of
from skills.registry import find


class FunctionSkill(ObservingSkill):
    """One's own function as a skill."""

    def __init__(
        self,
        name: str,
        function: Callable[[dict[str, np.ndarray]], np.ndarray],
        config: Any = None,
        camera_size: int = SimulatorConfig.camera_size,
        robot: RobotSpec | None = None,
    ) -> None:
        """Take the function.

        Args:
            name: Of the skill in whose place it acts.
            function: Observation of the skill's task -> action [action_size] in [-1, 1]. One that remembers
                may have a method `restart`, which is called where the skill begins.
            config: Of the task; None: as `gymnasium.make` has it.
            camera_size: Of the depth image [pixels].
            robot: Who acts; None: the default robot.

        Raises:
            UserError: There is no such skill, or it does not say when it is over.
        """
        spec = find(name)
        task = make_task(name, config or as_shipped(name)[0], robot=robot)
        size = task.action_size
        source = getattr(function, "__name__", type(function).__name__)
        super().__init__(
            name, source, FunctionActor(function, size), task, camera_size, ending_of(name)
        )
        self.timeout = spec.timeout


class FunctionActor:
    """Calls a function, and checks what it returns."""

    def __init__(self, function: Callable[[dict[str, np.ndarray]], Any], size: int) -> None:
        """Take the function and the length of the actions."""
        self._function, self._size = function, size

    def restart(self) -> None:
        """Tell the function, if it wants to know."""
        getattr(self._function, "restart", lambda: None)()

    def act(self, observation: dict[str, np.ndarray]) -> np.ndarray:
        """Call the function and cut its action to [-1, 1]; UserError where it is no action."""
        action = np.asarray(self._function(observation), dtype=float)
        if action.shape != (self._size,) or not np.isfinite(action).all():
            raise UserError(
                f"a skill's function must return {self._size} finite numbers, found {action}"
            )
        return np.clip(action, -1.0, 1.0)
