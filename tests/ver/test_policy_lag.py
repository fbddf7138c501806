import copy

import numpy as np
import pytest
import torch

from tests.helpers.plain_vtrace import plain_vtrace
from tests.helpers.played_rollouts import make_player
from ver.config import APPOConfig, PPOConfig
from ver.ppo import PPO


def learned(player, vtrace, **settings):
    """A copy of the player's policy after it has learned from its rollout, and what was logged."""
    policy = copy.deepcopy(player.policy)
    ppo = PPO(policy, PPOConfig(learning_rate=0.01, **settings), vtrace=vtrace)
    numbers = ppo.learn(player.buffer, np.random.default_rng(3))
    return policy, numbers


@pytest.mark.parametrize("longest", [0, 5])
def test_without_lag_a_whole_rollouts_learning_is_ppos(longest):
    player = make_player(4, 16)
    player.collect()
    policies, rows = [], []
    for vtrace in (None, APPOConfig()):
        policy, numbers = learned(player, vtrace, max_sequence_length=longest)
        policies.append(dict(policy.named_parameters()))
        rows.append(numbers)
    for name, before in player.policy.named_parameters():
        plain, traced = policies[0][name], policies[1][name]
        torch.testing.assert_close(traced, plain, rtol=1e-3, atol=1e-5)
        assert (plain - before).abs().max() > 1e-3
    assert rows[1]["mean_rho"] == pytest.approx(1.0, abs=1e-5)
    assert rows[1]["mean_return"] == pytest.approx(rows[0]["mean_return"], abs=1e-5)
    assert rows[1]["policy_lag_max"] == 0


def test_with_other_weights_learning_takes_their_ratios_and_values(monkeypatch):
    """Chains evaluated one step after the other, traced by the paper's sum."""
    player = make_player(3, 12)
    player.collect()
    buffer = player.buffer
    with torch.no_grad():
        for parameter in player.policy.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    slots, counts = buffer.fresh_slots()
    targets, advantages, ratios = [], [], []
    for own in np.split(slots, np.cumsum(counts)[:-1]):
        steps, state = [], buffer.states[own[:1]]
        for slot in own:
            keep = torch.tensor([0.0 if buffer.first[slot] else 1.0])
            observation = {"x": buffer.observations["x"][slot][None]}
            with torch.no_grad():
                features = player.policy.features(
                    observation, buffer.previous_actions[slot][None], keep
                )
                output, state = player.policy.core.step(features, state * keep[:, None])
                density = player.policy.head(output).log_prob(buffer.actions[slot][None])
                value = float(player.policy.critic(output))
            ratios.append(float(torch.exp(density - float(buffer.log_probs[slot]))))
            kept = buffer.rewards[slot], value, buffer.outcomes[slot], buffer.final_values[slot]
            steps.append((*kept, ratios[-1]))
        ratios.pop()
        found = plain_vtrace(steps, 0.9, 0.8, 1.2, 0.9)
        targets += found[0][:-1]
        advantages += found[1][:-1]
    config = PPOConfig(gamma=0.9, gae_lambda=0.8, max_sequence_length=0, epochs=1, mini_batches=1)
    ppo = PPO(player.policy, config, vtrace=APPOConfig(rho_bar=1.2, c_bar=0.9))
    ppo.updates = 7
    caught = []
    monkeypatch.setattr(ppo, "update", lambda *arguments: caught.append(arguments[1]) or {})
    numbers = ppo.learn(buffer, np.random.default_rng(0))
    assert numbers["policy_lag_mean"] == numbers["policy_lag_max"] == 7
    assert min(ratios) < 0.9 < 1.3 < max(ratios)
    np.testing.assert_allclose(caught[0].returns, targets, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(caught[0].advantages, advantages, rtol=1e-3, atol=1e-4)
    assert numbers["mean_rho"] == pytest.approx(np.minimum(ratios, 1.2).mean(), rel=1e-3)
