"""Asynchronous PPO: the collecting thread, its processes, and whole runs."""

import itertools
import json
import multiprocessing
import threading
import time

import numpy as np
import pytest
import torch

from benchmarks.faulty_environments import KINDS, trail_reward
from tests.helpers import toy_environments
from tests.helpers.faulty_trails import check_faults, planned_faults
from tests.helpers.small_runs import small_run, start_collector
from ver.collect.faults import Fault
from ver.config import TrainerConfig
from ver.errors import UserError, WorkerCrashError
from ver.shared.outcomes import CONTINUES, TRUNCATED
from ver.trainer import Trainer


def settings(*overrides: str) -> TrainerConfig:
    return small_run("system=appo", "log_interval_s=1e9", *overrides)


def start(make_env, *overrides: str, **arguments):
    """A collector, and the policy that its learner would change."""
    return start_collector(settings(*overrides), make_env, **arguments)


def wait_for(condition) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def nothing_is_left() -> bool:
    return not multiprocessing.active_children() and not any(
        thread.name == "collector" for thread in threading.enumerate()
    )


def test_collection_goes_on_while_nobody_asks_and_each_step_knows_its_weights():
    collector, policy = start(toy_environments.make_reach, "appo.batch_trajectories=3")
    buffer = collector.buffer
    with torch.no_grad():
        policy.critic.weight.zero_()  # so that a value is the bias: the number of updates
        policy.critic.bias.zero_()
    versions = set()
    try:
        for version in range(0, 12, 2):
            assert collector.collect(version)
            slots, _ = buffer.complete_slots()
            assert len(slots) == buffer.fresh_steps == 3 * 16
            np.testing.assert_array_equal(buffer.values[slots], buffer.versions[slots])
            assert (buffer.versions[slots] <= version).all()
            versions |= set(buffer.versions[slots].tolist())
            kept = buffer.values[slots].copy(), buffer.observations["x"][slots].clone()
            for update in (version + 1, version + 2):
                with torch.no_grad():
                    policy.critic.bias.fill_(float(update))
                begun = buffer.handed_out[0]
                collector.publish(update)
                wait_for(lambda: buffer.handed_out[0] > begun or not buffer.remaining)  # noqa: B023
            # The learner's slots are its own meanwhile.
            np.testing.assert_array_equal(buffer.values[slots], kept[0])
            assert torch.equal(buffer.observations["x"][slots], kept[1])
        assert len(versions) > 2
        wait_for(lambda: not buffer.remaining)  # it stops where the learner would be outrun
        assert all(episode["episode_length"] == 20 for episode in collector.drain_episodes())
        assert collector.faults.counts["steps_too_old"] == 0
    finally:
        collector.close()
    assert nothing_is_left()


@pytest.mark.slow
@pytest.mark.parametrize("overrides", [[], ["collect.num_inference_workers=2"]])
def test_every_kind_of_fault_is_survived_and_leaves_no_wrong_step(tmp_path, overrides):
    seen: list[Fault] = []
    collector, _ = start(
        planned_faults(tmp_path),
        "collect.num_environments=6",
        "collect.step_timeout_s=3",
        "appo.max_policy_lag=1000",
        *overrides,
        on_fault=seen.append,
    )
    trail: dict[int, list[tuple]] = {environment: [] for environment in range(6)}
    episodes = []
    try:
        for version in range(900):  # a fast machine makes many before a hang is noticed
            assert collector.collect(version)
            episodes += collector.drain_episodes()
            _follow(collector.buffer, trail)
            if len(seen) == len(KINDS) and min(len(steps) for steps in trail.values()) > 150:
                break
    finally:
        collector.close()
    check_faults(collector.faults.counts, seen, trail, episodes)


def _follow(buffer, trail) -> None:
    """Appends what this batch would be learned from: (life, t, outcome), rewards checked."""
    observations = buffer.observations["trail"].numpy()
    chains, _ = buffer.chains()
    for own in chains.reshape(-1, buffer.length + 1):
        environment = buffer.environments[own[0]]
        assert (observations[own, 0] == environment).all()
        for now, after in itertools.pairwise(own):
            life, t = float(observations[now, 1]), int(observations[now, 2])
            assert buffer.steps[now] == t
            assert buffer.first[now] == (t == 0)
            action = float(buffer.actions[now, 0].clamp(-1, 1))
            assert buffer.rewards[now] == pytest.approx(trail_reward(life, action))
            if buffer.outcomes[now] == CONTINUES:
                assert float(observations[after, 1]) == life
                assert buffer.previous_actions[after, 0] == buffer.actions[now, 0]
            else:
                assert buffer.first[after]
                assert not buffer.states[after].any()
                assert (buffer.final_values[now] != 0) == (buffer.outcomes[now] == TRUNCATED)
            trail[environment].append((life, t, int(buffer.outcomes[now])))


