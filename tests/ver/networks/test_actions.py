import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.helpers.toy_spaces import BOX, MIXED, VECTOR
from ver.action_space import action_dtype
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.actions import make_action_embedding
from ver.networks.policy import ActorCritic


@pytest.mark.parametrize("space", [BOX, spaces.Discrete(4), spaces.MultiDiscrete([3, 5]), MIXED])
def test_action_embeddings_tell_actions_apart_and_start_from_none(space):
    torch.manual_seed(0)
    embed = make_action_embedding(space, 7)
    space.seed(0)
    rows = []
    for _ in range(30):
        sample = space.sample()
        parts = sample.values() if isinstance(sample, dict) else [sample]
        rows.append(np.concatenate([np.ravel(part) for part in parts]))
    rows = np.unique(np.stack(rows), axis=0).astype(action_dtype(space))
    actions = torch.as_tensor(rows)
    embedded = embed(actions, torch.ones(len(actions)))
    distances = torch.cdist(embedded, embedded) + torch.eye(len(actions))
    assert distances.min() > 1e-3
    # Before the first action there is none, and it does not matter what the row holds.
    none = embed(actions, torch.zeros(len(actions)))
    torch.testing.assert_close(none, none[:1].expand_as(none))
    if not isinstance(space, spaces.Box):
        assert torch.cdist(none[:1], embedded).min() > 1e-3


def test_a_box_is_embedded_as_executed_whatever_its_units():
    small = make_action_embedding(spaces.Box(-1, 1, (2,)), 4)
    large = make_action_embedding(spaces.Box(100, 300, (2,)), 4)
    large.load_state_dict(small.state_dict())
    ones = torch.ones(2)
    actions = torch.tensor([[0.5, -2.0], [0.0, 1.5]])
    torch.testing.assert_close(small(actions, ones), large(200 + 100 * actions, ones))
    torch.testing.assert_close(small(actions, ones), small(actions.clamp(-1, 1), ones))


@pytest.mark.parametrize("space", [spaces.Box(-1, np.inf, (2,)), spaces.Box(1, 1, (2,))])
def test_a_box_without_a_range_is_a_user_error(space):
    with pytest.raises(UserError, match="bounds"):
        ActorCritic(VECTOR, space, NetworkConfig())
