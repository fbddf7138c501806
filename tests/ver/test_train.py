"""`python -m ver train ENV`."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from interrupts import INTERRUPTED
from tests.helpers import ROOT, hear_ctrl_c
from tests.helpers.small_runs import TINY_NAMED, logged
from ver.errors import UserError
from ver.train import main, make_trainer


def test_a_run_is_written_and_the_same_command_goes_on(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = ["CartPole-v1", *TINY_NAMED]
    assert main([*words, "total_steps=32"]) == 0
    run = tmp_path / "runs" / "CartPole-v1"
    assert {"config.yaml", "run.json", "metrics.jsonl", "policy.safetensors"} <= {
        path.name for path in run.iterdir()
    }
    assert json.loads((run / "run.json").read_text())["metadata"] == {
        "environment": "CartPole-v1",
        "arguments": {},
    }
    assert main([*words, "total_steps=64"]) == 0
    assert [row["steps"] for row in logged(run)] == [16, 32, 48, 64]
    told = capsys.readouterr().err
    assert "training CartPole-v1 in runs/CartPole-v1, from the start; 2 environments" in told
    assert "resuming at step 32" in told
    assert "done; step 64, policy in runs/CartPole-v1/policy.safetensors" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["ppo.learning_rate=2"], "^ppo.learning_rate must be above 0 and at most 1, found 2$"),
        (["collect.envs=2"], "unknown key 'collect.envs'"),
        (["network.memory=gru2"], "network.memory must be one of"),
        (["start_from=nowhere"], "^start_from=nowhere: there is no such file$"),
        (["run=file/below"], "^run: .*file is a file, no folder: choose another$"),
        (["env.gravity=1"], "CartPole-v1 with gravity=1: .*gravity"),
    ],
)
def test_what_cannot_be_is_one_line(tmp_path, monkeypatch, words, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=told) as caught:
        make_trainer("CartPole-v1", words)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "runs").exists()


def test_arguments_of_the_environment_are_kept_and_another_environment_is_refused(tmp_path):
    words = [*TINY_NAMED, "total_steps=16", "env.sutton_barto_reward=true"]
    trainer = make_trainer("CartPole-v1", words, tmp_path)
    assert trainer.make_env(0, 0).unwrapped._sutton_barto_reward
    trainer.train()
    assert make_trainer("CartPole-v1", words, tmp_path).steps == 16
    with pytest.raises(UserError, match="environment was CartPole-v1, and is CartPole-v0 now"):
        make_trainer("CartPole-v0", [*TINY_NAMED, "total_steps=16"], tmp_path)


@pytest.mark.slow
def test_ctrl_c_is_one_line_and_the_run_can_go_on(tmp_path):
    command = [sys.executable, "-m", "ver", "train", "CartPole-v1", f"run={tmp_path}", *TINY_NAMED]
    process = subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, text=True, preexec_fn=hear_ctrl_c,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    log = tmp_path / "metrics.jsonl"
    until = time.monotonic() + 120
    while not (log.is_file() and log.read_text().count("\n") > 2):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=120)
    assert process.returncode == INTERRUPTED
    assert "Traceback" not in told
    assert told.splitlines()[-1].startswith("interrupted: the same command goes on; step ")
    assert make_trainer("CartPole-v1", TINY_NAMED, tmp_path).steps > 0
