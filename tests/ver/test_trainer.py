import itertools
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.helpers import ROOT, toy_environments
from tests.helpers.small_runs import CUE, SMALL, logged, small_run, start_collector
from ver.checkpoint import load_policy
from ver.collect.environment_worker import to_environment_action
from ver.errors import UserError, WorkerCrashError
from ver.stop_signals import StopSignals
from ver.trainer import Trainer


def test_learns_to_remember_a_cue_and_the_exported_policy_does_too(tmp_path):
    config = small_run(*CUE, "total_steps=80000")
    trainer = Trainer(
        config,
        toy_environments.make_cue,
        tmp_path,
        {"skill": "remember"},
        after_update=lambda _, row: row["episode/episode_return"] > 0.93,
    )
    row = trainer.train()
    assert row["episode/episode_return"] > 0.9
    rows = logged(tmp_path)
    assert rows[-1] == row
    assert {"episode/success", "time/overhead", "loss/entropy_coefficient"} <= set(row)
    for name in ("config.yaml", "run.json", "policy.json"):
        assert (tmp_path / name).is_file()

    policy = load_policy(tmp_path / "policy.safetensors")
    assert policy.metadata["skill"] == "remember"
    env = toy_environments.RememberCue()
    total = 0.0
    for seed in range(20):
        observation, _ = env.reset(seed=seed)
        state, previous, mask = policy.initial_state(1), policy.initial_actions(1), torch.zeros(1)
        done = False
        while not done:
            inputs = {key: torch.as_tensor(value)[None] for key, value in observation.items()}
            with torch.no_grad():
                out = policy.act(inputs, state, previous, mask, deterministic=True)
            action = to_environment_action(env.action_space, out.actions[0].numpy())
            observation, reward, done, _, _ = env.step(action)
            state, previous, mask = out.state, out.actions, torch.ones(1)
            total += reward
    assert total / 20 > 0.95


@pytest.mark.slow
def test_learns_to_aim_and_press_at_once_and_the_exported_policy_does_too(tmp_path):
    config = small_run(
        "collect.num_environments=16",
        "collect.environments_per_worker=8",
        "collect.rollout_length=64",
        "total_steps=80000",
        "ppo.learning_rate=0.01",
        "ppo.epochs=6",
        "checkpoint_interval_s=1e9",
        "ppo.schedule=constant",
        "ppo.gamma=0.0",
        "network.memory=none",
        "network.hidden_size=32",
        "network.initial_log_std=-1.0",
    )
    trainer = Trainer(
        config,
        toy_environments.make_aim_and_press,
        tmp_path,
        after_update=lambda _, row: row["episode/episode_return"] > 0.85,
    )
    row = trainer.train()
    # Either half alone gives at most 0.5 and a third of the other's.
    assert row["episode/episode_return"] > 0.85

    policy = load_policy(tmp_path / "policy.safetensors")
    env = toy_environments.AimAndPress(length=100)
    observation, _ = env.reset(seed=0)
    state, previous, total, done = policy.initial_state(1), policy.initial_actions(1), 0.0, False
    while not done:
        inputs = {key: torch.as_tensor(value)[None] for key, value in observation.items()}
        with torch.no_grad():
            out = policy.act(inputs, state, previous, torch.ones(1), deterministic=True)
        action = to_environment_action(env.action_space, out.actions[0].numpy())
        observation, reward, done, _, _ = env.step(action)
        previous, total = out.actions, total + reward
    assert total > 0.9


def test_the_learning_rate_follows_its_schedule(tmp_path):
    rows: list[float] = []
    config = small_run("total_steps=256", "ppo.learning_rate=0.004", "ppo.epochs=1")

    def after_update(trainer, row):
        rates = {group["lr"] for group in trainer.ppo.optimizer.param_groups}
        assert rates == {row["loss/learning_rate"]}
        rows.append(row["loss/learning_rate"])

    Trainer(config, toy_environments.make_cue, tmp_path, after_update=after_update).train()
    expected = [0.002 * (1 + np.cos(np.pi * part / 4)) for part in range(4)]
    assert rows == pytest.approx(expected)


def test_the_scaled_rate_knows_how_many_steps_an_update_has(tmp_path):
    config = small_run(
        "ppo.scale_learning_rate=true", "ppo.base_batch_size=2", "ppo.mini_batches=4"
    )
    trainer = Trainer(config, toy_environments.make_cue, tmp_path)
    # 4 environments, 16 steps each, 4 updates: 16 steps in one, 8 times the base
    assert trainer.ppo.learning_rate == pytest.approx(2.5e-4 * np.sqrt(8))


