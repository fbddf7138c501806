import math

import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic

BOX = spaces.Box(-1, 1, (2,), np.float32)
POLAR = spaces.Dict(
    {
        "a": spaces.Box(-1, 1, (2,), np.float32),
        "goal": spaces.Box(-9, 9, (3,), np.float32),
    }
)


def test_angles_reach_the_network_as_cosines_and_sines():
    torch.manual_seed(0)
    config = NetworkConfig(memory="none", hidden_size=8, angles={"goal": [1, 2]})
    policy = ActorCritic(POLAR, BOX, config)
    seen = {"a": torch.tensor([[0.5, -0.5]]), "goal": torch.tensor([[2.0, math.pi / 2, math.pi]])}
    cosines, sines = [0.0, -1.0, -1.0, 1.0, 1.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    expected = torch.tensor([[0.5, -0.5, 2.0, *cosines, *sines]])
    torch.testing.assert_close(policy.vectors.join(seen), expected, atol=1e-6, rtol=0)
    turned = seen | {"goal": seen["goal"] + torch.tensor([0.0, 2 * math.pi, -2 * math.pi])}
    state, previous, mask = policy.initial_state(1), policy.initial_actions(1), torch.ones(1)
    torch.testing.assert_close(
        policy.value(turned, state, previous, mask), policy.value(seen, state, previous, mask)
    )


def test_distances_reach_the_network_with_their_logarithms_behind_the_angles():
    seen = {"a": torch.tensor([[0.5, -0.5]]), "goal": torch.tensor([[0.9, 0.0, 2.0]])}
    config = NetworkConfig(memory="none", hidden_size=8, distances={"goal": [2, 0]})
    policy = ActorCritic(POLAR, BOX, config)
    expected = torch.tensor([[0.5, -0.5, 0.9, 0.0, 2.0, 3.0445224, 2.3025851]])  # log 21, log 10
    torch.testing.assert_close(policy.vectors.join(seen), expected)
    config = NetworkConfig(memory="none", distances={"a": [0, 1]}, distance_scale=0.5)
    expected = torch.tensor([[0.5, -0.5, 0.9, 0.0, 2.0, 0.6931472, -0.6931472]])  # log 2
    torch.testing.assert_close(ActorCritic(POLAR, BOX, config).vectors.join(seen), expected)
    config = NetworkConfig(memory="none", angles={"goal": [1]}, distances={"goal": [0]})
    policy = ActorCritic(POLAR, BOX, config)
    expected = torch.tensor([[0.5, -0.5, 0.9, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.3025851]])
    torch.testing.assert_close(policy.vectors.join(seen), expected)
    assert policy.value(
        seen, policy.initial_state(1), policy.initial_actions(1), torch.ones(1)
    ).isfinite()


@pytest.mark.parametrize("setting", ["angles", "distances"])
@pytest.mark.parametrize(
    ("named", "message"),
    [({"gaol": [0]}, "'gaol'; it sees a, goal"), ({"a": [2]}, "'a' has no element 2")],
)
def test_columns_that_are_not_there_are_told(setting, named, message):
    with pytest.raises(UserError, match=f"network.{setting}: .*{message}"):
        ActorCritic(POLAR, BOX, NetworkConfig(**{setting: named}))


def test_a_distance_scale_that_is_not_positive_is_refused():
    with pytest.raises(UserError, match=r"network\.distance_scale must be positive, found 0"):
        ActorCritic(POLAR, BOX, NetworkConfig(distance_scale=0.0))


def test_vectors_are_embedded_if_asked():
    config = NetworkConfig(hidden_size=8, vector_features=6, activation="relu")
    policy = ActorCritic(POLAR, BOX, config)
    seen = {"a": torch.ones(4, 2), "goal": torch.ones(4, 3)}
    width = policy.network_config.previous_action_features
    features = policy.features(seen, policy.initial_actions(4), torch.ones(4))
    assert features.shape == (4, 6 + width)
    assert (features[:, :6] >= 0).all()
    assert (features[:, :6] > 0).any()
