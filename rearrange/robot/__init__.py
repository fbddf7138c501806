"""Robots: `spec` says what one is, `registry` finds them by name or file, `fetch` is the first."""

from rearrange.robot.joint import Joint
from rearrange.robot.registry import (
    DEFAULT_ROBOT,
    find_robot,
    name_of_robot,
    register_robot,
    unregister_robot,
)
from rearrange.robot.spec import Base, HeadCamera, Reach, RobotSpec

__all__ = [
    "DEFAULT_ROBOT",
    "Base",
    "HeadCamera",
    "Joint",
    "Reach",
    "RobotSpec",
    "find_robot",
    "name_of_robot",
    "register_robot",
    "unregister_robot",
]
