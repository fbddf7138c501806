"""Robots from files: an MJCF or URDF model, and one YAML file that says what is what; docs/robots.md."""

from rearrange.robot.files.robot import FileRobot, RobotError, read_robot

__all__ = ["FileRobot", "RobotError", "read_robot"]
