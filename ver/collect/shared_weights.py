"""Weights of a policy in memory that all inference processes share."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ver.shared.arrays import SharedArrays


class SharedWeights:
    """Keeps a policy's parameters and buffers in shared memory: all processes see updates.

    On a GPU they stay where they are: torch sends a CUDA tensor to a new process as a handle to the
    same memory.

    Args:
        policy: Gives names, shapes and, once, values.

    Attributes:
        device: Where they are.
    """

    def __init__(self, policy: nn.Module):
        state = policy.state_dict()
        self.device = next(iter(state.values())).device
        self.tensors: dict[str, Tensor] = {}
        if self.device.type != "cpu":
            self.tensors = dict(state)
            return
        self.arrays = SharedArrays(
            {
                name: (tuple(_storage_order(tensor).shape), str(tensor.numpy().dtype))
                for name, tensor in state.items()
            }
        )
        for name, tensor in state.items():
            self.arrays[name][...] = _storage_order(tensor).numpy()

    def bind(self, policy: nn.Module) -> None:
        """Makes `policy`'s parameters and buffers views of the shared memory."""
        for name, tensor in policy.state_dict(keep_vars=True).items():
            if self.tensors:
                tensor.data = self.tensors[name]
                continue
            shared = torch.from_numpy(self.arrays[name])
            tensor.data = shared.permute(0, 3, 1, 2) if shared.ndim == 4 else shared


def _storage_order(tensor: Tensor) -> Tensor:
    """Convolution kernels keep their channels-last layout."""
    return tensor.permute(0, 2, 3, 1) if tensor.ndim == 4 else tensor
