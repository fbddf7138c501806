"""Overlaps: simulation with inference (double buffering), and collection with learning."""

import threading

import numpy as np
import pytest
import torch

from benchmarks.faulty_environments import Trails, plan
from tests.helpers import toy_environments
from tests.helpers.small_runs import CUE, logged, small_run
from ver.collect.environment_worker import probe_spaces
from ver.collect.systems.ver import VERCollector
from ver.config import TrainerConfig
from ver.errors import WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.trainer import Trainer


def settings(*overrides: str) -> TrainerConfig:
    return small_run("log_interval_s=1e9", "collect.environments_per_worker=4", *overrides)


@pytest.mark.parametrize(
    ("overrides", "inference_workers"),
    [
        pytest.param("collect.overlap=true", 2, marks=pytest.mark.slow),
        pytest.param("collect.overlap=true", 1, marks=pytest.mark.slow),
        ("system=htsrl", 1),
    ],
)
def test_overlapping_rollouts_train_every_step_once_with_behaviour_log_probs(
    tmp_path, overrides, inference_workers
):
    """With faults under way, too."""
    seen: list[tuple] = []
    checks: list[tuple[float, int]] = []
    config = settings(
        overrides,
        "collect.environments_per_worker=2",
        f"collect.num_inference_workers={inference_workers}",
        "total_steps=512",
        "ppo.learning_rate=0.01",
    )
    faults = plan(tmp_path, ("raise", 0, 30), ("die", 3, 50))
    trainer = Trainer(config, Trails(faults, 0.002), tmp_path / "run")
    learn = trainer.ppo.learn
    past: list[dict[str, torch.Tensor]] = []

    def watched(buffer, rng, keep_going):
        assert threading.current_thread() is not threading.main_thread()
        past.append({name: value.clone() for name, value in trainer.policy.state_dict().items()})
        newest = set(buffer.newest.tolist())
        for slot in set(range(buffer.capacity)) - newest:
            x = buffer.observations["trail"][slot].tolist()
            seen.append((*x, float(buffer.actions[slot, 0])))
        checks.append(_distance(buffer, past, config))
        result = learn(buffer, rng, keep_going)
        # Nobody wrote to what was being learned from.
        assert set(buffer.newest.tolist()) == newest
        return result

    trainer.ppo.learn = watched
    trainer.train()
    assert trainer.steps == 512
    assert len(seen) == len(set(seen)) == 512
    # The first rollout is on-policy; every later one was acted by the weights of one before.
    assert len(checks) == 8
    assert all(distance < 1e-4 for distance, _ in checks)
    rows = logged(tmp_path / "run")
    assert abs(rows[0]["loss/off_policy_fraction"]) == 0
    assert rows[-1]["faults/died"] == 1
    assert rows[-1]["faults/raised"] == 1


def _distance(buffer, past, config) -> tuple[float, int]:
    """Recomputes log-probabilities with the weights of the rollout before (or these, at first)."""
    acting = past[max(0, len(past) - 2)]
    policy = ActorCritic(*probe_spaces(Trails(), 0), config.network)
    policy.load_state_dict(acting)
    rows = np.flatnonzero(buffer.versions == buffer.versions.max())
    with torch.no_grad():
        output, _ = policy.core.step(
            policy.features(
                {"trail": buffer.observations["trail"][rows]},
                buffer.previous_actions[rows],
                torch.as_tensor(~buffer.first[rows]).float(),
            ),
            buffer.states[rows],
        )
        log_probs = policy.head(output).log_prob(buffer.actions[rows]).numpy()
    return float(np.abs(log_probs - buffer.log_probs[rows]).max()), len(rows)


@pytest.mark.slow
def test_overlap_still_learns_to_remember(tmp_path):
    config = settings("collect.overlap=true", *CUE, "total_steps=120000")
    trainer = Trainer(
        config,
        toy_environments.make_cue,
        tmp_path,
        after_update=lambda _, row: row["episode/episode_return"] > 0.93,
    )
    row = trainer.train()
    assert row["episode/episode_return"] > 0.9
    assert row["steps"] < 120000


@pytest.mark.slow
@pytest.mark.parametrize("overrides", ["collect.overlap=true", "system=htsrl"])
def test_an_overlapping_run_is_resumed(tmp_path, monkeypatch, overrides):
    """It goes on where the rollout ended that was learned from, not the one collected meanwhile."""
    config = settings(overrides, "total_steps=640")
    captured = []
    capture = VERCollector.capture
    monkeypatch.setattr(
        VERCollector, "capture", lambda self: captured.append(capture(self)) or captured[-1]
    )
    first = Trainer(config, Trails(), tmp_path, after_update=lambda t, _: t.steps >= 192)
    first.train()
    assert len(captured) == 192 // 64 + 1
    for name, tensor in captured[-2].items():
        assert torch.equal(first.boundary[f"carried/{name}"], tensor)
    second = Trainer(config, Trails(), tmp_path)
    assert second.steps == 192
    row = second.train()
    assert second.steps == 640
    assert row["faults/diverged"] == 0


def test_an_overlapping_run_that_crashed_while_it_collected_is_resumed(tmp_path):
    config = settings("system=htsrl", "total_steps=128", "collect.max_faults_per_hour=0")
    crashing = Trails(plan(tmp_path, ("raise", 0, 24)))  # in the second rollout
    with pytest.raises(WorkerCrashError):
        Trainer(config, crashing, tmp_path / "run").train()
    assert Trainer(config, Trails(), tmp_path / "run").steps == 64