def test_who_stops_waiting_gets_no_batch_and_may_ask_again():
    collector, _ = start(toy_environments.make_reach, "collect.rollout_length=200")
    try:
        assert not collector.collect(0, keep_going=lambda: False)
        assert collector.collect(0)
    finally:
        collector.close()
    assert nothing_is_left()


@pytest.mark.slow
def test_a_lost_inference_worker_is_told_when_the_next_batch_is_asked_for():
    collector, _ = start(toy_environments.make_reach, "collect.num_inference_workers=2")
    try:
        assert collector.collect(0)
        for process in collector.inference_workers.connections.values():
            process.kill()
        wait_for(lambda: not any(each.name == "collector" for each in threading.enumerate()))
        collector.publish(1)  # learning is finished
        assert isinstance(collector.drain_episodes(), list)
        with pytest.raises(WorkerCrashError, match="inference worker 1 died"):
            collector.collect(1)
    finally:
        collector.close()
    assert nothing_is_left()


@pytest.mark.slow
def test_too_many_faults_end_the_run_after_a_checkpoint(tmp_path, capsys):
    # A batch is over before the tenth step: none of the faults comes before the first rollout
    config = settings("collect.max_faults_per_hour=3", "collect.rollout_length=4")
    trainer = Trainer(config, toy_environments.make_crashing, tmp_path)
    with pytest.raises(WorkerCrashError, match=r"environment 1 .*the gears jammed.*4 faults"):
        trainer.train()
    assert capsys.readouterr().out.count("fault at step") == 3
    assert list((tmp_path / "checkpoints").iterdir())
    assert nothing_is_left()


def test_a_run_is_logged_bounds_its_lag_and_is_resumed(tmp_path):
    config = settings("total_steps=250", "appo.max_policy_lag=0", "appo.batch_trajectories=2")
    trainer = Trainer(config, toy_environments.make_cue, tmp_path)
    assert trainer.rollout_steps == 2 * 16
    trainer.train()
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row["steps"] for row in rows] == [32.0 * (1 + i) for i in range(8)]
    # With no lag allowed every batch is the newest weights', and what overtook them is dropped.
    assert all(row["loss/policy_lag_max"] == row["loss/policy_lag_mean"] == 0 for row in rows)
    assert rows[-1]["faults/steps_too_old"] > 0
    assert rows[-1]["faults/steps_too_old"] % 16 == 0
    assert rows[-1]["loss/mean_rho"] == pytest.approx(1.0, abs=0.05)
    assert nothing_is_left()

    config = settings("total_steps=500", "appo.batch_trajectories=2")
    again = Trainer(config, toy_environments.make_cue, tmp_path)
    assert (again.steps, again.ppo.updates) == (256, 8 * 6)
    row = again.train()
    assert row["steps"] == 512
    assert row["faults/steps_too_old"] >= rows[-1]["faults/steps_too_old"]
    later = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert max(row["loss/policy_lag_max"] for row in later[8:]) > 0
    assert max(row["loss/policy_lag_max"] for row in later) <= 100


@pytest.mark.slow
def test_a_run_of_another_system_is_gone_on_with(tmp_path):
    for system, steps in (("ver", 64), ("appo", 128), ("ver", 192)):
        config = settings(f"total_steps={steps}", f"system={system}")
        trainer = Trainer(config, toy_environments.make_cue, tmp_path)
        assert trainer.steps == steps - 64
        assert trainer.train()["steps"] == steps


@pytest.mark.parametrize(
    ("override", "words"),
    [
        ("distributed.preemption=optimal", "distributed.preemption=none"),
        ("collect.overlap=true", "collect.overlap=false"),
        ("appo.batch_trajectories=-1", "appo.batch_trajectories must be at least 0"),
        ("appo.max_policy_lag=-1", "appo.max_policy_lag must be at least 0"),
        ("appo.c_bar=2", "appo.rho_bar >= appo.c_bar"),
        ("appo.c_bar=0", "appo.c_bar must be above 0"),
    ],
)
def test_settings_that_contradict_it_are_refused_in_one_line(tmp_path, override, words):
    with pytest.raises(UserError, match=words) as caught:
        Trainer(settings(override), toy_environments.make_cue, tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_learns_to_remember_a_cue_within_vers_budget(tmp_path):
    config = settings(
        "collect.num_environments=16",
        "collect.environments_per_worker=8",
        "collect.rollout_length=64",
        "total_steps=80000",
        "ppo.learning_rate=0.003",
        "ppo.schedule=constant",
        "ppo.gamma=0.9",
        "network.hidden_size=32",
        "checkpoint_interval_s=1e9",
    )
    lags: list[float] = []

    def after_update(_, row) -> bool:
        lags.append(row["loss/policy_lag_mean"])
        return row["episode/episode_return"] > 0.93

    trainer = Trainer(config, toy_environments.make_cue, tmp_path, after_update=after_update)
    assert trainer.train()["episode/episode_return"] > 0.9
    assert max(lags) > 1  # not by being on-policy
