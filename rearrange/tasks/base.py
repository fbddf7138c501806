"""What every task is made of: actions, force accounting, reward terms and outcomes.

Task logic is written once as functions over batched arrays (leading axis N) through the array API, so
that it runs on NumPy in a worker process and on torch tensors beside a GPU simulator.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from gymnasium import spaces

from rearrange import geometry
from rearrange.episodes.episode import Episode
from rearrange.sim.base import Array, SimState

ARM, GRIP, BASE, STOP = slice(0, 7), 7, slice(8, 10), 10  # places in a full action
DEPTH_RANGE = 10.0  # [m], depth is clipped here and divided by it (habitat-lab)


@dataclass
class ActionConfig:
    """What an action of 1 means. In brackets: habitat-lab v0.3.4."""

    arm_step: float = (
        0.0375  # [0.0125] change of a joint target per step [rad]; 1.1 rad/s, within Fetch's 1.25
    )
    forward_step: float = 0.0833  # [0.0833] base motion per step [m]
    turn_step: float = 0.0833  # [0.0833] base rotation per step [rad]

    def scale(self) -> np.ndarray:
        """What an action of 1 is in the simulator's units: rad, grip, m, rad [10]."""
        return np.array([self.arm_step] * 7 + [1.0, self.forward_step, self.turn_step])


@dataclass
class ForceConfig:
    """Penalty and limits on contact force. In brackets: habitat-lab v0.3.4."""

    penalty: float = 1e-4  # [1e-4] per newton of added force
    largest_penalty: float = 0.01  # [0.01] per step
    accumulated_limit: float = 10_000.0  # [10 000] episode ends beyond [N]
    instant_limit: float = 10_000.0  # [10 000] episode ends beyond [N]
    end_penalty: float = 1.0  # [1] when a limit ends the episode
    noise_floor: float = 20.0  # [20] smaller increases are not added up [N]


@dataclass
class Outcome:
    """What a step meant, for N worlds.

    Attributes:
        rewards: Named reward terms, already scaled [N] each; their sum is the reward.
        terminated: The episode is over for a reason within the task [N] bool.
        success: The task's success rule holds now [N] bool.
        failures: Named reasons of failure that hold now [N] bool each.
    """

    rewards: dict[str, Array]
    terminated: Array
    success: Array
    failures: dict[str, Array]


class Task(Protocol):
    """A task over N worlds. One file per task; everything about it stands there."""

    name: ClassVar[str]
    max_steps: int
    action: ActionConfig
    action_size: int
    action_slice: ClassVar[slice]  # where its action stands in a full one

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Spaces of the task's vector observations in one world (the camera is added by the env)."""
        ...

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A start state; it may still touch something, then the env asks again."""
        ...

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds: `state` is already that of the start."""
        ...

    def mask(self, state: SimState, physical: Array) -> Array:
        """The simulator's action [N, 10] that the task makes of the policy's, which may be changed."""
        ...

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step with this full action [N, 11]."""
        ...

    def observe(self, state: SimState) -> dict[str, Array]:
        """Vector observations [N, ...]."""
        ...


class ForceMeter:
    """Accumulates contact force as habitat-lab does: only increases above a noise floor count."""

    def __init__(self, config: ForceConfig, world_count: int, xp: Any) -> None:
        """Start with no force in any world."""
        self.config, self.xp = config, xp
        self.accumulated = xp.zeros(world_count)
        self.previous = xp.zeros(world_count)
        self._largest_penalty = xp.full(world_count, config.largest_penalty)
        self._nothing = xp.zeros(world_count), xp.zeros(world_count, dtype=xp.bool)
        self._quiet = True  # no world felt a force in the last step, and no limit was exceeded

    def reset(self, world_ids: Sequence[int]) -> None:
        """Forget the force of these worlds."""
        for i in world_ids:
            self.accumulated[i] = 0.0
            self.previous[i] = 0.0

    def update(self, force: Array) -> tuple[Array, Array]:
        """Take the force of a step [N], N.

        Returns:
            The penalty (negative, end penalty included) [N] and whether a limit was exceeded [N]; not
            to be written to.
        """
        xp, config = self.xp, self.config
        felt = bool(force.any())
        if self._quiet and not felt:  # most steps
            return self._nothing
        added = force - self.previous
        added = added * (added > config.noise_floor)
        self.accumulated = self.accumulated + added
        self.previous[:] = force
        exceeded = (self.accumulated > config.accumulated_limit) | (force > config.instant_limit)
        penalty = xp.minimum(config.penalty * added, self._largest_penalty)
        self._quiet = not felt and not bool(exceeded.any())
        return -(penalty + config.end_penalty * exceeded), exceeded


def gps_compass(xp: Any, start: Array, base_pose: Array) -> Array:
    """Pose relative to the episode's start [N, 4]: x, y [m] in the start frame, cos and sin of the turn."""
    if start.shape[0] == 1:  # a lone world: plain numbers are four times as fast as arrays of one
        ((x0, y0, yaw0),), ((x, y, yaw),) = start.tolist(), base_pose.tolist()
        cos, sin, x, y, turn = math.cos(yaw0), math.sin(yaw0), x - x0, y - y0, yaw - yaw0
        values = (cos * x + sin * y, cos * y - sin * x, math.cos(turn), math.sin(turn))
        return geometry.array_of_one(xp, values, start.dtype)
    offset = geometry.to_base_frame(xp, start, base_pose)
    turn = offset[:, 2] - start[:, 2]
    result = xp.empty((start.shape[0], 4), dtype=start.dtype)
    result[:, :2] = offset[:, :2]
    result[:, 2] = xp.cos(turn)
    result[:, 3] = xp.sin(turn)
    return result


def box(size: int) -> spaces.Box:
    """Space of an unbounded float vector."""
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)
