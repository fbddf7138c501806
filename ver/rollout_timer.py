"""Wall time of rollouts, and the kinds of work that it is spent on."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class RolloutTimer:
    """Times one rollout after the other, from collection to its row in the logs.

    Attributes:
        learning: Seconds of the last rollout's learning, set by the trainer.
        ranks: Seconds of this rollout in which other ranks were waited for, set by the trainer.
        wall: Seconds of the last rollout in all.
    """

    def __init__(self):
        self.learning = 0.0
        self.ranks = 0.0
        self.wall = 0.0
        self._saving = 0.0

    def begin(self, busy: Mapping[str, float], packing: float) -> None:
        """Begins a rollout.

        Args:
            busy: Seconds so far in "wait" and "inference".
            packing: Seconds so far in packing.
        """
        self._begun = time.perf_counter() - self._saving
        self._saving = self.ranks = 0.0
        self._busy, self._packing = dict(busy), packing

    @contextmanager
    def saving(self) -> Iterator[None]:
        """Charges what is done in its block to the next rollout."""
        begin = time.perf_counter()
        yield
        self._saving = time.perf_counter() - begin

    def row(
        self, busy: Mapping[str, float], packing: float, steps: int, samples: int
    ) -> dict[str, float]:
        """Ends the rollout and returns the share that each kind of work took, and the rates.

        Args:
            busy: As in `begin`.
            packing: As in `begin`.
            steps: Environment steps of the rollout, on all ranks.
            samples: Steps that were learned from, once for each epoch.
        """
        self.wall = wall = time.perf_counter() - self._begun
        packing -= self._packing
        spent = {
            "simulation_wait": busy["wait"] - self._busy["wait"],
            "inference": busy["inference"] - self._busy["inference"],
            "learning": self.learning - packing,
            "waiting_for_ranks": self.ranks,
        }
        shares = {f"time/{name}": seconds / wall for name, seconds in spent.items()}
        return shares | {
            "time/overhead": max(0.0, wall - sum(spent.values())) / wall,
            "time/packing": packing / wall,  # is a part of the overhead
            "steps_per_second": steps / wall,
            "loss/samples_per_second": samples / self.learning,
        }
