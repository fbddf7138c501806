"""Shared memory for the steps of one rollout, and the order in which they are written to it.

VER collects (T + 1) x N slots from N environments without saying how many from each. Slots are
handed out in the order in which requests arrive. The newest slot of every environment has no
outcome yet: it gives the bootstrap value, and is carried into the next rollout, where its outcome
arrives. So T x N steps are learned from, each exactly once per epoch.

A rollout may end early, when other processes would wait too long for it. Steps of earlier rollouts
that were not overwritten yet then fill it up: they are stale. Where that may happen, slots of the
oldest policy are handed out first, so the stale steps are the newest there are, and there are T x N
steps to learn from as ever: "extra epochs" on stale data, as VER has it (section 2.3). They keep
their returns.

With a fixed length every environment gets T of a rollout's slots, as in systems before VER.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated, Any, get_type_hints

import numpy as np
import torch
from gymnasium import spaces

from ver.action_space import action_dtype, action_width
from ver.shared.arrays import SharedArrays, Spec
from ver.shared.locks import ProcessLock
from ver.shared.outcomes import TRUNCATED

# A column in shared memory: its length, and its dtype
Floats = Annotated[np.ndarray, "slots", "float32"]
Integers = Annotated[np.ndarray, "slots", "int64"]
OfEnvironments = Annotated[np.ndarray, "environments", "int64"]
Counter = Annotated[np.ndarray, "one", "int64"]


class SlotColumns:
    """Numbers that are kept of every slot, [C] each."""

    log_probs: Floats
    values: Floats
    rewards: Floats  # of the slot's action, known when the next request arrives
    outcomes: Annotated[
        np.ndarray, "slots", "uint8"
    ]  # likewise: CONTINUES, TERMINATED or TRUNCATED
    final_values: Floats  # value of the observation that a truncation cut off
    first: Annotated[np.ndarray, "slots", "bool"]  # the episode's first step
    environments: Annotated[np.ndarray, "slots", "int32"]
    episodes: Integers
    steps: Integers
    versions: Integers  # learner updates that the acting policy had seen
    rollouts: Integers  # the rollout in which the step is fresh
    sequences: Integers  # how many slots were ever handed out before this one
    advantages: Floats  # computed at the end of that rollout


def _annotated(kind: type) -> dict[str, tuple[str, str]]:
    """Length and dtype of every column, from the annotations of a class."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: hint.__metadata__ for name, hint in hints.items()}


COLUMNS = tuple(_annotated(SlotColumns))


