"""Observations and rewards of the paper's appendices B and C, of N robots at once.

Plain arithmetic on tensors: the same functions serve the CPU and a GPU. Positions and directions are the
world's, z up; angles are radians.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from locomotion.robots import Body

AT_LIMIT = 0.99  # of the way from the middle of a joint's range to its end
STRAIGHT, UPRIGHT = 0.8, 0.93  # cosines in the paper's equations 2 and 3
REWARDS = ("paper", "mean")


class Motion(NamedTuple):
    """State of N robots.

    Attributes:
        qpos: [N, 7 + J] position, quaternion (w, x, y, z), joints.
        qvel: [N, 6 + J] velocity (world), angular velocity (torso), joints.
        touch: [N, F] forces in the soles [N].
        actions: [N, J] that led here, within [-1, 1].
        target: [N, 2] where to run to, x and y.
        ground: [N] height of what is below the torso; heights are told and judged above it.
    """

    qpos: Tensor
    qvel: Tensor
    touch: Tensor
    actions: Tensor
    target: Tensor
    ground: Tensor | float = 0.0


class Pose(NamedTuple):
    """What observation and reward are both made of, [N] each.

    Attributes:
        roll: Of the torso.
        pitch: Of it.
        yaw: Of it, 0 along x.
        upright: Cosine of the angle between its z and the vertical.
        turn: Angle from its heading to the direction of the target.
        speed: Towards the target [m/s].
    """

    roll: Tensor
    pitch: Tensor
    yaw: Tensor
    upright: Tensor
    turn: Tensor
    speed: Tensor


@dataclass(frozen=True)
class Running:
    """The task of running to a target.

    Attributes:
        body: The robot.
        middle: Of the joints' ranges: [J].
        half: Half of these ranges: [J].
        shares: Largest torque of each motor, in that of the strongest one: [J].
        mean: Costs count the mean joint and the mean foot, in place of the paper's sums.
    """

    body: Body
    middle: Tensor
    half: Tensor
    shares: Tensor
    mean: bool

    @property
    def observation_size(self) -> int:
        """Numbers of an observation: 11, three of each joint and one of each foot."""
        return 11 + 3 * len(self.middle) + len(self.body.robot.feet)

    def pose(self, motion: Motion) -> Pose:
        """Turns the torso's quaternion into angles, and looks at the target."""
        w, x, y, z = motion.qpos[:, 3:7].unbind(-1)
        yaw = yaw_of(motion.qpos[:, 3:7])
        roll = torch.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        pitch = torch.asin((2 * (w * y - z * x)).clamp(-1.0, 1.0))
        way = motion.target - motion.qpos[:, :2]
        turn = torch.atan2(way[:, 1], way[:, 0]) - yaw
        distance = way.norm(dim=-1).clamp(min=1e-6)
        speed = (motion.qvel[:, :2] * way).sum(-1) / distance
        return Pose(roll, pitch, yaw, 1 - 2 * (x * x + y * y), turn, speed)

    def observe(self, motion: Motion, pose: Pose) -> Tensor:
        """Makes observations [N, observation_size].

        In order: height, roll and pitch, velocity and angular velocity of the torso (x along its heading, z
        up), sine and cosine of the angle to the target, angles and velocities of the joints, forces of the
        motors (in the strongest one's largest), and 1 for each foot that feels the ground.
        """
        sine, cosine = pose.yaw.sin(), pose.yaw.cos()
        velocity, spin = motion.qvel[:, :3], _turned(motion.qpos[:, 3:7], motion.qvel[:, 3:6])
        columns = [motion.qpos[:, 2] - motion.ground, pose.roll, pose.pitch]
        for vector in (velocity, spin):
            x, y, z = vector.unbind(-1)
            columns += [cosine * x + sine * y, cosine * y - sine * x, z]
        columns += [pose.turn.sin(), pose.turn.cos()]
        parts = [torch.stack(columns, -1), motion.qpos[:, 7:], motion.qvel[:, 6:]]
        parts += [motion.actions * self.shares, (motion.touch > 0).float()]
        return torch.cat(parts, -1)

    def reward(self, motion: Motion, pose: Pose) -> Tensor:
        """The paper's equation 1: [N]."""
        heading = (pose.turn.cos() / STRAIGHT).clamp(max=1.0)
        standing = (pose.upright > UPRIGHT).float()
        torque, effort, ends, feet = self._costs(motion)
        gained = self.body.robot.alive + pose.speed + 0.5 * heading + 0.05 * standing
        return gained - 4.0 * torque - 0.5 * effort - 0.2 * ends - feet

    def fallen(self, motion: Motion) -> Tensor:
        """Tells which torsos are below where they have fallen: [N] bool."""
        return motion.qpos[:, 2] - motion.ground < self.body.robot.lowest

    def _costs(self, motion: Motion) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Torques, squared actions, joints at their limits, feet on the ground: [N] each."""
        at_end = ((motion.qpos[:, 7:] - self.middle) / self.half).abs() > AT_LIMIT
        each = (
            (motion.actions * self.shares).abs(),
            motion.actions.square(),
            at_end.float(),
            (motion.touch > 0).float(),
        )
        torque, effort, ends, feet = (x.mean(-1) if self.mean else x.sum(-1) for x in each)
        return torque, effort, ends, feet


def make_running(body: Body, reward: str, device: str) -> Running:
    """Makes the task; `reward` is one of REWARDS."""

    def tensor(values: object) -> Tensor:
        return torch.as_tensor(values, dtype=torch.float32, device=device)

    low, high = body.ranges.T
    shares = body.torques / body.torques.max()
    middle, half = tensor((low + high) / 2), tensor((high - low) / 2)
    return Running(body, middle, half, tensor(shares), reward == "mean")


def yaw_of(quaternion: Tensor) -> Tensor:
    """Finds the heading of quaternions [N, 4], 0 along x: [N], rad."""
    w, x, y, z = quaternion.unbind(-1)
    return torch.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _turned(quaternion: Tensor, vector: Tensor) -> Tensor:
    """Vectors [N, 3] of the frames of quaternions [N, 4], in the world's."""
    axis = quaternion[:, 1:]
    across = 2.0 * torch.linalg.cross(axis, vector)
    return vector + quaternion[:, :1] * across + torch.linalg.cross(axis, across)
