"""Fills rollout buffers as collection does, one request at a time and without processes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED

OBSERVATIONS = spaces.Dict({"x": spaces.Box(-5, 5, (3,), np.float32)})
ACTIONS = spaces.Box(-2, 4, (2,), np.float32)


def make_policy(core: str = "lstm", hidden: int = 8) -> ActorCritic:
    """A small policy for random observations."""
    config = NetworkConfig(memory=core, hidden_size=hidden, previous_action_features=3)
    return ActorCritic(OBSERVATIONS, ACTIONS, config)


@dataclass
class Step:
    """What the player knows of a step, whatever the buffer says."""

    environment: int
    time: int
    first: bool
    version: int
    observation: torch.Tensor
    previous_action: torch.Tensor
    state: torch.Tensor
    action: torch.Tensor
    ends: bool = False
    after: Step | None = None


@dataclass
class Player:
    """Environments of random observations whose requests come in a random order.

    Attributes:
        steps: Every step ever begun, in the order of requests.
        slots: Which step each slot holds.
    """

    policy: ActorCritic
    buffer: RolloutBuffer
    rng: np.random.Generator
    end_probability: float = 0.15
    in_turn: bool = False
    version: int = 0
    steps: list[Step] = field(default_factory=list)
    slots: dict[int, Step] = field(default_factory=dict)

    def __post_init__(self):
        n = self.buffer.num_environments
        self.newest: list[Step | None] = [None] * n
        self.state = self.policy.initial_state(n)
        self.speeds = np.arange(1, n + 1) / sum(range(1, n + 1))

    def collect(self, most: int | None = None) -> None:
        """Plays one rollout, which ends early after `most` requests."""
        buffer = self.buffer
        buffer.begin()
        n = buffer.num_environments
        unseen = [i for i in range(n) if self.newest[i] is None]
        count = 0
        while buffer.remaining and (most is None or count < most or unseen):
            turn = count % n
            random = turn if self.in_turn else int(self.rng.choice(n, p=self.speeds))
            self._request(unseen.pop() if unseen else random)
            count += 1
        buffer.end_early()
        assert buffer.full

    def _request(self, environment: int) -> None:
        buffer, last = self.buffer, self.newest[environment]
        first = last is None
        if last is not None:
            first = last.ends = bool(self.rng.random() < self.end_probability)
            slot = buffer.newest[environment]
            kinds = (TERMINATED, TRUNCATED)
            buffer.outcomes[slot] = kinds[self.rng.integers(2)] if first else CONTINUES
            buffer.final_values[slot] = self.rng.normal()
            buffer.rewards[slot] = self.rng.normal()
        action = self.policy.initial_actions(1)[0] if last is None else last.action
        state = self.state[environment] * (not first)
        observation = torch.as_tensor(self.rng.normal(size=3), dtype=torch.float32)
        with torch.no_grad():
            out = self.policy.act(
                {"x": observation[None]}, state[None], action[None], torch.tensor([not first])
            )
        time = 0 if last is None else last.time + 1
        step = Step(
            environment, time, first, self.version, observation, action, state, out.actions[0]
        )
        if last is not None:
            last.after = step
        slot = int(buffer.claim(1)[0])
        buffer.observations["x"][slot] = observation
        buffer.states[slot] = state
        buffer.previous_actions[slot] = action
        buffer.actions[slot] = out.actions[0]
        buffer.log_probs[slot] = float(out.log_probs)
        buffer.values[slot] = float(out.values)
        buffer.first[slot] = first
        buffer.environments[slot] = environment
        buffer.episodes[slot] = sum(s.first for s in self.steps if s.environment == environment)
        buffer.episodes[slot] += first
        buffer.steps[slot] = time
        buffer.versions[slot] = self.version
        buffer.newest[environment] = slot
        buffer.written[0] += 1
        self.state[environment] = out.state[0]
        self.newest[environment] = step
        self.steps.append(step)
        self.slots[slot] = step


def make_player(environments: int, length: int, seed: int = 0, **settings) -> Player:
    """A player with a policy and a buffer of its own."""
    torch.manual_seed(seed)
    policy = make_policy()
    buffer = RolloutBuffer(OBSERVATIONS, ACTIONS, environments, length, policy.state_size)
    return Player(policy, buffer, np.random.default_rng(seed), **settings)
