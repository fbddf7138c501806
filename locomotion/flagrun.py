"""Humanoid Flagrun Harder: run to flags that change their place, and stand up after a fall (section 4.1).

From the paper: a flag moves every 200 frames, or once it is reached within 1 m, to a random place within
100 m of the robot. An episode ends after 160 frames with a torso that is too low, or after 1000. Reward
(appendix C), pushes and observations (table 2) are Humanoid's, with the flag as the target of heading and
speed.

The paper does not tell all. From Roboschool's HumanoidFlagrunHarder, after which the task is named: half of
the episodes begin lying, on the face or the back; frames on the ground count up to the 160, and others
count back to zero. Unlike there a flag is anywhere in a disk, each spot as likely as another. In the paper
robots also run into each other; here each is alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import ClassVar

import mujoco
import torch
from torch import Tensor

from locomotion.course import Course, Random
from locomotion.humanoid import HUMANOID
from locomotion.robots import BODY, Body, Robot
from locomotion.running import Motion, Pose
from locomotion.worlds import LocomotionWorlds
from ver.errors import UserError

FLAG_STAYS = 200  # frames (paper)
REACHED = 1.0  # [m] (paper)
LOW_FOR = 160  # frames (paper)
FARTHEST = 500.0  # [m] that a flag may be away: single precision tells millimetres that far
FACE, BACK = 1.0, -1.0  # signs of a quarter's turn about y


class Flagrun(Course):
    """N ways to flags; see `Course`.

    Args:
        body: The robot.
        count: N.
        device: Of all tensors.
        within: Distance of new flags [m].
        lying: Share of the episodes that begin on the ground.
    """

    def __init__(self, body: Body, count: int, device: str, within: float, lying: float) -> None:
        super().__init__(count, device)
        self._within, self._lying = within, lying
        # From a torso that stands down to one that lies [m]
        self._down = {side: lying_height(body, side) - body.robot.height for side in (FACE, BACK)}
        self._left = torch.zeros(count, dtype=torch.int64, device=device)  # frames of the flag
        self._low = torch.zeros_like(self._left)  # frames on the ground
        self._reached = torch.zeros(count, device=device)  # flags of the episode
        self._run = torch.zeros(count, device=device)  # sum of speeds [m/s]

    def begin(self, which: Tensor, qpos: Tensor, random: Random) -> Tensor:
        """See `Course`."""
        draws = random(len(which), 4)
        self._left[which] = FLAG_STAYS
        self._low[which] = 0
        self._reached[which] = 0.0
        self._run[which] = 0.0
        self.target[which] = qpos[:, :2] + _in_disk(draws[:, :2], self._within)
        begun, lies = qpos, draws[:, 2] < self._lying
        for side, those in ((FACE, draws[:, 3] < 0.5), (BACK, draws[:, 3] >= 0.5)):
            laid = torch.cat([qpos[:, :3], _turned_down(qpos[:, 3:7], side), qpos[:, 7:]], -1)
            laid[:, 2] += self._down[side]
            begun = torch.where((lies & those)[:, None], laid, begun)
        return begun

    def over(self, low: Tensor) -> Tensor:
        """See `Course`."""
        self._low = torch.where(low, self._low + 1, (self._low - 1).clamp(min=0))
        return self._low >= LOW_FOR

    def advance(self, motion: Motion, pose: Pose, random: Random) -> bool:
        """See `Course`."""
        place = motion.qpos[:, :2]
        reached = (self.target - place).norm(dim=-1) < REACHED
        self._reached += reached
        self._run += pose.speed
        self._left -= 1
        moved = reached | (self._left <= 0)
        others = place + _in_disk(random(len(place), 2), self._within)
        # A new tensor: the old one belongs to the motion that was paid
        self.target = torch.where(moved[:, None], others, self.target)
        self._left = torch.where(moved, FLAG_STAYS, self._left)
        return True

    def metrics(self, frames: Tensor) -> dict[str, Tensor]:
        """Tells the mean speed towards flags [m/s], and how many were reached."""
        return {"speed": self._run / frames, "flags": self._reached.clone()}


@dataclass(frozen=True)
class FlagrunWorlds(LocomotionWorlds):
    """Makes worlds of the task; see `LocomotionWorlds`.

    Attributes:
        flag_within: Distance within which new flags stand [m] (paper: 100).
        lying: Share of the episodes that begin on the ground.

    Raises:
        UserError: A value is out of its range.
    """

    robots: ClassVar[Mapping[str, Robot]] = {"humanoid_flagrun": HUMANOID}

    flag_within: float = 100.0
    lying: float = 0.5

    def __post_init__(self) -> None:
        """Checks them."""
        super().__post_init__()
        within(self, "flag_within", REACHED, FARTHEST)
        within(self, "lying", 0.0, 1.0)

    def course(self, body: Body, count: int) -> Course:
        """See `LocomotionWorlds`."""
        return Flagrun(body, count, self.tensors_on, self.flag_within, self.lying)


def within(
    worlds: LocomotionWorlds, key: str, least: float, most: float, whole: bool = False
) -> None:
    """Checks a setting of worlds.

    Raises:
        UserError: It is out of its range, or no number; no whole one where that is asked for.
    """
    value = getattr(worlds, key)
    if not isinstance(value, Integral if whole else Real):
        raise UserError(f"{key} must be a {'whole ' if whole else ''}number, found {value}")
    if not least <= value <= most:  # pyright: ignore[reportOperatorIssue]
        raise UserError(f"{key} must be from {least:g} to {most:g}, found {value:g}")


def lying_height(body: Body, side: float) -> float:
    """Finds the height of the torso's centre [m] of a robot that just lies on the floor, joints at rest.

    Args:
        body: The robot.
        side: That is below, FACE or BACK.
    """
    model, data = body.model, mujoco.MjData(body.model)
    data.qpos[3], data.qpos[5] = math.sqrt(0.5), side * math.sqrt(0.5)
    data.qpos[7 : 7 + len(body.robot.pose)] = body.robot.pose
    mujoco.mj_kinematics(model, data)
    own = model.geom_contype == BODY
    # The axis of a capsule is its z; of a sphere the second size is 0
    reach = model.geom_size[:, 0] + model.geom_size[:, 1] * abs(data.geom_xmat[:, 8])
    return float((reach - data.geom_xpos[:, 2])[own].max())


def _turned_down(quaternion: Tensor, side: float) -> Tensor:
    """Turns quaternions [N, 4] by a quarter about the world's y: x points down for FACE, up for BACK."""
    w, x, y, z = quaternion.unbind(-1)
    turned = torch.stack([w - side * y, x + side * z, y + side * w, z - side * x], -1)
    return math.sqrt(0.5) * turned


def _in_disk(draws: Tensor, radius: float) -> Tensor:
    """Makes points [N, 2] of a disk, each spot as likely as another, of numbers [N, 2] in [0, 1)."""
    angle, distance = 2.0 * math.pi * draws[:, 0], radius * draws[:, 1].sqrt()
    return torch.stack([angle.cos(), angle.sin()], -1) * distance[:, None]
