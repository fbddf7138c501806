"""Checks of a collected rollout against what the environments know to have happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ver.experience import make_experience
from ver.mini_batches import cut_mini_batches
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, TERMINATED, TRUNCATED

GAMMA, LAMBDA = 0.9, 0.8


@dataclass
class Step:
    """What really happened, as the environments saw it."""

    action: float
    reward: float = 0.0
    outcome: int = CONTINUES


def check_rollout(buffer: RolloutBuffer, world: Any, seen: set, rng: np.random.Generator) -> None:
    """Every fresh step is a true one, not learned from before, with the return it earned.

    Args:
        buffer: A full buffer, whose observation "x" [2] is (environment, serial): serials count an
            environment's observations from 1 on.
        world: Has `steps`, {(environment, serial): Step}, and `first`, those that begin episodes.
        seen: The steps that earlier rollouts have learned from; this one's are added.
        rng: Shuffles the mini-batches.
    """
    n, length = buffer.num_environments, buffer.length
    experience = make_experience(buffer, GAMMA, LAMBDA, 1.0, 3)
    slots = experience.slots
    assert len(slots) == len(set(slots)) == n * length
    batches = cut_mini_batches(experience.starts, experience.lengths, 2, rng)
    positions = np.concatenate([batch.positions for batch in batches])
    assert sorted(positions) == list(range(n * length))
    names = buffer.observations["x"].numpy().astype(int)
    fresh = slots[~experience.stale]
    assert len(fresh) == buffer.fresh_steps
    for slot in slots[experience.stale]:
        assert tuple(names[slot]) in seen
    for slot in fresh:
        key = tuple(names[slot])
        assert key not in seen
        seen.add(key)
        assert key in world.steps
        step = world.steps[key]
        # A lost step is never learned from.
        assert step.outcome != LOST
        assert buffer.environments[slot] == key[0]
        assert buffer.rewards[slot] == np.float32(step.reward)
        assert buffer.actions[slot, 0] == np.float32(step.action)
        assert buffer.first[slot] == (key in world.first)
    returns = {}
    for environment in range(n):
        own = np.flatnonzero(
            (buffer.environments == environment) & (buffer.rollouts == buffer.rollout[0])
        )
        own = own[np.argsort(buffer.sequences[own])]
        assert buffer.newest[environment] == own[-1]
        returns |= reference_returns(buffer, world, own)
    for position, slot in enumerate(slots):
        if experience.stale[position]:
            continue
        np.testing.assert_allclose(experience.returns[position], returns[slot], atol=1e-4)
        # All that came before a step in its environment was learned from, or lost.
        environment, serial = names[slot]
        for earlier in range(1, serial):
            key = (environment, earlier)
            assert key in seen or world.steps[key].outcome == LOST


def reference_returns(buffer: RolloutBuffer, world: Any, own: np.ndarray) -> dict[int, float]:
    """Lambda-returns by their recursive definition, forward in time, from what truly happened."""

    def lambda_return(i: int) -> float:
        environment, serial = buffer.observations["x"][own[i]].int().tolist()
        step = world.steps[(environment, serial)]
        if step.outcome == TERMINATED:
            return step.reward
        following = float(buffer.values[own[i + 1]])
        if step.outcome == TRUNCATED:
            return step.reward + GAMMA * float(buffer.final_values[own[i]])
        if int(buffer.observations["x"][own[i + 1], 1]) != serial + 1:
            # The next action was lost. The value of what it answered was kept.
            assert world.steps[(environment, serial + 1)].outcome == LOST
            assert buffer.outcomes[own[i]] == TRUNCATED
            assert buffer.first[own[i + 1]]
            return step.reward + GAMMA * float(buffer.final_values[own[i]])
        if i + 1 == len(own) - 1:
            return step.reward + GAMMA * following
        mixed = (1 - LAMBDA) * following + LAMBDA * lambda_return(i + 1)
        return step.reward + GAMMA * mixed

    return {own[i]: lambda_return(i) for i in range(len(own) - 1)}
