"""Gymnasium environments over a simulator and a task: one world or many side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rearrange.episodes import Episode, RecordedStarts, check_episode
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment import DEFAULT_HOMES, Apartment
from rearrange.sim.base import Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.worlds import EpisodeSource, Worlds, checked_action, to_physical

if TYPE_CHECKING:
    from rearrange.render.chase import ChaseView


class RearrangeEnv(gymnasium.Env[dict[str, np.ndarray], np.ndarray]):
    """One world. Actions are in [-1, 1].

    `info["metrics"]` of the last step sums up the episode, `info["is_success"]` tells whether it was a success.

    Attributes:
        after_step: Called after every 1/30 s, also within a repeated action.
        before_step: Called before it with what is asked for, in the simulator's units, and stop [J + 4].
        reward: Of the last 1/30 s.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 30}

    def __init__(
        self,
        task: str = "pick",
        config: Any = None,
        split: str = "train",
        simulator: SimulatorConfig | Simulator | None = None,
        seed: int | None = None,
        starts: RecordedStarts | None = None,
        source: EpisodeSource | None = None,
        homes: str = DEFAULT_HOMES,
        render_mode: str | None = None,
    ) -> None:
        """Build the environment.

        Args:
            task: Name of the task (see rearrange.tasks.TASKS).
            config: The task's config, None for its defaults.
            split: "train", "val" or "test": which apartments.
            simulator: Settings of the default simulator, or any simulator with one world.
            seed: Seeds episodes until `reset(seed=...)` does.
            starts: Recorded start states that are mixed into those that the task samples.
            source: Where episodes come from, if not from our apartments.
            homes: "classic", eleven plans drawn by hand, or "generated", plans without end.
            render_mode: "rgb_array", or None if `render` is not called.

        Raises:
            UserError: Unknown task, split, homes or render mode, or recorded starts that cannot be read.
        """
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise UserError(f"render_mode must be rgb_array or None, found '{render_mode}'")
        self.render_mode = render_mode
        self._view: ChaseView | None = None  # of the running episode
        self._worlds = Worlds(task, config, split, simulator, 1, starts, source, homes)
        self.task = self._worlds.task
        self.simulator = self._worlds.simulator
        self.state = self._worlds.state
        # Gymnasium types a Dict space by its sub-spaces, not by what they hold.
        self.observation_space = self._worlds.observation_space  # pyright: ignore[reportAttributeAccessIssue]
        self.action_space = self._worlds.action_space
        self.after_step: Callable[[RearrangeEnv], None] | None = None
        self.before_step: Callable[[RearrangeEnv, np.ndarray], None] | None = None
        self.reward = 0.0
        self._seed = seed
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)

    @property
    def robot(self) -> RobotSpec:
        """Who acts."""
        return self.state.robot

    @property
    def episode(self) -> Episode:
        """The running episode."""
        episode = self._worlds.episodes[0]
        if episode is None:
            raise RuntimeError("call reset() before using the environment")
        return episode

    @property
    def apartment(self) -> Apartment:
        """The apartment of the running episode."""
        return load_layout(self.episode.layout, self.episode.variation)[0]

    @property
    def elapsed_steps(self) -> int:
        """Steps since the episode began."""
        return int(self._worlds.steps[0])

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start an episode: `options={"episode": Episode}` takes that one, else one is sampled.

        With `options={"episode_number": n}`, as a trainer's workers tell it, an environment that was made with
        a seed stays in a generated apartment for some episodes; see Worlds.reset.
        """
        super().reset(seed=seed)
        for name in options or {}:
            if name not in ("episode", "episode_number"):
                raise UserError(
                    f"unknown option '{name}' of reset: choose episode or episode_number"
                )
        given = (options or {}).get("episode")
        if given is not None:
            check_episode(given, getattr(self.task, "target_count", None), self.robot)
            self.simulator.reset([0], [given])
            self._worlds.begin(0, given)
        else:
            number = (options or {}).get("episode_number")
            self._worlds.reset(0, self.np_random, self._seed, number)
        self._view = None
        return self.observe(), {}

    def step(
        self, action: np.ndarray
    ) -> tuple[dict[str, np.ndarray], float, bool, bool, dict[str, Any]]:
        """Advance 1/30 s, `action.repeat` times unless the episode ends, with an action in [-1, 1].

        Stop is called once, not repeated: it is judged where the policy has seen the world.

        Args:
            action: [action_size].

        Returns:
            What Gymnasium asks for; the reward is the sum over the steps of 1/30 s.
        """
        full, total = self._worlds.full_action, 0.0
        full[0, self.task.action_slice] = checked_action(action, (self.task.action_size,))
        for _ in range(self._worlds.repeat):
            physical = to_physical(self._worlds.action_scale, full, self._worlds.physical_action)
            reward, terminated, truncated, info = self._advance(physical, full)
            full[0, -1] = -1.0  # stop
            total += reward
            if terminated or truncated:
                break
        return self.observe(), total, terminated, truncated, info  # pyright: ignore[reportPossiblyUnboundVariable]

    def step_physical(
        self, action: np.ndarray, stop: bool = False
    ) -> tuple[float, bool, bool, dict[str, Any]]:
        """Advance with an action in the simulator's units [J + 3], without making an observation.

        For oracles and the planner, whose skills each have their own action scale.
        """
        size = self.robot.actions.physical_size
        action = checked_action(action, (size,))
        if not np.isfinite(action).all():
            raise ValueError(f"actions must be finite, found {action}")
        full = np.empty((1, size + 1))
        full[0, :size] = action
        full[0, size] = 1.0 if stop else -1.0
        return self._advance(full[:, :size].copy(), full)  # tasks may mask it

    def observe(self) -> dict[str, np.ndarray]:
        """What the policy sees now: the present state, or an earlier one (`action.delay`)."""
        return {key: value[0] for key, value in self._worlds.observe().items()}

    def render(self) -> np.ndarray | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Draw the robot from behind [540, 680, 3] uint8; None without `render_mode`."""
        if self.render_mode is None:
            return None
        if not isinstance(self.simulator, MujocoSimulator):
            raise UserError("pictures are drawn from the MuJoCo simulator alone")
        if self._worlds.episodes[0] is None:
            raise RuntimeError("call reset() before render()")
        world, data = self.simulator.worlds[0], self.simulator.data[0]
        assert world is not None
        assert data is not None
        if self._view is None:
            from rearrange.render.chase import ChaseView  # compiles for some seconds

            self._view = ChaseView(world.model)
        x, y, yaw = (float(value) for value in self.state.base_pose[0])
        return self._view.draw(data, (x, y, yaw))[0]

    def close(self) -> None:
        """Free the simulator."""
        self.simulator.close()

    def _advance(
        self, physical: np.ndarray, full: np.ndarray
    ) -> tuple[float, bool, bool, dict[str, Any]]:
        worlds = self._worlds
        if worlds.episodes[0] is None:
            raise RuntimeError("call reset() before step()")
        if self.before_step is not None:
            self.before_step(self, np.append(physical[0], full[0, -1]))
        rewards, truncations, outcome = worlds.step(physical, full)
        self.reward = float(rewards[0])
        terminated, truncated = bool(outcome.terminated[0]), bool(truncations[0])
        info: dict[str, Any] = {}
        if terminated or truncated:
            info["metrics"] = worlds.metrics(0, outcome)
            info["is_success"] = bool(outcome.success[0])
        if self.after_step is not None:
            self.after_step(self)
        return self.reward, terminated, truncated, info


