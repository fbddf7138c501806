import pytest
import torch
from torch import nn

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.recurrent import make_core, mlp_widths


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("name", "parts"), [("lstm", 2), ("gru", 1)])
def test_packed_sequences_equal_single_steps(name, parts, layers):
    torch.manual_seed(0)
    core = make_core(3, NetworkConfig(memory=name, hidden_size=5, layers=layers))
    assert core.state_size == parts * layers * 5
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


def test_a_gru_follows_its_equations():
    """Cho et al. 2014, with the reset gate after the product, as cuDNN has it."""
    torch.manual_seed(0)
    core = make_core(2, NetworkConfig(memory="gru", hidden_size=3))
    nn.init.normal_(core.gru.bias_ih_l0)
    nn.init.normal_(core.gru.bias_hh_l0)
    x, h = torch.randn(4, 2), torch.randn(4, 3)
    gates = x @ core.gru.weight_ih_l0.T + core.gru.bias_ih_l0
    reset, update, new = gates.chunk(3, -1)
    reset_h, update_h, new_h = (h @ core.gru.weight_hh_l0.T + core.gru.bias_hh_l0).chunk(3, -1)
    reset, update = torch.sigmoid(reset + reset_h), torch.sigmoid(update + update_h)
    candidate = torch.tanh(new + reset * new_h)
    by_hand = (1 - update) * candidate + update * h
    output, state = core.step(x, h)
    torch.testing.assert_close(output, by_hand)
    torch.testing.assert_close(state, by_hand)


@pytest.mark.parametrize(("activation", "kind"), [("relu", nn.ReLU), ("tanh", nn.Tanh)])
def test_the_mlp_has_the_activation_that_is_asked_for(activation, kind):
    core = make_core(3, NetworkConfig(hidden_size=8, layers=2, activation=activation))
    assert [type(each) for each in core.mlp] == [nn.Linear, kind, nn.Linear, kind]
    if activation == "tanh":  # orthogonal, with a gain of sqrt(2)
        second = core.mlp[2]
        torch.testing.assert_close(second.weight @ second.weight.T, 2.0 * torch.eye(8))
        assert not second.bias.any()


def test_layers_may_differ_in_width():
    core = make_core(3, NetworkConfig(widths=[8, 4], activation="selu"))
    assert [type(each) for each in core.mlp] == [nn.Linear, nn.SELU, nn.Linear, nn.SELU]
    assert core.step(torch.zeros(5, 3), torch.zeros(5, 0))[0].shape == (5, 4)
    assert NetworkConfig(widths=[8, 4]).output_size == 4
    assert mlp_widths(NetworkConfig(hidden_size=6, layers=2)) == [6, 6]
    for changes, told in (
        ({"widths": [8], "memory": "lstm"}, "widths is for network.memory=none, found lstm"),
        ({"widths": [8, 0]}, "widths must be from 1 to 16384 each, found 0"),
    ):
        with pytest.raises(UserError, match=told):
            mlp_widths(NetworkConfig(**changes))


def test_selu_keeps_what_is_normalised_so():
    """Klambauer et al. 2017: of wide layers with LeCun's weights mean 0 and variance 1 are a fixed point."""
    torch.manual_seed(0)
    core = make_core(400, NetworkConfig(widths=[400] * 8, activation="selu"))
    assert not any(layer.bias.any() for layer in core.mlp if isinstance(layer, nn.Linear))
    output = core.mlp(torch.randn(2000, 400))
    assert abs(float(output.mean().detach())) < 0.1
    assert abs(float(output.var().detach()) - 1.0) < 0.2
