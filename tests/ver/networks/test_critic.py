"""Tests of ver.networks.critic."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.critic import InformedCritic, SeparateCritic
from ver.networks.policy import ActorCritic

SPACE = spaces.Dict(
    {"seen": spaces.Box(-1, 1, (2,), np.float32), "told": spaces.Box(-1, 1, (3,), np.float32)}
)
BOX = spaces.Box(-1, 1, (2,), np.float32)


def test_only_values_depend_on_what_the_critic_is_told() -> None:
    torch.manual_seed(0)
    policy = ActorCritic(SPACE, BOX, NetworkConfig(memory="none", critic_only=["told"]))
    assert isinstance(policy.critic, InformedCritic)
    assert policy.seen_keys == ("seen",)
    seen = torch.rand(1, 2)
    answers = [
        policy.act(
            {"seen": seen, "told": torch.full((1, 3), told)},
            policy.initial_state(1),
            policy.initial_actions(1),
            torch.zeros(1),
            deterministic=True,
        )
        for told in (0.0, 1.0)
    ]
    torch.testing.assert_close(answers[0].actions, answers[1].actions)
    assert not torch.allclose(answers[0].values, answers[1].values)


def test_acting_needs_nothing_that_is_the_critics_own() -> None:
    policy = ActorCritic(SPACE, BOX, NetworkConfig(memory="none", critic_only=["told"]))
    choice = policy.choose(
        {"seen": torch.rand(4, 2)},
        policy.initial_state(4),
        policy.initial_actions(4),
        torch.zeros(4),
    )
    assert choice.actions.shape == (4, 2)


def test_acting_and_learning_give_the_same_values() -> None:
    torch.manual_seed(0)
    policy = ActorCritic(SPACE, BOX, NetworkConfig(memory="none", critic_only=["told"]))
    seen = {"seen": torch.rand(4, 2), "told": torch.rand(4, 3)}
    state, previous, masks = policy.initial_state(4), policy.initial_actions(4), torch.zeros(4)
    acted = policy.act(seen, state, previous, masks)
    learned = policy.evaluate(seen, state, previous, masks, acted.actions, torch.tensor([4]))
    torch.testing.assert_close(acted.values, learned.values)
    torch.testing.assert_close(acted.values, policy.value(seen, state, previous, masks))


def test_unknown_observations_are_refused() -> None:
    with pytest.raises(UserError, match="there is no 1-D observation 'heard', only seen, told"):
        ActorCritic(SPACE, BOX, NetworkConfig(critic_only=["heard"]))


@pytest.mark.parametrize("critic_only", [[], ["told"]])
def test_no_value_changes_while_the_deviation_follows_the_returns(critic_only) -> None:
    torch.manual_seed(0)
    policy = ActorCritic(SPACE, BOX, NetworkConfig(critic_only=critic_only))
    layer = policy.value_layer
    seen = {"seen": torch.rand(4, 2), "told": torch.rand(4, 3)}
    state, previous, masks = policy.initial_state(4), policy.initial_actions(4), torch.zeros(4)
    before = policy.value(seen, state, previous, masks)
    assert layer.deviation == 1.0
    layer.follow(torch.tensor([[300, -1000.0, 80.0], [100, -960.0, 80.0]], dtype=torch.float64))
    # The first rollout counts wholly; 300 = 400 * 3 / 4 lie between its two sets
    assert layer.deviation == pytest.approx((80 + 300) ** 0.5)
    torch.testing.assert_close(policy.value(seen, state, previous, masks), before)
    for _ in range(100):  # later ones push it out, and the way of the mean is no spread
        layer.follow(torch.tensor([[400, 5.0, 4.0]], dtype=torch.float64))
    assert layer.deviation == pytest.approx(2.0, rel=0.01)
    torch.testing.assert_close(policy.value(seen, state, previous, masks), before)


def test_without_normalised_returns_files_hold_nothing_more() -> None:
    plain = ActorCritic(SPACE, BOX, NetworkConfig(normalise_returns=False))
    assert set(plain.critic.state_dict()) == {"weight", "bias"}
    assert plain.value_layer.deviation == 1.0


def test_a_separate_critic_shares_nothing_with_the_policy() -> None:
    torch.manual_seed(0)
    shape = {"widths": [8, 4], "activation": "selu", "critic_only": ["told"]}
    policy = ActorCritic(SPACE, BOX, NetworkConfig(separate_critic=True, **shape))
    assert isinstance(policy.critic, SeparateCritic)
    assert policy.critic.vectors.keys == ["seen", "told"]
    assert [len(layer.weight) for layer in policy.critic.mlp if hasattr(layer, "weight")] == [8, 4]
    assert len(policy.normalised()) == 2
    seen = {"seen": torch.rand(3, 2), "told": torch.rand(3, 3)}
    state, previous, masks = policy.initial_state(3), policy.initial_actions(3), torch.zeros(3)
    values = policy.value(seen, state, previous, masks)
    gradients = torch.autograd.grad(values.sum(), list(policy.parameters()), allow_unused=True)
    moved = {
        name
        for (name, _), gradient in zip(policy.named_parameters(), gradients, strict=True)
        if gradient is not None
    }
    assert moved
    assert all(name.startswith("critic.") for name in moved)


def test_a_separate_critic_has_neither_eyes_nor_memory() -> None:
    images = spaces.Dict({"image": spaces.Box(0, 255, (40, 40, 3), np.uint8), **SPACE.spaces})
    for space, memory in ((images, "none"), (SPACE, "lstm")):
        with pytest.raises(UserError, match="separate_critic=true is for 1-D observations"):
            ActorCritic(space, BOX, NetworkConfig(separate_critic=True, memory=memory))


@pytest.mark.parametrize("separate", [False, True])
def test_a_critic_takes_vectors_as_they_are_where_the_policy_does(separate) -> None:
    config = NetworkConfig(
        normalise_vectors=False, separate_critic=separate, critic_only=["told"], memory="none"
    )
    policy = ActorCritic(SPACE, BOX, config)
    assert policy.normalised() == []
    assert not any("normaliser" in name for name in policy.state_dict())
    values = [
        policy.value(
            {"seen": torch.zeros(1, 2), "told": torch.full((1, 3), told)},
            policy.initial_state(1),
            policy.initial_actions(1),
            torch.zeros(1),
        )
        for told in (20.0, 30.0)  # beyond where a normaliser cuts
    ]
    assert not torch.equal(*values)
