"""VER: inference beside simulation, and the bounds of its batches."""

import time

import numpy as np
import pytest

from benchmarks.faulty_environments import Trails
from tests.helpers.checked_system import check_system
from tests.helpers.small_runs import small_run, start_collector
from ver.collect.systems.ver import batch_limits
from ver.config import TrainerConfig
from ver.errors import UserError


def settings(*overrides: str) -> TrainerConfig:
    return small_run("log_interval_s=1e9", "collect.environments_per_worker=4", *overrides)


def test_a_worker_steps_some_environments_while_inference_serves_the_others(monkeypatch):
    """Inference is slow here, and does not begin until the worker is at work, and ends after it."""
    config = settings()
    make_env = Trails(
        delay_s=0.03
    )  # a worker that steps in no time is done before inference begins
    collector, policy = start_collector(config, make_env)
    rows = collector.engine.mailboxes.arrays
    choose = policy.choose
    batches, stepped_meanwhile = [], []

    def slow_choose(*arguments, **options):
        buffer = collector.buffer
        served = buffer.environments[buffer.free[: buffer.pointer[0]]]
        before = rows["step"].copy(), rows["episode"].copy()
        # On a busy machine the worker may be late: it is waited for until it was seen at work once.
        end = time.monotonic() + (0.02 if any(stepped_meanwhile) else 0.5)
        moved = np.empty(0, int)
        while time.monotonic() < end and not len(moved):
            time.sleep(0.01)
            moved = np.flatnonzero((before[0] != rows["step"]) | (before[1] != rows["episode"]))
        time.sleep(0.01)
        moved = np.flatnonzero((before[0] != rows["step"]) | (before[1] != rows["episode"]))
        batch = set(served[-len(arguments[1]) :].tolist())
        batches.append(batch)
        stepped_meanwhile.append(len(moved))
        # What is being served stands still; the worker owns only the others.
        assert not batch & set(moved.tolist())
        return choose(*arguments, **options)

    monkeypatch.setattr(policy, "choose", slow_choose)
    try:
        assert collector.collect(0)
    finally:
        collector.close()
    assert all(len(batch) <= 4 for batch in batches)
    # Some environments were stepped while others were served; how many is the machine's affair.
    assert sum(stepped_meanwhile) > 0


def test_bounds_of_the_batches():
    def bounds(*overrides: str) -> tuple[int, int]:
        limits = batch_limits(settings("collect.num_environments=16", *overrides))
        return limits.minimum, limits.maximum

    # VER's published rule for two inference workers: N / n / 1.5 and 1.5 N / n.
    assert bounds("collect.num_inference_workers=2") == (5, 12)
    # One process alone never waits for more than one worker's environments, ...
    assert bounds() == (4, 24)
    # ... or half of them where there is but one worker.
    assert bounds("collect.environments_per_worker=16") == (8, 24)
    assert bounds("collect.environments_per_worker=1") == (1, 24)
    assert bounds("collect.min_requests=3", "collect.max_requests=5") == (3, 5)
    # What is set is kept, and an automatic bound gives way.
    assert bounds("collect.max_requests=2") == (2, 2)
    assert bounds("collect.min_requests=30") == (30, 30)


def test_a_largest_batch_below_the_smallest_is_refused():
    with pytest.raises(UserError, match=r"max_requests=3 is less than collect\.min_requests=4"):
        check_system("collect.min_requests=4", "collect.max_requests=3")
