import numpy as np
import pytest
import torch
from gymnasium import spaces

from tests.helpers.toy_spaces import BOX, MIXED, VECTOR
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic


def test_masked_rows_ignore_state_and_previous_action():
    config = NetworkConfig(hidden_size=8, memory="lstm", previous_action_features=4)
    policy = ActorCritic(VECTOR, BOX, config)
    x = {"x": torch.randn(2, 3)}
    masks = torch.tensor([False, True])
    out = policy.act(x, torch.randn(2, 16), torch.randn(2, 2), masks, deterministic=True)
    fresh = policy.act(
        x, policy.initial_state(2), policy.initial_actions(2), torch.zeros(2), deterministic=True
    )
    torch.testing.assert_close(out.values[0], fresh.values[0])
    assert not torch.allclose(out.values[1], fresh.values[1])


def test_discrete_policy_acts_and_evaluates_alike():
    torch.manual_seed(0)
    policy = ActorCritic(VECTOR, spaces.MultiDiscrete([3, 5]), NetworkConfig(hidden_size=8))
    x = {"x": torch.randn(6, 3)}
    state, previous = policy.initial_state(6), policy.initial_actions(6)
    out = policy.act(x, state, previous, torch.ones(6))
    assert out.actions.dtype == torch.int64
    assert out.actions.shape == (6, 2)
    again = policy.evaluate(x, state, previous, torch.ones(6), out.actions, torch.tensor([6]))
    torch.testing.assert_close(again.log_probs, out.log_probs)
    tables = policy.head(torch.zeros(1, 8)).log_probs
    assert [table.shape[1] for table in tables] == [3, 5]


@pytest.mark.parametrize("space", [BOX, spaces.MultiDiscrete([3, 5]), MIXED])
def test_every_action_space_acts_and_evaluates_alike(space):
    torch.manual_seed(0)
    config = NetworkConfig(
        hidden_size=8, memory="lstm", layers=2, previous_action_features=4, vector_features=0
    )
    policy = ActorCritic(VECTOR, space, config)
    x = {"x": torch.randn(6, 3)}
    state, previous = torch.randn(6, policy.state_size), policy.initial_actions(6)
    for masks in (torch.zeros(6), torch.ones(6)):
        out = policy.act(x, state, previous, masks)
        assert out.actions.dtype == previous.dtype == policy.action_dtype
        again = policy.evaluate(
            x, state * masks[:, None], previous, masks, out.actions, torch.tensor([6])
        )
        torch.testing.assert_close(again.log_probs, out.log_probs)
        torch.testing.assert_close(again.values, out.values)
        previous = out.actions
    grads = torch.autograd.grad(again.log_probs.sum() + again.values.sum(), policy.parameters())
    assert all(gradient.abs().max() > 0 for gradient in grads)


def test_mixed_precision_is_close_to_full_precision_and_named():
    space = spaces.Dict({"depth": spaces.Box(0, 1, (64, 64, 1), np.float32)})
    images = {"depth": torch.rand(4, 64, 64, 1)}
    values = {}
    for precision in ("none", "bfloat16"):
        torch.manual_seed(0)
        policy = ActorCritic(space, BOX, NetworkConfig(mixed_precision=precision))
        state, previous = policy.initial_state(4), policy.initial_actions(4)
        values[precision] = policy.value(images, state, previous, torch.ones(4)).detach()
    assert values["bfloat16"].dtype == torch.float32
    assert not torch.equal(values["none"], values["bfloat16"])
    torch.testing.assert_close(values["none"], values["bfloat16"], rtol=0.05, atol=0.02)
    with pytest.raises(UserError, match="bfloat16, none"):
        ActorCritic(space, BOX, NetworkConfig(mixed_precision="float8"))


@pytest.mark.parametrize(
    "space",
    [
        spaces.Box(-1, 1, (3,), np.float32),
        spaces.Dict({"x": spaces.Box(-1, 1, (3, 3), np.float32)}),
        spaces.Dict({"x": spaces.Discrete(3)}),
    ],
)
def test_other_observation_spaces_are_user_errors(space):
    with pytest.raises(UserError, match="must be"):
        ActorCritic(space, BOX, NetworkConfig())


def test_an_unknown_encoder_is_refused_even_where_there_is_no_image():
    with pytest.raises(UserError, match="Unknown encoder 'foo'; valid: "):
        ActorCritic(VECTOR, BOX, NetworkConfig(encoder="foo"))
