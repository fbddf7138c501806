"""N worlds of one task: what the Gymnasium environments, single and vector, have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from rearrange.caching import cached_njit
from rearrange.episodes import Episode, RecordedStarts
from rearrange.errors import UserError
from rearrange.late import LateObservations
from rearrange.robot import find_robot
from rearrange.scenes.apartment import CLASSIC, DEFAULT_HOMES, spec_of_homes
from rearrange.sim.base import SimState, Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.tasks import make_task
from rearrange.tasks.base import DEPTH_RANGE, Outcome, Task
from rearrange.tasks.fitness import draw
from rearrange.tasks.sampling import at_home, source_of

# Of a world that is trained in: making a generated apartment takes as long as a trained policy's episode
EPISODES_PER_HOME = 64
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
    """Actions in [-1, 1] [N, >= J + 3] in the simulator's units, rad, grip, m, rad [N, J + 3].

    Args:
        scale: `ActionConfig.scale()` of the task [J + 3].
        action: What the policy wants; clipped to [-1, 1].
        out: Where to write, or None for a new array.

    Raises:
        ValueError: An action is NaN or infinite.
    """
    physical = np.empty((len(action), len(scale))) if out is None else out
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


class Worlds:
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
        if isinstance(simulator, Simulator):
            robot = simulator.state.robot
        else:
            robot = find_robot((simulator or SimulatorConfig()).robot)
        scene = spec_of_homes(homes)
        self.task = make_task(task, config, world_count, robot, scene)
        self.starts = starts or RecordedStarts()
        self.starts.check(task, split, homes, robot.name)
        self.action_scale = self.task.action.scale(robot.actions)
        self.repeat = int(self.task.action.repeat)
        if self.repeat < 1:
            raise UserError(f"task.action.repeat must be at least 1, not {self.repeat}")
        self.late = LateObservations(self.task.action.delay, self._look)
        if not isinstance(simulator, Simulator):
            simulator = MujocoSimulator(world_count, simulator, scene)
        if simulator.world_count != world_count:
            raise UserError(f"the simulator has {simulator.world_count} worlds, not {world_count}")
        if simulator.state.scene is not scene:
            raise UserError(
                f"the simulator has homes of kind {simulator.state.scene.name}, but homes={homes} are of kind "
                f"{scene.name}: make it with scene= of that kind"
            )
        self.simulator = simulator
        self.state: SimState = simulator.state
        self.episodes: list[Episode | None] = [None] * world_count
        self.steps = np.zeros(world_count, np.int64)
        self.full_action = np.zeros((world_count, robot.actions.full_size))
        self.physical_action = np.empty((world_count, robot.actions.physical_size))
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

    def reset(
        self, i: int, rng: np.random.Generator, seed: int | None = None, number: int | None = None
    ) -> None:
        """Put world i into a new episode that is fit to be played, or into a recorded one, as it was.

        The arguments alone decide which: nothing that happened in this process before. Where both seed and
        number are told, the world stays in a generated apartment for EPISODES_PER_HOME episodes.

        Args:
            i: World.
            rng: What is random in the episode.
            seed: Of the world.
            number: Of the episode among those of the world.
        """
        home_seed: Sequence[int] = ()
        if self.endless and seed is not None and number is not None:
            home_seed = (seed, number // EPISODES_PER_HOME)
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
