"""The world in which a plan is executed: one simulated apartment, as skills and executive see it."""

from __future__ import annotations

from typing import Any

import numpy as np

from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, load_layout
from rearrange.navigation import OccupancyGrid
from rearrange.scenes.apartment import Apartment
from rearrange.sim.base import SimState
from rearrange.sim.mujoco import MujocoSimulator, SimulatorConfig


class HouseWorld:
    """Steps a household task in physical units and remembers whether a force limit was exceeded."""

    def __init__(self, task: str, split: str, simulator: SimulatorConfig | None = None) -> None:
        """Build the world.

        Args:
            task: Name in rearrange.tasks.
            split: "train", "val" or "test".
            simulator: Settings of the simulator; None takes its defaults.
        """
        self.env = RearrangeEnv(task, split=split, simulator=simulator)
        self.split = split
        self.force_exceeded = False

    @property
    def sim(self) -> MujocoSimulator:
        """The simulator; world_count is 1."""
        assert isinstance(self.env.simulator, MujocoSimulator)
        return self.env.simulator

    @property
    def state(self) -> SimState:
        """State of the simulator; its arrays are overwritten by the next step."""
        return self.env.state

    @property
    def episode(self) -> Episode:
        """The running episode."""
        return self.env.episode

    @property
    def apartment(self) -> Apartment:
        """The apartment of the running episode."""
        return self.env.apartment

    @property
    def grid(self) -> OccupancyGrid:
        """Where the base can stand in this apartment."""
        return load_layout(self.episode.layout, self.episode.variation)[1]

    @property
    def elapsed_steps(self) -> int:
        """Steps since the episode began."""
        return self.env.elapsed_steps

    def start(self, seed: int, index: int) -> Episode:
        """Put the world into an episode that depends on task, split, seed and index alone."""
        entropy = np.random.SeedSequence([seed, index]).generate_state(1)
        self.env.reset(seed=int(entropy[0]))
        self.force_exceeded = False
        return self.episode

    def step(self, action: np.ndarray) -> None:
        """Advance one step with an action in the simulator's units [10]."""
        _, terminated, _, info = self.env.step_physical(action)
        if terminated:
            self.force_exceeded |= info["metrics"]["failure/force_limit"] > 0.0

    def observe(self) -> dict[str, Any]:
        """What the robot observes now."""
        return self.env.observe()

    def close(self) -> None:
        """Free the simulator."""
        self.env.close()
