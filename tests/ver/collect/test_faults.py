"""Real worker processes that raise, hang, die and return NaN."""

import fcntl
import itertools
import os
import signal
import time
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
import torch
import toy_environments
from faulty_trails import KIND_OF, check_trails

from benchmarks.faulty_environments import KINDS, Trails, plan, trail_reward
from ver.collect import environment_worker
from ver.collect.collector import Collector
from ver.collect.environment_processes import EnvironmentProcesses
from ver.collect.environment_worker import episode_seed, probe_spaces
from ver.collect.faults import Fault, FaultCounter
from ver.collect.inference_processes import InferenceProcesses, _Watch, make_control
from ver.collect.mailboxes import make_mailboxes
from ver.collect.systems import find_system
from ver.config import TrainerConfig, merge_config
from ver.errors import UserError, WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED


def start(make_env, *overrides: str, **arguments) -> Collector:
    config = merge_config(
        TrainerConfig,
        [],
        [
            "collect.num_environments=6",
            "collect.environments_per_worker=2",
            "collect.rollout_length=32",
            "collect.step_timeout_s=3",
            "network.hidden_size=8",
            *overrides,
        ],
    )
    torch.manual_seed(0)
    policy = ActorCritic(*probe_spaces(make_env, 0), config.network)
    return find_system(config.system)(config, make_env, policy, 5, **arguments)


@pytest.mark.parametrize(
    "overrides",
    [
        [],
        ["collect.num_inference_workers=2"],
        ["system=nover", "collect.num_inference_workers=2"],
        ["system=ddppo"],
    ],
)
def test_every_kind_of_fault_is_survived_and_leaves_no_wrong_step(tmp_path, overrides):
    planned = [(kind, index % 6, 20 + 7 * index) for index, kind in enumerate(KINDS)]
    seen: list[Fault] = []
    collector = start(
        Trails(plan(tmp_path, *planned), delay_s=0.002), *overrides, on_fault=seen.append
    )
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
    counts = collector.faults.counts
    assert sorted(fault.kind for fault in seen) == sorted(KIND_OF.values())
    assert counts["raised"] == counts["not_finite"] == 2
    assert counts["hung"] == counts["died"] == 1
    # One for each environment that failed in a step, and its neighbour where the worker went too.
    assert 5 <= counts["steps_lost"] <= 7
    check_trails(trail, counts["steps_lost"], len(seen) + 2)
    # Episodes that a fault ended are no episodes.
    assert episodes
    for episode in episodes:
        assert episode["episode_length"] >= 5
        assert 0.0 <= episode["episode_return"] <= 1.0 + 1e-6


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


def test_a_worker_that_cannot_even_start_ends_the_run_at_once():
    with pytest.raises(WorkerCrashError, match=r"environment worker \d .*killed by SIGKILL"):
        start(toy_environments.make_dying)


def stopped_with_a_batch(collector) -> bool:
    """Suspends the inference worker if it holds requests just now, and no lock."""
    (helper,) = collector._inference_workers.connections.values()
    os.kill(helper.pid, signal.SIGSTOP)
    time.sleep(0.005)
    lock = collector.buffer.lock._descriptor
    try:
        fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB, 1)
        fcntl.lockf(lock, fcntl.LOCK_UN, 1)
        if collector._mailboxes.arrays["claimed"].any():
            return True
    except OSError:
        pass  # it holds the lock
    os.kill(helper.pid, signal.SIGCONT)
    return False


def test_an_inference_worker_that_hangs_with_a_batch_ends_the_run():
    collector = start(toy_environments.make_reach, "collect.num_inference_workers=2")
    stopped, end = False, time.monotonic() + 60.0

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