@pytest.mark.parametrize(
    ("system", "inference_workers"),
    [
        ("ver", 1),
        pytest.param("ver", 2, marks=pytest.mark.slow),
        ("nover", 1),
        pytest.param("nover", 2, marks=pytest.mark.slow),
        ("ddppo", 1),
        pytest.param("htsrl", 2, marks=pytest.mark.slow),
        ("batched", 1),
    ],
)
def test_collected_experience_is_what_the_environments_did(system, inference_workers):
    overrides = f"system={system}", f"collect.num_inference_workers={inference_workers}"
    collector, policy = start_collector(small_run(*overrides), toy_environments.make_reach)
    try:
        for version in range(4):
            assert collector.collect(version)
            buffer = collector.buffer
            assert sorted(np.unique(buffer.environments)) == [0, 1, 2, 3]
            for environment in range(4):
                slots = np.flatnonzero(buffer.environments == environment)
                slots = slots[np.argsort(buffer.sequences[slots])]
                assert buffer.newest[environment] == slots[-1]
                _check_reach(buffer, slots)
            _check_on_policy(policy, buffer, version)
            if system != "ver":
                assert (np.bincount(buffer.environments) == 16 + 1).all()
                assert (buffer.versions == version).all()  # no action was in flight
            # A change of weights reaches helpers, and held-back actions are decided anew.
            with torch.no_grad():
                policy.critic.bias += 1.0
            collector.copy_weights()
        assert all(episode["episode_length"] == 20 for episode in collector.drain_episodes())
    finally:
        collector.close()


def _check_reach(buffer, slots) -> None:
    """Follows one environment: positions, rewards, previous actions and truncations agree."""
    x = buffer.observations["x"][:, 0].numpy()
    for now, after in itertools.pairwise(slots):
        if buffer.steps[now] == 19:
            assert buffer.outcomes[now] == 2
            assert buffer.first[after]
            assert buffer.final_values[now] != 0
            assert not buffer.states[after].any()
            continue
        assert buffer.outcomes[now] == 0
        assert buffer.steps[after] == buffer.steps[now] + 1
        moved = x[now] + 0.1 * (int(buffer.actions[now, 0]) - 1)
        assert x[after] == pytest.approx(moved, abs=1e-5)
        assert buffer.rewards[now] == pytest.approx(-abs(moved), abs=1e-5)
        assert buffer.previous_actions[after, 0] == buffer.actions[now, 0]


