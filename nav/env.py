"""Gymnasium environments over agents and a task: one agent, or many stepped in one process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from nav.agent import CPU, AgentConfig
from nav.buildings import building_names
from nav.episode import NavEpisode, check_episode
from nav.episode_files import EpisodeSource
from nav.scan import Scan, sample_episode
from nav.sharing import Sharing, share_scenes
from nav.table import find_task, make_task
from nav.worlds import AgentWorlds
from rearrange.choices import Many
from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.settings import check_config, check_ranges
from rearrange.shell import Observation, Painter, Step, TaskEnv
from rearrange.threads import cores
from rearrange.vector_shell import EpisodeOrder, TaskVectorEnv


class Runs:
    """N agents at one task, as the Gymnasium environments take them.

    Attributes:
        worlds: The agents.
        task: What they do.
        steps: Since their episodes began [N].
        returns: Reward terms so far [N].
        actions: Of the last step [N].
        rewards: Of the last step [N].
        shared: Scenes that all agents share; None: each episode has its own.
    """

    repeat = 1

    def __init__(
        self,
        count: int,
        task: str,
        config: Any,
        split: str,
        homes: str,
        agent: AgentConfig | None,
        files: EpisodeSource | None,
        threads: int = 1,
        sharing: Sharing | None = None,
    ) -> None:
        agent = agent or find_task(task).agent_config()
        check_config("agent", agent, AgentConfig)
        place = AgentWorlds if files is None else files.worlds
        self.worlds = place(count, agent, threads)
        self.task = make_task(task, config, self.worlds)
        self.names = building_names(homes, split)
        self.files = files
        self.shared = None
        if sharing is not None and sharing.scenes:
            numbers = self.task.config, self.worlds, self.names, homes, files
            self.shared = share_scenes(sharing, task, *numbers)
        self.steps = np.zeros(count, np.int64)
        self.actions, self.rewards = np.zeros(count, np.int64), np.zeros(count)
        self._ended = np.zeros(count, bool)  # by the task, in the last step
        self.returns = {name: np.zeros(count) for name in self.task.REWARDS}
        self.action_space = self.task.action_space()
        size = self.worlds.config.camera_size
        images: dict[str, spaces.Box] = {"depth": spaces.Box(0.0, 1.0, (size, size, 1), np.float32)}
        if self.worlds.config.rgb:
            images["rgb"] = spaces.Box(0, 255, (size, size, 3), np.uint8)
        if self.worlds.config.goal_mask:
            images["goal_mask"] = spaces.Box(0, 255, (size, size, 1), np.uint8)
        self.observation_space = spaces.Dict({**images, **self.task.observation_spaces()})

    @property
    def episodes(self) -> Sequence[NavEpisode | None]:
        """Running episodes [N]; None where none has begun."""
        return self.task.memory.episodes

    def reset(
        self, i: int, rng: np.random.Generator, seed: int | None = None, number: int | None = None
    ) -> None:
        """Put agent i into a random episode in a building or scene, by `rng`; see also SceneEpisodes."""
        del seed, number
        if self.shared is not None:
            scene = self.shared.of(i)
            if isinstance(scene, Scan):
                return self._begin(i, sample_episode(scene, self.task, rng))
            return self._begin(i, self.task.sample(scene, rng))
        if self.files is not None:
            self._begin(i, self.files.draw(i, rng, self.task))
            return
        name = self.names[int(rng.integers(len(self.names)))]
        self._begin(i, self.task.sample(self.worlds.load(name), rng))

    def put(self, i: int, episode: NavEpisode) -> None:
        """Put agent i into an episode that a caller made; UserError where it cannot be begun."""
        check_episode(episode, self.worlds.config.radius)
        self._begin(i, episode)

    def _begin(self, i: int, episode: NavEpisode) -> None:
        self.task.start(i, episode)
        self.steps[i] = 0
        for total in self.returns.values():
            total[i] = 0.0

    def take(self, action: Any, shape: tuple[int, ...]) -> None:
        """Take the agents' next actions, see nav.agent.

        Raises:
            ValueError: It is no whole number of the action space for each, or not of that shape.
        """
        values, space = np.asarray(action), self.action_space
        first, last = int(space.start), int(space.start + space.n - 1)
        whole = values.shape == shape and values.dtype.kind in "iu"
        if not whole or (values < first).any() or (values > last).any():
            raise ValueError(
                f"expected actions of shape {shape}, whole numbers from {first} to {last}, found "
                f"{' '.join(str(action).split())}"
            )
        self.actions = values.reshape(-1).astype(np.int64)

    def step(self) -> Step:
        """Carry out what was taken."""
        self.worlds.step(self.actions)
        outcome = self.task.evaluate(self.actions)
        self.steps += 1
        rewards = np.zeros(len(self.steps))
        for name, total in self.returns.items():
            total += outcome.rewards[name]
            rewards += outcome.rewards[name]
        self.rewards, self._ended = rewards, outcome.terminated
        if self.shared is not None:
            self.shared.tick()
        return rewards, self._ended, (self.steps >= self.task.max_steps) & ~self._ended

    def observe(self) -> Observation:
        """Observations [N, ...]; fresh arrays, or a tensor where images are drawn on a device."""
        images = self.worlds.new_images()
        self.worlds.draw(images)
        return images | self.task.observe()

    @property
    def remembers(self) -> bool:
        """False: what is seen does not depend on what was seen before."""
        return False

    def observe_again(self, observation: Observation, ids: np.ndarray) -> Observation:
        """The observations with those of some agents, who have begun anew, replaced."""
        self.worlds.draw(observation, ids)
        return observation | self.task.observe()

    def metrics(self, i: int) -> dict[str, float]:
        """Metrics of agent i's episode when it ends, all numbers."""
        told = self.task.metrics(i, bool(self._ended[i]))
        terms = {f"reward/{name}": float(total[i]) for name, total in self.returns.items()}
        length = {"length": float(self.steps[i]), "return": sum(terms.values())}
        return told | length | terms

    def painter(self, i: int) -> Painter:
        """Make what draws agent i's image beside a map of its way [360, 720, 3] uint8."""
        from nav.picture import NavPicture  # draws, which trainings need not

        episode = self.episodes[i]
        assert episode is not None
        return NavPicture(self.worlds, i, episode).draw

    def close(self) -> None:
        """Free what the simulator holds; safe to call twice."""
        self.worlds.close()
        if self.shared is not None:
            self.shared.close()


