"""Steps in flight between two rollouts: the newest ones, and the episodes they belong to.

An environment's inner state cannot be saved, but it can be had again: its episode is known by its
seed, and the actions taken since. So a checkpoint holds those, and a resumed run goes on in the
middle of every episode. No step in flight is lost, and none is learned from twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.collect.environment_worker import Continuation
from ver.collect.mailboxes import Mailboxes
from ver.rollout import COLUMNS, RolloutBuffer

InFlight = dict[str, Tensor]
PREFIX = "carried/"  # of their names in training checkpoints
LONGEST = 20_000  # steps; of more, checkpoints would grow and resuming take as long as the episode
_NOT_KEPT = -1  # length of a longer one's actions


class EpisodeActions:
    """The actions of every environment's running episode, up to its newest step.

    Of an episode of more than LONGEST steps none is kept: it cannot be taken up.

    Args:
        num_environments: N.
    """

    def __init__(self, num_environments: int):
        self._actions: list[list[np.ndarray] | None] = [[] for _ in range(num_environments)]

    def record(self, buffer: RolloutBuffer) -> None:
        """Takes note of a rollout whose collection has just ended."""
        fresh, counts = buffer.fresh_slots()
        actions = buffer.actions.cpu().numpy()
        for environment, slots in enumerate(np.split(fresh, np.cumsum(counts)[:-1])):
            starts = np.flatnonzero(buffer.first[slots])
            if len(starts):
                self._actions[environment] = []
                slots = slots[starts[-1] :]
            pieces = self._actions[environment]
            if pieces is None:
                continue
            # The newest step's action may yet be decided anew.
            pieces.append(actions[slots[:-1]])
            if sum(map(len, pieces)) > LONGEST:
                self._actions[environment] = None

    def capture(self) -> InFlight:
        """Returns all actions laid end to end, and how many are whose."""
        everything = [self[environment] for environment in range(len(self._actions))]
        self._actions = [None if each is None else [each] for each in everything]
        kept = [each for each in everything if each is not None]
        lengths = [_NOT_KEPT if each is None else len(each) for each in everything]
        return {
            "actions": torch.from_numpy(np.concatenate(kept) if kept else np.zeros((0, 0))),
            "lengths": torch.tensor(lengths),
        }

    def restore(self, in_flight: InFlight) -> None:
        """Puts `capture`'s answer back."""
        lengths = in_flight["lengths"].tolist()
        parts = in_flight["actions"].split([max(length, 0) for length in lengths])
        self._actions = [
            None if length == _NOT_KEPT else [part.numpy()]
            for length, part in zip(lengths, parts, strict=True)
        ]

    def __getitem__(self, environment: int) -> np.ndarray | None:
        pieces = self._actions[environment]
        return None if pieces is None else np.concatenate(pieces)


def newest_steps(buffer: RolloutBuffer) -> InFlight:
    """Copies the newest step of every environment, in their order."""
    in_flight = {name: column.clone() for name, column in _front(buffer, buffer.newest).items()}
    in_flight["current_state"] = buffer.current_state.clone()
    in_flight["counters"] = torch.tensor([int(buffer.handed_out[0]), int(buffer.rollout[0])])
    return in_flight


def put_newest_steps(buffer: RolloutBuffer, in_flight: InFlight) -> None:
    """Makes `newest_steps`'s answer the newest steps of another buffer."""
    n = buffer.num_environments
    for name, column in _columns(buffer).items():
        column[:n] = in_flight[name].to(column.device)
    buffer.current_state.copy_(in_flight["current_state"])
    # Time goes on: later slots are numbered from there, and belong to later rollouts.
    buffer.handed_out[0], buffer.rollout[0] = in_flight["counters"].tolist()
    buffer.newest[:] = np.arange(n)


def fits(buffer: RolloutBuffer, in_flight: InFlight) -> bool:
    """Tells if steps are of this buffer's environments: as many, of the same shapes."""
    n = buffer.num_environments
    expected = _columns(buffer) | {"current_state": buffer.current_state}
    return "counters" in in_flight and all(
        name in in_flight
        and in_flight[name].dtype == column.dtype
        and in_flight[name].shape == (n, *column.shape[1:])
        for name, column in expected.items()
    )


def continuations(
    in_flight: InFlight,
    buffer: RolloutBuffer,
    held_back: np.ndarray,
    mailboxes: Mailboxes,
    actions: EpisodeActions,
) -> dict[int, Continuation]:
    """Restores buffer, flags, rows and action lists; returns what the workers need.

    Args:
        in_flight: The answers of `newest_steps` and `EpisodeActions.capture`, and "held_back" [N].
        buffer: An unused buffer that `fits`.
        held_back: [N] flags, see `InferenceEngine`.
        mailboxes: Receives the observations to be reached, and the next actions.
        actions: Receives the actions taken so far.
    """
    put_newest_steps(buffer, in_flight)
    actions.restore(in_flight)
    held_back[:] = in_flight["held_back"].numpy()
    rows = mailboxes.arrays
    n = buffer.num_environments
    rows["action"][:] = buffer.actions[:n].cpu().numpy()
    for key, column in buffer.observations.items():
        rows[f"observation/{key}"][:] = column[:n].cpu().numpy()
    return {
        environment: Continuation(
            episode=int(buffer.episodes[environment]),
            actions=actions[environment],
            pending=not held_back[environment],
        )
        for environment in range(n)
    }


def _columns(buffer: RolloutBuffer) -> dict[str, Tensor]:
    columns: dict[str, Any] = {
        f"observation/{key}": column for key, column in buffer.observations.items()
    }
    columns |= {
        "previous_action": buffer.previous_actions,
        "action": buffer.actions,
        "state": buffer.states,
    }
    # In files their names are singular
    return columns | {
        f"column/{name.removesuffix('s')}": torch.from_numpy(buffer.columns[name])
        for name in COLUMNS
    }


def _front(buffer: RolloutBuffer, slots: np.ndarray) -> dict[str, Tensor]:
    index = torch.from_numpy(slots.copy())
    return {
        name: column.index_select(0, index.to(column.device))
        for name, column in _columns(buffer).items()
    }
