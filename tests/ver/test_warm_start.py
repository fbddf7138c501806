import numpy as np
import pytest
import torch
from gymnasium import spaces

from ver.checkpoint import save_policy
from ver.config import NetworkConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.warm_start import start_from

OBSERVATIONS = spaces.Dict({"x": spaces.Box(-np.inf, np.inf, (3,), np.float32)})


def make(actions: spaces.Space, **network) -> ActorCritic:
    network = {"memory": "none", "hidden_size": 8} | network
    return ActorCritic(OBSERVATIONS, actions, NetworkConfig(**network))


def test_a_policy_has_the_weights_of_the_file_and_without_one_keeps_its_own(tmp_path):
    actions = spaces.Box(-1.0, 1.0, (2,), np.float32)
    old, new = make(actions), make(actions)
    save_policy(tmp_path / "old.safetensors", old)
    before = new.state_dict()["head.mean.weight"].clone()
    start_from("", new, {})
    assert torch.equal(new.state_dict()["head.mean.weight"], before)
    start_from(tmp_path / "old.safetensors", new, {})
    for name, weight in old.state_dict().items():
        assert torch.equal(
            new.state_dict()[name], weight.half().float() if weight.ndim > 1 else weight
        ), name


@pytest.mark.parametrize(
    ("network", "what"),
    [
        ({"memory": "lstm"}, "memory was none, and is lstm now"),
        ({"distances": {"x": [0, 2]}}, "distances was .*"),
    ],
)
def test_another_network_is_refused(network, what, tmp_path):
    actions = spaces.Box(-1.0, 1.0, (2,), np.float32)
    save_policy(tmp_path / "old.safetensors", make(actions))
    with pytest.raises(UserError, match=rf"network\.{what}.* another trainer\.start_from"):
        start_from(tmp_path / "old.safetensors", make(actions, **network), {})


def test_resets_that_would_do_nothing_are_refused(tmp_path):
    policy = make(spaces.Box(-1.0, 1.0, (2,), np.float32), log_std="state")
    save_policy(tmp_path / "old.safetensors", policy)
    with pytest.raises(UserError, match=r"reset_log_std=true is for .* network\.log_std=free"):
        start_from(tmp_path / "old.safetensors", policy, {}, reset_log_std=True)
    with pytest.raises(UserError, match="reset_log_std is for a run that has"):
        start_from("", policy, {}, reset_log_std=True)
