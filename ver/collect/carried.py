"""What is under way between two rollouts: the newest steps, and the episodes they belong to.

An environment's inner state cannot be saved, but it can be had again: its episode is known by its
seed, and the actions taken since. So a checkpoint holds those, and a resumed run goes on in the
middle of every episode. Nothing that was carried is lost, and none of it is learned from twice.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.collect.environment_worker import Continuation
from ver.collect.mailboxes import Mailboxes
from ver.rollout import COLUMNS, RolloutBuffer

Carried = dict[str, Tensor]


class EpisodeActions:
    """The actions of every environment's running episode, up to its newest step.

    Args:
        num_environments: N.
    """

    def __init__(self, num_environments: int):
        self._actions: list[list[np.ndarray]] = [[] for _ in range(num_environments)]

    def record(self, buffer: RolloutBuffer) -> None:
        """Takes note of a rollout whose collection has just ended."""
        fresh, counts = buffer.fresh_slots()
        actions = buffer.actions.cpu().numpy()
        for environment, slots in enumerate(np.split(fresh, np.cumsum(counts)[:-1])):
            starts = np.flatnonzero(buffer.first[slots])
            if len(starts):
                self._actions[environment] = []
                slots = slots[starts[-1] :]
            # The newest step's action may yet be decided anew.
            self._actions[environment].append(actions[slots[:-1]])

    def capture(self) -> Carried:
        """Returns all actions laid end to end, and how many are whose."""
        for environment, pieces in enumerate(self._actions):
            self._actions[environment] = [np.concatenate(pieces)]
        everything = [pieces[0] for pieces in self._actions]
        lengths = np.array([len(actions) for actions in everything])
        return {
            "actions": torch.from_numpy(np.concatenate(everything)),
            "lengths": torch.from_numpy(lengths),
        }

    def restore(self, carried: Carried) -> None:
        """Puts `capture`'s answer back."""
        ends = np.cumsum(carried["lengths"].numpy())
        parts = np.split(carried["actions"].numpy(), ends[:-1])
        self._actions = [[part] for part in parts]

    def __getitem__(self, environment: int) -> np.ndarray:
        return np.concatenate(self._actions[environment])


def newest_steps(buffer: RolloutBuffer) -> Carried:
    """Copies the newest step of every environment, in their order."""
    carried = {name: column.clone() for name, column in _front(buffer, buffer.newest).items()}
    carried["current_state"] = buffer.current_state.clone()
    carried["counters"] = torch.tensor([int(buffer.handed_out[0]), int(buffer.rollout[0])])
    return carried


def put_newest_steps(buffer: RolloutBuffer, carried: Carried) -> None:
    """Makes `newest_steps`'s answer the newest steps of another buffer."""
    n = buffer.num_environments
    for name, column in _columns(buffer).items():
        column[:n] = carried[name].to(column.device)
    buffer.current_state.copy_(carried["current_state"])
    # Time goes on: later slots are numbered from there, and belong to later rollouts.
    buffer.handed_out[0], buffer.rollout[0] = carried["counters"].tolist()
    buffer.newest[:] = np.arange(n)


def fits(buffer: RolloutBuffer, carried: Carried) -> bool:
    """Whether carried steps are of this buffer's environments: as many, of the same shapes."""
    n = buffer.num_environments
    expected = _columns(buffer) | {"current_state": buffer.current_state}
    return "counters" in carried and all(
        name in carried
        and carried[name].dtype == column.dtype
        and carried[name].shape == (n, *column.shape[1:])
        for name, column in expected.items()
    )


def continuations(
    carried: Carried,
    buffer: RolloutBuffer,
    held_back: np.ndarray,
    mailboxes: Mailboxes,
    actions: EpisodeActions,
) -> dict[int, Continuation]:
    """Restores buffer, flags, rows and action lists; returns what the workers need.

    Args:
        carried: The answers of `newest_steps` and `EpisodeActions.capture`, and "held_back" [N].
        buffer: An unused buffer that `fits`.
        held_back: [N] flags, see `InferenceEngine`.
        mailboxes: Receives the observations to be reached, and the next actions.
        actions: Receives the actions taken so far.
    """
    put_newest_steps(buffer, carried)
    actions.restore(carried)
    held_back[:] = carried["held_back"].numpy()
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
    small = {name: torch.from_numpy(buffer.columns[name]) for name in COLUMNS}
    return columns | {f"column/{name}": column for name, column in small.items()}


def _front(buffer: RolloutBuffer, slots: np.ndarray) -> dict[str, Tensor]:
    index = torch.from_numpy(slots.copy())
    return {
        name: column.index_select(0, index.to(column.device))
        for name, column in _columns(buffer).items()
    }
