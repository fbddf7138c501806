"""The phases into which the thread that answers requests divides its time."""

import time

import pytest

from benchmarks.faulty_environments import Trails
from tests.helpers.small_runs import small_run, start_collector

EXTRA_S = 0.01  # that a batch takes longer


def compute() -> None:
    """Keeps this thread's core busy."""
    end = time.thread_time() + EXTRA_S
    while time.thread_time() < end:
        pass


def lose_the_core() -> None:
    time.sleep(EXTRA_S)


@pytest.mark.parametrize(
    ("where", "extra"),
    [
        *(("choose", compute), ("wake_workers", lose_the_core)),
        pytest.param("choose", lose_the_core, marks=pytest.mark.slow),
        pytest.param("wake_workers", compute, marks=pytest.mark.slow),
    ],
)
def test_time_goes_to_the_phase_that_spends_it(monkeypatch, where, extra):
    """Whoever loses the core waits; who computes works; inference is all that happens there."""
    collector, policy = start_collector(small_run(), Trails())
    owner = policy if where == "choose" else collector.engine.mailboxes
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
