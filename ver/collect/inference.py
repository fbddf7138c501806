"""Inference on whatever requests are outstanding, and the writing of experience.

The main process and inference workers run the same engine. A batch is claimed together with its
slots under a lock; from then on its rows belong to the engine that claimed them.

A request whose last action is LOST (see environment_processes.py) gets no slot of its own: the slot
of the lost action is written anew.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.collect.mailboxes import Mailboxes
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TRUNCATED

_NOBODY = np.zeros(0, dtype=np.int64)
_ALL = slice(None)


@dataclass(frozen=True)
class BatchLimits:
    """Bounds of dynamic batching.

    Attributes:
        minimum: Requests worth waiting for.
        maximum: Most requests in a batch.
        max_wait_s: A smaller batch goes ahead after at most this long.
        wake_first: Wake workers before the batch's experience is written. For lockstep, in which
            all wait for inference and no other process takes their next requests.
    """

    minimum: int
    maximum: int
    max_wait_s: float
    wake_first: bool = False


class InferenceEngine:
    """Turns requests into actions and experience.

    Args:
        policy: Acts.
        buffer: Receives the experience.
        mailboxes: Where requests come from and actions go.
        limits: Bounds of the batches.
        version: [1] learner updates behind the policy, stored with each step. It is shared, so that
            a process that waits from one rollout into the next does not go by the old one.

    Attributes:
        held_back: [N] environments whose newest action was not sent, as the rollout was full, or
            their share of it; the next policy decides on the same observation anew.
        observations: {key: [N, ...]} where observations are copied from: the shared rows, unless
            other arrays, or tensors on the policy's device, are put in their place.
        final_observations: Likewise, those that a time limit cut off.
        seconds: Time spent in "inference", in "overhead", which is what this thread computes
            besides, and in "wait": for requests, or for a core that the kernel gave to a worker.
    """

    def __init__(
        self,
        policy: ActorCritic,
        buffer: RolloutBuffer,
        mailboxes: Mailboxes,
        limits: BatchLimits,
        held_back: np.ndarray,
        version: np.ndarray,
    ):
        self.policy = policy
        self.buffer = buffer
        self.mailboxes = mailboxes
        self.limits = limits
        self.held_back = held_back
        self.seconds = {"wait": 0.0, "inference": 0.0, "overhead": 0.0}
        self._inference_cpu_s = 0.0
        self.version = version
        self._rows = mailboxes.arrays
        self.observations = self._rows.group("observation")
        self.final_observations = self._rows.group("final_observation")
        self._keys = list(self.observations)
        self._tensors = isinstance(buffer.large["action"], Tensor)
        self._everyone_has_a_slot = False
        self._staging: dict[str, Tensor] = {}
        self._step_s = 2.0 * limits.max_wait_s
        self._last_step = 0.0

    def serve(self, timeout_s: float) -> int:
        """Waits for requests and answers one batch.

        Args:
            timeout_s: Gives up after this long without a request.

        Returns:
            How many requests were answered.
        """
        begin, cpu_begin = time.perf_counter(), time.thread_time()
        inference, inference_cpu = self.seconds["inference"], self._inference_cpu_s
        environments, slots = self._claim(begin + timeout_s)
        if len(environments):
            started = time.perf_counter()
            sent = (
                self._answer(environments, slots) if len(slots) else self._begin_anew(environments)
            )
            with self.buffer.lock:
                self.buffer.written[0] += len(environments)
            self._rows["claimed"][environments] = 0
            # Last of all: a worker that wakes up may take this process's core.
            if not self.limits.wake_first:
                self.mailboxes.wake_workers(sent)
            self._last_step = time.perf_counter()
            # Half a batch's own duration is never worth waiting for a few requests more.
            self._step_s += 0.02 * (self._last_step - started - self._step_s)
        # In this order: the kernel may wait for the next system call to give the core away.
        overhead = time.thread_time() - cpu_begin - (self._inference_cpu_s - inference_cpu)
        elapsed = time.perf_counter() - begin - (self.seconds["inference"] - inference)
        self.seconds["overhead"] += overhead
        self.seconds["wait"] += max(0.0, elapsed - overhead)
        return len(environments)

    def replay(self) -> None:
        """Decides anew where the last rollout ended without sending an action."""
        # A pending request without an action means that its worker was restarted.
        environments = np.flatnonzero(self.held_back & (self._rows["request_ready"] == 0))
        self.held_back[:] = 0
        if not len(environments):
            return
        slots = self.buffer.newest[environments]
        self._decide(environments, slots, self.buffer.first[slots], _ALL)
        if not self.limits.wake_first:
            self.mailboxes.wake_workers(environments)

    def _claim(self, give_up: float) -> tuple[np.ndarray, np.ndarray]:
        """Takes requests and as many slots, or none where the last action was LOST."""
        ready, buffer, limits = self._rows["request_ready"], self.buffer, self.limits
        impatient = max(self._last_step, 0.0) + min(limits.max_wait_s, 0.5 * self._step_s)
        if limits.minimum >= buffer.num_environments:
            impatient = math.inf  # lockstep was asked for, which nothing but faults may break
        while True:
            unfinished = buffer.quota > 0
            remaining = buffer.remaining
            now = time.perf_counter()
            wanted = min(limits.minimum, remaining, np.count_nonzero(unfinished))
            # In lockstep fewer requests mean nothing; else they may, once patience ends.
            self._rows["wanted"][0] = wanted if impatient == math.inf else 1
            waiting = np.count_nonzero(ready & unfinished)
            if remaining and waiting and (waiting >= wanted or now >= impatient):
                environments, slots = self._take()
                if len(environments):
                    return environments, slots
            if now >= give_up or not remaining:
                return _NOBODY, _NOBODY
            until = min(impatient, give_up) if waiting and now < impatient else give_up
            self.mailboxes.request_bell.wait(until - now)

    def _take(self) -> tuple[np.ndarray, np.ndarray]:
        buffer, ready = self.buffer, self._rows["request_ready"]
        with buffer.lock:
            waiting = np.flatnonzero(ready.copy())  # others write to it meanwhile
            lost = waiting[self._rows["outcome"][waiting] == LOST]
            if len(lost) and buffer.remaining:
                # While one of its slots is being rewritten the rollout is not full.
                buffer.written[0] -= len(lost)
                ready[lost] = 0
                self._rows["claimed"][lost] = 1
                self.mailboxes.request_bell.ring()
                return lost, lost[:0]
            waiting = waiting[buffer.quota[waiting] > 0]
            free = buffer.remaining - self._reserved(waiting)
            count = max(0, min(len(waiting), self.limits.maximum, free))
            if count < len(waiting):
                # Those served longest ago come first, so that none starves.
                newest = buffer.newest[waiting]
                served = np.where(newest >= 0, buffer.sequences[newest], -1)
                oldest_first = np.argsort(served, kind="stable")
                chosen = waiting[oldest_first[:count]]
                self.mailboxes.request_bell.ring()  # the rest is for whoever comes next
            else:
                chosen = waiting
            ready[chosen] = 0
            self._rows["claimed"][chosen] = 1
            slots = buffer.claim(count)
            # Written here so that every slot handed out has an owner; see `cut_episodes`.
            buffer.environments[slots] = chosen
            if buffer.fixed_length:
                buffer.quota[chosen] -= 1
        return chosen, slots

    def _reserved(self, waiting: np.ndarray) -> int:
        """Slots kept for environments that have none yet: each needs one before learning."""
        if self._everyone_has_a_slot:
            return 0
        without = self.buffer.newest < 0
        self._everyone_has_a_slot = not without.any()
        without[waiting] = False
        return int(without.sum())

    def _answer(self, environments: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Writes a step into each slot and decides on it; returns who was sent an action."""
        buffer, large = self.buffer, self.buffer.large
        rows = _as_slice(slots)
        outcome = self._rows["outcome"][environments]
        self._record_outcomes(environments, outcome)
        first = outcome != CONTINUES
        buffer.first[rows] = first
        buffer.episodes[rows] = self._rows["episode"][environments]
        buffer.steps[rows] = self._rows["step"][environments]
        buffer.outcomes[rows] = CONTINUES
        buffer.final_values[rows] = 0.0
        self._store_observations(environments, rows)
        large["previous_action"][rows] = self._to_device(self._rows["action"][environments])
        if self.policy.state_size:
            state = large["current_state"][self._to_device(environments)]
            large["state"][rows] = state * self._to_device(~first)[:, None]
        # A rollout's last action is held back: the next policy should choose it.
        send = buffer.quota[environments] > 0
        if buffer.holds_back(slots):
            send[:] = False
        self.held_back[environments[~send]] = 1
        self._decide(environments, slots, first, send)
        return environments[send]

    def _begin_anew(self, environments: np.ndarray) -> np.ndarray:
        """Puts new episodes' first steps in the place of lost ones; returns who was sent one."""
        buffer = self.buffer
        with buffer.lock:
            buffer.cut_episodes(environments)
        slots = buffer.newest[environments]
        buffer.first[slots] = True
        buffer.episodes[slots] = self._rows["episode"][environments]
        buffer.steps[slots] = self._rows["step"][environments]
        buffer.outcomes[slots] = CONTINUES
        buffer.rewards[slots] = buffer.final_values[slots] = 0.0
        self._store_observations(environments, slots)
        buffer.large["state"][slots] = 0.0
        send = buffer.quota[environments] > 0  # the others' steps in this rollout are all taken
        self.held_back[environments[~send]] = 1
        self._decide(environments, slots, buffer.first[slots], send)
        return environments[send]

    def _record_outcomes(self, environments: np.ndarray, outcome: np.ndarray) -> None:
        """Writes reward and outcome of the previous actions into their slots."""
        buffer = self.buffer
        known = outcome != NO_ACTION
        acted = environments[known]
        slots = buffer.newest[acted]
        buffer.rewards[slots] = self._rows["reward"][acted]
        buffer.outcomes[slots] = outcome[known]
        rows = environments[outcome == TRUNCATED]
        if not len(rows):
            return
        state = buffer.large["current_state"][self._to_device(rows)]
        final = self.final_observations.items()
        with self._inference():
            values = self.policy.value(
                {key: self._to_tensor(_rows_of(array, rows)) for key, array in final},
                self._to_tensor(state),
                self._to_tensor(self._rows["action"][rows]),
                torch.ones(len(rows), device=buffer.device),
            )
            values = values.cpu()
        buffer.final_values[buffer.newest[rows]] = values.numpy()

    @contextmanager
    def _inference(self) -> Iterator[None]:
        cpu_begin, begin = time.thread_time(), time.perf_counter()
        with torch.inference_mode():
            yield
        self.seconds["inference"] += time.perf_counter() - begin
        self._inference_cpu_s += time.thread_time() - cpu_begin

    def _decide(
        self,
        environments: np.ndarray,
        slots: np.ndarray,
        first: np.ndarray,
        send: slice | np.ndarray,
    ) -> None:
        """Acts on prepared slots, one for each environment, and perhaps hands the actions over.

        Args:
            environments: [B] indices.
            slots: [B] where their steps are.
            first: [B] whether these are episodes' first steps.
            send: [B] whose worker may have the action; woken here only if that comes first.
        """
        buffer, large = self.buffer, self.buffer.large
        rows = _as_slice(slots)
        with self._inference():
            seen = {key: self._to_tensor(large[f"observation/{key}"][rows]) for key in self._keys}
            choice = self.policy.choose(
                seen,
                self._to_tensor(large["state"][rows]),
                self._to_tensor(large["previous_action"][rows]),
                self._to_tensor(~first),
            )
            actions = choice.actions.cpu().numpy()  # waits for a GPU to be done
            output = None if self.limits.wake_first else self.policy.rate(choice, seen)
        if output is None:
            self._send(environments[send], actions[send])
            self.mailboxes.wake_workers(environments[send])
            with self._inference():
                output = self.policy.rate(choice, seen)
        # All that the next request of these environments may read or rewrite, in whatever
        # process, comes before the send.
        if self.policy.state_size:
            large["current_state"][self._to_device(environments)] = self._from_tensor(output.state)
        large["action"][rows] = self._from_tensor(output.actions)
        buffer.log_probs[rows] = output.log_probs.cpu().numpy()
        buffer.values[rows] = output.values.cpu().numpy()
        buffer.versions[rows] = self.version[0]
        buffer.newest[environments] = slots
        if buffer.device.type == "cuda":
            # Other processes read these slots through streams of their own.
            torch.cuda.current_stream(buffer.device).synchronize()
        if not self.limits.wake_first:
            self._send(environments[send], actions[send])

    def _send(self, environments: np.ndarray, actions: np.ndarray) -> None:
        """Hands actions [B, D] to environments [B]; their workers may be asleep."""
        self._rows["action"][environments] = actions
        self.mailboxes.send_actions(environments)

    def _store_observations(self, environments: np.ndarray, rows: slice | np.ndarray) -> None:
        """Copies observations into the rollout, if possible straight."""
        for key, source in self.observations.items():
            column = self.buffer.large[f"observation/{key}"]
            if isinstance(source, Tensor):
                target = column if isinstance(column, Tensor) else torch.from_numpy(column)
                target[rows] = _rows_of(source, environments)
            elif isinstance(column, Tensor):
                column[rows] = self._staged(key, environments)
            elif isinstance(rows, slice):
                np.take(source, environments, axis=0, out=column[rows], mode="clip")
            else:
                column[rows] = source[environments]

    def _staged(self, key: str, environments: np.ndarray) -> Tensor:
        """Sends observations to the GPU."""
        source = self.observations[key]
        if key not in self._staging:
            # Page-locked, so that the copy needs no detour and the host does not wait for it.
            # Each batch ends with its actions' arrival, so the next one may write here again.
            empty = torch.from_numpy(np.empty_like(source))
            self._staging[key] = empty.pin_memory() if torch.cuda.is_available() else empty
        staged = self._staging[key][: len(environments)]
        np.take(source, environments, axis=0, out=staged.numpy(), mode="clip")
        return staged.to(self.buffer.device, non_blocking=True)

    # On a CPU the rollout's columns are NumPy arrays, which take a tenth of the time that torch
    # takes to index a few rows; so arrays stay arrays there, except for the policy.

    def _to_device(self, array: np.ndarray) -> Any:
        """Makes an array one of what the rollout's large columns are."""
        return torch.from_numpy(array).to(self.buffer.device) if self._tensors else array

    def _to_tensor(self, rows: Any) -> Tensor:
        return rows if isinstance(rows, Tensor) else torch.from_numpy(rows).to(self.buffer.device)

    def _from_tensor(self, tensor: Tensor) -> Any:
        return tensor if self._tensors else tensor.numpy()


def _rows_of(values: Any, rows: np.ndarray) -> Any:
    """Some rows of an array, or of a tensor: all of them, in order, are no copy."""
    if not isinstance(values, Tensor):
        return values[rows]
    index = _as_slice(rows)
    return values[index if isinstance(index, slice) else torch.from_numpy(rows).to(values.device)]


def _as_slice(slots: np.ndarray) -> slice | np.ndarray:
    """Consecutive slots as a slice, through which rows are read and written without a copy."""
    begin, end = int(slots[0]), int(slots[0]) + len(slots)
    return slice(begin, end) if slots.tolist() == list(range(begin, end)) else slots
