"""Mailboxes of environment workers and inference: one row per environment in shared memory.

There is no queue that could overflow: every environment has at most one message under way in each
direction, so one flag per environment is the whole queue, and a doorbell wakes the reader.

An environment's row is owned by its worker from the moment its `action_ready` flag is set until
the worker sets `request_ready`, and by inference for the rest of the time. So rows need no lock.
While a worker is dead the trainer owns those of its rows that no inference process has `claimed`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from gymnasium import spaces

from ver.action_space import action_dtype, action_width
from ver.shared.arrays import SharedArrays, Spec
from ver.shared.doorbells import Doorbell
from ver.shared.outcomes import NO_ACTION


@dataclass
class Mailboxes:
    """Shared rows and the doorbells beside them.

    Attributes:
        arrays: `observation/<key>` and `final_observation/<key>` [N, ...], `action` [N, D],
            `reward` [N], `outcome` [N] (what became of the last action), `episode` [N],
            `step` [N], the flags `request_ready`, `action_ready` and `claimed` [N], and `stop` [1].
            `wanted` [1] is how many requests it takes to wake inference.
            Of each worker, `busy_since` [W] (monotonic seconds, 0 while it waits), `busy_with`
            [W] (the environment being stepped) and `stepped` [W] (it has taken a step).
        request_bell: Rings when requests are ready.
        action_bells: One for each environment worker.
        environments_per_worker: Environment i belongs to worker i // this.
    """

    arrays: SharedArrays
    environments_per_worker: int
    request_bell: Doorbell = field(default_factory=Doorbell)
    action_bells: list[Doorbell] = field(default_factory=list)

    def send_requests(self, environments: list[int]) -> None:
        """Hands rows whose results are written to inference, and wakes it if these are enough.

        Args:
            environments: Indices.
        """
        ready = self.arrays["request_ready"]
        for environment in environments:
            ready[environment] = 1
        # Of two workers that are the last at the same moment each might miss the other's flag,
        # where processors delay stores; then inference finds out by itself when its patience ends.
        if ready.tobytes().count(1) >= self.arrays["wanted"][0]:
            self.request_bell.ring()

    def send_actions(self, environments: np.ndarray) -> None:
        """Hands rows whose actions are written to their workers, which may be asleep.

        Args:
            environments: Indices, [B].
        """
        self.arrays["action_ready"][environments] = 1

    def wake_workers(self, environments: np.ndarray) -> None:
        """Tells the workers of environments that they have actions.

        Args:
            environments: Indices, [B].
        """
        for worker in set((environments // self.environments_per_worker).tolist()):
            self.action_bells[worker].ring()

    def stop(self) -> None:
        """Tells all environment workers to end."""
        self.arrays["stop"][0] = 1
        for bell in self.action_bells:
            bell.ring()


def make_mailboxes(
    observation_space: spaces.Dict,
    action_space: spaces.Space,
    num_environments: int,
    environments_per_worker: int,
) -> Mailboxes:
    """Allocates the rows for `num_environments` environments."""
    n = num_environments
    workers = -(-n // environments_per_worker)
    spec: Spec = {
        "request_ready": ((n,), "uint8"),
        "action_ready": ((n,), "uint8"),
        "claimed": ((n,), "uint8"),
        "stop": ((1,), "uint8"),
        "wanted": ((1,), "int64"),
        "busy_since": ((workers,), "float64"),
        "busy_with": ((workers,), "int64"),
        "stepped": ((workers,), "uint8"),
        "outcome": ((n,), "uint8"),
        "reward": ((n,), "float32"),
        "episode": ((n,), "int64"),
        "step": ((n,), "int64"),
        "action": ((n, action_width(action_space)), action_dtype(action_space)),
    }
    for key, box in observation_space.spaces.items():
        shape = (n, *(box.shape or ()))
        spec[f"observation/{key}"] = (shape, str(box.dtype))
        spec[f"final_observation/{key}"] = (shape, str(box.dtype))
    mailboxes = Mailboxes(
        SharedArrays(spec),
        environments_per_worker,
        action_bells=[Doorbell(patient=True) for _ in range(workers)],
    )
    mailboxes.arrays["outcome"][:] = NO_ACTION
    return mailboxes
