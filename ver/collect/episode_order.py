"""The order of an environment's episodes: how each begins, and which follows it.

All of it follows from the run's seed and from numbers, so a run that repeats its steps repeats this, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

TRY = 1 << 40  # in an episode's number, a try after the first


def episode_seed(seed: int, environment: int, episode: int) -> int:
    """Returns what an environment is reset with, distinct for every episode of a run."""
    return int(np.random.SeedSequence([seed, environment, episode]).generate_state(1)[0])


def is_first_try(number: int) -> bool:
    """Tells if an episode counts in means: tries after the first are of hard episodes."""
    return number < TRY


def newest_told(numbers: np.ndarray) -> np.ndarray:
    """Returns the numbers [N] of the newest episodes that count in means, before running ones [N]."""
    return numbers % TRY - (numbers < TRY)


@dataclass(frozen=True)
class EpisodeOrder:
    """The order of the episodes of all environments of a run.

    Attributes:
        seed: Of the run; environment i was made with `seed + i`.
        repeat_failed: Chance that an episode which ends without success begins again.
    """

    seed: int
    repeat_failed: float = 0.0

    def beginning(self, environment: int, number: int) -> tuple[int, dict[str, Any]]:
        """Returns seed and options of an episode's reset.

        The environment is told the number: it may use what is costly to make, a home, for several.
        Each try begins as the first did.
        """
        plain = number % TRY
        return episode_seed(self.seed, environment, plain), {"episode_number": plain}

    def after(self, environment: int, number: int, metrics: Mapping[str, float]) -> int:
        """Returns the number of the episode that follows: the next one, or the same once more.

        Args:
            environment: Index of the environment.
            number: Of the episode that has ended.
            metrics: What is told of it; 0 under "success" is a failure.
        """
        if self.repeat_failed and not metrics.get("success", 1.0):
            draw = np.random.default_rng([self.seed, environment, number]).random()
            if draw < self.repeat_failed:
                return number + TRY
        return self.next(number)

    def next(self, number: int) -> int:
        """Returns the number of the next episode, however this one ended."""
        return number % TRY + 1
