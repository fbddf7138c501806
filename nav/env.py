"""Gymnasium environments over agents and a task: one agent, or many stepped in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from nav.agent import AgentConfig
from nav.buildings import building_names
from nav.episode import NavEpisode, check_episode
from nav.episode_files import SceneEpisodes
from nav.mesh_worlds import MeshWorlds
from nav.scene import load_scene
from nav.table import TASKS, check_task, make_task
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from rearrange.scenes.apartment import DEFAULT_HOMES

Observation = dict[str, np.ndarray]


class _Runs:
    """N agents at one task: resets, steps, rewards and what is told about an episode."""

    def __init__(
        self,
        count: int,
        task: str,
        config: Any,
        split: str,
        homes: str,
        agent: AgentConfig | None,
        files: SceneEpisodes | None,
    ) -> None:
        agent = agent or TASKS[check_task(task)].agent_config()
        self.worlds = AgentWorlds(count, agent) if files is None else MeshWorlds(count, agent)
        self.task = make_task(task, config, self.worlds)
        self.names = building_names(homes, split)
        self.files = files
        self.steps = np.zeros(count, np.int64)
        self.returns = {name: np.zeros(count) for name in self.task.REWARDS}
        self.action_space = self.task.action_space()
        size = self.worlds.config.camera_size
        images: dict[str, spaces.Box] = {"depth": spaces.Box(0.0, 1.0, (size, size, 1), np.float32)}
        if self.worlds.config.rgb:
            images["rgb"] = spaces.Box(0, 255, (size, size, 3), np.uint8)
        if self.worlds.config.goal_mask:
            images["goal_mask"] = spaces.Box(0, 255, (size, size, 1), np.uint8)
        self.observation_space = spaces.Dict({**images, **self.task.observation_spaces()})

    def reset(self, i: int, rng: np.random.Generator) -> None:
        """Put agent i into a random episode in a random building or scene."""
        if self.files is not None:
            self.begin(i, self.files.draw(i, rng))
            return
        name = self.names[int(rng.integers(len(self.names)))]
        self.begin(i, self.task.sample(load_scene(name, self.worlds.config.radius), rng))

    def begin(self, i: int, episode: NavEpisode) -> None:
        """Put agent i into an episode."""
        self.task.start(i, episode)
        self.steps[i] = 0
        for total in self.returns.values():
            total[i] = 0.0

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Carry out actions [N]; returns rewards, terminated and truncated [N]."""
        self.worlds.step(actions)
        outcome = self.task.evaluate(actions)
        self.steps += 1
        rewards = np.zeros(len(actions))
        for name, total in self.returns.items():
            total += outcome.rewards[name]
            rewards += outcome.rewards[name]
        truncated = (self.steps >= self.task.max_steps) & ~outcome.terminated
        return rewards, outcome.terminated, truncated

    def observe(self) -> Observation:
        """Observations [N, ...]; fresh arrays."""
        images = self.worlds.new_images()
        self.worlds.draw(images)
        return images | self.task.observe()

    def observe_again(self, observation: Observation, ids: np.ndarray) -> Observation:
        """The observations with those of some agents, who have begun anew, replaced."""
        self.worlds.draw(observation, ids)
        return observation | self.task.observe()

    def metrics(self, i: int, ended: bool) -> dict[str, float]:
        """Metrics of agent i's episode, all numbers; `ended`: by the task."""
        told = self.task.metrics(i, ended)
        terms = {f"reward/{name}": float(total[i]) for name, total in self.returns.items()}
        length = {"length": float(self.steps[i]), "return": sum(terms.values())}
        return told | length | terms


