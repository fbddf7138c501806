"""All tasks by name: a task is a class of worlds, in a file of its own, and its name here."""

from __future__ import annotations

from locomotion.flagrun import FlagrunWorlds
from locomotion.terrain import TerrainWorlds
from locomotion.worlds import LocomotionWorlds
from ver.errors import UserError

TASKS: dict[str, type[LocomotionWorlds]] = {
    name: kind for kind in (LocomotionWorlds, FlagrunWorlds, TerrainWorlds) for name in kind.robots
}


def kind_of(name: str) -> type[LocomotionWorlds]:
    """Returns the class of a task's worlds.

    Raises:
        UserError: There is no such task.
    """
    if name not in TASKS:
        raise UserError(f"locomotion has no '{name}'; choose {', '.join(TASKS)}")
    return TASKS[name]
