import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.config import EntropyConfig, NetworkConfig, PPOConfig
from ver.entropy import EntropyCoefficient
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.ppo import PPO, ppo_loss
from ver.rollout import RolloutBuffer, cut_mini_batches, make_experience


def loss_of(config=None, **changes):
    values = {
        "log_probs": torch.log(torch.tensor([1.5, 0.5])),
        "old_log_probs": torch.zeros(2),
        "values": torch.tensor([1.0, 3.0]),
        "old_values": torch.zeros(2),
        "advantages": torch.tensor([2.0, -1.0]),
        "returns": torch.tensor([2.0, 0.0]),
        "weights": torch.tensor([1.0, 0.5]),
        "entropies": torch.tensor([1.0, 3.0]),
        "entropy_coefficient": 0.1,
    } | changes
    return ppo_loss(config or PPOConfig(), **values)


def test_loss_worked_by_hand():
    # surrogates: min(1.5*2, 1.2*2) = 2.4 and min(.5*-1, .8*-1) = -.8, the latter weighted by .5
    policy = -(2.4 - 0.4) / 2
    value = 0.5 * (1.0 + 0.5 * 9.0) / 2
    entropy = (1.0 + 1.5) / 2
    loss, numbers = loss_of()
    assert float(loss) == pytest.approx(policy + 0.5 * value - 0.1 * entropy)
    assert float(numbers["policy_loss"]) == pytest.approx(policy)
    assert float(numbers["value_loss"]) == pytest.approx(value)
    assert float(numbers["clip_fraction"]) == 1.0


def test_value_clipping_takes_the_larger_error():
    _, plain = loss_of(weights=torch.ones(2))
    _, clipped = loss_of(PPOConfig(clip_value=True), weights=torch.ones(2))
    # 1 is pulled back to 0.2 (error 1.8), 3 stays the larger error
    assert float(plain["value_loss"]) == pytest.approx(0.5 * (1 + 9) / 2)
    assert float(clipped["value_loss"]) == pytest.approx(0.5 * (1.8**2 + 9) / 2)


def adapted(entropy: float, steps: int = 50, **settings) -> EntropyCoefficient:
    coefficient = EntropyCoefficient(EntropyConfig(initial=0.01, target=1.0, **settings))
    optimizer = torch.optim.Adam(coefficient.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        coefficient.loss(entropy).backward()
        optimizer.step()
        coefficient.clamp()
    return coefficient


def test_entropy_coefficient_rises_below_the_target_and_falls_above():
    assert adapted(0.5).value > 0.02
    assert adapted(1.5).value < 0.005


def test_entropy_coefficient_keeps_its_bounds():
    assert adapted(-9.0, 200).value == pytest.approx(1.0)
    assert adapted(9.0, 800).value == pytest.approx(1e-4)


def filled(core: str = "lstm") -> tuple[ActorCritic, RolloutBuffer]:
    """A buffer as collection would fill it, by one policy."""
    torch.manual_seed(0)
    observation = spaces.Dict({"x": spaces.Box(-5, 5, (3,), np.float32)})
    action = spaces.Box(-2, 4, (2,), np.float32)
    policy = ActorCritic(observation, action, NetworkConfig(core=core, hidden_size=8))
    buffer = RolloutBuffer(observation, action, 3, 20, policy.state_size)
    rng = np.random.default_rng(0)
    state = policy.initial_state(3)
    previous = policy.initial_actions(3)
    buffer.begin()
    while not buffer.full:
        rows = slice(int(buffer.pointer[0]), int(buffer.pointer[0]) + 3)
        first = np.ones(3, bool) if rows.start == 0 else rng.random(3) < 0.15
        if rows.start:
            last = slice(rows.start - 3, rows.start)
            buffer.outcomes[last] = first
            buffer.rewards[last] = rng.normal(size=3)
        observations = {"x": torch.randn(3, 3)}
        masks = torch.as_tensor(~first)
        with torch.no_grad():
            out = policy.act(observations, state, previous, masks)
        buffer.observations["x"][rows] = observations["x"]
        buffer.states[rows] = state * masks[:, None]
        buffer.previous_actions[rows] = previous
        buffer.actions[rows] = out.actions
        buffer.log_probs[rows] = out.log_probs.numpy()
        buffer.values[rows] = out.values.numpy()
        buffer.first[rows] = first
        buffer.environments[rows] = np.arange(3)
        buffer.newest[:] = np.arange(rows.start, rows.stop)
        state, previous = out.state, out.actions
        buffer.pointer += 3
        buffer.written += 3
    return policy, buffer


@pytest.mark.parametrize("core", ["lstm", "none"])
@pytest.mark.parametrize("longest", [0, 4])
def test_packed_evaluation_equals_acting_step_by_step(core, longest):
    policy, buffer = filled(core)
    experience = make_experience(buffer, 0.99, 0.95, 1.0, longest)
    for batch in cut_mini_batches(
        experience.starts, experience.lengths, 3, np.random.default_rng(1)
    ):
        rows = experience.slots[batch.positions]
        result = policy.evaluate(
            {"x": buffer.observations["x"][rows]},
            buffer.states[experience.slots[batch.heads]],
            buffer.previous_actions[rows],
            torch.as_tensor(~buffer.first[rows]),
            buffer.actions[rows],
            torch.as_tensor(batch.batch_sizes),
        )
        np.testing.assert_allclose(
            result.log_probs.detach(), buffer.log_probs[rows], rtol=1e-4, atol=1e-5
        )
        np.testing.assert_allclose(
            result.values.detach(), buffer.values[rows], rtol=1e-4, atol=1e-5
        )


def test_threads_change_nothing_but_the_time():
    weights = []
    for threads in (1, 2):
        policy, buffer = filled()
        ppo = PPO(policy, PPOConfig(normalise_advantages=True), threads)
        numbers = ppo.learn(buffer, np.random.default_rng(0))
        weights.append((policy.state_dict(), numbers["policy_loss"], ppo.updates))
    assert weights[0][2] == weights[1][2] == 6
    assert weights[0][1] == pytest.approx(weights[1][1], abs=1e-5)
    for name, value in weights[0][0].items():
        torch.testing.assert_close(value, weights[1][0][name], rtol=1e-3, atol=1e-5)


def test_first_update_is_on_policy():
    policy, buffer = filled()
    # Pieces of three steps start in mid-episode, so the stored states matter.
    ppo = PPO(policy, PPOConfig(epochs=1, mini_batches=1, max_sequence_length=3))
    numbers = ppo.learn(buffer, np.random.default_rng(0))
    assert abs(numbers["approximate_kl"]) < 1e-6
    assert numbers["clip_fraction"] == 0.0


def test_normaliser_matches_the_data_after_learning():
    policy, buffer = filled()
    PPO(policy, PPOConfig()).learn(buffer, np.random.default_rng(0))
    slots = make_experience(buffer, 0.99, 0.95, 1.0, 0).slots
    data = buffer.observations["x"][slots]
    torch.testing.assert_close(policy.normaliser.mean, data.mean(0))
    torch.testing.assert_close(policy.normaliser.variance, data.var(0, unbiased=False))


def test_a_gradient_that_is_not_finite_stops_with_advice():
    policy, buffer = filled()
    buffer.rewards[3] = np.nan
    with pytest.raises(UserError, match="learning_rate"):
        PPO(policy, PPOConfig()).learn(buffer, np.random.default_rng(0))
