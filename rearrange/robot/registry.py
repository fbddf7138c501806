"""Robots by name: those that are built in, those of other packages, and those of files by their path."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

from rearrange.declarations import FILE_ENDINGS
from rearrange.entry_points import load
from rearrange.errors import UserError
from rearrange.robot.spec import RobotSpec

DEFAULT_ROBOT = "fetch"
BUILT_IN = {  # name -> module and spec
    "fetch": ("rearrange.robot.fetch", "FETCH"),
    "fetch_fingers": ("rearrange.robot.fetch_fingers", "FETCH_FINGERS"),
    "mast": ("rearrange.robot.mast", "MAST"),
}
GROUP = "rearrange.robots"  # of other packages' entry points; each names a RobotSpec

_ROBOTS: dict[str, RobotSpec] = {}


def register_robot(robot: RobotSpec) -> None:
    """Make a robot known by its name.

    Raises:
        UserError: Another robot has the name.
    """
    if robot.name in BUILT_IN or _ROBOTS.get(robot.name, robot) is not robot:
        raise UserError(f"robot '{robot.name}': there is one of that name already: choose another")
    _ROBOTS[robot.name] = robot


def unregister_robot(name: str) -> None:
    """Take out what `register_robot` has added."""
    del _ROBOTS[name]


def find_robot(name: str = DEFAULT_ROBOT) -> RobotSpec:
    """The robot of that name, or of the YAML file of that path; see docs/robots.md.

    Raises:
        UserError: There is none.
    """
    if name in BUILT_IN:
        module, attribute = BUILT_IN[name]
        return getattr(import_module(module), attribute)
    if is_file(name):
        return _register_file(Path(name).resolve())
    if name not in _ROBOTS:
        _load_others()
    if name not in _ROBOTS:
        names = ", ".join([*BUILT_IN, *_ROBOTS])
        raise UserError(
            f"unknown robot '{name}': choose one of {names}, or the YAML file of a robot"
        )
    return _ROBOTS[name]


def is_file(name: str) -> bool:
    """Whether what stands in place of a robot's name is the path of a file."""
    return name.endswith(FILE_ENDINGS)


def name_of_robot(name: str) -> str:
    """A robot's name, also where a path stands in its place; raises UserError where the file is not right."""
    return find_robot(name).name if is_file(name) else name


@cache
def _register_file(path: Path) -> RobotSpec:
    """The robot of a file, from now on known by its name, too."""
    # By its name, since it reads with what is made of this registry
    spec = import_module("rearrange.robot.files").read_robot(path).spec
    register_robot(spec)
    return spec


@cache
def _load_others() -> None:
    for point in entry_points(group=GROUP):
        register_robot(load(point, "robot", RobotSpec))
