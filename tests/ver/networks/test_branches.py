"""Layers that single observations go through first."""

import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.branches import Branches
from ver.networks.critic import SeparateCritic
from ver.networks.policy import ActorCritic

SPACE = spaces.Dict(
    {
        "body": spaces.Box(-1, 1, (2,), np.float32),
        "map": spaces.Box(-1, 1, (6,), np.float32),
        "told": spaces.Box(-1, 1, (3,), np.float32),
    }
)
BOX = spaces.Box(-1, 1, (2,), np.float32)


def config(**settings) -> NetworkConfig:
    given = {"vector_features": 0, "branches": {"map": [5, 4]}, "activation": "selu", "widths": [8]}
    return NetworkConfig(**given | settings)


def test_each_goes_through_its_own_layers_and_the_others_pass():
    torch.manual_seed(0)
    branches = Branches(SPACE, ["body", "map", "told"], config())
    assert branches.width == 2 + 4 + 3
    rows = torch.rand(7, 11)
    out = branches(rows)
    assert torch.equal(out[:, :2], rows[:, :2])
    assert torch.equal(out[:, 6:], rows[:, 8:])
    first, second = (layer for layer in branches.mlps[1] if hasattr(layer, "weight"))
    hidden = torch.selu(rows[:, 2:8] @ first.weight.T + first.bias)
    torch.testing.assert_close(out[:, 2:6], torch.selu(hidden @ second.weight.T + second.bias))


def test_policy_and_separate_critic_have_their_own():
    policy = ActorCritic(SPACE, BOX, config(separate_critic=True, critic_only=["told"]))
    assert isinstance(policy.vector_embedding, Branches)
    assert policy.vector_embedding.width == 2 + 4
    assert policy.core.mlp[0].weight.shape == (8, 6)
    assert isinstance(policy.critic, SeparateCritic)
    assert policy.critic.mlp[0].weight.shape == (8, 9)
    seen = {key: torch.rand(3, *box.shape) for key, box in SPACE.spaces.items()}
    out = policy.act(seen, policy.initial_state(3), policy.initial_actions(3), torch.zeros(3))
    assert out.values.shape == (3,)
    features = policy.features(seen, policy.initial_actions(3), torch.zeros(3))
    (out.values.sum() + features.sum()).backward()
    named = dict(policy.named_parameters())
    for name in ("vector_embedding.mlps.1.0.weight", "critic.branches.mlps.1.0.weight"):
        assert named[name].grad.abs().sum() > 0


def test_without_them_nothing_is_added():
    policy = ActorCritic(SPACE, BOX, NetworkConfig(separate_critic=True))
    assert not any("branches" in name for name in policy.state_dict())


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"branches": {"eyes": [4]}}, "there is no 1-D observation 'eyes', only body, map, told"),
        ({"branches": {"map": []}}, r"network.branches.map must be a list of widths, found \[\]"),
        ({"branches": {"map": 4}}, "network.branches.map must be a list of widths, found 4"),
        ({"branches": {"map": [4, 0]}}, "map must be from 1 to 16384 each, found 0"),
        ({"branches": {"map": [True]}}, "map must be from 1 to 16384 each, found True"),
        ({"vector_features": 8}, "network.branches needs network.vector_features=0"),
        ({"angles": {"map": [0]}}, "network.branches needs network.angles={}"),
        ({"distances": {"map": [0]}}, "network.branches needs network.distances={}"),
    ],
)
def test_what_cannot_be_is_one_line(settings, told):
    with pytest.raises(UserError, match=told) as caught:
        ActorCritic(SPACE, BOX, config(**settings))
    assert "\n" not in str(caught.value)
