import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.checkpoint import save_policy
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.warm_start import start_from

OBSERVATIONS = spaces.Dict(
    {
        "depth": spaces.Box(0, 10, (64, 64, 1), np.float16),
        "x": spaces.Box(-np.inf, np.inf, (3,), np.float32),
    }
)


@pytest.mark.parametrize("core", ["none", "lstm"])
@pytest.mark.parametrize("settings", [{}, {"vector_features": 4}, {"normalise_vectors": False}])
def test_a_run_that_adds_distances_begins_as_the_policy_without_them(core, settings, tmp_path):
    spaces_ = OBSERVATIONS, spaces.MultiDiscrete([3, 4])
    settings = {"memory": core, "hidden_size": 16, "previous_action_features": 8, **settings}
    old = ActorCritic(*spaces_, NetworkConfig(**settings))
    if old.normaliser is not None:
        old.normaliser.update(torch.randn(50, 3) * 4 + 2)
    save_policy(tmp_path / "old.safetensors", old)
    wider = NetworkConfig(**settings, distances={"x": [0, 2]}, distance_scale=0.05)
    new = ActorCritic(*spaces_, wider)
    start_from(tmp_path / "old.safetensors", new, {})
    observations = {"depth": torch.rand(2, 64, 64, 1).half() * 10, "x": torch.randn(2, 3)}
    state, previous = torch.randn(2, old.state_size), old.initial_actions(2)
    outputs = [
        each.evaluate(
            observations, state, previous, torch.ones(2), previous, torch.tensor([2])
        ).outputs
        for each in (old, new)
    ]
    torch.testing.assert_close(outputs[1], outputs[0])
    outputs[1].sum().backward()
    first = new.vector_embedding[0] if new.vector_embedding is not None else new.core
    weight = next(each for each in first.parameters() if each.dim() == 2)
    added = (weight == 0.0).all(dim=0)
    assert added.sum() == 2
    assert (weight.grad[:, added] != 0.0).any(dim=0).all()  # they are learned from
    save_policy(tmp_path / "new.safetensors", new)
    narrow = ActorCritic(*spaces_, NetworkConfig(**settings))
    with pytest.raises(UserError, match=r"network\.distances was .* another trainer\.start_from"):
        start_from(tmp_path / "new.safetensors", narrow, {})


@pytest.mark.parametrize("distances", [{}, {"x": [0, 2]}])
def test_a_run_that_adds_memory_begins_as_the_policy_without_it(distances, tmp_path):
    torch.manual_seed(0)
    spaces_ = OBSERVATIONS, spaces.Box(-1.0, 1.0, (2,), np.float32)
    old = ActorCritic(*spaces_, NetworkConfig(memory="none", hidden_size=8, layers=2))
    save_policy(tmp_path / "old.safetensors", old)
    config = NetworkConfig(memory="residual", hidden_size=8, layers=2, distances=distances)
    new = ActorCritic(*spaces_, config)
    start_from(tmp_path / "old.safetensors", new, {})
    observations = {"depth": torch.rand(3, 64, 64, 1).half() * 10, "x": torch.randn(3, 3)}
    previous = old.initial_actions(3)
    outputs = [
        each.evaluate(
            observations, torch.randn(1, each.state_size), previous, torch.ones(3), previous,
            torch.tensor([1, 1, 1]),
        ).outputs
        for each in (old, new)
    ]  # fmt: skip
    torch.testing.assert_close(outputs[1], outputs[0])
    outputs[1].sum().backward()
    assert (new.core.add.weight.grad != 0.0).any()  # what is remembered is learned from
    wrong = ActorCritic(*spaces_, NetworkConfig(memory="lstm", hidden_size=8, layers=2))
    with pytest.raises(UserError, match=r"network\.memory was none, and is lstm now"):
        start_from(tmp_path / "old.safetensors", wrong, {})
