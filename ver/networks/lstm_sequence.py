"""One LSTM layer along packed sequences, with its gradient written out, for CPUs.

Autograd through nn.LSTM adds up the weights' gradients step by step, and writes a matrix of their size in each.
Here the gates' gradients of all steps are kept, and one product makes the weights' gradient of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class LSTMSequence(torch.autograd.Function):
    """Hidden states of an LSTM (Hochreiter and Schmidhuber 1997, with forget gates) along packed sequences.

    Gates stand in the order of torch: input, forget, candidate, output. The state that sequences begin with
    gets no gradient.
    """

    @staticmethod
    def forward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any,
        features: Tensor,
        sizes: Sequence[int],
        hidden: Tensor,
        cell: Tensor,
        weight_ih: Tensor,
        weight_hh: Tensor,
        bias_ih: Tensor,
        bias_hh: Tensor,
    ) -> Tensor:
        """Runs the layer.

        Args:
            ctx: Of autograd.
            features: [M, inputs], time-major, longest sequence first.
            sizes: Sequences still running at each time step; M in all.
            hidden: [S, H] at each sequence's first step.
            cell: [S, H], likewise.
            weight_ih: [4 H, inputs].
            weight_hh: [4 H, H].
            bias_ih: [4 H].
            bias_hh: [4 H].

        Returns:
            Hidden states [M, H] in the order of `features`.
        """
        gates = torch.addmm(bias_ih + bias_hh, features, weight_ih.t())
        shape = len(features), weight_hh.shape[1]
        outputs, cells, squashed, hidden_before, cell_before = (
            features.new_empty(shape) for _ in range(5)
        )
        across = weight_hh.t()
        begin = 0
        for size in sizes:
            rows = slice(begin, begin + size)
            hidden_before[rows], cell_before[rows] = hidden[:size], cell[:size]
            gates[rows].addmm_(hidden_before[rows], across)
            enter, keep, candidate, leave = gates[rows].chunk(4, 1)
            for gate in (enter, keep, leave):
                gate.sigmoid_()
            candidate.tanh_()
            cell = torch.mul(keep, cell_before[rows], out=cells[rows])
            cell.addcmul_(enter, candidate)
            torch.tanh(cell, out=squashed[rows])
            hidden = torch.mul(leave, squashed[rows], out=outputs[rows])
            begin += size
        ctx.sizes = sizes
        ctx.save_for_backward(
            features, gates, squashed, hidden_before, cell_before, weight_ih, weight_hh
        )
        return outputs

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Goes back through time; gradients of features, weights and biases."""
        features, gates, squashed, hidden_before, cell_before, weight_ih, weight_hh = (
            ctx.saved_tensors
        )
        of_outputs = gradients[0]
        of_gates = torch.empty_like(gates)
        later_hidden = later_cell = of_outputs[:0]  # what later steps hand back
        end = len(features)
        for size in reversed(ctx.sizes):
            rows, end = slice(end - size, end), end - size
            enter, keep, candidate, leave = gates[rows].chunk(4, 1)
            of_enter, of_keep, of_candidate, of_leave = of_gates[rows].chunk(4, 1)
            of_hidden = of_outputs[rows].clone()
            of_hidden[: len(later_hidden)] += later_hidden
            of_cell = of_hidden * leave * (1.0 - squashed[rows].square())
            of_cell[: len(later_cell)] += later_cell
            # Derivatives of sigmoid and tanh, by what they gave
            torch.mul(of_cell * candidate, enter * (1.0 - enter), out=of_enter)
            torch.mul(of_cell * cell_before[rows], keep * (1.0 - keep), out=of_keep)
            torch.mul(of_cell * enter, 1.0 - candidate.square(), out=of_candidate)
            torch.mul(of_hidden * squashed[rows], leave * (1.0 - leave), out=of_leave)
            later_cell = of_cell * keep
            later_hidden = of_gates[rows] @ weight_hh
        of_bias = of_gates.sum(0)
        weights = of_gates.t() @ features, of_gates.t() @ hidden_before
        return of_gates @ weight_ih, None, None, None, *weights, of_bias, of_bias