class NavEnv(TaskEnv):
    """One agent; its actions are whole numbers, see nav.agent.

    `info["metrics"]` of the last step sums up the episode, `info["is_success"]` tells whether it was a success.
    """

    metadata: ClassVar[dict[str, Any]] = TaskEnv.metadata | {"render_fps": 10}
    _worlds: Runs

    def __init__(
        self,
        task: str = "pointnav",
        config: Any = None,
        split: str = "train",
        homes: str = DEFAULT_HOMES,
        agent: AgentConfig | None = None,
        seed: int | None = None,
        files: EpisodeSource | None = None,
        render_mode: str | None = None,
    ) -> None:
        """Build the environment.

        Args:
            task: Name of the task (see nav.table).
            config: The task's config, None for its defaults.
            split: "train", "val" or "test": which buildings.
            homes: Collection of buildings, see `nav.buildings`.
            agent: Body, motion and camera; None for those that the task has by default.
            seed: Seeds episodes until `reset(seed=...)` does.
            files: Source of episodes in scenes of files, which take the place of buildings.
            render_mode: "rgb_array", what the agent sees beside a map; "human", a page in the browser; or None
                if nothing is shown.

        Raises:
            UserError: Unknown task, collection, split or render mode, or a number that makes no sense.
        """
        if isinstance(agent, AgentConfig) and agent.draw_on != CPU:
            raise UserError(
                f"agent.draw_on={agent.draw_on} is for agents that are stepped together (system=batched, "
                f"NavVectorEnv): set agent.draw_on={CPU}"
            )
        runs = Runs(1, task, config, split, homes, agent, files)
        self.task, self.worlds = runs.task, runs.worlds
        super().__init__(runs, seed, render_mode)

    @property
    def episode(self) -> NavEpisode:
        """The running episode."""
        return super().episode

    @property
    def elapsed_steps(self) -> int:
        """Steps since the episode began."""
        return int(self._worlds.steps[0])

    @property
    def action(self) -> int | None:
        """The last action; None before the first of the episode."""
        return int(self._worlds.actions[0]) if self.elapsed_steps else None


class NavVectorEnv(TaskVectorEnv):
    """N agents stepped together in one process, restarted in the step in which their episodes end."""

    SINGLE = NavEnv
    _worlds: Runs
    metadata: ClassVar[dict[str, Any]] = TaskVectorEnv.metadata | {"render_fps": 10}

    def __init__(
        self,
        num_envs: int,
        task: str = "pointnav",
        config: Any = None,
        split: str = "train",
        homes: str = DEFAULT_HOMES,
        agent: AgentConfig | None = None,
        files: EpisodeSource | None = None,
        threads: int = 0,
        render_mode: str | None = None,
        sharing: Sharing | None = None,
    ) -> None:
        """Build the agents; arguments as for NavEnv, and the threads that draw what they see.

        What that is does not depend on how many these are; 0 takes a thread for every core. With `sharing`
        episodes begin in scenes that all agents share.
        """
        check_ranges(Many(num_envs=num_envs, threads=threads), "")
        parts = num_envs, task, config, split, homes, agent, files
        runs = Runs(*parts, threads or min(cores(), num_envs), sharing)
        super().__init__(num_envs, runs, render_mode)
        self.task, self.worlds, self.shared = runs.task, runs.worlds, runs.shared
        # In scenes of files that are not shared agents stay for some episodes, as these take long to load
        self.takes_up = files is None or self.shared is not None
        self._clock = 0  # at which `begin` goes on

    @property
    def clock(self) -> int | None:
        """Steps of all agents, by which scenes that they share are replaced; None where none are.

        Who goes on with a run sets it before `begin`.
        """
        return None if self.shared is None else self.shared.clock or 0

    @clock.setter
    def clock(self, steps: int) -> None:
        self._clock = steps

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """See TaskVectorEnv; with a seed the order of scenes begins anew, too."""
        if self.shared is not None and (seed is not None or self.shared.clock is None):
            self.shared.restart((self._seeds if seed is None else self._seed_of_each(seed))[0])
        return super().reset(seed=seed, options=options)

    def begin(
        self, order: EpisodeOrder, numbers: Sequence[int], actions: Sequence[Sequence[Any]]
    ) -> tuple[Observation, np.ndarray]:
        """See TaskVectorEnv."""
        if self.shared is not None:
            self.shared.restart(order.seed, max(0, self._clock - max(len(own) for own in actions)))
        return super().begin(order, numbers, actions)
