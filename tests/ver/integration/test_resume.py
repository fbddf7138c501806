"""Stopping and resuming: by signals at any moment, over corrupt files, on a full disk."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks.faulty_environments import Trails
from tests.helpers import ROOT
from tests.helpers.late_worker import slow_to_ask
from tests.helpers.small_runs import curve
from tests.helpers.unrepeatable import Unrepeatable
from ver.checkpoint import load_policy
from ver.collect import environment_processes
from ver.collect.inference import InferenceEngine
from ver.config import FORMER_DEFAULTS, TrainerConfig, merge_config
from ver.errors import UserError, WriteError
from ver.ppo import PPO
from ver.trainer import Trainer

N = 3
# In lockstep, and with one thread each, nothing depends on time.
LOCKSTEP = [
    *FORMER_DEFAULTS,
    f"collect.num_environments={N}",
    f"collect.environments_per_worker={N}",
    f"collect.min_requests={N}",
    "collect.rollout_length=17",  # episodes of 5 to 14 steps: rollouts end within them
    "collect.repeat_failed=0.5",
    "ppo.final_log_std=-2.0",
    "ppo.target_kl=0.01",
    "ppo.final_log_std=-2.0",
    "ppo.target_kl=0.01",
    "learner_threads=1",
    "network.hidden_size=8",
    "tensorboard=false",
    "log_interval_s=1e9",
    f"total_steps={N * 17 * 8}",
]


def lockstep(*overrides: str) -> TrainerConfig:
    return merge_config(TrainerConfig, [], [*LOCKSTEP, *overrides])


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    trainer = Trainer(lockstep(), Trails(), directory)
    trainer.train()
    return directory, trainer.policy.state_dict()


def check_same(directory: Path, trainer: Trainer, uninterrupted) -> None:
    whole, weights = uninterrupted
    assert trainer.steps == N * 17 * 8
    for name, value in trainer.policy.state_dict().items():
        assert torch.equal(value, weights[name]), name
    assert curve(directory) == curve(whole)


def test_two_runs_are_the_same(tmp_path, uninterrupted):
    trainer = Trainer(lockstep(), Trails(), tmp_path)
    trainer.train()
    check_same(tmp_path, trainer, uninterrupted)
    whole = uninterrupted[0]
    for name in ("policy.safetensors", "policy.json"):
        assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize("system", ["ver", pytest.param("nover", marks=pytest.mark.slow)])
def test_two_deterministic_runs_are_the_same(tmp_path, uninterrupted, system):
    """Whoever comes first, all are waited for."""
    overrides = ("deterministic=true", "collect.min_requests=0", f"system={system}")
    trainer = Trainer(
        lockstep(*overrides, "collect.environments_per_worker=1"), Trails(delay_s=0.001), tmp_path
    )
    trainer.train()
    check_same(tmp_path, trainer, uninterrupted)


@pytest.mark.usefixtures("small_shards")
def test_two_runs_whose_gradients_are_summed_over_threads_are_the_same(tmp_path):
    files = []
    for name in "ab":
        Trainer(
            lockstep("learner_threads=3", "ppo.epochs=2", f"total_steps={N * 17 * 3}"),
            Trails(),
            tmp_path / name,
        ).train()
        files.append((tmp_path / name / "policy.safetensors").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize(
    "systems",
    [
        pytest.param(["ver"], marks=pytest.mark.slow),
        pytest.param(["nover"], marks=pytest.mark.slow),
        ["ddppo", "nover", "ver"],
        # The fast suite has these in tests/ver/collect/systems/test_batched.py
        pytest.param(["batched", "ver"], marks=pytest.mark.slow),
        pytest.param(["batched"], marks=pytest.mark.slow),
    ],
)
def test_resuming_equals_not_stopping_bitwise(tmp_path, uninterrupted, systems):
    """In lockstep these systems are one and the same, and one may go on where another stopped."""
    stops = 0
    while True:
        config = lockstep(f"system={systems[stops % len(systems)]}")
        trainer = Trainer(
            config, Trails(), tmp_path, after_update=lambda t, _: t.steps % (N * 17 * 2) == 0
        )
        if trainer.steps >= trainer.config.total_steps:
            break
        trainer.train()
        assert not any(trainer.progress.faults.values())  # every episode could be taken up
        stops += 1
    assert stops == 4
    check_same(tmp_path, trainer, uninterrupted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "delay"),
    [pytest.param("SIGTERM", 0.0, marks=pytest.mark.slow), ("SIGTERM", 0.03), ("SIGKILL", 0.05)],
)
def test_a_signal_at_any_moment_changes_nothing(tmp_path, uninterrupted, number, delay):
    """After the first rollout, and a delay, in whatever the trainer is doing then."""
    script = (
        "from pathlib import Path\n"
        "from benchmarks.faulty_environments import Trails\n"
        "from ver import Trainer, merge_config, TrainerConfig\n"
        f"config = merge_config(TrainerConfig, [], {LOCKSTEP!r})\n"
        f"trainer = Trainer(config, Trails(), {str(tmp_path)!r},\n"
        "    after_update=lambda t, _: print(t.steps, flush=True))\n"
        "trainer.train()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline()
    time.sleep(delay)
    os.kill(process.pid, getattr(signal, number))
    process.communicate(timeout=40)
    assert process.returncode == (0 if number == "SIGTERM" else -9)
    (tmp_path / "checkpoints" / ".half-written.tmp").write_text("cut sh")
    trainer = Trainer(lockstep(), Trails(), tmp_path)
    assert trainer.steps > 0
    assert not (tmp_path / "checkpoints" / ".half-written.tmp").exists()
    trainer.train()
    check_same(tmp_path, trainer, uninterrupted)


def test_an_environment_that_cannot_repeat_its_episode_starts_another(tmp_path):
    config = lockstep(f"total_steps={N * 17}")
    Trainer(config, Trails(), tmp_path).train()
    config = lockstep(f"total_steps={N * 17 * 3}")
    trainer = Trainer(config, Unrepeatable(), tmp_path)
    trainer.train()
    assert trainer.progress.faults["diverged"] == N
    assert trainer.steps == N * 17 * 3


def test_a_worker_is_ready_only_once_its_requests_are_there(tmp_path, monkeypatch):
    """Else the trainer would take an environment that lost its episode for one that awaits an action."""
    config = lockstep(f"total_steps={N * 17}")
    Trainer(config, Trails(), tmp_path).train()
    told = []
    replay = InferenceEngine.replay

    def check(engine):
        if not told:
            told.append(engine.mailboxes.arrays["request_ready"].copy())
        replay(engine)

    monkeypatch.setattr(InferenceEngine, "replay", check)
    monkeypatch.setattr(environment_processes, "run_environment_worker", slow_to_ask)
    Trainer(lockstep(f"total_steps={N * 17 * 2}"), Unrepeatable(), tmp_path).train()
    np.testing.assert_array_equal(told[0], [1] * N)


def test_another_number_of_environments_starts_new_episodes(tmp_path):
    Trainer(lockstep(f"total_steps={N * 17}"), Trails(), tmp_path).train()
    trainer = Trainer(
        lockstep("collect.num_environments=4", "collect.environments_per_worker=4"),
        Trails(),
        tmp_path,
        after_update=lambda *_: True,
    )
    trainer.train()
    assert trainer.steps == N * 17 + 4 * 17
    assert not any(trainer.progress.faults.values())


@pytest.mark.parametrize(
    "damage",
    [
        "flip",
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("header", "cut", "description")),
    ],
)
def test_a_corrupt_checkpoint_falls_back_to_the_one_before(tmp_path, capsys, damage, uninterrupted):
    trainer = Trainer(
        lockstep(), Trails(), tmp_path, after_update=lambda t, _: t.steps >= N * 17 * 3
    )
    trainer.train()
    newest = sorted((tmp_path / "checkpoints").iterdir())[-1]
    content = bytearray(newest.read_bytes())
    if damage == "cut":
        content = content[:-500]
    elif damage == "flip":
        content[-100] ^= 4
    elif damage == "header":
        content[0:8] = b"\xff" * 8
    else:
        content[content.index(b"environment_seed") + 3] ^= 1
    newest.write_bytes(content)
    (tmp_path / "checkpoints" / ".half-written.tmp").write_text("cut sh")
    trainer = Trainer(lockstep(), Trails(), tmp_path)
    assert trainer.steps == N * 17 * 2
    error = capsys.readouterr().err
    assert newest.name in error
    assert "Falling back" in error
    assert error.count("\n") == 1
    assert not (tmp_path / "checkpoints" / ".half-written.tmp").exists()
    trainer.train()
    check_same(tmp_path, trainer, uninterrupted)


def test_nothing_whole_is_a_user_error(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    (tmp_path / "checkpoints" / "training_000000000051.safetensors").write_text("no")
    with pytest.raises(UserError, match="None of the 1 checkpoints"):
        Trainer(lockstep(), Trails(), tmp_path)


# TensorBoard's thread says for itself that it could not write.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(
    ("tensorboard", "room"),
    [
        ("true", 9000),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("false", 9000), ("true", 1))),
    ],
)
def test_a_full_disk_ends_the_run_and_leaves_the_old_checkpoint(
    tmp_path, uninterrupted, tensorboard, room
):
    before: list[bytes] = []
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(trainer, row):
        before.append((tmp_path / "policy.safetensors").read_bytes())
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))

    config = lockstep(f"tensorboard={tensorboard}")
    trainer = Trainer(config, Trails(), tmp_path, after_update=fill)
    try:
        with pytest.raises(WriteError, match=r"could not be written \(.*File too large\)"):
            trainer.train()
        with pytest.raises(WriteError, match=r"could not be written \(.*File too large\)"):
            Trainer(config, Trails(), tmp_path).train()  # whoever starts it again reads the same
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(before) == 1
    assert (tmp_path / "policy.safetensors").read_bytes() == before[0]
    assert "command" in json.loads((tmp_path / "run.json").read_text())  # whole
    assert len(list((tmp_path / "checkpoints").iterdir())) == 1
    load_policy(tmp_path / "policy.safetensors")
    trainer = Trainer(lockstep(), Trails(), tmp_path)
    assert trainer.steps == N * 17
    trainer.train()
    check_same(tmp_path, trainer, uninterrupted)


def test_carried_actions_are_those_since_the_episodes_began(tmp_path):
    trainer = Trainer(lockstep(f"total_steps={N * 17 * 3}"), Trails(), tmp_path)
    trainer.train()
    boundary = trainer.boundary
    lengths = boundary["carried/lengths"].numpy()
    t = boundary["carried/observation/trail"][:, 2].numpy()
    np.testing.assert_array_equal(lengths, t)
    np.testing.assert_array_equal(lengths, boundary["carried/column/step"].numpy())
    assert len(boundary["carried/actions"]) == lengths.sum() > 0


def test_an_error_in_learning_leaves_the_checkpoint_before_it(tmp_path, monkeypatch):
    """The rollout that was being learned from is collected again."""
    config = lockstep()
    learn = PPO.learn

    def fail(self, *arguments):
        losses = learn(self, *arguments)
        if self.updates > 2:
            raise RuntimeError("the gradient is not finite")
        return losses

    monkeypatch.setattr(PPO, "learn", fail)
    trainer = Trainer(config, Trails(), tmp_path)
    with pytest.raises(RuntimeError, match="not finite"):
        trainer.train()
    saved = trainer.steps
    monkeypatch.setattr(PPO, "learn", learn)
    again = Trainer(config, Trails(), tmp_path)
    assert again.steps == saved
    again.train()
    assert again.steps == config.total_steps
    assert again.progress.faults["diverged"] == 0


def test_what_led_to_a_gradient_that_is_not_finite_is_not_kept(tmp_path, monkeypatch):
    config, learn, learned = lockstep("checkpoint_interval_s=1e9"), PPO.learn, []

    def fail(self, *arguments):
        learned.append(self)
        if len(learned) == 3:  # as by returns beyond a float32
            self.policy.value_layer.weight.data.fill_(float("nan"))
        return learn(self, *arguments)

    def keep_the_first(trainer, row):
        if len(learned) == 1:
            trainer.save()

    monkeypatch.setattr(PPO, "learn", fail)
    trainer = Trainer(config, Trails(), tmp_path)
    trainer.after_update = keep_the_first
    with pytest.raises(UserError, match="gradient is not finite"):
        trainer.train()
    monkeypatch.setattr(PPO, "learn", learn)
    again = Trainer(config, Trails(), tmp_path)
    assert again.steps == N * 17
    assert all(torch.isfinite(value).all() for value in again.policy.state_dict().values())


def test_a_new_run_starts_from_another_runs_weights_and_then_resumes_its_own(
    tmp_path, uninterrupted
):
    policy = uninterrupted[0] / "policy.safetensors"
    source, weights = f"start_from={policy}", load_policy(policy).state_dict()
    trainer = Trainer(lockstep(source), Trails(), tmp_path / "new")
    assert trainer.steps == 0
    for name, value in trainer.policy.state_dict().items():
        assert torch.equal(value, weights[name]), name
    spread = "network.initial_log_std=-1.25"
    anew = Trainer(lockstep(source, spread, "reset_log_std=true"), Trails(), tmp_path / "anew")
    assert "head.log_std" in weights
    for name, value in anew.policy.state_dict().items():
        is_spread = name == "head.log_std"
        assert torch.equal(value, torch.full_like(value, -1.25) if is_spread else weights[name])
    trainer.after_update = lambda trainer, row: True
    trainer.train()
    again = Trainer(lockstep(source), Trails(), tmp_path / "new")
    assert again.steps == N * 17
    assert not torch.equal(again.policy.critic.weight, weights["critic.weight"])
    other = lockstep(source, "network.hidden_size=16")
    with pytest.raises(UserError, match=r"hidden_size was 8.* choose another trainer.start_from"):
        Trainer(other, Trails(), tmp_path / "other")
