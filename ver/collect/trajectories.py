"""Experience that is collected and learned from at the same time: trajectories of T steps.

Slots are a ring. Each environment's steps, in their order, are cut into trajectories of T; one is
complete when the step after it is there too, which gives its bootstrap value and begins the next
trajectory. Complete trajectories become a batch; its slots are the learner's alone until the next
batch is taken, and then free again. All others go on being collected.

There are (N + B)(T + 1) slots for N environments and batches of B trajectories: while the learner
holds its batch every environment can fill a whole trajectory. If the learner is slower than that,
requests wait for its slots, as Sample Factory's do for trajectory buffers. A learner that waits
always gets a batch: B - 1 complete trajectories and N unfinished ones leave a slot free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces

from ver.rollout import COLUMNS, RolloutBuffer

_FREE, _COLLECTING = -1, 0  # in `rollouts`; batches count from 1


class TrajectoryBuffer(RolloutBuffer):
    """Slots for collecting without an end, and the batch of trajectories that is learned from.

    Behind the ring there are B slots more, for copies of the steps that the batch's trajectories
    bootstrap from: the originals belong to the next trajectories, and are rewritten if their
    actions are LOST.

    Args:
        observation_space: As in `RolloutBuffer`.
        action_space: As in `RolloutBuffer`.
        num_environments: N.
        length: T.
        state_size: Width of the recurrent state.
        batch: B, trajectories that are learned from together.
        device: As in `RolloutBuffer`.
        shared: As in `RolloutBuffer`.

    Attributes:
        ring: How many slots the ring has. `pointer` and `limit` count without an end.
        batches: Batches taken so far.
        dropped: Trajectories dropped so far because they were too old.
    """

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        num_environments: int,
        length: int,
        state_size: int,
        batch: int,
        device: torch.device | str = "cpu",
        shared: bool = True,
    ):
        self.batch = batch
        self.ring = (num_environments + batch) * (length + 1)
        capacity = self.ring + batch
        super().__init__(
            observation_space,
            action_space,
            num_environments,
            length,
            state_size,
            device,
            shared,
            capacity=capacity,
        )
        self.free[: self.ring] = np.arange(self.ring)
        self.limit[0] = self.ring
        self.batches = self.dropped = 0
        self._learning = np.zeros((0, length), dtype=np.int64)

    def __getstate__(self) -> dict[str, Any]:
        return super().__getstate__() | {"batch": self.batch, "ring": self.ring}

    @property
    def fresh_steps(self) -> int:
        """Steps of the batch."""
        return self._learning.size

    def claim(self, count: int) -> np.ndarray:
        """Hands out at most `count` free slots. Call it under `lock`."""
        begin = int(self.pointer[0])
        end = min(begin + count, int(self.limit[0]))
        slots = np.take(self.free[: self.ring], np.arange(begin, end), mode="wrap")
        self.pointer[0] = end
        self.sequences[slots] = self.handed_out[0] + np.arange(len(slots))
        self.handed_out[0] += len(slots)
        self.rollouts[slots] = _COLLECTING
        return slots

    def holds_back(self, slots: np.ndarray) -> bool:
        """Collection has no end: no action waits."""
        return False

    def take(self, version: int, max_lag: int, claimed: np.ndarray) -> bool:
        """Makes the oldest complete trajectories the batch to learn from, if there are enough.

        The last batch must have been given back.

        Args:
            version: Updates behind the weights that will begin to learn.
            max_lag: Trajectories with a step whose weights are older, in updates, are dropped.
            claimed: [N] whose newest step may be being rewritten by another process.

        Returns:
            Whether there is a batch now.
        """
        with self.lock:
            collected = self.environments[self.rollouts == _COLLECTING]
            counts = np.bincount(collected, minlength=self.num_environments)
            if (np.maximum(counts - 1, 0) // self.length).sum() < self.batch:
                return False
            trajectories = self._complete_trajectories(claimed)
            ages = version - self.versions[trajectories[:, :-1]].min(axis=1, initial=version)
            too_old = ages > max_lag
            self._release(trajectories[too_old, :-1])
            self.dropped += int(too_old.sum())
            trajectories = trajectories[~too_old]
            if len(trajectories) < self.batch:
                return False
            # An environment's versions never fall, so what is dropped and what is taken are the
            # beginnings of its steps, and none are left before a gap.
            by_completion = np.argsort(self.sequences[trajectories[:, -1]])
            chosen = trajectories[np.sort(by_completion[: self.batch])]
            self._learning = chosen[:, :-1]
            self.batches += 1
            self._copy(chosen[:, -1], np.arange(self.ring, self.ring + self.batch))
            self.rollouts[self._learning] = self.rollouts[self.ring :] = self.batches
        return True

    def give_back(self) -> None:
        """Frees the batch's slots, once it has been learned from."""
        with self.lock:
            self._release(self._learning)
        self._learning = self._learning[:0]

    def chains(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the batch's trajectories, each with the copy that it bootstraps from."""
        copies = np.arange(self.ring, self.ring + len(self._learning))
        slots = np.concatenate([self._learning, copies[:, None]], axis=1)
        return slots.ravel(), np.full(len(copies), self.length + 1)

    def complete_slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Returns the batch's steps; all trajectories are alike, whichever environment was fast."""
        return self._learning.ravel(), np.full(self._learning.size, self.length + 1)

    def _complete_trajectories(self, claimed: np.ndarray) -> np.ndarray:
        """Finds all [K, T + 1] that are complete, the last one to bootstrap from."""
        slots, counts = self.fresh_slots()
        pieces = [np.zeros((0, self.length + 1), dtype=np.int64)]
        for environment, own in enumerate(np.split(slots, np.cumsum(counts)[:-1])):
            newest = self.newest[environment]
            if newest < 0:
                continue
            # Later ones were handed out, but are not filled in yet.
            end = self.sequences[newest] + (not claimed[environment])
            own = own[self.sequences[own] < end]
            count = max(0, len(own) - 1) // self.length
            starts = self.length * np.arange(count)
            pieces.append(own[starts[:, None] + np.arange(self.length + 1)])
        return np.concatenate(pieces)

    def _release(self, slots: np.ndarray) -> None:
        # In order, so that a batch of requests gets neighbours in memory where it can.
        slots = np.sort(slots, axis=None)
        self.rollouts[slots] = _FREE
        places = int(self.limit[0]) + np.arange(len(slots))
        self.free[places % self.ring] = slots
        self.limit[0] += len(slots)

    def _copy(self, source: np.ndarray, target: np.ndarray) -> None:
        for name in COLUMNS:
            self.columns[name][target] = self.columns[name][source]
        for name in self._large_names:
            if name != "current_state":
                self.large[name][target] = self.large[name][source]
