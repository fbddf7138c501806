"""The chance of a start, and the file beside a policy's."""

import numpy as np
import pytest
import torch

from rearrange.errors import UserError
from skills.initiation.network import (
    InitiationSet,
    first_seen,
    initiation_path,
    load_initiation,
    save_initiation,
)
from skills.learned import PolicyRunner
from tests.helpers.initiation import make_set
from ver.checkpoint import copy_policy


@pytest.fixture
def policy_file(make_checkpoint, tmp_path):
    """A policy whose critic is informed, alone in a folder."""
    path = tmp_path / "pick.safetensors"
    copy_policy(make_checkpoint("pick", "sensors=both"), path)
    return path


def test_chance_by_hand():
    learned = InitiationSet(3)
    learned.unit.copy_(torch.tensor([8.0, 4.0]))
    learned.odds.copy_(torch.tensor([-3.0, 0.5]))
    for parameter in learned.layers.parameters():
        parameter.data.zero_()
    learned.layers[2].bias.data.fill_(0.25)  # of a deviation of 4 above 8: 9
    seen = torch.zeros(2, 3)
    assert learned.values(seen).tolist() == [9.0, 9.0]
    assert learned.chances(seen).tolist() == pytest.approx([1 / (1 + np.exp(-1.5))] * 2)


def test_what_is_seen_first_is_what_the_policy_acts_by(policy_file):
    """Its last part is the core's output, from which the first action comes."""
    runner = PolicyRunner(policy_file, deterministic=True)
    observation, _ = runner.make_env().reset(seed=1)
    tensors = {k: torch.as_tensor(observation[k])[None] for k in runner.policy.seen_keys}
    with torch.inference_mode():
        seen, outputs = first_seen(runner.policy, tensors)
        action = runner.policy.head(outputs).mode()
    assert torch.equal(seen[:, -outputs.shape[1] :], outputs)
    runner.act(observation)
    torch.testing.assert_close(action, runner.previous)


def test_round_trip(policy_file):
    policy = PolicyRunner(policy_file).policy
    observation, _ = PolicyRunner(policy_file).make_env().reset(seed=1)
    tensors = {k: torch.as_tensor(observation[k])[None] for k in policy.seen_keys}
    learned = make_set(first_seen(policy, tensors)[0].shape[1])
    path = save_initiation(learned, policy_file, {"skill": "pick"})
    assert path == initiation_path(policy_file) == policy_file.with_suffix(".initiation")
    again = load_initiation(policy_file)
    chance = learned.chance(policy, observation)
    assert 0.0 < chance < 1.0
    assert again.chance(policy, observation) == pytest.approx(chance, abs=1e-3)  # halves


def test_none_and_that_of_another_policy_are_refused(policy_file, make_checkpoint, tmp_path):
    with pytest.raises(UserError, match="has no initiation set: make it with"):
        load_initiation(policy_file)
    save_initiation(make_set(5), policy_file, {})
    copy_policy(make_checkpoint("place"), policy_file)
    with pytest.raises(UserError, match="is of another policy"):
        load_initiation(policy_file)
