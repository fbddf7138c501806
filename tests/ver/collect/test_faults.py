"""Real worker processes that raise, hang, die and return NaN."""

import fcntl
import itertools
import os
import signal
import time

import numpy as np
import pytest

from benchmarks.faulty_environments import KINDS, trail_reward
from tests.helpers import toy_environments
from tests.helpers.faulty_trails import check_faults, planned_faults
from tests.helpers.small_runs import small_run, start_collector
from ver.collect.collector import Collector
from ver.collect.faults import Fault, FaultCounter, strange
from ver.errors import WorkerCrashError
from ver.shared.outcomes import CONTINUES, TRUNCATED
from ver.trainer import Trainer


def start(make_env, *overrides: str, **arguments) -> Collector:
    config = small_run(
        "collect.num_environments=6",
        "collect.rollout_length=32",
        "collect.step_timeout_s=3",
        "network.hidden_size=8",
        *overrides,
    )
    return start_collector(config, make_env, **arguments)[0]


@pytest.mark.parametrize(
    "overrides",
    [
        pytest.param([], marks=pytest.mark.slow),
        ["collect.num_inference_workers=2"],
        pytest.param(["system=nover", "collect.num_inference_workers=2"], marks=pytest.mark.slow),
        pytest.param(["system=ddppo"], marks=pytest.mark.slow),
    ],
)
def test_every_kind_of_fault_is_survived_and_leaves_no_wrong_step(tmp_path, overrides):
    seen: list[Fault] = []
    collector = start(planned_faults(tmp_path), *overrides, on_fault=seen.append)
    trail: dict[int, list[tuple]] = {environment: [] for environment in range(6)}
    episodes = []
    try:
        end = time.monotonic() + 60.0  # a step hangs for 3 s before it is one too many
        for version in itertools.count():
            assert collector.collect(version)
            episodes += collector.drain_episodes()
            _follow(collector.buffer, trail)
            if (len(seen) == len(KINDS) and version > 6) or time.monotonic() > end:
                break
    finally:
        collector.close()
    check_faults(collector.faults.counts, seen, trail, episodes)


def _follow(buffer, trail) -> None:
    """Appends what this rollout would be learned from: (life, t, outcome), rewards checked."""
    observations = buffer.observations["trail"].numpy()
    for environment, steps in trail.items():
        slots = np.flatnonzero(buffer.environments == environment)
        slots = slots[np.argsort(buffer.sequences[slots])]
        assert buffer.newest[environment] == slots[-1]
        assert (observations[slots, 0] == environment).all()
        assert np.isfinite(observations[slots]).all()
        for now, after in itertools.pairwise(slots):
            life, t = float(observations[now, 1]), int(observations[now, 2])
            assert buffer.steps[now] == t
            assert buffer.first[now] == (t == 0)
            assert buffer.rewards[now] == pytest.approx(
                trail_reward(life, float(buffer.actions[now, 0].clamp(-1, 1)))
            )
            if buffer.outcomes[now] == CONTINUES:
                assert float(observations[after, 1]) == life
                assert buffer.previous_actions[after, 0] == buffer.actions[now, 0]
            else:
                assert buffer.first[after]
                assert not buffer.states[after].any()
                assert (buffer.final_values[now] != 0) == (buffer.outcomes[now] == TRUNCATED)
            steps.append((life, t, int(buffer.outcomes[now])))


def test_more_faults_than_allowed_end_the_run():
    told: list[Fault] = []
    counter = FaultCounter(2, told.append)
    counter.starting = False
    fault = Fault("died", "environment worker 3 was killed by SIGSEGV", 4)
    counter.record(fault)
    counter.record(fault)
    again = Fault("diverged", "environment 5 did not repeat its episode", 3)
    for _ in range(9):
        counter.record(again)  # at a resume, in as many environments as there may be
    with pytest.raises(WorkerCrashError, match=r"worker 3 .* 3 faults .*max_faults_per_hour=2"):
        counter.record(fault)
    assert counter.counts["died"] == 3
    assert counter.counts["steps_lost"] == 12 + 9 * 3
    assert told == [fault, fault, *[again] * 9]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_strange_numbers(kind):
    assert not strange(np.array([-1e3, 0.0, np.finfo(np.float16).max], kind))
    assert not strange(np.zeros(0, kind))
    for value in (np.nan, np.inf, -np.inf):
        assert strange(np.array([1.0, value], kind))
    assert strange(np.array([[1.0, -1e16]], np.float64))


def test_fewer_are_survived_before_the_first_rollout():
    counter = FaultCounter(12, lambda fault: None)
    fault = Fault("raised", "environment 3 raised KeyError", 1)
    counter.record(fault)
    counter.record(fault)
    with pytest.raises(WorkerCrashError, match="that is 3 faults before the first rollout"):
        counter.record(fault)
    counter.starting = False
    counter.record(fault)


def test_a_training_whose_environments_all_raise_ends_soon(tmp_path):
    with pytest.raises(WorkerCrashError, match="that is 11 faults before the first rollout"):
        Trainer(
            small_run("collect.rollout_length=512"), toy_environments.make_crashing, tmp_path
        ).train()


def test_a_worker_that_cannot_even_start_ends_the_run_at_once():
    with pytest.raises(
        WorkerCrashError, match=r"environment worker \d .*killed by SIGABRT at its start"
    ):
        start(toy_environments.make_dying)


def test_a_worker_that_is_killed_at_its_start_starts_again(tmp_path):
    seen: list[Fault] = []
    collector = start(toy_environments.KilledOnce(tmp_path / "killed"), on_fault=seen.append)
    try:
        assert collector.collect(0)
    finally:
        collector.close()
    assert [fault.kind for fault in seen] == ["died"]


def stopped_with_a_batch(collector) -> bool:
    """Suspends the inference worker if it holds requests just now, and no lock."""
    (helper,) = collector.inference_workers.connections.values()
    os.kill(helper.pid, signal.SIGSTOP)
    time.sleep(0.005)
    lock = collector.buffer.lock.descriptor
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        fcntl.lockf(lock, fcntl.LOCK_UN, 1)
        if collector.engine.mailboxes.arrays["claimed"].any():
            return True
    except OSError:
        pass  # it holds the lock
    os.kill(helper.pid, signal.SIGCONT)
    return False


@pytest.mark.slow
def test_an_inference_worker_that_hangs_with_a_batch_ends_the_run():
    collector = start(toy_environments.make_reach, "collect.num_inference_workers=2")
    stopped, end = False, time.monotonic() + 150.0

    def keep_going() -> bool:
        nonlocal stopped
        # Asked when this process itself holds no requests
        stopped = stopped or stopped_with_a_batch(collector)
        return time.monotonic() < end

    def collect() -> None:
        for version in itertools.count():
            if not collector.collect(version, keep_going):
                break

    try:
        with pytest.raises(WorkerCrashError, match="inference worker 1 hung for more than 3 s"):
            collect()
        assert stopped
    finally:
        collector.close()
