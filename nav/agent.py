"""The agent: a disc that drives over the floor by fixed steps, with a camera; no physics engine.

World frame: right-handed, z up, metres; a pose is x, y, yaw with yaw 0 along +x and positive to the
left. The camera looks straight ahead, or up and down by its tilt, positive upwards, which only some
tasks change. Sizes are the LoCoBot's as Habitat's challenges have them: radius 0.18 m, camera 0.88 m
above the floor. Step, angle and field of view are Habitat's for PointNav.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rearrange.caching import cached_njit
from rearrange.errors import UserError
from rearrange.settings import check_ranges, setting

CPU, CUDA, TENSORS = DRAW_ON = "cpu", "cuda", "tensors"
ACTION_NAMES = ("stop", "forward", "left", "right", "look up", "look down")  # in Habitat's order
STOP, FORWARD, LEFT, RIGHT, LOOK_UP, LOOK_DOWN = range(len(ACTION_NAMES))


@dataclass
class AgentConfig:
    """Body, motion and camera of the agent."""

    radius: float = setting(
        0.18, hab=None, low=0.05, high=0.4, about="of the disc that must not touch anything [m]"
    )
    camera_height: float = setting(
        0.88, hab=None, low=0.05, high=2.0, about="above the floor, over the middle of the disc [m]"
    )
    camera_size: int = setting(
        64, hab=None, low=1, high=1024, about="height and width of the images [pixels]"
    )
    field_of_view: float = setting(
        90.0, hab=None, low=1.0, high=170.0, about="of the camera, from edge to edge [deg]"
    )
    depth_range: float = setting(
        10.0, hab=None, low=0.1, high=1000.0, about="depth is cut off here and divided by it [m]"
    )
    rgb: bool = False  # also show plain colours, without light or texture
    goal_mask: bool = False  # also show what is of the category sought, by true labels
    # or by a network that tells it from colours and depth: its file (nav/segmenter.py)
    segmenter: str = ""
    # cpu; cuda: depth is drawn on a CUDA device and stays there; tensors: as cuda, but on the CPU, for tests
    draw_on: str = CPU
    forward: float = setting(0.25, hab=None, low=0.001, high=2.0, about="length of a step [m]")
    turn: float = setting(10.0, hab=None, low=0.01, high=180.0, about="angle of a turn [deg]")
    tilt: float = setting(
        30.0,
        hab=None,
        low=0.01,
        high=85.0,
        about="angle by which looking up or down tilts the camera [deg]",
    )
    tilt_limit: float = setting(
        30.0, hab=None, low=0.0, high=85.0, about="farthest that the camera tilts, up or down [deg]"
    )
    slide: bool = True  # a step into an obstacle glides along it; false: it ends at the contact

    def check(self) -> None:
        """Raise a UserError that names the first number that makes no sense."""
        check_ranges(self, "agent")
        if self.draw_on not in DRAW_ON:
            raise UserError(f"agent.draw_on must be {', '.join(DRAW_ON)}, found {self.draw_on}")
        for name in ("rgb", "goal_mask"):
            if self.draw_on != CPU and getattr(self, name):
                raise UserError(
                    f"agent.{name}=true: agent.draw_on={self.draw_on} draws depth alone: set "
                    f"agent.{name}=false or agent.draw_on={CPU}"
                )
        if self.segmenter and not self.goal_mask:
            raise UserError(
                f"agent.segmenter={self.segmenter}: makes the goal mask: set agent.goal_mask=true, too"
            )


@cached_njit
def wrap(angle: float) -> float:
    """The same angle in (-pi, pi]."""
    return math.pi - (math.pi - angle) % (2.0 * math.pi)


def polar_in_agent_frame(poses: np.ndarray, goals: np.ndarray) -> np.ndarray:
    """Habitat's `pointgoal_with_gps_compass` in polar form, from where the agents are now.

    Args:
        poses: x, y, yaw [N, 3].
        goals: x, y [N, 2].

    Returns:
        Distance to the goal in a straight line [m], and its angle in [-pi, pi], positive to the left
        of where the agent looks [rad] [N, 2]. (Habitat's -phi, as it measures phi to the right.)
    """
    dx, dy = (goals - poses[:, :2]).T
    cosine, sine = np.cos(poses[:, 2]), np.sin(poses[:, 2])
    ahead, left = cosine * dx + sine * dy, cosine * dy - sine * dx
    return np.stack([np.hypot(dx, dy), np.arctan2(left, ahead)], axis=1)
