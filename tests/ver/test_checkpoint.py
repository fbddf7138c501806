import errno
import os

import numpy as np
import pytest
import torch
from gymnasium import spaces
from safetensors.torch import save_file

from ver import checkpoint
from ver.checkpoint import (
    check_same_training,
    load_policy,
    read_file,
    save_policy,
    save_training,
)
from ver.config import NetworkConfig
from ver.errors import CorruptFileError, UserError, WriteError
from ver.networks.policy import ActorCritic


def make_policy(hidden: int = 16) -> ActorCritic:
    observation = spaces.Dict(
        {
            "depth": spaces.Box(0, 10, (64, 64, 1), np.float16),
            "x": spaces.Box(-np.inf, np.inf, (3,), np.float32),
        }
    )
    config = NetworkConfig(hidden_size=hidden, log_std="state", memory="lstm")
    return ActorCritic(observation, spaces.MultiDiscrete([3, 4]), config)


def test_policy_round_trip(tmp_path):
    policy = make_policy()
    policy.normaliser.update(torch.randn(50, 3) * 4 + 2)
    path = tmp_path / "policy.safetensors"
    save_policy(path, policy, {"seed": 3}, {"skill": "pick"})
    loaded = load_policy(path)
    assert loaded.config == {"seed": 3}
    assert loaded.metadata == {"skill": "pick"}
    assert loaded.observation_space == policy.observation_space
    observations = {"depth": torch.rand(2, 64, 64, 1).half() * 10, "x": torch.randn(2, 3)}
    arguments = (observations, torch.randn(2, 32), policy.initial_actions(2), torch.ones(2))
    with torch.no_grad():
        one = policy.act(*arguments, deterministic=True)
        two = loaded.act(*arguments, deterministic=True)
    for left, right in zip(one, two, strict=True):
        torch.testing.assert_close(left, right, rtol=0.01, atol=0.002)  # as halves round
    assert {tensor.dtype for tensor in loaded.state_dict().values()} == {torch.float32}


def test_an_exported_policy_has_halves_where_they_hold_its_weights(tmp_path):
    policy = make_policy()
    policy.normaliser.count.fill_(2e7)  # more than a half can be
    large = policy.get_parameter("encoder.project.0.weight")
    with torch.no_grad():
        large[0, 0] = 1e6
    path, again = tmp_path / "policy.safetensors", tmp_path / "again.safetensors"
    save_policy(path, policy)
    loaded = load_policy(path).state_dict()
    held, _ = read_file(path, (checkpoint.POLICY_FORMAT,))
    whole = {"encoder.project.0.weight"}
    for name, tensor in policy.state_dict().items():
        halved = tensor.ndim > 1 and name not in whole
        assert held[f"policy/{name}"].dtype == (torch.float16 if halved else torch.float32), name
        assert torch.equal(loaded[name], tensor.half().float() if halved else tensor), name
    save_policy(again, load_policy(path))
    once_more, _ = read_file(again, (checkpoint.POLICY_FORMAT,))
    assert all(torch.equal(tensor, held[name]) for name, tensor in once_more.items())


def test_missing_file_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="No checkpoint at"):
        load_policy(tmp_path / "none.safetensors")


def test_foreign_files_are_user_errors_of_one_line(tmp_path):
    text = tmp_path / "text.safetensors"
    text.write_text("hello, this is not a checkpoint")
    foreign = tmp_path / "foreign.safetensors"
    save_file({"a": torch.zeros(2)}, foreign)
    for path in (text, foreign):
        with pytest.raises(UserError, match="expected a ver-policy-1") as caught:
            load_policy(path)
        assert "\n" not in str(caught.value)


def test_mismatching_shapes_say_what_was_expected_and_found():
    with pytest.raises(UserError, match=r"expected .*, found \("):
        checkpoint.load_weights(make_policy(16), make_policy(8).state_dict(), "here")


@pytest.mark.parametrize(
    ("high", "network", "complaint"),
    [
        (1.0, {}, None),
        (1.0, {"initial_log_std": -1.0, "initial_mean": [0.5, 0.5]}, None),  # how it once began
        (1.0, {"binary_actions": [1]}, r"network.binary_actions was \[\], and is \[1\] now"),
        (1.0, {"angles": {"x": [0]}}, r"network.angles was {}, and is {'x': \[0\]} now"),
        (2.0, {}, "action space was Box .* to 1.0, and is Box .* to 2.0 now"),
    ],
)
def test_what_weights_mean_must_not_change_though_shapes_stay(tmp_path, high, network, complaint):
    old = {"activation": "relu", "vector_features": 0, "normalise_returns": False}

    def make(high, **network):
        observation = spaces.Dict({"x": spaces.Box(-np.inf, np.inf, (3,), np.float32)})
        actions = spaces.Box(-high, high, (2,), np.float32)
        return ActorCritic(observation, actions, NetworkConfig(hidden_size=8, **old, **network))

    path = tmp_path / "policy.safetensors"
    save_policy(path, make(1.0))
    _, header = read_file(path, (checkpoint.POLICY_FORMAT,))
    for name in old:
        del header["network"][name]  # as in a file from before there was this setting
    header["network"]["core"] = header["network"].pop("memory")  # as until November 2026
    changed = make(high, **network)
    if complaint is None:
        check_same_training(path, header, changed, {})
        return
    with pytest.raises(UserError, match=complaint):
        check_same_training(path, header, changed, {})


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "policy.safetensors"
    save_policy(path, make_policy())
    before = path.read_bytes()

    def fail(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteError, match=r"policy\.safetensors.*No space left.*is intact"):
        save_policy(path, make_policy())
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["policy.json", "policy.safetensors"]


@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_damaged_file_is_noticed(tmp_path, damage):
    path = tmp_path / "policy.safetensors"
    save_policy(path, make_policy())
    content = bytearray(path.read_bytes())
    if damage == "cut":
        content = content[: len(content) // 2]
    else:
        content[-1000] ^= 1
    path.write_bytes(content)
    with pytest.raises(CorruptFileError, match=r"policy\.safetensors") as caught:
        load_policy(path)
    assert "\n" not in str(caught.value)


def test_no_private_folder_of_the_configuration_is_kept(tmp_path):
    config = {"trainer": {"start_from": "/home/somebody/runs/pick/policy.safetensors"}}
    path = tmp_path / "policy.safetensors"
    save_policy(path, make_policy(), config)
    assert load_policy(path).config == {"trainer": {"start_from": "policy.safetensors"}}
    assert b"somebody" not in path.read_bytes() + path.with_suffix(".json").read_bytes()
    save_training(path, make_policy(), {}, {}, config, {})
    assert b"somebody" not in path.read_bytes()
