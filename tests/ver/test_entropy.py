import hypothesis
import numpy as np
import pytest
import torch
from gymnasium import spaces
from hypothesis import strategies as st

from tests.helpers.toy_spaces import MIXED
from ver.config import EntropyConfig, NetworkConfig, PPOConfig
from ver.entropy import EntropyCoefficient
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.ppo import PPO

BOX, CHOICE = spaces.Box(-1, 1, (2,), np.float32), spaces.Discrete(2)
LEARNED = EntropyConfig(learned=True, initial=1e-3)


def adapted(entropy: float, steps: int = 50, **settings) -> EntropyCoefficient:
    coefficient = EntropyCoefficient(
        EntropyConfig(learned=True, initial=0.01, target=1.0, **settings), CHOICE
    )
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
    assert EntropyCoefficient(
        EntropyConfig(learned=True, initial=7.0), CHOICE
    ).value == pytest.approx(1.0)
    with pytest.raises(UserError, match="minimum"):
        EntropyCoefficient(EntropyConfig(minimum=0.0), CHOICE)


@hypothesis.settings(max_examples=20)
@hypothesis.given(st.lists(st.floats(-1e4, 1e4), min_size=1, max_size=30), st.floats(1e-3, 50))
def test_entropy_coefficient_never_leaves_its_bounds(entropies, rate):
    coefficient = EntropyCoefficient(EntropyConfig(learned=True), CHOICE)
    optimizer = torch.optim.SGD(coefficient.parameters(), lr=rate)
    for entropy in entropies:
        optimizer.zero_grad()
        coefficient.loss(entropy).backward()
        optimizer.step()
        coefficient.clamp()
        assert 1e-4 * 0.999 <= coefficient.value <= 1.0 * 1.001


@pytest.mark.parametrize(
    ("progress", "bound"), [(0.0, -0.5), (0.5, -1.0), (1.0, -1.5), (1.2, -1.5)]
)
def test_the_spread_of_actions_stays_under_a_bound_that_falls(progress, bound):
    space = spaces.Dict({"x": spaces.Box(-1, 1, (3,), np.float32)})
    network = NetworkConfig(memory="none", hidden_size=4, initial_log_std=-0.5)
    policy = ActorCritic(space, spaces.Box(-1, 1, (2,), np.float32), network)
    ppo = PPO(policy, PPOConfig(final_log_std=-1.5))
    with torch.no_grad():
        policy.head.log_std.copy_(torch.tensor([0.3, -1.9]))
    ppo.set_progress(progress)
    assert policy.head.log_std.tolist() == pytest.approx([bound, -1.9])


@pytest.mark.parametrize(("log_std", "rises"), [(-3.0, False), (-3.2, True)])
def test_a_target_entropy_that_the_bound_forbids_is_that_of_the_bound(log_std, rises):
    """Two dimensions at their bound of -3.1 have 2 * (1.419 - 3.1) nats, far under the target of 0."""
    space = spaces.Dict({"x": spaces.Box(-1, 1, (3,), np.float32)})
    policy = ActorCritic(
        space, spaces.Box(-1, 1, (2,), np.float32), NetworkConfig(memory="none", hidden_size=4)
    )
    ppo = PPO(policy, PPOConfig(final_log_std=-3.1, entropy=LEARNED))
    ppo.set_progress(1.0)
    ppo.adapt_entropy(2 * (0.5 * np.log(2 * np.pi * np.e) + log_std))
    assert (ppo.entropy.value > 1e-3) == rises
    ppo = PPO(policy, PPOConfig(final_log_std=1.0, entropy=LEARNED))  # forbids nothing
    ppo.set_progress(1.0)
    ppo.adapt_entropy(-0.1)
    assert ppo.entropy.value > 1e-3


@pytest.mark.parametrize("actions", [spaces.Discrete(3), MIXED])
def test_only_a_free_spread_of_one_box_can_be_bounded(actions):
    space = spaces.Dict({"x": spaces.Box(-1, 1, (3,), np.float32)})
    policy = ActorCritic(space, actions, NetworkConfig(memory="none", hidden_size=4))
    with pytest.raises(UserError, match=r"one Box, no Tuple or Dict, with .*=free; leave it out"):
        PPO(policy, PPOConfig(final_log_std=-1.0))


@pytest.mark.parametrize(
    ("actions", "learned", "given", "expected"),
    [
        (CHOICE, False, None, 0.01),
        (MIXED, False, None, 0.01),
        (BOX, False, None, 0.0),
        (spaces.Dict({"arm": BOX, "base": BOX}), False, None, 0.0),
        (BOX, True, None, 0.01),  # of which one is learned that begins above 0
        (BOX, False, 0.003, 0.003),
        (CHOICE, False, 0.0, 0.0),
    ],
)
def test_the_bonus_goes_by_the_kind_of_actions_unless_it_is_given(
    actions, learned, given, expected
):
    config = EntropyConfig(learned=learned, initial=given)
    assert EntropyCoefficient(config, actions).value == pytest.approx(expected)
