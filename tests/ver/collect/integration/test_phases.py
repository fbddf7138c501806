"""The phases into which the thread that answers requests divides its time."""

import time

import pytest

from benchmarks.faulty_environments import Trails
from ver.collect.environment_worker import probe_spaces
from ver.collect.systems.ver import VERCollector
from ver.config import TrainerConfig, merge_config
from ver.networks.policy import ActorCritic

EXTRA_S = 0.01  # that a batch takes longer
SMALL = [
    "network.hidden_size=16",
    "collect.num_environments=4",
    "collect.environments_per_worker=2",
    "collect.rollout_length=16",
]


def compute() -> None:
    """Keeps this thread's core busy."""
    end = time.thread_time() + EXTRA_S
    while time.thread_time() < end:
        pass


def lose_the_core() -> None:
    time.sleep(EXTRA_S)


@pytest.mark.parametrize("extra", [compute, lose_the_core])
@pytest.mark.parametrize("where", ["choose", "wake_workers"])
def test_time_goes_to_the_phase_that_spends_it(monkeypatch, where, extra):
    """Whoever loses the core waits; who computes works; inference is all that happens there."""
    config = merge_config(TrainerConfig, [], SMALL)
    make_env = Trails()
    policy = ActorCritic(*probe_spaces(make_env, 0), config.network)
    collector = VERCollector(config, make_env, policy, 0)
    owner = policy if where == "choose" else collector._engine.mailboxes
    original, calls = getattr(owner, where), []

    def longer(*arguments, **options):
        calls.append(where)
        result = original(*arguments, **options)
        extra()
        return result

    try:
        assert collector.collect(0)
        before = dict(collector.busy_seconds)
        monkeypatch.setattr(owner, where, longer)
        begin = time.perf_counter()
        assert collector.collect(1)
        wall = time.perf_counter() - begin
    finally:
        collector.close()
    seconds = {phase: collector.busy_seconds[phase] - before[phase] for phase in before}
    expected = "inference" if where == "choose" else "overhead" if extra is compute else "wait"
    answered = len(calls) - 1  # the first call decides anew on what the last rollout held back
    assert seconds[expected] >= 0.99 * EXTRA_S * answered
    if where != "choose" and extra is lose_the_core:
        assert seconds["overhead"] < 0.5 * EXTRA_S * answered
    assert 0.8 * (wall - 2 * EXTRA_S) < sum(seconds.values()) < wall
