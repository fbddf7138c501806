import copy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from played_rollouts import make_player

from ver.config import APPOConfig, PPOConfig
from ver.gae import compute_advantages
from ver.ppo import PPO
from ver.shared.outcomes import CONTINUES, TERMINATED, TRUNCATED
from ver.vtrace import compute_vtrace


def vtrace(rewards, values, outcomes, final_values, ratios, counts, **settings):
    columns = [np.array(c, np.float32) for c in (rewards, values)]
    return compute_vtrace(
        *columns,
        np.array(outcomes),
        np.array(final_values, np.float32),
        np.array(ratios, np.float32),
        np.array(counts),
        **{"gamma": 0.5, "gae_lambda": 0.5} | settings,
    )


def test_worked_by_hand():
    # differences: 1 + .5*4 - 2 = 1 and 3 + .5*8 - 4 = 3
    # ratios 2 and .5: rho = 1, .5; c = .5 * (1, .5)
    # v1 - V1 = .5 * 3 = 1.5;  v0 - V0 = 1 * 1 + .5 * .5 * 1.5 = 1.375
    # A1 = 3;  A0 = 1 + .5 * .5 * 1.5 = 1.375
    targets, advantages = vtrace([1, 3, 0], [2, 4, 8], [CONTINUES] * 3, [0] * 3, [2, 0.5, 9], [3])
    np.testing.assert_allclose(targets, [3.375, 5.5, 8])
    np.testing.assert_allclose(advantages, [1.375, 3, 0])


def test_larger_bounds_worked_by_hand():
    # rho = 2, .5; c = .5 * (1.5, .5): v1 - V1 = 1.5, v0 - V0 = 2 * 1 + .5 * .75 * 1.5
    targets, _ = vtrace(
        [1, 3, 0], [2, 4, 8], [CONTINUES] * 3, [0] * 3, [2, 0.5, 9], [3], rho_bar=3.0, c_bar=1.5
    )
    np.testing.assert_allclose(targets, [4.5625, 5.5, 8])


@pytest.mark.parametrize(("outcome", "future"), [(TERMINATED, 0.0), (TRUNCATED, 10.0)])
def test_an_episodes_end_worked_by_hand(outcome, future):
    # 1 + .5 * future - 2, and nothing of the next episode
    targets, advantages = vtrace(
        [1, 3, 0], [2, 4, 8], [outcome, CONTINUES, CONTINUES], [10, 0, 0], [0.5, 1, 1], [3]
    )
    difference = 1 + 0.5 * future - 2
    np.testing.assert_allclose(targets, [2 + 0.5 * difference, 7, 8])
    np.testing.assert_allclose(advantages, [difference, 3, 0])


def plainly(steps, gamma, lam, rho_bar, c_bar):
    """Equation 1 as the paper prints it, for one chain of (r, V, outcome, final V, ratio)."""

    def future(t):
        outcome = steps[t][2]
        return {TERMINATED: 0.0, TRUNCATED: steps[t][3]}.get(outcome, steps[t + 1][1])

    def target(s):
        if s == len(steps) - 1:
            return steps[s][1]
        result, product, t = steps[s][1], 1.0, s
        while t < len(steps) - 1:
            reward, value, outcome, _, ratio = steps[t]
            delta = min(rho_bar, ratio) * (reward + gamma * future(t) - value)
            result += gamma ** (t - s) * product * delta
            if outcome != CONTINUES:
                break
            product *= lam * min(c_bar, ratio)
            t += 1
        return result

    def advantage(s):
        if s == len(steps) - 1:
            return 0.0
        ahead = future(s)
        if steps[s][2] == CONTINUES:
            ahead = (1 - lam) * ahead + lam * target(s + 1)
        return steps[s][0] + gamma * ahead - steps[s][1]

    return [target(s) for s in range(len(steps))], [advantage(s) for s in range(len(steps))]


number = st.floats(-3, 3, width=32)
step = st.tuples(
    number,
    number,
    st.sampled_from([CONTINUES, CONTINUES, CONTINUES, TERMINATED, TRUNCATED]),
    number,
    st.floats(0, 4, width=32),
)
fraction = st.floats(0, 1)


@settings(max_examples=100)
@given(
    st.lists(st.lists(step, min_size=1, max_size=8), min_size=1, max_size=4),
    fraction,
    fraction,
    st.floats(0.5, 3),
    st.floats(0.1, 2),
)
def test_equals_the_papers_sum_for_chains_of_any_length(chains, gamma, lam, rho_bar, c_bar):
    expected = [plainly(chain, gamma, lam, rho_bar, c_bar) for chain in chains]
    flat = [np.array(column) for column in zip(*[row for chain in chains for row in chain])]  # noqa: B905
    counts = np.array([len(chain) for chain in chains])
    found = compute_vtrace(*flat, counts, gamma, lam, rho_bar, c_bar)
    for which in range(2):
        want = np.concatenate([pair[which] for pair in expected])
        np.testing.assert_allclose(found[which], want, rtol=1e-4, atol=1e-4)


@settings(max_examples=50)
@given(st.lists(st.lists(step, min_size=1, max_size=8), min_size=1, max_size=4), fraction, fraction)
def test_is_gae_where_the_policies_are_the_same(chains, gamma, lam):
    flat = [np.array(column) for column in zip(*[row for chain in chains for row in chain])]  # noqa: B905
    rewards, values, outcomes, final_values, _ = flat
    counts = np.array([len(chain) for chain in chains])
    columns = rewards, values, outcomes, final_values
    targets, advantages = compute_vtrace(*columns, np.ones(len(values)), counts, gamma, lam)
    expected = compute_advantages(*columns, counts, gamma, lam)
    np.testing.assert_allclose(advantages, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(targets, expected + values, rtol=1e-4, atol=1e-4)


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
        found = plainly(steps, 0.9, 0.8, 1.2, 0.9)
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