@pytest.fixture
def watched(monkeypatch):
    """One inference worker that does nothing, its shared turns, and a clock [s] to be set."""
    control, clock = make_control(1, 1), [0.0]
    monkeypatch.setattr("ver.collect.inference_processes.time.monotonic", lambda: clock[0])
    helpers = InferenceProcesses(0, None, [], None, control, None, 1)  # pyright: ignore
    process = SimpleNamespace(name="inference worker 1", kill=lambda: None)
    helpers._watches.append(_Watch(0, process))  # pyright: ignore
    return helpers, control["turns"], clock


def look_until(helpers, clock, end: float) -> None:
    while clock[0] < end:
        clock[0] += 0.5
        helpers.check(20.0, 5.0)


def test_an_inference_worker_has_its_time_to_start_and_then_that_of_a_step(watched):
    helpers, turns, clock = watched
    look_until(helpers, clock, 20.0)
    turns[0] += 1
    look_until(helpers, clock, 25.5)
    with pytest.raises(WorkerCrashError, match="hung for more than 5 s"):
        look_until(helpers, clock, 26.0)


def test_an_inference_worker_that_never_starts_ends_the_run(watched):
    helpers, _, clock = watched
    with pytest.raises(UserError, match="inference worker 1 was not ready after 20 s; raise"):
        look_until(helpers, clock, 20.5)


def test_time_in_which_all_were_suspended_is_no_hang(watched):
    helpers, turns, clock = watched
    turns[0] += 1
    helpers.check(20.0, 5.0)
    clock[0] += 3600.0
    helpers.check(20.0, 5.0)
    turns[0] += 1
    helpers.check(20.0, 5.0)


def test_a_limit_of_zero_waits_for_ever(watched):
    helpers, turns, clock = watched
    turns[0] += 1
    for _ in range(100):
        clock[0] += 1.0
        helpers.check(20.0, 0.0)


def test_a_dead_workers_rows_are_settled():
    """Reported results count, their episodes end there; unreported actions are lost."""
    space, action_space = probe_spaces(Trails(), 0)
    mailboxes = make_mailboxes(space, action_space, 5, 5)
    buffer = RolloutBuffer(space, action_space, 5, 4, 1)
    held_back = np.zeros(5, np.uint8)
    processes = EnvironmentProcesses.__new__(EnvironmentProcesses)
    processes._mailboxes, processes._held_back = mailboxes, held_back
    processes.attach(buffer)
    rows = mailboxes.arrays
    buffer.newest[:] = [0, 1, 2, 3, -1]
    rows["outcome"][:] = [CONTINUES, CONTINUES, TERMINATED, CONTINUES, NO_ACTION]
    rows["observation/trail"][:] = np.arange(15).reshape(5, 3)
    rows["request_ready"][:] = [1, 0, 1, 0, 0]
    rows["action_ready"][:] = [0, 1, 0, 0, 0]
    held_back[:] = [0, 0, 0, 1, 0]
    worker = type("Worker", (), {"environments": [0, 1, 2, 3, 4], "number": 0})()
    rows["claimed"][2] = 1
    assert not processes._settle(worker)
    rows["claimed"][2] = 0
    assert processes._settle(worker)
    assert list(rows["outcome"]) == [TRUNCATED, LOST, TERMINATED, LOST, NO_ACTION]
    assert list(rows["final_observation/trail"][0]) == [0, 1, 2]
    for flag in (rows["request_ready"], rows["action_ready"], held_back):
        assert not flag.any()


def test_environment_is_told_the_number_of_its_episode():
    told = []

    class Told(gymnasium.Env):
        def reset(self, *, seed=None, options=None):
            told.append((seed, options))
            return {}, {}

    worker = object.__new__(environment_worker._Worker)
    worker.spec, worker.first, worker.envs = SimpleNamespace(seed=3), 4, [Told(), Told()]
    worker._start(1, 7)
    assert told == [(episode_seed(3, 5, 7), {"episode_number": 7})]


def test_episode_seeds_differ():
    seeds = {episode_seed(1, i, k) for i in range(20) for k in range(20)}
    assert len(seeds) == 400
    assert episode_seed(1, 2, 3) == episode_seed(1, 2, 3) != episode_seed(2, 2, 3)
