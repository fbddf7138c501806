import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence

from ver.networks.lstm_sequence import LSTMSequence

SIZES = [4, 3, 3, 1]


def drawn(inputs=3, hidden=5):
    torch.manual_seed(0)
    lstm = nn.LSTM(inputs, hidden).double()
    features = torch.randn(sum(SIZES), inputs, dtype=torch.float64, requires_grad=True)
    state = [torch.randn(SIZES[0], hidden, dtype=torch.float64) for _ in range(2)]
    return lstm, features, state


def test_outputs_and_gradients_are_those_of_torch():
    lstm, features, state = drawn()
    weights = list(lstm.parameters())
    ours = LSTMSequence.apply(features, SIZES, *state, *weights)
    packed = PackedSequence(features, torch.tensor(SIZES))
    theirs = lstm(packed, tuple(part[None] for part in state))[0].data
    torch.testing.assert_close(ours, theirs)
    along = torch.randn_like(ours)
    wanted = torch.autograd.grad(theirs, [features, *weights], along)
    found = torch.autograd.grad(ours, [features, *weights], along)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other)


def test_gradients_are_those_of_differences():
    lstm, features, state = drawn(2, 3)
    weights = list(lstm.parameters())
    assert torch.autograd.gradcheck(
        lambda x, *w: LSTMSequence.apply(x, SIZES, *state, *w), (features, *weights)
    )


def test_there_is_no_second_derivative():
    lstm, features, state = drawn()
    total = LSTMSequence.apply(features, SIZES, *state, *lstm.parameters()).square().sum()
    (first,) = torch.autograd.grad(total, features, create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        first.sum().backward()