class NavEnv(gymnasium.Env[Observation, int]):
    """One agent. `info["metrics"]` of the last step sums up the episode, `info["is_success"]` its success."""

    metadata: ClassVar[dict[str, Any]] = {"render_modes": []}

    def __init__(
        self,
        task: str = "pointnav",
        config: Any = None,
        split: str = "train",
        homes: str = DEFAULT_HOMES,
        agent: AgentConfig | None = None,
        seed: int | None = None,
        files: SceneEpisodes | None = None,
    ) -> None:
        """Build the environment.

        Args:
            task: Name of the task (see nav.table.TASKS).
            config: The task's config, None for its defaults.
            split: "train", "val" or "test": which buildings.
            homes: Collection of buildings, see `nav.buildings`.
            agent: Body, motion and camera; None for those that the task has by default.
            seed: Seeds episodes until `reset(seed=...)` does.
            files: Episodes in Habitat's scenes, which habitat-sim simulates, in the place of buildings.

        Raises:
            UserError: Unknown task, collection or split, or a number that makes no sense.
        """
        self._runs = _Runs(1, task, config, split, homes, agent, files)
        self.task = self._runs.task
        self.worlds = self._runs.worlds
        # Gymnasium types a Dict space by its sub-spaces, not by what they hold.
        self.observation_space = self._runs.observation_space  # pyright: ignore[reportAttributeAccessIssue]
        self.action_space = self._runs.action_space  # pyright: ignore[reportAttributeAccessIssue]
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)

    @property
    def episode(self) -> NavEpisode:
        """The running episode."""
        episode = self.task.memory.episodes[0]
        if episode is None:
            raise RuntimeError("call reset() before using the environment")
        return episode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode: `options={"episode": NavEpisode}` takes that one, else one is sampled.

        Raises:
            UserError: The given episode cannot be begun; the one before goes on.
        """
        super().reset(seed=seed)
        for name in options or {}:
            if name not in ("episode", "episode_number"):
                raise UserError(f"unknown option '{name}' of reset: choose episode")
        given = (options or {}).get("episode")
        if given is None:
            self._runs.reset(0, self.np_random)
        else:
            check_episode(given, self.worlds.config.radius)
            self._runs.begin(0, given)
        return self.observe(), {}

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Carry out one action, see nav.agent."""
        if self.task.memory.episodes[0] is None:
            raise RuntimeError("call reset() before step()")
        rewards, terminated, truncated = self._runs.step(_checked(action, (), self.action_space))
        info: dict[str, Any] = {}
        if terminated[0] or truncated[0]:
            info["metrics"] = self._runs.metrics(0, bool(terminated[0]))
            info["is_success"] = bool(info["metrics"].get("success", False))
        flags = bool(terminated[0]), bool(truncated[0])
        return self.observe(), float(rewards[0]), *flags, info

    def close(self) -> None:
        """Free what the simulator holds; safe to call twice."""
        self.worlds.close()

    def observe(self) -> Observation:
        """The observation of the present state."""
        return {key: value[0] for key, value in self._runs.observe().items()}


class NavVectorEnv(VectorEnv[Observation, np.ndarray, np.ndarray]):
    """N agents stepped together in one process, restarted in the step in which their episodes end."""

    metadata: ClassVar[dict[str, Any]] = {
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": [],
    }

    def __init__(
        self,
        num_envs: int,
        task: str = "pointnav",
        config: Any = None,
        split: str = "train",
        homes: str = DEFAULT_HOMES,
        agent: AgentConfig | None = None,
        files: SceneEpisodes | None = None,
    ) -> None:
        """Build the agents; arguments as for NavEnv."""
        self.num_envs = num_envs
        self._runs = _Runs(num_envs, task, config, split, homes, agent, files)
        self.task = self._runs.task
        self.worlds = self._runs.worlds
        self.single_observation_space = self._runs.observation_space
        self.single_action_space = self._runs.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [np.random.default_rng(i) for i in range(num_envs)]

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Start an episode for every agent; agent i is seeded as NavEnv with seed + i.

        Raises:
            UserError: An episode is given: here all are sampled.
        """
        if (options or {}).get("episode") is not None:
            raise UserError('options["episode"]: agents side by side take none: take NavEnv')
        if seed is not None:
            if isinstance(seed, int | np.integer):
                seed = [int(seed) + i for i in range(self.num_envs)]
            self._generators = [seeding.np_random(s)[0] for s in seed]
        for i in range(self.num_envs):
            self._runs.reset(i, self._generators[i])
        return self._runs.observe(), {}

    def step(
        self, actions: np.ndarray
    ) -> tuple[Observation, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out one action of each agent [N].

        Where an episode ends, the observation is that of the next one; the last one is in
        `infos["final_obs"]` and the sum of the episode in `infos["final_info"]["metrics"]`.
        """
        runs = self._runs
        actions = _checked(actions, (self.num_envs,), self.single_action_space)
        rewards, terminated, truncated = runs.step(actions)
        observation = runs.observe()
        over = terminated | truncated
        ended = np.flatnonzero(over)
        infos: dict[str, Any] = {}
        if len(ended):
            infos["final_obs"] = np.full(self.num_envs, None, dtype=object)
            metrics = np.full(self.num_envs, None, dtype=object)
            for i in ended.tolist():
                infos["final_obs"][i] = {key: value[i].copy() for key, value in observation.items()}
                metrics[i] = runs.metrics(i, bool(terminated[i]))
                runs.reset(i, self._generators[i])
            infos["_final_obs"] = over
            infos["final_info"] = {"metrics": metrics, "_metrics": over}
            observation = runs.observe_again(observation, ended)
        return observation, rewards, terminated, truncated, infos

    def close_extras(self, **_: Any) -> None:
        """Free what the simulator holds; gymnasium's `close` calls it."""
        self.worlds.close()


def _checked(actions: Any, shape: tuple[int, ...], space: Any) -> np.ndarray:
    """Actions as a caller gave them, as an array [N].

    Raises:
        ValueError: They are not whole numbers of the space, or not of that shape.
    """
    values = np.asarray(actions)
    first, last = int(space.start), int(space.start + space.n - 1)
    whole = values.shape == shape and values.dtype.kind in "iu"
    if not whole or (values < first).any() or (values > last).any():
        raise ValueError(
            f"expected actions of shape {shape}, whole numbers from {first} to {last}, found "
            f"{' '.join(str(actions).split())}"
        )
    return values.reshape(-1).astype(np.int64)
