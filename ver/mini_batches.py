"""Mini-batches of packed sequences: cutting, packing, and copying out of a rollout."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from ver.rollout import RolloutBuffer


@dataclass
class MiniBatch:
    """One mini-batch in packed order: time-major, longest sequence first.

    Attributes:
        positions: [M] positions in `Experience.slots`.
        batch_sizes: [L] sequences still running at each time step.
        heads: [S] positions of the sequences' first steps, longest sequence first.
        lengths: [S] lengths of the sequences.
    """

    positions: np.ndarray
    batch_sizes: np.ndarray
    heads: np.ndarray
    lengths: np.ndarray

    def shards(self, count: int) -> list[MiniBatch]:
        """Deals the sequences out to at most `count` mini-batches of nearly equal size."""
        # Sequences are sorted by length, so dealing them like cards balances the hands.
        count = min(count, len(self.heads))
        if count == 1:
            return [self]
        return [pack(self.heads[i::count], self.lengths[i::count]) for i in range(count)]


class PackedBatch(NamedTuple):
    """A mini-batch, packed for learning.

    Attributes:
        positions: [M] positions in `Experience.slots`.
        shards: Parts of it, one for each thread.
        inputs: Arguments of `ActorCritic.evaluate` for each of them.
    """

    positions: np.ndarray
    shards: list[MiniBatch]
    inputs: list[dict[str, Any]]


class GatheredRows:
    """Copies of a mini-batch's rows, in memory that is used again in the next rollout.

    Fresh memory for every rollout's images costs a CPU three times as much as copying them: the
    kernel has to find and clear each page.
    """

    def __init__(self):
        self._memory: dict[str, Tensor] = {}

    def take(self, columns: dict[str, Tensor], slots: Tensor) -> dict[str, Tensor]:
        """Returns copies of some rows, which the next call overwrites.

        Args:
            columns: {key: [C, ...]}.
            slots: [M] rows to copy.
        """
        count = len(slots)
        rows = {}
        for key, column in columns.items():
            memory = self._memory.get(key)
            if memory is None or len(memory) < count:
                # Shards differ a little in size.
                memory = column.new_empty(count + count // 8, *column.shape[1:])
                self._memory[key] = memory
            rows[key] = torch.index_select(column, 0, slots, out=memory[:count])
        return rows


class Packer:
    """Copies mini-batches out of a rollout, and spreads work on them over threads.

    Args:
        threads: Shards of each mini-batch, one for each CPU thread, with single-threaded
            operations. Measured against multi-threaded operations (OpenMP), this is as fast on
            idle cores and many times faster on busy ones, where OpenMP's threads spin while one of
            them is descheduled.
        least: Steps that a shard has at least, where there is more than one.

    Attributes:
        map: Like the builtin, over the threads.
    """

    def __init__(self, threads: int = 1, least: int = 1):
        self.threads = threads
        self.least = least
        self.map: Callable[..., Any] = map
        if threads > 1:
            pool = ThreadPoolExecutor(threads, "learner", lambda: torch.set_num_threads(1))
            self.map = pool.map
        self._gathered: list[GatheredRows] = []

    def pack(
        self, buffer: RolloutBuffer, slots: np.ndarray, batch: MiniBatch, place: int = 0
    ) -> PackedBatch:
        """Copies out what the policy needs of a mini-batch.

        Args:
            buffer: A full buffer.
            slots: Slots that the mini-batch's positions count in.
            batch: Which of these steps.
            place: What was packed with the same number before is overwritten.
        """
        while len(self._gathered) < (place + 1) * self.threads:
            self._gathered.append(GatheredRows())
        shards = batch.shards(min(self.threads, max(1, len(batch.positions) // self.least)))
        memories = self._gathered[place * self.threads :][: len(shards)]

        def gather(shard: MiniBatch, memory: GatheredRows) -> dict[str, Any]:
            return _policy_inputs(buffer, slots, shard, memory)

        return PackedBatch(batch.positions, shards, list(self.map(gather, shards, memories)))


def _policy_inputs(
    buffer: RolloutBuffer, of: np.ndarray, batch: MiniBatch, memory: GatheredRows
) -> dict[str, Any]:
    """Returns the arguments of `ActorCritic.evaluate` for a mini-batch of the slots `of`."""
    device = buffer.device
    rows = of[batch.positions]
    slots = torch.as_tensor(rows, device=device)
    heads = torch.as_tensor(of[batch.heads], device=device)
    return {
        "observations": memory.take(buffer.observations, slots),
        "state": buffer.states.index_select(0, heads),
        "previous_actions": buffer.previous_actions.index_select(0, slots),
        "masks": torch.as_tensor(~buffer.first[rows], device=device),
        "actions": buffer.actions.index_select(0, slots),
        "batch_sizes": torch.as_tensor(batch.batch_sizes),
    }


def cut_mini_batches(
    starts: np.ndarray, lengths: np.ndarray, count: int, rng: np.random.Generator
) -> list[MiniBatch]:
    """Shuffles sequences, lays them end to end and cuts them into `count` equal mini-batches.

    A sequence across a cut becomes two pieces. If `count` does not divide the number of steps,
    mini-batches differ by one step.

    Args:
        starts: [K] positions of the sequences.
        lengths: [K] their lengths.
        count: Number of mini-batches.
        rng: Shuffles.
    """
    order = rng.permutation(len(starts))
    starts, lengths = starts[order], lengths[order]
    ends = np.cumsum(lengths)
    begins = ends - lengths
    total = int(ends[-1])
    batches = []
    count = min(count, total)
    for part in range(count):
        low, high = total * part // count, total * (part + 1) // count
        inside = (ends > low) & (begins < high)
        skip = np.maximum(low - begins[inside], 0)
        stop = np.minimum(high - begins[inside], lengths[inside])
        batches.append(pack(starts[inside] + skip, stop - skip))
    return batches


def pack(starts: np.ndarray, lengths: np.ndarray) -> MiniBatch:
    """Arranges sequences as a PackedSequence does.

    Args:
        starts: [S] positions of the sequences.
        lengths: [S] their lengths, at least one each.
    """
    longest_first = np.argsort(-lengths, kind="stable")
    starts, lengths = starts[longest_first], lengths[longest_first]
    times = np.arange(int(lengths[0]))
    # Sequences longer than t, for each t: lengths fall, so a binary search finds them.
    batch_sizes = np.searchsorted(-lengths, -times, side="left")
    positions = np.concatenate([starts[:size] + t for t, size in enumerate(batch_sizes)])
    return MiniBatch(positions, batch_sizes.astype(np.int64), starts, lengths)
