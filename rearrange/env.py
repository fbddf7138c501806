"""Gymnasium environments over a simulator and a task: one world or many side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rearrange.choices import Many
from rearrange.episodes import Episode, RecordedStarts
from rearrange.navigation import load_layout
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.settings import check_ranges
from rearrange.shell import TaskEnv
from rearrange.sim.base import Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks.true_state import DEPTH
from rearrange.threads import cores
from rearrange.vector_shell import TaskVectorEnv
from rearrange.worlds import EpisodeSource, Worlds


class RearrangeEnv(TaskEnv):
    """One world with a robot in it.

    Actions are `action_size` numbers in [-1, 1]. They last `action.repeat` steps of 1/30 s, or to the end.
    Stop is called once, not repeated: it is judged where the policy has seen the world.
    `info["metrics"]` of the last step sums up the episode, `info["is_success"]` tells whether it was a success.

    Attributes:
        after_step: Called after every 1/30 s, also within a repeated action.
        before_step: Called before it with what is asked for, in the simulator's units, and stop [J + 4].
        reward: Of the last 1/30 s.
    """

    _worlds: Worlds

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
        sensors: str = DEPTH,
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
            render_mode: "rgb_array", the robot from behind [540, 680, 3]; "human", a page in the browser; or
                None if nothing is shown.
            sensors: "depth", the robot's own; "state", what no robot is told, and no image; or "both".

        Raises:
            UserError: Unknown task, split, homes or render mode, or recorded starts that cannot be read.
        """
        worlds = Worlds(task, config, split, simulator, 1, starts, source, homes, sensors)
        self.task, self.simulator, self.state = worlds.task, worlds.simulator, worlds.state
        self._listener: Callable[[RearrangeEnv, np.ndarray], None] | None = None
        super().__init__(worlds, seed, render_mode)

    @property
    def robot(self) -> RobotSpec:
        """Who acts."""
        return self.state.robot

    @property
    def episode(self) -> Episode:
        """The running episode."""
        return super().episode

    @property
    def apartment(self) -> Apartment:
        """The apartment of the running episode."""
        return load_layout(self.episode.layout, self.episode.variation)[0]

    @property
    def elapsed_steps(self) -> int:
        """Steps since the episode began."""
        return int(self._worlds.steps[0])

    def step_physical(
        self, action: np.ndarray, stop: bool = False
    ) -> tuple[float, bool, bool, dict[str, Any]]:
        """Advance with an action in the simulator's units [J + 3], without making an observation.

        For oracles and the planner, whose skills each have their own action scale. A plan may go on after the
        task's own end.
        """
        return self._advance(partial(self._worlds.step_physical, action, stop))

    @property
    def before_step(self) -> Callable[[RearrangeEnv, np.ndarray], None] | None:
        """Who listens to what is asked for; see the class."""
        return self._listener

    @before_step.setter
    def before_step(self, listener: Callable[[RearrangeEnv, np.ndarray], None] | None) -> None:
        self._listener = listener
        self._worlds.before_step = None if listener is None else self._tell

    def _tell(self, physical: np.ndarray, full: np.ndarray) -> None:
        """Tell who listens."""
        assert self._listener is not None
        self._listener(self, np.append(physical[0], full[0, -1]))


class RearrangeVectorEnv(TaskVectorEnv):
    """N worlds stepped together in one process, restarted in the step in which they end."""

    SINGLE = RearrangeEnv
    _worlds: Worlds

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
        sensors: str = DEPTH,
        threads: int = 0,
        render_mode: str | None = None,
    ) -> None:
        """Build the worlds; arguments as for RearrangeEnv, and the threads that step and draw them.

        What worlds do does not depend on how many these are; 0 takes a thread for every core.
        """
        check_ranges(Many(num_envs=num_envs, threads=threads), "")
        parts = task, config, split, simulator, num_envs, starts, source, homes, sensors
        worlds = Worlds(*parts, threads or min(cores(), num_envs))
        super().__init__(num_envs, worlds, render_mode)
        self.task = worlds.task
