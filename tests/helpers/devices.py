"""Devices to run a test on: the CPU as it is, the CPU with the columns of a GPU, and a GPU.

On a GPU a rollout's large columns are tensors, not arrays in shared memory. With `AS_ON_A_GPU` they are tensors
on a CPU, too: the code that no machine without a GPU would run runs there.
"""

from collections.abc import Callable

import pytest
import torch

from ver.rollout import RolloutBuffer

AS_ON_A_GPU = "columns of tensors"
GPU = pytest.mark.gpu
DEVICES = ("cpu", AS_ON_A_GPU, pytest.param("cuda", marks=GPU))


def prepared(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The device to ask for; changes rollouts where they shall be as on a GPU."""
    if name == "cuda":  # as exact as a CPU, so that both can be compared
        monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)
    if name != AS_ON_A_GPU:
        return name
    begin: Callable[..., None] = RolloutBuffer.__init__

    def with_tensors(self: RolloutBuffer, *arguments, **named) -> None:
        begin(self, *arguments, **named)
        self.large = {each: torch.from_numpy(self.large[each].copy()) for each in self._large_names}
        self._bind()

    monkeypatch.setattr(RolloutBuffer, "__init__", with_tensors)
    return "cpu"