class RearrangeVectorEnv(VectorEnv[dict[str, np.ndarray], np.ndarray, np.ndarray]):
    """N worlds stepped together in one process, restarted in the step in which they end."""

    metadata: ClassVar[dict[str, Any]] = {
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": [],
        "render_fps": 30,
    }

    def __init__(
        self,
        num_envs: int,
        task: str = "pick",
        config: Any = None,
        split: str = "train",
        simulator: SimulatorConfig | Simulator | None = None,
        starts: RecordedStarts | None = None,
        source: EpisodeSource | None = None,
        homes: str = DEFAULT_HOMES,
    ) -> None:
        """Build the worlds; arguments as for RearrangeEnv."""
        self.num_envs = num_envs
        self._worlds = Worlds(task, config, split, simulator, num_envs, starts, source, homes)
        if self._worlds.repeat > 1:
            raise UserError(
                "worlds that are stepped together do not repeat actions: set task.action.repeat=1, "
                "or train with trainer.system=ver"
            )
        self.task = self._worlds.task
        self.single_observation_space = self._worlds.observation_space
        self.single_action_space = self._worlds.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._generators = [np.random.default_rng(i) for i in range(num_envs)]
        self._seeds: list[int] = list(range(num_envs))
        self._begun = [0] * num_envs  # episodes of each world since it was seeded

    def reset(
        self, *, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Start an episode in every world; world i is seeded as RearrangeEnv with seed + i.

        A world stays in a generated apartment for some episodes; see Worlds.reset.

        Raises:
            UserError: An episode is given: here all are sampled.
        """
        if (options or {}).get("episode") is not None:
            raise UserError('options["episode"]: worlds side by side take none: take RearrangeEnv')
        if seed is not None:
            if isinstance(seed, int | np.integer):
                seed = [int(seed) + i for i in range(self.num_envs)]
            self._generators = [seeding.np_random(s)[0] for s in seed]
            self._seeds, self._begun = [int(s) for s in seed], [0] * self.num_envs
        for i in range(self.num_envs):
            self._begin(i)
        return self._worlds.observe(), {}

    def _begin(self, i: int) -> None:
        self._worlds.reset(i, self._generators[i], self._seeds[i], self._begun[i])
        self._begun[i] += 1

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds with actions [N, action_size] in [-1, 1].

        Where an episode ends, the observation is that of the next one; the last one is in
        `infos["final_obs"]` and the sum of the episode in `infos["final_info"]["metrics"]`.
        """
        worlds = self._worlds
        shape = (self.num_envs, self.task.action_size)
        worlds.full_action[:, self.task.action_slice] = checked_action(actions, shape)
        physical = to_physical(worlds.action_scale, worlds.full_action, worlds.physical_action)
        rewards, truncated, outcome = worlds.step(physical, worlds.full_action)
        terminated = outcome.terminated.copy()
        ended = np.flatnonzero(terminated | truncated)
        infos: dict[str, Any] = {}
        if len(ended):
            final = worlds.observe()
            infos["final_obs"] = np.full(self.num_envs, None, dtype=object)
            metrics = np.full(self.num_envs, None, dtype=object)
            success = outcome.success.copy()
            for i in ended.tolist():
                infos["final_obs"][i] = {key: value[i] for key, value in final.items()}
                metrics[i] = worlds.metrics(i, outcome)
                self._begin(i)
            infos["_final_obs"] = terminated | truncated
            infos["final_info"] = {"metrics": metrics, "_metrics": infos["_final_obs"]}
            infos["final_info"] |= {"is_success": success, "_is_success": infos["_final_obs"]}
        return worlds.observe(), rewards, terminated, truncated, infos

    def close_extras(self) -> None:
        """Free the simulator."""
        self._worlds.simulator.close()
