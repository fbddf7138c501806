"""Robots that run as worlds that are stepped together, on the CPU or a GPU.

    from locomotion.worlds import LocomotionWorlds
    from ver import Trainer, TrainerConfig

    Trainer(TrainerConfig(system="batched"), LocomotionWorlds("ant"), "runs/ant").train()

The name `locomotion:ant` is the same, but for the paper's settings, which come with it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import torch
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from torch import Tensor

from locomotion.ant import ANT
from locomotion.course import Course
from locomotion.humanoid import HUMANOID
from locomotion.paper import settings
from locomotion.physics import make_physics
from locomotion.robots import TIMESTEP, Body, Robot, compile_robot
from locomotion.running import REWARDS, Motion, Pose, make_running
from ver.collect.processes import cores
from ver.errors import UserError

OBSERVATION = "observation"
ROBOTS: dict[str, Robot] = {robot.name: robot for robot in (ANT, HUMANOID)}
PUSHED_EVERY = (200, 300)  # frames (paper)
LEAST_OF_THREAD = 16  # robots, for fewer of which a thread costs more than it brings
SPREAD = {
    "place": 0.1,
    "tilt": 0.05,
    "joints": 0.1,
    "speeds": 0.1,
}  # of starts [m, rad, m/s, rad/s]


@dataclass(frozen=True)
class LocomotionWorlds:
    """Makes worlds of one robot. Other tasks than running straight ahead are subclasses: `locomotion.tasks`.

    Attributes:
        robots: By the names of the tasks.
        name: Of the task, one of `robots`.
        device: Where they are simulated: cpu by MuJoCo, cuda by mujoco-warp, or warp-cpu by it on the CPU.
        episode_length: Frames until the time is out (paper: 1000).
        substeps: Timesteps of 1/120 s in a frame.
        push: Largest of the forces that push a torso for a frame, every 200 to 300 frames [N].
        reward: mean, where costs count the mean joint and foot; or paper, its equation 1 to the letter.
        threads: That simulate on the CPU; 0 takes every core, but for few robots.

    Raises:
        UserError: A value is none of these.
    """

    robots: ClassVar[Mapping[str, Robot]] = ROBOTS

    name: str
    device: str = "cpu"
    episode_length: int = 1000
    substeps: int = 2
    push: float = 5.0
    reward: str = "mean"
    threads: int = 0

    def __post_init__(self) -> None:
        """Checks them."""
        if self.name not in self.robots:
            raise UserError(f"locomotion has no '{self.name}'; choose {', '.join(self.robots)}")
        if self.device not in ("cpu", "warp-cpu") and not re.fullmatch(r"cuda(:\d+)?", self.device):
            raise UserError(f"device must be cpu, cuda, cuda:N or warp-cpu, found {self.device}")
        for key, least in (("episode_length", 1), ("substeps", 1), ("threads", 0)):
            value = getattr(self, key)
            if not isinstance(value, Integral):
                raise UserError(f"{key} must be a whole number, found {value}")
            if value < least:
                raise UserError(f"{key} must be at least {least}, found {value}")
        if not isinstance(self.push, Real) or not 0 <= self.push < math.inf:
            raise UserError(f"push must be at least 0, found {self.push}")
        if self.reward not in REWARDS:
            raise UserError(f"reward must be one of {', '.join(REWARDS)}, found {self.reward}")

    def settings(self, count: int = 0) -> list[str]:
        """The paper's settings of the learner for `count` robots, 0 for its own number."""
        return settings(self.name, count)

    def body(self) -> Body:
        """Compiles the robot, and what stands beside it."""
        return compile_robot(self.robots[self.name])

    def course(self, body: Body, count: int) -> Course:
        """Makes the way of `count` robots."""
        del body
        return Course(count, self.tensors_on)

    @property
    def tensors_on(self) -> str:
        """The device of the tensors."""
        return "cpu" if self.device == "warp-cpu" else self.device

    def make_vector(self, count: int, seed: int) -> LocomotionVectorEnv:
        """Makes `count` worlds.

        Raises:
            UserError: The device, or what it needs, is not there.
        """
        return LocomotionVectorEnv(self, count, seed)


