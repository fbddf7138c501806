"""Gymnasium environments over a simulator and a task: one world or many side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rearrange.caching import cached_njit
from rearrange.episodes import Episode, RecordedStarts, check_episode, load_layout
from rearrange.episodes.generation import at_home, source_of
from rearrange.errors import UserError
from rearrange.late import LateObservations
from rearrange.scenes.apartment import CLASSIC, DEFAULT_HOMES, Apartment
from rearrange.sim.base import SimState, Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.tasks import make_task
from rearrange.tasks.base import DEPTH_RANGE, STOP, Outcome, Task
from rearrange.tasks.fitness import draw

FULL_ACTION_SIZE = 11
PHYSICAL_ACTION_SIZE = 10
# Of a world that is trained in: making a generated apartment takes as long as many steps
EPISODES_PER_HOME = 16
START_ATTEMPTS = 200
DEPTH_KEY = "head_depth"


def checked_action(action: Any, shape: tuple[int, ...]) -> np.ndarray:
    """What a caller gave as an action, as an array.

    Raises:
        ValueError: It is no array of real numbers of that shape.
    """
    values = np.asarray(action)
    if values.dtype == np.float32 and values.shape == shape:  # what policies give
        return values
    if values.shape != shape or values.dtype.kind not in "fiub":
        raise ValueError(
            f"expected an action of shape {shape}, found {type(action).__name__} "
            f"of shape {values.shape} and type {values.dtype}"
        )
    return values


def to_physical(scale: np.ndarray, action: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Actions in [-1, 1] [N, >= 10] in the simulator's units, rad, grip, m, rad [N, 10].

    Args:
        scale: `ActionConfig.scale()` of the task [10].
        action: What the policy wants; clipped to [-1, 1].
        out: Where to write, or None for a new array.

    Raises:
        ValueError: An action is NaN or infinite.
    """
    physical = np.empty((len(action), PHYSICAL_ACTION_SIZE)) if out is None else out
    if not _scale_actions(scale, action, physical):
        raise ValueError(f"actions must be finite, found {action}")
    return physical


@cached_njit(nogil=True)
def _scale_actions(scale: np.ndarray, action: np.ndarray, physical: np.ndarray) -> bool:
    """Kernel of `to_physical`; False where an action is not finite."""
    for i in range(len(action)):
        for k in range(action.shape[1]):
            if not np.isfinite(action[i, k]):
                return False
        for k in range(len(scale)):
            physical[i, k] = min(max(action[i, k], -1.0), 1.0) * scale[k]
    return True


@cached_njit(nogil=True)
def _tally(
    terms: Any, success: Any, terminated: Any, max_steps: Any,
    sums: Any, steps: Any, success_once: Any, rewards: Any, truncated: Any,
) -> None:  # fmt: skip
    """Count a step of N worlds.

    Args:
        terms: Reward terms of this step [N, T].
        success: In this step [N].
        terminated: By the task [N].
        max_steps: Where the time is out.
        sums: Of the terms over the episode, added to [N, T].
        steps: Of the episode, added to [N].
        success_once: Success in any step so far, updated [N].
        rewards: Written: of this step [N].
        truncated: Written: the time is out, and the task has not ended the episode itself [N].
    """
    for i in range(len(steps)):
        rewards[i] = 0.0
        for k in range(terms.shape[1]):
            rewards[i] += terms[i, k]
            sums[i, k] += terms[i, k]
        steps[i] += 1
        success_once[i] |= success[i]
        truncated[i] = steps[i] >= max_steps and not terminated[i]


def seen_depth(simulator: Simulator, size: int | None = None) -> np.ndarray:
    """Depth images as the policies see them: DEPTH_RANGE, the farthest, is 1 [N, H, W, 1]."""
    return simulator.render_depth(size, unit=DEPTH_RANGE)[..., None]


class EpisodeSource(Protocol):
    """Where start states of a task come from instead of our apartments."""

    def sample(self, task: Task, rng: np.random.Generator) -> Episode:
        """A start state; where it is not fit, the env asks again."""
        ...


