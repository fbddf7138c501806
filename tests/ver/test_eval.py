"""`python -m ver eval RUN`."""

import json

import numpy as np
import pytest
import torch

from tests.helpers.mjlab_stand_in import install_stand_in
from tests.helpers.small_runs import TINY_NAMED
from ver import eval as eval_module
from ver.checkpoint import save_policy
from ver.errors import UserError
from ver.eval import load_run, main, play_episodes
from ver.train import make_trainer


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that has learned to push the cart to the left, whatever it sees."""
    folder = tmp_path_factory.mktemp("run")
    words = [*TINY_NAMED, "network.memory=lstm", "env.max_episode_steps=12"]
    trainer = make_trainer("CartPole-v1", words, folder)
    with torch.no_grad():
        trainer.policy.head.logits.weight.zero_()
        trainer.policy.head.logits.bias.copy_(torch.tensor([3.0, 0.0]))
    trainer.export(folder / "policy.safetensors")
    return folder


def test_episodes_are_whole_and_the_same_each_time(run):
    policy, make = load_run(run)
    env = make(0, 0)
    expected = []
    for seed in (5, 6, 7):
        env.reset(seed=seed)
        ended, length = False, 0
        while not ended:
            _, _, terminated, truncated, _ = env.step(0)
            ended, length = terminated or truncated, length + 1
        expected.append(float(length))
    assert max(expected) <= 12  # the environment was made with its arguments
    played = play_episodes(policy, make, 3, 5)
    assert played == {"return": expected, "length": expected}
    assert play_episodes(policy, make, 3, 5) == played
    drawn = [play_episodes(policy, make, 20, 5, sample=True) for _ in range(2)]
    assert drawn[0] == drawn[1] != play_episodes(policy, make, 20, 5)


def test_of_worlds_that_are_stepped_together_each_ones_first_episode_counts(
    tmp_path, monkeypatch, capsys
):
    install_stand_in(monkeypatch)
    trainer = make_trainer("mjlab:Counters", [*TINY_NAMED, "system=batched"], tmp_path)
    with torch.no_grad():
        trainer.policy.head.mean.weight.zero_()
        trainer.policy.head.mean.bias.fill_(np.arctanh(0.5))
    trainer.export(tmp_path / "policy.safetensors")
    policy, make = load_run(tmp_path)
    lengths = [2.0, 3.0, 4.0]
    played = play_episodes(policy, make, 3, 5)
    assert played["length"] == lengths
    np.testing.assert_allclose(played["return"], [1.0, 1.5, 2.0], atol=1e-3)
    monkeypatch.setattr(eval_module, "TOGETHER", 2)  # then in rounds
    assert play_episodes(policy, make, 3, 5)["length"] == [2.0, 3.0, 2.0]
    assert main([str(tmp_path), "--episodes", "2"]) == 0
    assert "mjlab:Counters after 0 steps: return 1.25 " in capsys.readouterr().out


def test_the_command_prints_and_writes_what_was_played(run, tmp_path, capsys):
    path = tmp_path / "told.json"
    assert main([str(run), "--episodes", "4", "--seed", "9", "--json", str(path)]) == 0
    told = json.loads(path.read_text())
    assert told["environment"] == "CartPole-v1"
    assert told["arguments"] == {"max_episode_steps": 12}
    assert (told["seed"], told["actions"], len(told["return"])) == (9, "mean", 4)
    assert told["mean"] == np.mean(told["return"])
    assert f"return {told['mean']:.6g} +-" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--episodes", "0"], "--episodes must be from 1"),
    ],
)
def test_what_cannot_be_is_one_line(run, words, told):
    with pytest.raises(UserError, match=told):
        main([str(run), *words])


def test_a_policy_of_another_command_names_no_environment(run, tmp_path):
    policy, _ = load_run(run)
    save_policy(tmp_path / "policy.safetensors", policy)
    with pytest.raises(UserError, match="its file names no environment"):
        load_run(tmp_path)
    with pytest.raises(UserError, match="No checkpoint at"):
        load_run(tmp_path / "nothing")
