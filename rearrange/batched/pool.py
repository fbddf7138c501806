"""A pool of start states: made on the CPU, once, and then given to worlds on a device again and again.

To set up a world takes the CPU milliseconds. To copy a row takes a device next to nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rearrange.batched.bank import Bank, make_bank
from rearrange.batched.starts import Starts, make_starts
from rearrange.episodes import Episode
from rearrange.settings import setting
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.worlds import EPISODES_PER_HOME, Worlds

SECONDS_PER_LINE = 10.0  # between two lines of progress


@dataclass
class PoolConfig:
    """Numbers of the start states that worlds on a device are given."""

    homes: int = setting(
        64,
        hab=None,
        low=1,
        high=4096,
        about="homes in which episodes begin; those of recorded starts come on top",
    )
    starts: int = setting(
        32, hab=None, low=1, high=EPISODES_PER_HOME, about="start states in each home"
    )


@dataclass(frozen=True)
class Pool:
    """Start states that are all there is.

    Attributes:
        episodes: They [S].
        bank: Their homes.
        starts: What worlds are like then.
    """

    episodes: tuple[Episode, ...]
    bank: Bank
    starts: Starts


def make_pool(worlds: Worlds, numbers: PoolConfig, seed: int) -> Pool:
    """Sample start states, fit to be played, and set them up.

    Args:
        worlds: One world on the CPU, of the task in question.
        numbers: How many.
        seed: Decides which.

    Raises:
        UserError: Homes differ in what worlds on a device have in common.
    """
    simulator = worlds.simulator
    if not isinstance(simulator, MujocoSimulator):
        raise TypeError("start states are set up by the MuJoCo simulator")
    episodes, told = [], Told(numbers.homes * numbers.starts)
    for home in range(numbers.homes):
        for number in range(numbers.starts):
            rng = np.random.default_rng([seed, home, number])
            worlds.reset(0, rng, seed + home, number)
            episodes.append(_running(worlds.episodes))
            told(len(episodes))
    homes = dict.fromkeys((episode.layout, episode.variation) for episode in episodes)
    bank = make_bank(homes, simulator.config, simulator.state.robot)
    return Pool(tuple(episodes), bank, make_starts(simulator, bank, episodes))


def _running(episodes: Sequence[Episode | None]) -> Episode:
    (episode,) = episodes
    assert episode is not None
    return episode


class Told:
    """Tells on standard error how many start states there are, from time to time."""

    def __init__(self, count: int) -> None:
        """Tell of none yet."""
        self._count, self._last = count, time.monotonic()

    def __call__(self, made: int) -> None:
        """Some have been made."""
        if time.monotonic() - self._last >= SECONDS_PER_LINE:
            self._last = time.monotonic()
            print(f"{made:,} of {self._count:,} start states", file=sys.stderr, flush=True)
