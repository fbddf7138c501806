"""The Fetch robot: `kinematics` holds its numbers and the arm's mathematics, `fetch` its MuJoCo model."""

from rearrange.robot import fetch, kinematics

__all__ = ["fetch", "kinematics"]
