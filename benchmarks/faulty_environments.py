"""A tiny task whose environments fail on command, for the fault drill and the learner's tests.

Must not import torch.
"""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

KINDS = ("raise", "hang", "die", "nan_reward", "nan_observation", "raise_in_reset")


@dataclass(frozen=True)
class PlannedFault:
    """One fault, which happens once in a run however often the environment is made anew.

    Attributes:
        kind: One of KINDS.
        environment: Where.
        step: In which step of a new environment.
        marker: A file that says that it has happened.
    """

    kind: str
    environment: int
    step: int
    marker: str

    def happens(self, environment: int, step: int) -> bool:
        """Return whether the fault is due; true only once."""
        if environment != self.environment or step < self.step:
            return False
        try:
            os.close(os.open(self.marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


class Trail(gymnasium.Env):
    """Actions must share the sign of a number that is drawn for each episode, its life.

    An episode with life x takes 5 + int(10 |x|) steps; it is terminated if x > 0, else truncated.
    Observed are the environment's index, the life, and the steps taken.

    Args:
        index: The environment's index.
        faults: What is to go wrong.
        delay_s: Time that a step takes.
    """

    def __init__(self, index: int, faults: tuple[PlannedFault, ...] = (), delay_s: float = 0.0):
        self.index = index
        self.faults = faults
        self.delay_s = delay_s
        self.observation_space = spaces.Dict({"trail": spaces.Box(-99, 99, (3,), np.float32)})
        self.action_space = spaces.Box(-1, 1, (1,), np.float32)
        self.steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        if self._fails("raise_in_reset"):
            raise RuntimeError("the door is locked")
        self.life = np.float32(self.np_random.uniform(-1, 1))
        self.t = 0
        self.total = 0.0
        return self._observe(), {}

    def step(
        self, action: np.ndarray
    ) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Take a step, or fail."""
        if self.delay_s:
            time.sleep(self.delay_s)
        self.steps += 1
        self.t += 1
        if self._fails("raise"):
            raise RuntimeError("the gears jammed")
        if self._fails("hang"):
            time.sleep(1e6)
        if self._fails("die"):
            os.kill(os.getpid(), signal.SIGKILL)
        reward = trail_reward(float(self.life), float(action[0]))
        if self._fails("nan_reward"):
            reward = float("nan")
        observation = self._observe()
        if self._fails("nan_observation"):
            observation["trail"][2] = np.nan
        self.total += reward
        ended = self.t >= trail_length(float(self.life))
        info = {"metrics": {"success": float(self.total > 0.9)}} if ended else {}
        return observation, reward, ended and self.life > 0, ended and self.life <= 0, info

    def _observe(self) -> dict[str, np.ndarray]:
        return {"trail": np.array([self.index, self.life, self.t], np.float32)}

    def _fails(self, kind: str) -> bool:
        return any(
            fault.kind == kind and fault.happens(self.index, self.steps) for fault in self.faults
        )


def trail_length(life: float) -> int:
    """Returns how many steps an episode takes."""
    return 5 + int(10 * abs(np.float32(life)))


def trail_reward(life: float, action: float) -> float:
    """Returns the reward of a step: all steps well done sum to one."""
    return float(np.sign(action) == np.sign(life)) / trail_length(life)


@dataclass(frozen=True)
class Trails:
    """Makes `Trail` environments; picklable.

    Attributes:
        faults: What is to go wrong, and where.
        delay_s: Time that a step takes in environment 0; the others are quicker.
    """

    faults: tuple[PlannedFault, ...] = ()
    delay_s: float = 0.0

    def __call__(self, index: int, seed: int) -> Trail:
        """One environment."""
        return Trail(index, self.faults, self.delay_s / (index + 1))


def plan(folder: str | Path, *faults: tuple[str, int, int]) -> tuple[PlannedFault, ...]:
    """Plans faults (kind, environment, step); their markers lie in a folder."""
    return tuple(
        PlannedFault(kind, environment, step, str(Path(folder) / f"fault-{number}-{kind}"))
        for number, (kind, environment, step) in enumerate(faults)
    )
