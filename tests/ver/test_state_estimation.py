import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.helpers.ppo_updates import filled, norm, one_update
from ver.config import NetworkConfig, PPOConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.state_estimation import StateEstimator

SPACE = spaces.Dict(
    {"seen": spaces.Box(-5, 5, (3,), np.float32), "told": spaces.Box(-5, 5, (2,), np.float32)}
)
BOX = spaces.Box(-1, 1, (2,), np.float32)


def make(*critic_only: str) -> ActorCritic:
    torch.manual_seed(0)
    config = NetworkConfig(memory="none", hidden_size=32, layers=1, critic_only=[*critic_only])
    return ActorCritic(SPACE, BOX, config)


def test_the_loss_is_hubers_on_normalised_numbers():
    policy = make("told")
    policy.critic.normaliser.merge(torch.tensor([[10.0, 1.0, -1.0, 4.0, 0.25]]))
    estimator = StateEstimator(policy)
    outputs = torch.randn(5, 32)
    told = torch.tensor([[3.0, -1.0], [1.0, 0.0], [-9.0, 2.0], [1.0, -1.0], [5.0, 0.5]])
    wanted = (told - torch.tensor([1.0, -1.0])) / torch.tensor([4.0001, 0.2501]).sqrt()
    error = (estimator.estimate(outputs) - wanted).abs()
    by_hand = torch.where(error < 1, 0.5 * error**2, error - 0.5).mean()
    torch.testing.assert_close(estimator(outputs, {"told": told}), by_hand)


def test_the_core_learns_to_tell_and_the_critic_is_not_moved_by_it():
    policy = make("told")
    estimator = StateEstimator(policy)
    observations = {"seen": torch.randn(64, 3)}
    observations["told"] = torch.stack(
        [2.0 * observations["seen"][:, 0], observations["seen"][:, 1]], -1
    )
    parameters = [*policy.parameters(), *estimator.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=3e-3)
    first = last = 0.0
    for _ in range(200):
        features = policy.features(observations, policy.initial_actions(64), torch.ones(64))
        outputs, _ = policy.core.step(features, policy.initial_state(64))
        loss = estimator(outputs, observations)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        last = float(loss.detach())
        first = first or last
    assert last < 0.05 * first
    assert all(each.grad is None for each in policy.critic.parameters())
    assert all(each.grad is None for each in policy.head.parameters())
    assert any(each.grad is not None for each in policy.core.parameters())
    assert set(estimator.state_dict()) == {
        f"estimate.{layer}.{kind}" for layer in (0, 2) for kind in ("weight", "bias")
    }


def test_without_a_critic_that_is_told_it_is_an_error_of_one_line():
    with pytest.raises(UserError, match=r"name that in network.critic_only") as caught:
        PPO(make(), PPOConfig(state_estimation=1.0))
    assert "\n" not in str(caught.value)


def test_state_estimation_adds_its_scaled_gradient_to_all_but_the_critic():
    plain, half, whole = (
        one_update(*filled(told=True), PPOConfig(max_gradient_norm=0.0, state_estimation=weight))
        for weight in (0.0, 0.5, 1.0)
    )
    for name, move in plain.items():
        torch.testing.assert_close(
            whole[name] - move, 2 * (half[name] - move), atol=2e-5, rtol=1e-3
        )
    moved = {name for name, move in plain.items() if not torch.allclose(move, half[name])}
    assert any(name.startswith("policy/core") for name in moved)
    assert not any(name.startswith(("policy/critic", "policy/head")) for name in moved)
    assert norm(half, "estimator") > 0


@pytest.mark.usefixtures("small_shards")
def test_state_estimation_learns_beside_ppo_and_is_restored():
    policy, buffer = filled(told=True, initial_log_std=0.0)
    config = PPOConfig(state_estimation=2.0)
    ppo = PPO(policy, config, threads=2)
    losses = [
        ppo.learn(buffer, np.random.default_rng(0))["state_estimation_loss"] for _ in range(5)
    ]
    assert losses[-1] < 0.9 * losses[1]  # the first is of before anything was normalised
    again = PPO(policy, config)
    again.load_state(ppo.state(), "here")
    for name, value in ppo.state().items():
        assert torch.equal(again.state()[name], value)
    plain = PPO(policy, PPOConfig())
    with pytest.raises(UserError, match=r"here was trained with ppo.state_estimation;"):
        plain.load_state(ppo.state(), "here")
    with pytest.raises(UserError, match=r"here was trained without ppo.state_estimation;"):
        ppo.load_state(plain.state(), "here")
