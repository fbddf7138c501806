"""Progress of the episodes of an evaluation while they are played, in whatever process."""

from __future__ import annotations

import ctypes
import multiprocessing
from collections.abc import Collection
from typing import Any

from planner.labels import label_of
from planner.record import Moment
from rearrange.env import RearrangeEnv


class _Row(ctypes.Structure):
    _fields_ = (
        ("subtask", ctypes.c_int),  # from 1 on; 0: not begun
        ("subtasks", ctypes.c_int),
        ("steps", ctypes.c_int),
        ("skill", ctypes.c_char * 64),
    )


class RunningEpisodes:
    """Shared memory with a row for each episode; it is handed to processes as they are started."""

    def __init__(self, count: int) -> None:
        """Begin with `count` episodes that have not begun."""
        # spawn, as skills.workers: memory of another kind would not reach its processes
        self._rows: Any = multiprocessing.get_context("spawn").RawArray(_Row, count)

    def note(self, index: int, world: RearrangeEnv, moment: Moment) -> None:
        """Note a step of an episode."""
        row = self._rows[index]
        row.subtask, row.subtasks = moment.plan_index + 1, len(moment.calls)
        row.steps, row.skill = world.elapsed_steps, moment.skill.encode()[:63]

    def lines(self, ended: Collection[int]) -> list[str]:
        """A line for each episode that goes on.

        Args:
            ended: Episodes that do not.
        """
        rows = [(index, row) for index, row in enumerate(self._rows) if row.subtask]
        return [
            f"episode {index}: subtask {row.subtask} of {row.subtasks}, "
            f"{label_of(row.skill.decode()).title}, {row.steps:,} steps so far"
            for index, row in rows
            if index not in ended
        ]