class LocomotionVectorEnv(VectorEnv):
    """N robots, restarted in the step in which they end; tensors [N, ...] in and out.

    `infos["final_obs"]` has all robots' observations of before the restart. Metrics of an episode: its mean
    `speed` along x [m/s], and `fell`, 1 or 0.

    Args:
        worlds: What is made.
        count: N.
        seed: Of all random numbers.
    """

    metadata: ClassVar[dict[str, Any]] = {"autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(self, worlds: LocomotionWorlds, count: int, seed: int) -> None:
        self.worlds, self.num_envs = worlds, count
        self._device = worlds.tensors_on
        self._body: Body = worlds.body()
        threads = worlds.threads or max(1, min(cores(), count // LEAST_OF_THREAD))
        self._physics = make_physics(self._body, count, worlds.substeps, threads, worlds.device)
        self._task = make_running(self._body, worlds.reward, self._device)
        self._course = worlds.course(self._body, count)
        joints = len(self._body.torques)
        widths = {OBSERVATION: self._task.observation_size, **self._course.shapes}
        boxes: dict[str, spaces.Space[Any]] = {
            key: spaces.Box(-np.inf, np.inf, (width,), np.float32) for key, width in widths.items()
        }
        self.single_observation_space = spaces.Dict(boxes)
        self.single_action_space = spaces.Box(-1.0, 1.0, (joints,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._draws = torch.Generator(self._device).manual_seed(seed)
        self._rest = torch.zeros(7 + joints, device=self._device)
        self._rest[2], self._rest[3] = self._body.robot.height, 1.0
        self._rest[7:] = torch.tensor(self._body.robot.pose)
        self._actions = torch.zeros(count, joints, device=self._device)
        self._clock = torch.zeros(
            count, dtype=torch.int64, device=self._device
        )  # frames of the episode
        self._pushed_at = torch.zeros_like(self._clock)
        self._from = torch.zeros(count, device=self._device)  # x at the start [m]

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Begins an episode in every world; of several seeds the first counts, for all."""
        del options
        if seed is not None:
            self._draws.manual_seed(int(np.ravel(seed)[0]))
        self._begin(torch.arange(self.num_envs, device=self._device))
        return self._show(self._motion()), {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Advances all worlds by actions [N, J] in [-1, 1], an array or a tensor."""
        given = torch.as_tensor(actions, dtype=torch.float32, device=self._device)
        self._actions = given.clamp(-1.0, 1.0)
        self._clock += 1
        things = self._course.things(self._physics.qpos)
        self._physics.step(self._actions, self._push(), things)
        motion = self._motion()
        pose = self._task.pose(motion)
        rewards = self._task.reward(motion, pose)
        terminated = self._course.over(self._task.fallen(motion))
        truncated = ~terminated & (self._clock >= self.worlds.episode_length)
        if self._course.advance(motion, pose, self._random):
            motion, pose = motion._replace(target=self._course.target), None
        shown = self._show(motion, pose)
        ended = terminated | truncated
        infos: dict[str, Any] = {}
        if ended.any():
            infos["final_obs"] = shown
            infos["final_info"] = {"metrics": self._metrics(motion, terminated, ended)}
            began = ended.nonzero().flatten()
            self._begin(began)
            shown = self._show(self._motion(began))
        return shown, rewards, terminated, truncated, infos

    def close_extras(self, **_: Any) -> None:
        """Frees the simulation."""
        self._physics.close()

    def _motion(self, which: Tensor | None = None) -> Motion:
        """State of all robots; `which` have moved since it was asked for last, None: all."""
        physics, course = self._physics, self._course
        state = (physics.qpos, physics.qvel, physics.touch, self._actions)
        return Motion(*state, course.target, course.ground(physics.qpos, which))

    def _show(self, motion: Motion, pose: Pose | None = None) -> dict[str, Tensor]:
        """Observations, of a motion whose pose may be known."""
        seen = self._task.observe(motion, self._task.pose(motion) if pose is None else pose)
        return {OBSERVATION: seen, **self._course.looks()}

    def _push(self) -> Tensor:
        """Forces [N, 3] on the torsos: level ones, on those whose turn it is."""
        due = self._clock == self._pushed_at
        size, turn, wait = self._random(3, self.num_envs)
        angle = 2.0 * math.pi * turn
        force = torch.stack([angle.cos(), angle.sin(), torch.zeros_like(angle)], -1)
        self._pushed_at = torch.where(due, self._clock + _frames(wait), self._pushed_at)
        return force * (size * self.worlds.push * due)[:, None]

    def _begin(self, which: Tensor) -> None:
        """Begins episodes of some robots [K], each a little beside a rest."""
        count, joints = len(which), len(self._task.middle)
        noise = 2.0 * self._random(count, 12 + 2 * joints) - 1.0  # of each number of the state
        place, tilt, speeds, angles = noise.split([3, 3, 6 + joints, joints], -1)
        qpos = self._rest.repeat(count, 1)
        qpos[:, :2] += SPREAD["place"] * place[:, :2]
        qpos[:, 2] += SPREAD["place"] * (place[:, 2] + 1.0) / 2.0  # never into the floor
        qpos[:, 4:7] = SPREAD["tilt"] / 2.0 * tilt
        qpos[:, 3:7] /= qpos[:, 3:7].norm(dim=-1, keepdim=True)
        reach = self._task.half
        angles = (qpos[:, 7:] + SPREAD["joints"] * angles - self._task.middle) / reach
        qpos[:, 7:] = self._task.middle + reach * angles.clamp(-1.0, 1.0)
        qpos = self._course.begin(which, qpos, self._random)
        self._physics.restart(which, qpos, SPREAD["speeds"] * speeds)
        self._actions[which] = 0.0
        self._clock[which] = 0
        self._pushed_at[which] = _frames(self._random(count))
        self._from[which] = qpos[:, 0]

    def _random(self, *shape: int) -> Tensor:
        """Numbers in [0, 1)."""
        return torch.rand(shape, generator=self._draws, device=self._device)

    def _metrics(self, motion: Motion, fell: Tensor, ended: Tensor) -> dict[str, Tensor]:
        """Metrics of all robots, and under the same names with _ before them those whose they are."""
        seconds = self._clock * self.worlds.substeps * TIMESTEP
        metrics = {"speed": (motion.qpos[:, 0] - self._from) / seconds, "fell": fell.float()}
        metrics |= self._course.metrics(self._clock)
        return metrics | {f"_{name}": ended for name in metrics}


def _frames(share: Tensor) -> Tensor:
    """Frames until the next push, of numbers in [0, 1)."""
    least, most = PUSHED_EVERY
    return least + (share * (most + 1 - least)).long()
