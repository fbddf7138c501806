"""The core between features and heads: an LSTM, a GRU, an MLP without memory, or an MLP and an LSTM.

A state is one flat row per environment, [N, state_size], so that buffers need not know what a core
keeps. Two forward passes must agree: `step` for acting, `packed` for learning on sequences.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.lstm_sequence import LSTMSequence

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "selu": nn.SELU}
WIDEST = 16_384  # layer
_WEIGHTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


def initialise_orthogonally(linear: nn.Linear) -> None:
    """Gives a layer before an activation orthogonal weights with a gain of sqrt(2), and no bias."""
    nn.init.orthogonal_(linear.weight, math.sqrt(2.0))
    nn.init.zeros_(linear.bias)


class LSTMCore(nn.Module):
    """An LSTM of one or more layers.

    Args:
        inputs: Width of the features.
        hidden: Width of every layer.
        layers: Number of layers.
    """

    def __init__(self, inputs: int, hidden: int, layers: int):
        super().__init__()
        self.hidden = hidden
        self.layers = layers
        self.state_size = 2 * layers * hidden
        self.lstm = nn.LSTM(inputs, hidden, layers)
        _initialise(self.lstm)

    def step(self, features: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Advances one step.

        Args:
            features: [N, inputs].
            state: [N, state_size], zero rows at an episode's start.

        Returns:
            Output [N, hidden] and the next state [N, state_size].
        """
        # The cell, not nn.LSTM on a sequence of one: on a CPU the latter re-packs its weights in
        # every call, which takes five times as long as the step itself.
        both = state.reshape(len(state), 2, self.layers, self.hidden)
        output, hidden, cell = features, [], []
        for layer in range(self.layers):
            output, memory = torch.lstm_cell(
                output, (both[:, 0, layer], both[:, 1, layer]), *self._weights(layer)
            )
            hidden.append(output)
            cell.append(memory)
        return output, torch.cat([*hidden, *cell], -1)

    def packed(self, features: Tensor, batch_sizes: Tensor, state: Tensor) -> Tensor:
        """Runs whole sequences, none of which crosses an episode's start.

        Args:
            features: [M, inputs], time-major, longest sequence first.
            batch_sizes: [L] int64 on the CPU, sequences still running at each time step.
            state: [S, state_size], the state at each sequence's first step.

        Returns:
            Outputs [M, hidden] in the order of `features`.
        """
        both = state.reshape(len(state), 2, self.layers, self.hidden).permute(1, 2, 0, 3)
        if features.device.type != "cpu":
            before = both[0].contiguous(), both[1].contiguous()
            return self.lstm(PackedSequence(features, batch_sizes), before)[0].data
        output, sizes = features, batch_sizes.tolist()
        for layer in range(self.layers):
            begin = both[0, layer], both[1, layer]
            output = LSTMSequence.apply(output, sizes, *begin, *self._weights(layer))
        return output

    def _weights(self, layer: int) -> list[Tensor]:
        return [getattr(self.lstm, f"{name}_l{layer}") for name in _WEIGHTS]


class GRUCore(nn.Module):
    """A GRU of one or more layers; three quarters of an LSTM's weights, and half of its state.

    Args:
        inputs: Width of the features.
        hidden: Width of every layer.
        layers: Number of layers.
    """

    def __init__(self, inputs: int, hidden: int, layers: int):
        super().__init__()
        self.hidden = hidden
        self.layers = layers
        self.state_size = layers * hidden
        self.gru = nn.GRU(inputs, hidden, layers)
        _initialise(self.gru)

    def step(self, features: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Advances one step, by the cell; see LSTMCore."""
        before = state.reshape(len(state), self.layers, self.hidden)
        output, hidden = features, []
        for layer in range(self.layers):
            weights = [getattr(self.gru, f"{name}_l{layer}") for name in _WEIGHTS]
            output = torch.gru_cell(output, before[:, layer], *weights)
            hidden.append(output)
        return output, torch.cat(hidden, -1)

    def packed(self, features: Tensor, batch_sizes: Tensor, state: Tensor) -> Tensor:
        """Runs whole sequences; see LSTMCore."""
        before = state.reshape(len(state), self.layers, self.hidden).transpose(0, 1).contiguous()
        output, _ = self.gru(PackedSequence(features, batch_sizes), before)
        return output.data


def _initialise(memory: nn.LSTM | nn.GRU) -> None:
    """Gives all layers orthogonal weights and no bias."""
    for name, parameter in memory.named_parameters():
        if "weight" in name:
            nn.init.orthogonal_(parameter)
        else:
            nn.init.zeros_(parameter)


def make_mlp(inputs: int, widths: Sequence[int], activation: str) -> nn.Sequential:
    """Builds layers, with an activation after each.

    SELU's layers begin as its authors ask (Klambauer et al. 2017): the variance of weights is one over the
    number of inputs, so that what is normalised before a layer is so after it.

    Args:
        inputs: Width of the features.
        widths: Of the layers.
        activation: One of ACTIVATIONS.
    """
    modules: list[nn.Module] = []
    for before, width in zip([inputs, *widths], widths, strict=False):
        linear = nn.Linear(before, width)
        if activation == "tanh":
            initialise_orthogonally(linear)
        elif activation == "selu":
            nn.init.kaiming_normal_(linear.weight, nonlinearity="linear")
            nn.init.zeros_(linear.bias)
        modules += [linear, ACTIVATIONS[activation]()]
    return nn.Sequential(*modules)


def mlp_widths(config: NetworkConfig) -> list[int]:
    """The widths of the MLP's layers.

    Raises:
        UserError: They are given with a memory, or one cannot be.
    """
    widths = list(config.widths)
    if not widths:
        return [config.hidden_size] * max(1, config.layers)
    if config.memory != "none":
        raise UserError(f"network.widths is for network.memory=none, found {config.memory}.")
    for width in widths:
        if not 1 <= width <= WIDEST:
            raise UserError(f"network.widths must be from 1 to {WIDEST} each, found {width}.")
    return widths


class FeedForwardCore(nn.Module):
    """An MLP with the same interface and an empty state.

    Args:
        inputs: Width of the features.
        widths: Of the layers, at least one.
        activation: Of each, one of ACTIVATIONS.
    """

    def __init__(self, inputs: int, widths: Sequence[int], activation: str = "relu"):
        super().__init__()
        self.state_size = 0
        self.mlp = make_mlp(inputs, widths, activation)

    def step(self, features: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Maps features [N, inputs] to [N, hidden]; the state [N, 0] passes through."""
        return self.mlp(features), state

    def packed(self, features: Tensor, batch_sizes: Tensor, state: Tensor) -> Tensor:
        """Maps features [M, inputs] to [M, hidden]; order and state do not matter."""
        del batch_sizes, state
        return self.mlp(features)


Core = LSTMCore | GRUCore | FeedForwardCore


def make_core(inputs: int, config: NetworkConfig) -> Core:
    """Builds the core with the memory that is asked for, on features of width `inputs`.

    Raises:
        UserError: If there is no such one, or widths are given with a memory.
    """
    name, hidden, layers = config.memory, config.hidden_size, config.layers
    widths = mlp_widths(config)
    if name == "lstm":
        return LSTMCore(inputs, hidden, layers)
    if name == "gru":
        return GRUCore(inputs, hidden, layers)
    if name == "none":
        return FeedForwardCore(inputs, widths, config.activation)
    raise UserError(f"Unknown network.memory '{name}'; valid: gru, lstm, none.")