class RolloutBuffer(SlotColumns):
    """(T + 1) x N slots, shared between inference processes, and each environment's newest one.

    Large columns are tensors on the learner's device, small ones NumPy arrays on the CPU.

    Args:
        observation_space: Gives the observations' shapes and dtypes; they are stored as they are.
        action_space: Gives the actions' width and dtype.
        num_environments: N.
        length: T.
        state_size: Width of the recurrent state.
        device: Where the large columns live, shared with other inference processes.
        shared: Whether there are other inference processes; without them the lock is none.
        fixed_length: Whether every environment gets the same number of slots.
        capacity: C, how many slots there are; (T + 1) x N if it is 0.

    Attributes:
        observations: {key: [C, ...]}.
        previous_actions: [C, D].
        actions: [C, D].
        states: [C, S], the recurrent state before the step, zero at an episode's start.
        large: All of these by name, NumPy arrays on a CPU and tensors elsewhere; see
            `_large_columns`.
        columns: SharedArrays of the rest, which is annotated below and in `SlotColumns`.
        current_state: [N, S] the recurrent state before each environment's next step.
    """

    free: Integers  # the order in which slots are handed out
    newest: OfEnvironments  # the newest slot of each environment, -1 before the first
    quota: OfEnvironments  # slots that each environment may still get in this rollout
    limit: Counter  # slots that this rollout hands out in all
    pointer: Counter  # slots handed out in this rollout
    written: Counter  # slots filled in
    handed_out: Counter  # slots handed out in all rollouts so far
    rollout: Counter  # number of this rollout

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        num_environments: int,
        length: int,
        state_size: int,
        device: torch.device | str = "cpu",
        shared: bool = True,
        fixed_length: bool = False,
        capacity: int = 0,
    ):
        self.num_environments = num_environments
        self.length = length
        self.capacity = capacity or (length + 1) * num_environments
        self.fixed_length = fixed_length
        self.device = torch.device(device)
        self.columns = SharedArrays(_columns(self.capacity, num_environments))
        spec = _large_columns(
            observation_space, action_space, self.capacity, num_environments, state_size
        )
        if self.device.type == "cpu":
            self.large: Any = SharedArrays(spec)
        else:
            self.large = {
                name: torch.zeros(shape, dtype=_torch_dtype(dtype), device=self.device)
                for name, (shape, dtype) in spec.items()
            }
        self._large_names = list(spec)
        self.lock = ProcessLock() if shared else nullcontext()
        self._bind()
        self.newest[:] = -1
        self.rollouts[:] = -1
        self.limit[0] = self.capacity
        self.quota[:] = self.capacity

    def _bind(self) -> None:
        large = {name: torch.as_tensor(self.large[name]) for name in self._large_names}
        prefix = "observation/"
        self.observations = {
            name[len(prefix) :]: tensor for name, tensor in large.items() if name.startswith(prefix)
        }
        self.previous_actions = large["previous_action"]
        self.actions = large["action"]
        self.states = large["state"]
        self.current_state = large["current_state"]
        for name in self.columns.spec:
            setattr(self, name, self.columns[name])

    def __getstate__(self) -> dict[str, Any]:
        # Tensors on a GPU reach a new process as handles to the same memory.
        kept = ("num_environments", "length", "capacity", "fixed_length", "device", "lock")
        state = {name: getattr(self, name) for name in kept}
        return state | {
            "columns": self.columns,
            "large": self.large,
            "_large_names": self._large_names,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._bind()

    @property
    def full(self) -> bool:
        """True when all of this rollout's slots are handed out and filled in."""
        return bool(self.written[0] == self.limit[0])

    @property
    def remaining(self) -> int:
        """Slots that are still to be handed out in this rollout."""
        return int(self.limit[0] - self.pointer[0])

    @property
    def fresh_steps(self) -> int:
        """Complete steps that no earlier rollout has learned from; T x N unless it ended early."""
        return int((self.rollouts == self.rollout[0]).sum()) - self.num_environments

    def begin(self, may_end_early: bool = True) -> None:
        """Starts a rollout: all slots are free but each environment's newest, which is carried.

        Before the very first rollout there is nothing to carry, and it collects N steps more.

        Args:
            may_end_early: Whether the oldest steps go first, so that the newest fill up a rollout
                that ends early. Otherwise slots are handed out as they lie in memory: a batch's
                are neighbours, which are read and written at once.
        """
        with self.lock:  # another process may still be waiting for requests
            self._begin(may_end_early)

    def _begin(self, may_end_early: bool) -> None:
        known = self.newest >= 0
        if known.any() and not known.all():
            raise RuntimeError("Some environments have no slot to carry.")
        self.pointer[0] = self.written[0] = 0
        if self.fixed_length:
            self.quota[:] = self.length + (not known.any())
        if not known.any():
            self.free[:] = np.arange(self.capacity)
            self.limit[0] = self.capacity
            return
        self.rollout[0] += 1
        self.rollouts[self.newest] = self.rollout[0]
        free = np.delete(np.arange(self.capacity), self.newest)
        self.limit[0] = len(free)
        if may_end_early:
            free = free[np.lexsort((self.sequences[free], self.versions[free]))]
        self.free[: len(free)] = free

    def claim(self, count: int) -> np.ndarray:
        """Hands out at most `count` slots, in the order that `begin` chose.

        Call it under `lock`, and write there too whose the slots are.
        """
        begin = int(self.pointer[0])
        slots = self.free[begin : min(begin + count, int(self.limit[0]))].copy()
        self.pointer[0] = begin + len(slots)
        self.sequences[slots] = self.handed_out[0] + np.arange(len(slots))
        self.handed_out[0] += len(slots)
        self.rollouts[slots] = self.rollout[0]
        return slots

    def holds_back(self, slots: np.ndarray) -> bool:
        """Tells if slots just handed out are a rollout's last, whose actions wait for the next."""
        return bool(slots[-1] == self.free[self.limit[0] - 1])

    def end_early(self) -> bool:
        """Hands out no more slots in this rollout; stale steps fill it up.

        Returns:
            Whether that is possible: the first rollout, also after a resume, has nothing to be
            filled up with.
        """
        with self.lock:
            rest = self.free[self.pointer[0] : self.limit[0]]
            possible = bool((self.rollouts[rest] >= 0).all())
            if possible:
                self.limit[0] = self.pointer[0]
        return possible

    def fresh_slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Finds this rollout's slots, carried and newest ones included.

        Returns:
            Slots [F], ordered by environment and time, and how many are each environment's [N].
            Those of one environment follow each other without a gap, and its newest ends them.
        """
        fresh = np.flatnonzero(self.rollouts == self.rollout[0])
        owners = self.environments[fresh]
        slots = fresh[np.lexsort((self.sequences[fresh], owners))]
        return slots, np.bincount(owners, minlength=self.num_environments)

    def chains(self) -> tuple[np.ndarray, np.ndarray]:
        """Finds the slots along which advantages are computed, which bootstrap at each chain's end.

        Returns:
            Slots [C], one chain after the other, and how many are in each chain.
        """
        return self.fresh_slots()

    def complete_slots(self) -> tuple[np.ndarray, np.ndarray]:
        """Finds the steps to learn from: all slots but the newest ones, which only bootstrap.

        Returns:
            Slots [M], ordered by environment and time, and of how many slots' environment each is.
        """
        order = np.lexsort((self.sequences, self.environments))
        complete = np.ones(self.capacity, dtype=bool)
        complete[self.newest] = False
        slots = order[complete[order]]
        return slots, np.bincount(self.environments)[self.environments[slots]]

    def cut_episodes(self, environments: np.ndarray) -> None:
        """Ends episodes before their newest step, of which nothing more will be known.

        The step before is truncated, and bootstraps from the newest step's value. Where it belongs
        to the last rollout it was learned from in just that way already. Call it under `lock`.

        Args:
            environments: [B] indices.
        """
        slots, counts = self.fresh_slots()
        starts = np.cumsum(counts) - counts
        for environment in environments:
            newest = self.newest[environment]
            own = slots[starts[environment] :][: counts[environment]]
            earlier = own[self.sequences[own] < self.sequences[newest]]
            if len(earlier) and not self.first[newest]:
                self.outcomes[earlier[-1]] = TRUNCATED
                self.final_values[earlier[-1]] = self.values[newest]


def _columns(capacity: int, n: int) -> Spec:
    lengths = {"slots": capacity, "environments": n, "one": 1}
    columns = _annotated(RolloutBuffer).items()
    return {name: ((lengths[length],), dtype) for name, (length, dtype) in columns}


def _large_columns(
    observation_space: spaces.Dict,
    action_space: spaces.Space,
    capacity: int,
    n: int,
    state_size: int,
) -> Spec:
    action = ((capacity, action_width(action_space)), action_dtype(action_space))
    spec: Spec = {
        f"observation/{key}": ((capacity, *(box.shape or ())), str(box.dtype))
        for key, box in observation_space.spaces.items()
    }
    return spec | {
        "previous_action": action,
        "action": action,
        "state": ((capacity, state_size), "float32"),
        "current_state": ((n, state_size), "float32"),
    }


def _torch_dtype(name: str) -> torch.dtype:
    return torch.from_numpy(np.zeros(0, dtype=name)).dtype
