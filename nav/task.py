"""Interface of navigation tasks: start states, rewards, observations and metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from nav.agent import FORWARD, LOOK_DOWN, LOOK_UP, STOP, AgentConfig
from nav.episode import NavEpisode
from nav.scene import Places, Point, Scene
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from rearrange.gym_ids import LARGEST
from rearrange.settings import check_config


@dataclass
class Outcome:
    """Rewards and ends of a step of N agents.

    Attributes:
        rewards: Named terms [N].
        terminated: Whether the task has ended the episode [N].
    """

    rewards: dict[str, np.ndarray]
    terminated: np.ndarray


@dataclass
class Memory:
    """State of N episodes beside that of the worlds; tasks add to it.

    Attributes:
        starts: Where they began: x, y, yaw [N, 3].
        distances: Geodesic distance at the beginning of the step, see `AgentWorlds` [N], m.
        path_lengths: Of the way so far [N], m.
        collisions: Steps so far that an obstacle cut or deflected [N].
    """

    starts: np.ndarray
    distances: np.ndarray
    path_lengths: np.ndarray
    collisions: np.ndarray
    episodes: list[NavEpisode | None] = field(default_factory=list)

    @classmethod
    def of(cls, count: int) -> Memory:
        """Of N episodes that have not begun."""
        zeros = (np.zeros(count) for _ in range(3))
        return cls(np.zeros((count, 3)), *zeros, episodes=[None] * count)


class NavTask:
    """A task over N agents. One file per task; everything about it stands there.

    Attributes:
        name: How users call it.
        config_type: Its numbers.
        REWARDS: Names of the reward terms.
        CAN_STOP: Whether STOP is one of the actions.
        CAN_LOOK: Whether LOOK_UP and LOOK_DOWN are.
        HAS_CATEGORY: Whether things of a category are sought, which a goal mask can show.
        PARTS: Vector observation -> names of its numbers, for configs.
        CONFIG: YAML file of its training; None: configs/<name>.yaml, or what all have.
    """

    name: str
    config_type: type
    REWARDS: tuple[str, ...]
    CAN_STOP = False
    CAN_LOOK = False
    HAS_CATEGORY = False
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = {
        "gps": ("ahead", "right"),
        "compass": ("turned",),
    }
    CONFIG: ClassVar[Path | None] = None

    def __init__(self, config: Any, worlds: AgentWorlds) -> None:
        """Remember what N episodes need; raises UserError where the config makes no sense."""
        self.config = self.config_type() if config is None else config
        check_config(self.name, self.config, self.config_type)
        self.config.check()
        if worlds.config.goal_mask and not self.HAS_CATEGORY:
            raise UserError(f"agent.goal_mask: {self.name} seeks no category that it could show")
        self.worlds = worlds
        self.memory = Memory.of(len(worlds.poses))

    @property
    def max_steps(self) -> int:
        """Steps after which an episode is cut off."""
        return self.config.max_steps

    @classmethod
    def action_space(cls) -> spaces.Discrete:
        """FORWARD, LEFT and RIGHT, with STOP before and LOOK_UP and LOOK_DOWN behind where they are."""
        first, end = STOP if cls.CAN_STOP else FORWARD, LOOK_DOWN + 1 if cls.CAN_LOOK else LOOK_UP
        return spaces.Discrete(end - first, start=first)

    @classmethod
    def agent_config(cls) -> AgentConfig:
        """The agent that does this task where nothing else is asked for."""
        return AgentConfig()

    @classmethod
    def prepare(cls, scene: Scene, config: Any, agent: AgentConfig) -> None:
        """Work out and keep with a scene what takes long when episodes begin there for the first time."""
        del config, agent
        scene.sample_points(np.random.default_rng(0), 1)

    def sample(self, scene: Scene, rng: np.random.Generator) -> NavEpisode:
        """A random episode in a scene."""
        raise NotImplementedError

    def origin(self, episode: NavEpisode) -> Point | Places | None:
        """Point to which the geodesic distances of an episode are measured [m]."""
        raise NotImplementedError

    def start(self, i: int, episode: NavEpisode) -> None:
        """Begin an episode in world i."""
        self.worlds.begin(i, episode, self.origin(episode))
        memory = self.memory
        memory.episodes[i] = episode
        memory.starts[i] = self.worlds.poses[i]  # a start beside the floor is put on it
        memory.distances[i] = self.worlds.distances[i]
        memory.path_lengths[i] = memory.collisions[i] = 0.0

    def evaluate(self, actions: np.ndarray) -> Outcome:
        """Say what a step meant, after the worlds have carried it out, and remember."""
        worlds, memory = self.worlds, self.memory
        memory.path_lengths += worlds.travelled
        memory.collisions += worlds.blocked
        outcome = self._judge(actions)
        memory.distances[:] = worlds.distances
        return outcome

    def _judge(self, actions: np.ndarray) -> Outcome:
        """Rewards and endings of the step that is over; the memory is still of the one before."""
        raise NotImplementedError

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one agent: where it is relative to its start, unless a task says else."""
        return StartSensors.spaces()

    def observe(self) -> dict[str, np.ndarray]:
        """Vector observations [N, ...] float32; fresh arrays."""
        return StartSensors.observe(self.memory.starts, self.worlds.poses)

    def metrics(self, i: int, ended: bool) -> dict[str, float]:
        """Metrics of world i's episode; `ended`: by the task, not by the clock."""
        del ended
        memory = self.memory
        return {
            "path_length": float(memory.path_lengths[i]),
            "collisions": float(memory.collisions[i]),
        }


def box(low: float, high: float, size: int) -> spaces.Box:
    """A space of so many numbers within the same limits."""
    return spaces.Box(low, high, (size,), np.float32)


class StartSensors:
    """Habitat's EpisodicGPS and EpisodicCompass: where the agent is relative to its start."""

    @staticmethod
    def spaces() -> dict[str, spaces.Box]:
        """`gps` and `compass`."""
        return {"gps": box(-LARGEST, LARGEST, 2), "compass": box(-np.pi, np.pi, 1)}

    @staticmethod
    def observe(starts: np.ndarray, poses: np.ndarray) -> dict[str, np.ndarray]:
        """Read GPS and compass.

        Args:
            starts: x, y, yaw at the start [N, 3].
            poses: x, y, yaw now [N, 3].

        Returns:
            `gps`: metres ahead and to the right of the start, as it looked then [N, 2]; `compass`:
            how far the agent has turned to the left since, in [-pi, pi] [N, 1].
        """
        dx, dy = (poses[:, :2] - starts[:, :2]).T
        cosine, sine = np.cos(starts[:, 2]), np.sin(starts[:, 2])
        gps = np.stack([cosine * dx + sine * dy, sine * dx - cosine * dy], axis=1)
        turned = poses[:, 2] - starts[:, 2]
        compass = np.arctan2(np.sin(turned), np.cos(turned))[:, None]
        return {"gps": gps.astype(np.float32), "compass": compass.astype(np.float32)}