def _check_on_policy(policy, buffer, version) -> None:
    """Steps of this rollout carry this policy's values and probabilities."""
    rows = np.flatnonzero(buffer.versions == version)
    assert len(rows) >= buffer.capacity - buffer.num_environments
    with torch.no_grad():
        output, _ = policy.core.step(
            policy.features(
                {"x": buffer.observations["x"][rows]},
                buffer.previous_actions[rows],
                torch.as_tensor(~buffer.first[rows]).float(),
            ),
            buffer.states[rows],
        )
        values = policy.critic(output)[:, 0]
        log_probs = policy.head(output).log_prob(buffer.actions[rows])
    np.testing.assert_allclose(values, buffer.values[rows], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(log_probs, buffer.log_probs[rows], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("optimizer", ["adam", pytest.param("lamb", marks=pytest.mark.slow)])
def test_resume_restores_everything(tmp_path, optimizer):
    chosen = f"ppo.optimizer={optimizer}"
    trainer = Trainer(small_run("total_steps=120", chosen), toy_environments.make_cue, tmp_path)
    trainer.train()
    expected = {name: value.clone() for name, value in trainer.policy.state_dict().items()}
    draws = (random.random(), np.random.random(), torch.rand(1), trainer.rng.random())  # noqa: NPY002
    again = Trainer(small_run("total_steps=240", chosen), toy_environments.make_cue, tmp_path)
    # The trainer saved before we drew; drawing again must give the same.
    assert (random.random(), np.random.random(), torch.rand(1), again.rng.random()) == draws  # noqa: NPY002
    for name, value in again.policy.state_dict().items():
        assert torch.equal(value, expected[name])
    assert again.steps == trainer.steps == 128
    assert again.progress.episodes == trainer.progress.episodes > 0
    assert again.ppo.updates == trainer.ppo.updates == 12
    assert again.ppo.entropy.value == trainer.ppo.entropy.value != 1e-3
    for old, new in (
        (trainer.ppo.optimizer, again.ppo.optimizer),
        (trainer.ppo.entropy_optimizer, again.ppo.entropy_optimizer),
    ):
        left, right = old.state_dict()["state"], new.state_dict()["state"]
        assert left.keys() == right.keys() != set()
        for key in left:
            for name in left[key]:
                assert torch.equal(left[key][name], right[key][name])
    again.train()
    assert again.steps == 256
    assert len(list((tmp_path / "checkpoints").iterdir())) == 2
    with pytest.raises(UserError, match="already holds a run"):
        Trainer(small_run("resume=false"), toy_environments.make_cue, tmp_path)
    other = "lamb" if optimizer == "adam" else "adam"
    with pytest.raises(UserError, match=f"ppo.optimizer={optimizer}"):
        Trainer(small_run(f"ppo.optimizer={other}"), toy_environments.make_cue, tmp_path)
    with pytest.raises(UserError, match=r"network\.hidden_size was 16, and is 8 now"):
        Trainer(small_run("network.hidden_size=8"), toy_environments.make_cue, tmp_path)
    with pytest.raises(
        UserError, match=r"observation 'cue' was Box \[2\] float32 .*, and is absent"
    ):
        Trainer(small_run(), toy_environments.make_reach, tmp_path)
    with pytest.raises(UserError, match="skill was unknown, and is pick now"):
        Trainer(small_run(), toy_environments.make_cue, tmp_path, {"skill": "pick"})


def test_too_many_faults_end_the_run_with_their_cause_after_a_checkpoint(tmp_path, capsys):
    # A rollout is over before the tenth step: none of the faults comes before the first rollout
    config = small_run("collect.max_faults_per_hour=3", "collect.rollout_length=2")
    trainer = Trainer(config, toy_environments.make_crashing, tmp_path)
    with pytest.raises(WorkerCrashError, match=r"environment 1 .*the gears jammed.*4 faults"):
        trainer.train()
    output = capsys.readouterr().out
    assert output.count("fault at step") == 3
    assert "Traceback" in output
    faults = [json.loads(line) for line in (tmp_path / "faults.jsonl").read_text().splitlines()]
    assert [fault["kind"] for fault in faults] == ["raised"] * 3
    assert list((tmp_path / "checkpoints").iterdir())


def test_a_factory_that_cannot_be_sent_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="importable module"):
        Trainer(small_run(), lambda i, s: toy_environments.RememberCue(), tmp_path).train()


@pytest.mark.parametrize(
    "override",
    [
        "system=dreams",
        "collect.num_environments=0",
        "device=cuda",
        "network.memory=rnn",
        "network.mixed_precision=int4",
        "ppo.mini_batches=0",
        "ppo.optimizer=sgd",
        "ppo.schedule=linear",
        "ppo.entropy.minimum=0",
        "ppo.cpca.enabled=true",
        "ppo.lamb_rho=0",
        "ppo.cpca.steps=0",
        "ppo.cpca.starts=-1",
        "distributed.preemption=sometimes",
        "distributed.sync_fraction=0",
        "distributed.timeout_s=0",
    ],
)
def test_impossible_settings_are_user_errors(tmp_path, override):
    if override == "device=cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(UserError, match=override.partition("=")[0].rpartition(".")[2]):
        Trainer(small_run(override), toy_environments.make_cue, tmp_path)


def test_overlap_refuses_preemption(tmp_path):
    config = small_run("collect.overlap=true", "distributed.preemption=optimal")
    with pytest.raises(UserError, match=r"full rollouts only, .*preemption=optimal"):
        Trainer(config, toy_environments.make_cue, tmp_path)


def test_sigterm_saves_and_leaves_no_process(tmp_path):
    settings = [*SMALL, "log_interval_s=0", "checkpoint_interval_s=1e9"]
    script = (
        "from tests.helpers import toy_environments\n"
        "from ver import Trainer, merge_config, TrainerConfig\n"
        f"config = merge_config(TrainerConfig, [], {settings!r})\n"
        f"trainer = Trainer(config, toy_environments.make_cue, {str(tmp_path)!r})\n"
        "trainer.train(); print('interrupted', trainer.interrupted)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert any("steps" in line for line in process.stdout)
    workers = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(process.pid, signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "interrupted True" in output
    assert len(list((tmp_path / "checkpoints").iterdir())) == 1
    # Multiprocessing's own resource tracker ends a moment after the process that it served.
    deadline = time.monotonic() + 10
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


def test_who_ends_before_a_rollout_is_full_finds_no_policy(tmp_path):
    """One that learned nothing would pass for a policy."""
    trainer = Trainer(small_run(), toy_environments.make_cue, tmp_path)
    with StopSignals() as signals:
        rounds = trainer.rounds(signals)
        next(rounds)
        rounds.close()
    assert trainer.steps == 0
    assert not list(tmp_path.rglob("*.safetensors"))
    with StopSignals() as signals:
        rounds = trainer.rounds(signals)
        next(rounds)
        next(rounds)
        rounds.close()
    assert trainer.steps > 0
    assert (tmp_path / "policy.safetensors").exists()
