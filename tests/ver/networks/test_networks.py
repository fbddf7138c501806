import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.encoders import make_encoder
from ver.networks.heads import Gaussian
from ver.networks.policy import ActorCritic, RunningNormaliser
from ver.networks.recurrent import LSTMCore

VECTOR = spaces.Dict({"x": spaces.Box(-1, 1, (3,), np.float32)})
BOX = spaces.Box(-1, 1, (2,), np.float32)


@pytest.mark.parametrize("layers", [1, 2])
def test_packed_lstm_equals_single_steps(layers):
    torch.manual_seed(0)
    core = LSTMCore(3, 5, layers)
    lengths = [4, 2, 1]
    state = torch.randn(3, core.state_size)
    inputs = [torch.randn(length, 3) for length in lengths]
    expected = []
    for row, sequence in enumerate(inputs):
        current, outputs = state[row : row + 1], []
        for features in sequence:
            output, current = core.step(features[None], current)
            outputs.append(output[0])
        expected.append(outputs)
    order = [(t, row) for t in range(4) for row in range(3) if t < lengths[row]]
    packed = torch.stack([inputs[row][t] for t, row in order])
    output = core.packed(packed, torch.tensor([3, 2, 1, 1]), state)
    torch.testing.assert_close(output, torch.stack([expected[row][t] for t, row in order]))


@pytest.mark.parametrize(("name", "size"), [("small_cnn", 64), ("resnet18", 128)])
def test_encoders_give_features_and_gradients(name, size):
    encoder = make_encoder(name, 2, size, size, 24)
    output = encoder(torch.rand(3, 2, size, size))
    assert output.shape == (3, 24)
    output.sum().backward()
    assert all(parameter.grad is not None for parameter in encoder.parameters())


def test_unknown_or_unfit_encoders_are_user_errors():
    with pytest.raises(UserError, match="resnet18"):
        make_encoder("vgg", 1, 64, 64, 8)
    with pytest.raises(UserError, match="32"):
        make_encoder("resnet18", 1, 100, 128, 8)


def test_gaussian_density_matches_torch_and_scales_with_the_box():
    mean, log_std = torch.tensor([[0.2, -0.4]]), torch.tensor([-0.5, 0.3])
    head = Gaussian(mean, log_std, torch.tensor([1.0, 0.0]), torch.tensor([2.0, 0.5]))
    reference = torch.distributions.Normal(mean, log_std.exp())
    scaled = torch.tensor([[0.3, 0.9]])
    actions = scaled * head.half_range + head.centre
    torch.testing.assert_close(head.log_prob(actions), reference.log_prob(scaled).sum(-1))
    torch.testing.assert_close(head.entropy(), reference.entropy().sum(-1))
    torch.testing.assert_close(head.mode(), torch.tensor([[1.4, -0.2]]))


def test_masked_rows_ignore_state_and_previous_action():
    policy = ActorCritic(VECTOR, BOX, NetworkConfig(hidden_size=8))
    x = {"x": torch.randn(2, 3)}
    masks = torch.tensor([False, True])
    out = policy.act(x, torch.randn(2, 16), torch.randn(2, 2), masks, deterministic=True)
    fresh = policy.act(
        x, policy.initial_state(2), policy.initial_actions(2), torch.zeros(2), deterministic=True
    )
    torch.testing.assert_close(out.values[0], fresh.values[0])
    assert not torch.allclose(out.values[1], fresh.values[1])


@pytest.mark.parametrize("log_std", ["free", "state"])
def test_spread_starts_where_it_is_told_and_keeps_its_bounds(log_std):
    config = NetworkConfig(hidden_size=8, log_std=log_std, initial_log_std=-9.0)
    policy = ActorCritic(VECTOR, BOX, config)
    assert policy.head(torch.zeros(1, 8)).log_std.max() == -5.0


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


def test_images_are_scaled_and_stacked():
    space = spaces.Dict(
        {
            "rgb": spaces.Box(0, 255, (64, 64, 3), np.uint8),
            "depth": spaces.Box(0, 10, (64, 64, 1), np.float16),
        }
    )
    policy = ActorCritic(space, BOX, NetworkConfig(hidden_size=8))
    seen = []
    policy.encoder.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0]))
    images = {
        "rgb": torch.full((1, 64, 64, 3), 255, dtype=torch.uint8),
        "depth": torch.full((1, 64, 64, 1), 5.0).half(),
    }
    policy.act(images, policy.initial_state(1), policy.initial_actions(1), torch.ones(1))
    assert seen[0].shape == (1, 4, 64, 64)
    # A Dict space sorts its keys: depth comes first.
    torch.testing.assert_close(seen[0][0, :, 0, 0], torch.tensor([0.5, 1.0, 1.0, 1.0]))


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


def test_running_normaliser_agrees_with_all_data_at_once():
    normaliser = RunningNormaliser(2)
    data = torch.randn(100, 2) * 3 + 5
    for part in data.split(30):
        normaliser.update(part)
    torch.testing.assert_close(normaliser.mean, data.mean(0))
    torch.testing.assert_close(normaliser.variance, data.var(0, unbiased=False))
    scaled = normaliser(data)
    assert scaled.mean().abs() < 1e-4
    assert (scaled.std() - 1).abs() < 0.02
