import pytest
import torch
from torch import nn

from ver.networks.recurrent import LSTMCore, make_core


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


@pytest.mark.parametrize(("activation", "kind"), [("relu", nn.ReLU), ("tanh", nn.Tanh)])
def test_the_mlp_has_the_activation_that_is_asked_for(activation, kind):
    core = make_core("none", 3, 8, 2, activation)
    assert [type(each) for each in core.mlp] == [nn.Linear, kind, nn.Linear, kind]
    if activation == "tanh":  # orthogonal, with a gain of sqrt(2)
        second = core.mlp[2]
        torch.testing.assert_close(second.weight @ second.weight.T, 2.0 * torch.eye(8))
        assert not second.bias.any()
