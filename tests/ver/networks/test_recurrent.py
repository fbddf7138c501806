import pytest
import torch

from ver.networks.recurrent import LSTMCore


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