class _Worlds:
    """N worlds of one task: resets, steps, rewards and what is told about an episode."""

    def __init__(
        self,
        task: str,
        config: Any,
        split: str,
        simulator: SimulatorConfig | Simulator | None,
        world_count: int,
        starts: RecordedStarts | None,
        source: EpisodeSource | None = None,
        homes: str = DEFAULT_HOMES,
    ) -> None:
        self.split, self.apartments = split, source_of(split, homes)
        self.endless = homes != CLASSIC  # apartments are too many to keep them all
        self.source = source
        self.task = make_task(task, config, world_count)
        self.starts = starts or RecordedStarts()
        self.starts.check(task, split, homes)
        self.action_scale = self.task.action.scale()
        self.repeat = int(self.task.action.repeat)
        if self.repeat < 1:
            raise UserError(f"task.action.repeat must be at least 1, not {self.repeat}")
        self.late = LateObservations(self.task.action.delay, self._look)
        if not isinstance(simulator, Simulator):
            simulator = MujocoSimulator(world_count, simulator)
        if simulator.world_count != world_count:
            raise UserError(f"the simulator has {simulator.world_count} worlds, not {world_count}")
        self.simulator = simulator
        self.state: SimState = simulator.state
        self.episodes: list[Episode | None] = [None] * world_count
        self.steps = np.zeros(world_count, np.int64)
        self.full_action = np.zeros((world_count, FULL_ACTION_SIZE))
        self.physical_action = np.empty((world_count, PHYSICAL_ACTION_SIZE))
        self.success_once = np.zeros(world_count, bool)
        self.reward_sums = np.zeros((world_count, len(self.task.REWARDS)))
        size = self.task.action_size
        self.action_space = spaces.Box(-1.0, 1.0, (size,), np.float32)
        depth_shape = (*simulator.render_depth().shape[1:], 1)
        self.observation_space = spaces.Dict(
            {
                DEPTH_KEY: spaces.Box(0.0, 1.0, depth_shape, np.float32),
                **self.task.observation_spaces(),
            }
        )

    def reset(self, i: int, rng: np.random.Generator, home_seed: Sequence[int] = ()) -> None:
        """Put world i into a new episode that is fit to be played, or into a recorded one, as it was.

        The generator and the seed alone decide which: nothing that happened in this process before.

        Args:
            i: World.
            rng: What is random in the episode.
            home_seed: Decides which generated apartment it takes place in; none: the generator does.
        """
        home_seed = home_seed if self.endless else ()
        recorded = self.starts.draw(self.task.name, self.split, rng, home_seed)
        if recorded is not None:
            self.simulator.reset([i], [recorded])
            return self.begin(i, recorded)
        apartments = at_home(self.apartments, home_seed) if home_seed else self.apartments
        sample = partial(self._sample, apartments, rng)
        episode = draw(sample, self.simulator, i, START_ATTEMPTS, rejected := Counter())
        if episode is not None:
            return self.begin(i, episode)
        reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common())
        told = f"{self.task.name}: none of {START_ATTEMPTS} start states was fit: {reasons}"
        raise RuntimeError(told) if self.source is None else UserError(told)

    def _sample(self, apartments: str, rng: np.random.Generator) -> Episode:
        """A start state, fit or not."""
        if self.source is None:
            return self.task.sample_episode(apartments, rng)
        return self.source.sample(self.task, rng)

    def begin(self, i: int, episode: Episode) -> None:
        """Start counting in world i, which the simulator has just reset."""
        self.episodes[i] = episode
        self.task.start([i], [episode], self.state)
        self.steps[i] = 0
        self.success_once[i] = False
        self.reward_sums[i] = 0.0
        self.late.begin(i)

    def step(
        self, physical: np.ndarray, full_action: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Outcome]:
        """Advance all worlds; returns rewards and truncated [N], and what else the step meant."""
        self.late.before_step()
        self.simulator.step(self.task.mask(self.state, physical))
        outcome = self.task.evaluate(self.state, full_action)
        self.late.after_step()
        rewards, truncated = np.empty(len(self.steps)), np.empty(len(self.steps), bool)
        _tally(
            outcome.terms, outcome.success, outcome.terminated, self.task.max_steps,
            self.reward_sums, self.steps, self.success_once, rewards, truncated,
        )  # fmt: skip
        return rewards, truncated, outcome

    def observe(self) -> dict[str, np.ndarray]:
        """What policies see now, late if the task says so [N, ...]; fresh arrays."""
        return self.late.observe()

    def _look(self) -> dict[str, np.ndarray]:
        """Observations of the present state [N, ...]; fresh arrays."""
        observation = {DEPTH_KEY: seen_depth(self.simulator)}
        return observation | self.task.observe(self.state)

    def metrics(self, i: int, outcome: Outcome) -> dict[str, float]:
        """What is told about an episode when it ends, all numbers."""
        sums, success = self.reward_sums[i], bool(outcome.success[i])
        told = {
            "success": float(success),
            "success_once": float(self.success_once[i]),
            "length": float(self.steps[i]),
            "return": float(sums.sum()),
        }
        told |= {f"reward/{name}": float(x) for name, x in zip(outcome.rewards, sums, strict=True)}
        reasons = {name: bool(flags[i]) for name, flags in outcome.failures.items()}
        reasons["timeout"] = not success and not any(reasons.values())
        return told | {f"failure/{name}": float(x) for name, x in reasons.items()}


