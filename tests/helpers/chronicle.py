"""Worlds side by side that raise now and then, and a chronicle of all that happened in them."""

from dataclasses import dataclass, field

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from tests.helpers.true_steps import Step
from ver.shared.outcomes import CONTINUES, LOST, TERMINATED, TRUNCATED

OBSERVATIONS = spaces.Dict({"x": spaces.Box(-99, 99, (2,), np.float32)})
ACTIONS = spaces.Box(-1, 1, (1,), np.float32)


@dataclass
class Chronicle:
    """Makes worlds, and knows all that ever happened in them.

    Attributes:
        fault_rate: How often a step raises, with some of the worlds stepped already.
        serial: [N] how many observations were shown.
        steps: {(environment, serial): Step}.
        first: Those of them that begin an episode.
        seeds: With which worlds were reset.
    """

    rng: np.random.Generator
    fault_rate: float = 0.0
    serial: list[int] = field(default_factory=list)
    steps: dict = field(default_factory=dict)
    first: set = field(default_factory=set)
    seeds: list[int] = field(default_factory=list)

    def make_vector(self, count: int, seed: int) -> VectorEnv:
        self.serial = self.serial or [0] * count
        return ChronicledWorlds(self, count)


class ChronicledWorlds(VectorEnv):
    """Observations are (environment, serial); rewards and ends of episodes are drawn."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}  # noqa: RUF012

    def __init__(self, chronicle: Chronicle, count: int):
        self.chronicle = chronicle
        self.num_envs = count
        self.single_observation_space = OBSERVATIONS
        self.single_action_space = ACTIONS
        self.observation_space = batch_space(OBSERVATIONS, count)
        self.action_space = batch_space(ACTIONS, count)
        self.shown = np.zeros((count, 2), np.float32)  # the same array every time, as a GPU would

    def _show(self):
        self.shown[:, 0] = np.arange(self.num_envs)
        self.shown[:, 1] = self.chronicle.serial
        return {"x": self.shown}

    def _begin(self, index):
        self.chronicle.serial[index] += 1
        self.chronicle.first.add((index, self.chronicle.serial[index]))

    def reset(self, *, seed=None, options=None):
        story = self.chronicle
        assert len({*seed, *story.seeds}) == self.num_envs + len(story.seeds)  # all are new
        story.seeds += seed
        for index in range(self.num_envs):
            self._begin(index)
        return self._show(), {}

    def step(self, actions):
        story, n = self.chronicle, self.num_envs
        assert self.action_space.contains(actions)
        keys = list(enumerate(story.serial))
        if story.rng.random() < story.fault_rate:
            story.steps |= {key: Step(float(actions[key[0], 0]), 0.0, LOST) for key in keys}
            raise RuntimeError("the gears jammed")
        rewards = story.rng.normal(size=n)
        terminated = story.rng.random(n) < 0.15
        truncated = story.rng.random(n) < 0.2
        infos = {}
        for index, key in enumerate(keys):
            kind = TERMINATED if terminated[index] else TRUNCATED if truncated[index] else CONTINUES
            story.steps[key] = Step(float(actions[index, 0]), float(rewards[index]), kind)
            if kind == CONTINUES:
                story.serial[index] += 1
                continue
            infos.setdefault("final_obs", np.full(n, None, object))
            infos.setdefault("final_info", {"metrics": np.full(n, None, object)})
            infos["final_obs"][index] = {"x": np.array([index, -key[1]], np.float32)}
            infos["final_info"]["metrics"][index] = {"serial": float(key[1])}
            self._begin(index)
        return self._show(), rewards, terminated, truncated, infos
