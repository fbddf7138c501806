"""N worlds of one task on a simulator, as the Gymnasium environments take them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from gymnasium import spaces

from rearrange.action_pipeline import ActionPipeline, checked_action
from rearrange.caching import cached_njit
from rearrange.episodes import Episode, RecordedStarts, check_episode
from rearrange.episodes.checking import WHERE
from rearrange.errors import UserError
from rearrange.gym_ids import LARGEST
from rearrange.late import LateObservations
from rearrange.robot import find_robot
from rearrange.scenes.registry import CLASSIC, DEFAULT_HOMES, spec_of_homes
from rearrange.shell import Observation, Painter, Step
from rearrange.sim.base import SimState, Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.tasks import make_task
from rearrange.tasks.base import DEPTH_RANGE, Task
from rearrange.tasks.fitness import draw
from rearrange.tasks.sampling import at_home, source_of
from rearrange.tasks.true_state import DEPTH, STATE, TRUE_STATE, TrueState, check_sensors
from rearrange.threads import Threads

# Of a world that is trained in: making a generated apartment takes as long as a trained policy's episode
EPISODES_PER_HOME = 64
START_ATTEMPTS = 200
DEPTH_KEY = "head_depth"


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


def seen_depth(
    simulator: Simulator, size: int | None = None, ids: Sequence[int] | np.ndarray | None = None
) -> np.ndarray:
    """Depth as policies see it, of all worlds or some: DEPTH_RANGE, the farthest, is 1 [K, H, W, 1]."""
    return simulator.render_depth(size, DEPTH_RANGE, ids)[..., None]


class EpisodeSource(Protocol):
    """Where start states of a task come from instead of our apartments."""

    def sample(self, task: Task, rng: np.random.Generator) -> Episode:
        """A start state; where it is not fit, the env asks again."""
        ...


class Worlds:
    """N worlds of one task: resets, steps, rewards and what is told about an episode.

    Attributes:
        task: What is done in them.
        simulator: What they are simulated by.
        state: Of the simulator.
        episodes: Those that run [N]; None where none has begun.
        steps: Of 1/30 s since the episodes began [N].
        pipeline: Makes the simulator's actions of a policy's.
        before_step: Called before each step with what is asked for, in the simulator's units [N, A], and whole
            [N, A + 1].
    """

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
        sensors: str = DEPTH,
        threads: int = 1,
    ) -> None:
        check_sensors(sensors)
        self.split, self.apartments = split, source_of(split, homes)
        self.endless = homes != CLASSIC  # apartments are too many to keep them all
        self.source = source
        if isinstance(simulator, Simulator):
            robot = simulator.state.robot
        else:
            robot = find_robot((simulator or SimulatorConfig()).robot)
        scene = spec_of_homes(homes)
        self.task = make_task(task, config, world_count, robot, scene)
        self.task.threads = Threads(threads)
        self.starts = starts or RecordedStarts()
        self.starts.check(task, split, homes, robot.name)
        self.pipeline = ActionPipeline(self.task, world_count)
        self.before_step: Callable[[np.ndarray, np.ndarray], None] | None = None
        self.repeat = self.pipeline.repeat
        self.late = LateObservations(self.task.action.delay, self._look)
        if not isinstance(simulator, Simulator):
            simulator = MujocoSimulator(world_count, simulator, scene, threads)
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
        self.success_once = np.zeros(world_count, bool)
        self.reward_sums = np.zeros((world_count, len(self.task.REWARDS)))
        size = self.task.action_size
        self.action_space = spaces.Box(-1.0, 1.0, (size,), np.float32)
        self.sees = sensors != STATE
        self.true_state = None if sensors == DEPTH else TrueState(self.task, self.state)
        self.observation_space = spaces.Dict(self._spaces())

    def _spaces(self) -> dict[str, spaces.Space[Any]]:
        """Return the spaces of what is observed in one world, images first."""
        found: dict[str, spaces.Space[Any]] = {**self.task.observation_spaces()}
        if self.sees:
            shape = (*self.simulator.render_depth().shape[1:], 1)
            images = {DEPTH_KEY: spaces.Box(0.0, 1.0, shape, np.float32)}
            found = images | self.task.gathered_spaces(shape[0]) | found
        if self.true_state is not None:
            found[TRUE_STATE] = spaces.Box(-LARGEST, LARGEST, (self.true_state.size,), np.float32)
        return found

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
            return self._begin(i, recorded)
        apartments = at_home(self.apartments, home_seed) if home_seed else self.apartments
        sample = partial(self._sample, apartments, rng)
        episode = draw(sample, self.simulator, i, START_ATTEMPTS, rejected := Counter())
        if episode is not None:
            return self._begin(i, episode)
        reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common())
        raise UserError(
            f"{self.task.name}: none of {START_ATTEMPTS} start states was fit: {reasons}"
        )

    def _sample(self, apartments: str, rng: np.random.Generator) -> Episode:
        """A start state, fit or not."""
        if self.source is None:
            return self.task.sample_episode(apartments, rng)
        return self.source.sample(self.task, rng)

    def put(self, i: int, episode: Episode) -> None:
        """Put world i into an episode that a caller made.

        Raises:
            UserError: It is no episode of this task.
        """
        check_episode(episode, getattr(self.task, "target_count", None), self.task.robot)
        if episode.scene is not None and isinstance(self.simulator, MujocoSimulator):
            raise UserError(
                f"{WHERE}: scene: expected None, found a scene of a dataset: those are for sim=habitat"
            )
        self.simulator.reset([i], [episode])
        self._begin(i, episode)

    def _begin(self, i: int, episode: Episode) -> None:
        """Start counting in world i, which the simulator has just reset."""
        self.episodes[i] = episode
        self.task.start([i], [episode], self.state)
        self.steps[i] = 0
        self.success_once[i] = False
        self.reward_sums[i] = 0.0
        if self.true_state is not None:
            self.true_state.begin(i, episode)
        self.late.begin(i)

    def take(self, action: Any, shape: tuple[int, ...]) -> None:
        """Take the policy's next action, in [-1, 1]; ValueError where it is no action of that shape."""
        self.pipeline.take(checked_action(action, shape))

    def step(self) -> Step:
        """Advance all worlds 1/30 s by the action that was taken."""
        step = self._advance(self.pipeline.physical(), self.pipeline.full)
        self.pipeline.repeated()
        return step

    def step_physical(self, action: np.ndarray, stop: bool) -> Step:
        """Advance the only world 1/30 s by an action in the simulator's units; ValueError where it is none."""
        full = self.pipeline.whole(action, stop)
        return self._advance(full[:, :-1].copy(), full)

    def _advance(self, physical: np.ndarray, full: np.ndarray) -> Step:
        """Advance all worlds; the task may mask `physical` [N, A], and is told `full` [N, A + 1]."""
        if self.before_step is not None:
            self.before_step(physical, full)
        self.late.before_step()
        self.simulator.step(self.task.mask(self.state, physical))
        outcome = self.task.evaluate(self.state, full)
        rewards, truncated = np.empty(len(self.steps)), np.empty(len(self.steps), bool)
        _tally(
            outcome.terms, outcome.success, outcome.terminated, self.task.max_steps,
            self.reward_sums, self.steps, self.success_once, rewards, truncated,
        )  # fmt: skip
        self.late.after_step()
        return rewards, outcome.terminated.copy(), truncated

    def observe(self) -> Observation:
        """What policies see now, late if the task says so [N, ...]; fresh arrays."""
        return self.late.observe()

    @property
    def remembers(self) -> bool:
        """True if what is seen depends on what was seen before."""
        return self.sees and bool(self.task.gathered_spaces(1))

    def observe_again(self, observation: Observation, ids: np.ndarray) -> Observation:
        """Observations after some worlds have begun anew: only these are drawn, into what is given."""
        if self.late.delay:
            return self.observe()
        for key, rows in self._images(ids).items():
            observation[key][ids] = rows
        return observation | self._numbers()

    def _look(self) -> Observation:
        """Observations of the present state [N, ...]; fresh arrays."""
        return self._images(np.arange(len(self.steps))) | self._numbers()

    def _images(self, ids: np.ndarray) -> Observation:
        """Depth images of some worlds, and what is made of them [K, ...]."""
        if not self.sees:
            return {}
        depths = seen_depth(self.simulator, ids=ids)
        # In the middle of a policy's action somebody else looks: that must not change what it sees
        remember = self.steps % self.repeat == 0
        return {DEPTH_KEY: depths, **self.task.gather(self.simulator, depths, remember, ids)}

    def _numbers(self) -> Observation:
        """Vector observations of all worlds [N, ...]."""
        observation = self.task.observe(self.state)
        if self.true_state is not None:
            observation[TRUE_STATE] = self.true_state.observe()
        return observation

    def metrics(self, i: int) -> dict[str, float]:
        """What is told about an episode when it ends, all numbers."""
        outcome = self.task.outcome
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

    def painter(self, i: int) -> Painter:
        """Make what draws world i's robot from behind [540, 680, 3] uint8.

        Raises:
            UserError: Another simulator than MuJoCo's runs.
        """
        if not isinstance(self.simulator, MujocoSimulator):
            raise UserError("pictures are drawn from the MuJoCo simulator alone")
        from rearrange.render.chase import ChaseView  # compiles for some seconds

        world, data = self.simulator.worlds[i], self.simulator.data[i]
        assert world is not None
        assert data is not None
        view = ChaseView(world.model)

        def draw() -> np.ndarray:
            x, y, yaw = (float(value) for value in self.state.base_pose[i])
            return view.draw(data, (x, y, yaw))[0]

        return draw

    def close(self) -> None:
        """Free the simulator."""
        self.task.threads.close()
        self.simulator.close()
