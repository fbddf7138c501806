"""Behaviour cloning against actions that a network can know."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.cloning import Demonstrations, clone
from ver.config import CloningConfig, NetworkConfig
from ver.networks.policy import ActorCritic

SPACE = spaces.Dict({"goal": spaces.Box(-5.0, 5.0, (2,), np.float32)})
ACTIONS = spaces.Box(-1.0, 1.0, (3,), np.float32)


def make_policy(core: str, previous: int = 32) -> ActorCritic:
    torch.manual_seed(0)
    config = NetworkConfig(memory=core, hidden_size=32, layers=1, binary_actions=[2])
    config.previous_action_features = previous
    return ActorCritic(SPACE, ACTIONS, config)


def show(remember: bool) -> Demonstrations:
    """Episodes of 8 steps: half the goal, and on where it is in front; or what was asked at the first step."""
    rng = np.random.default_rng(1)
    goals = rng.uniform(-1.0, 1.0, (512, 2)).astype(np.float32)
    first = np.arange(512) % 8 == 0
    asked = goals[np.flatnonzero(first)].repeat(8, 0) if remember else goals
    actions = np.column_stack([0.5 * asked, np.where(asked[:, 0] > 0, 1.0, -1.0)])
    observations = {"goal": torch.as_tensor(goals)}
    return Demonstrations(observations, torch.as_tensor(actions.astype(np.float32)), first)


def error_of(policy: ActorCritic, shown: Demonstrations) -> tuple[float, float]:
    """Mean error of the continuous actions, and how often the switch is right, playing step by step."""
    state, previous = policy.initial_state(1), policy.initial_actions(1)
    errors, right = [], []
    for index in range(len(shown.first)):
        observation = {"goal": shown.observations["goal"][index : index + 1]}
        mask = torch.tensor([not shown.first[index]])
        with torch.no_grad():
            out = policy.act(observation, state, previous, mask, deterministic=True)
        state, previous = out.state, shown.actions[index : index + 1]
        errors.append((out.actions - shown.actions[index])[0, :2].abs().mean())
        right.append(bool(out.actions[0, 2] == shown.actions[index, 2]))
    return float(np.mean(errors)), float(np.mean(right))


@pytest.mark.parametrize(
    ("core", "remember"),
    [
        ("none", False),
        *(pytest.param(core, True, marks=pytest.mark.slow) for core in ("lstm", "gru")),
    ],
)
def test_a_policy_learns_what_is_shown(core, remember):
    shown, policy = show(remember), make_policy(core)
    before = error_of(policy, shown)
    told = []
    config = CloningConfig(updates=400, batch=128, learning_rate=5e-3)
    loss = clone(policy, shown, config, np.random.default_rng(0), lambda *each: told.append(each))
    error, right = error_of(policy, shown)
    assert error < 0.08 < 2 * error + 0.2 < before[0] + 0.2
    assert right > 0.97
    assert [update for update, _ in told] == list(range(1, 401))
    assert loss == pytest.approx(np.mean([loss for _, loss in told[-40:]]))


@pytest.mark.slow
def test_what_needs_memory_is_not_learned_without():
    shown, policy = show(remember=True), make_policy("none", previous=0)
    clone(policy, shown, CloningConfig(updates=400, batch=128), np.random.default_rng(0))
    assert error_of(policy, shown)[0] > 0.1


def test_the_same_seed_gives_the_same_weights():
    weights = []
    for _ in range(2):
        policy = make_policy("lstm")
        clone(policy, show(False), CloningConfig(updates=5, batch=64), np.random.default_rng(3))
        weights.append(policy.state_dict())
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
