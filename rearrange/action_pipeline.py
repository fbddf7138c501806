"""The way of an action: from a policy's numbers in [-1, 1] to the simulator's units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rearrange.caching import cached_njit

if TYPE_CHECKING:
    from rearrange.tasks.base import Task

STOP = -1  # stop is the last number of a whole action; the simulator takes all others


class ActionPipeline:
    """Makes the simulator's actions of a policy's, for N worlds of one task.

    The environment and the skills that a planner runs use it alike: the numbers that a task asks for,
    their scale, the steps that an action lasts, and stop, which is called once.

    Attributes:
        full: The whole action in [-1, 1], 0 where the task asks for nothing [N, A + 1].
        size: Numbers of the simulator's action, A.
        repeat: Steps of 1/30 s that an action lasts.
    """

    def __init__(self, task: Task, world_count: int = 1) -> None:
        """Take what the task says of actions."""
        self.repeat = int(task.action.repeat)
        self._slice, self._scale = task.action_slice, task.action.scale(task.robot.actions)
        self.size = len(self._scale)
        self.full = np.zeros((world_count, self.size + 1))
        self._physical = np.empty((world_count, self.size))

    def clear(self) -> None:
        """Forget the last action."""
        self.full[:] = 0.0

    def take(self, action: np.ndarray) -> None:
        """Take a policy's action [action_size] in each world, or [N, action_size]."""
        self.full[:, self._slice] = action

    def physical(self) -> np.ndarray:
        """The action in the simulator's units, rad, grip, m, rad [N, A]; tasks may still mask it.

        The next call writes into the same array.

        Raises:
            ValueError: A number is NaN or infinite.
        """
        if not _scale_actions(self._scale, self.full, self._physical):
            raise ValueError(_infinite(self.full[:, self._slice]))
        return self._physical

    def repeated(self) -> None:
        """Take back stop after a step: the policy does not see those that repeat its action."""
        self.full[:, STOP] = -1.0

    def whole(self, physical: Any, stop: bool) -> np.ndarray:
        """One world's action in the simulator's units [A] with a stop beside it [1, A + 1].

        Raises:
            ValueError: It is no such action.
        """
        physical = checked_action(physical, (self.size,))
        if not np.isfinite(physical).all():
            raise ValueError(_infinite(np.asarray(physical)[None]))
        return np.append(np.asarray(physical, float), 1.0 if stop else -1.0)[None]

    @property
    def stops(self) -> bool:
        """Return whether stop is called in the first world."""
        return bool(self.full[0, STOP] > 0.0)


def checked_action(action: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return a caller's action as an array.

    Raises:
        ValueError: It is no array of real numbers of that shape.
    """
    values = np.asarray(action)
    if values.dtype == np.float32 and values.shape == shape:  # what policies give
        return values
    if values.shape != shape or values.dtype.kind not in "fiub":
        raise ValueError(
            f"expected an action of shape {shape}, found {type(action).__name__} "
            f"of shape {values.shape} and type {values.dtype}"
        )
    return values


def to_physical(scale: np.ndarray, action: np.ndarray) -> np.ndarray:
    """Actions in [-1, 1] [N, >= A] in the simulator's units, rad, grip, m, rad [N, A].

    Args:
        scale: `ActionConfig.scale()` of the task [A].
        action: What the policy wants; clipped to [-1, 1].

    Raises:
        ValueError: An action is NaN or infinite.
    """
    physical = np.empty((len(action), len(scale)))
    if not _scale_actions(scale, action, physical):
        raise ValueError(_infinite(action))
    return physical


def _infinite(actions: np.ndarray) -> str:
    """Say in one line what is wrong with the first action that is not finite [N, A]."""
    worst = actions[~np.isfinite(actions).all(axis=1)][0]
    return f"actions must be finite, found {' '.join(str(worst).split())}"


@cached_njit(nogil=True)
def _scale_actions(scale: np.ndarray, action: np.ndarray, physical: np.ndarray) -> bool:
    """Kernel of `to_physical`; False where an action is not finite."""
    for i in range(len(action)):
        for k in range(action.shape[1]):
            if not np.isfinite(action[i, k]):
                return False
        for k in range(len(scale)):
            physical[i, k] = min(max(action[i, k], -1.0), 1.0) * scale[k]
    return True