class RearrangeEnv(gymnasium.Env[dict[str, np.ndarray], np.ndarray]):
    """One world. Actions are in [-1, 1]; `info["metrics"]` of the last step sums up the episode.

    Attributes:
        after_step: Called after every 1/30 s, also within a repeated action.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": [], "render_fps": 30}

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

        Raises:
            UserError: Unknown task, split or homes, or recorded starts that cannot be read.
        """
        self._worlds = _Worlds(task, config, split, simulator, 1, starts, source, homes)
        self.task = self._worlds.task
        self.simulator = self._worlds.simulator
        self.state = self._worlds.state
        # Gymnasium types a Dict space by its sub-spaces, not by what they hold.
        self.observation_space = self._worlds.observation_space  # pyright: ignore[reportAttributeAccessIssue]
        self.action_space = self._worlds.action_space
        self.after_step: Callable[[RearrangeEnv], None] | None = None
        self._seed = seed
        if seed is not None:
            self._np_random, self._np_random_seed = seeding.np_random(seed)

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
        a seed stays in a generated apartment for EPISODES_PER_HOME episodes.
        """
        super().reset(seed=seed)
        given = (options or {}).get("episode")
        if given is not None:
            check_episode(given, getattr(self.task, "target_count", None))
            self.simulator.reset([0], [given])
            self._worlds.begin(0, given)
        else:
            number = (options or {}).get("episode_number")
            home_seed: tuple[int, ...] = ()
            if number is not None and self._seed is not None:
                home_seed = (self._seed, number // EPISODES_PER_HOME)
            self._worlds.reset(0, self.np_random, home_seed)
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
            full[0, STOP] = -1.0
            total += reward
            if terminated or truncated:
                break
        return self.observe(), total, terminated, truncated, info  # pyright: ignore[reportPossiblyUnboundVariable]

    def step_physical(
        self, action: np.ndarray, stop: bool = False
    ) -> tuple[float, bool, bool, dict[str, Any]]:
        """Advance with an action in the simulator's units [10], without making an observation.

        For oracles and the planner, whose skills each have their own action scale.
        """
        action = checked_action(action, (PHYSICAL_ACTION_SIZE,))
        if not np.isfinite(action).all():
            raise ValueError(f"actions must be finite, found {action}")
        full = np.empty((1, FULL_ACTION_SIZE))
        full[0, :PHYSICAL_ACTION_SIZE] = action
        full[0, STOP] = 1.0 if stop else -1.0
        return self._advance(full[:, :PHYSICAL_ACTION_SIZE].copy(), full)  # tasks may mask it

    def observe(self) -> dict[str, np.ndarray]:
        """What the policy sees now: the present state, or an earlier one (`action.delay`)."""
        return {key: value[0] for key, value in self._worlds.observe().items()}

    def close(self) -> None:
        """Free the simulator."""
        self.simulator.close()

    def _advance(
        self, physical: np.ndarray, full: np.ndarray
    ) -> tuple[float, bool, bool, dict[str, Any]]:
        worlds = self._worlds
        if worlds.episodes[0] is None:
            raise RuntimeError("call reset() before step()")
        rewards, truncations, outcome = worlds.step(physical, full)
        terminated, truncated = bool(outcome.terminated[0]), bool(truncations[0])
        info: dict[str, Any] = {}
        if terminated or truncated:
            info["metrics"] = worlds.metrics(0, outcome)
        if self.after_step is not None:
            self.after_step(self)
        return float(rewards[0]), terminated, truncated, info


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
        self._worlds = _Worlds(task, config, split, simulator, num_envs, starts, source, homes)
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

        A world stays in a generated apartment for EPISODES_PER_HOME episodes.

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
        """Start an episode in world i, which stays in a generated apartment for EPISODES_PER_HOME."""
        home_seed = (self._seeds[i], self._begun[i] // EPISODES_PER_HOME)
        self._worlds.reset(i, self._generators[i], home_seed)
        self._begun[i] += 1

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Advance all worlds with actions in [-1, 1] [N, action_size].

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
            for i in ended.tolist():
                infos["final_obs"][i] = {key: value[i] for key, value in final.items()}
                metrics[i] = worlds.metrics(i, outcome)
                self._begin(i)
            infos["_final_obs"] = terminated | truncated
            infos["final_info"] = {"metrics": metrics, "_metrics": infos["_final_obs"]}
        return worlds.observe(), rewards, terminated, truncated, infos

    def close_extras(self) -> None:
        """Free the simulator."""
        self._worlds.simulator.close()
