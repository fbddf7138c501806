import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.helpers import toy_environments
from tests.helpers.played_rollouts import make_player
from tests.helpers.small_runs import small_run, start_collector
from ver.config import DistributedConfig
from ver.distributed import SingleProcess
from ver.experience import make_experience
from ver.preemption import (
    FixedFractionPreemption,
    OptimalPreemption,
    Preemption,
    best_end,
    make_preemption,
)


def test_a_slow_rank_is_not_waited_for():
    # A fast rank has its 100 steps after 1 s, when the slow one has 10. Learning takes 1 s:
    # 110 / 2 = 55 steps/s; waiting 10 s for all gives 200 / 11 = 18.
    rates = [np.full(4, 25.0), np.full(2, 5.0)]
    assert best_end(rates, [100, 100], 1.0) == pytest.approx(1.0)


def test_long_learning_makes_waiting_worth_while():
    # 110 / 101 against 200 / 110
    rates = [np.full(4, 25.0), np.full(2, 5.0)]
    assert best_end(rates, [100, 100], 100.0) == pytest.approx(10.0)


def test_ranks_of_one_speed_are_all_waited_for():
    rates = [np.array([3.0, 7.0])] * 3
    assert best_end(rates, [40, 40, 40], 1.0) == pytest.approx(4.0, abs=0.3)


def test_a_rank_that_stands_still_is_no_reason_to_wait():
    assert best_end([np.array([10.0]), np.zeros(1)], [20, 20], 1.0) == pytest.approx(2.0)
    assert best_end([np.zeros(1)], [20], 1.0) == math.inf


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.floats(0.5, 200.0), min_size=1, max_size=4), min_size=1, max_size=4),
    st.integers(1, 60),
    st.floats(0.0, 5.0),
)
@example([[1.0, 4.0]], 1, 0.0)  # the fill at 0.2 s holds no whole step
def test_no_other_moment_is_better(rates, limit, fixed_s):
    end = best_end([np.array(rate) for rate in rates], [limit] * len(rates), fixed_s)

    def value(t: float) -> float:
        done = [min(limit, sum(int(t * each + 1e-9) for each in rate)) for rate in rates]
        return sum(done) / (t + fixed_s)

    # Between two bins nothing is more than a bin's width better.
    longest = max((limit + len(rate)) / sum(rate) for rate in rates)
    width = max(0.005, longest / 4000)
    for t in np.linspace(1e-3, 1.3 * longest, 300):
        assert value(t) * (t + fixed_s) / (t + width + fixed_s) <= value(end) + 1e-9


def report(rate: float, collecting_s: float, learning_s: float) -> dict:
    return {
        "rates": [rate],
        "limit": 100,
        "collecting_s": collecting_s,
        "learning_s": learning_s,
    }


def test_the_plan_follows_the_slowest_learner_and_its_own_error():
    preemption = OptimalPreemption(make_player(1, 4).buffer)
    assert preemption.planned_s == math.inf
    # Full after 1 s and 4 s: 125 / (1 + LT) against 200 / (4 + LT), equal at LT = 4.
    preemption.observe([report(100, 1.0, 0.1), report(25, 4.0, 3.0)])
    assert preemption.planned_s == pytest.approx(1.0)
    # The mean learning time becomes 3.5, still below 4; the rollout took 2 s longer than planned.
    preemption.observe([report(100, 1.0, 0.1), report(25, 3.0, 4.0)])
    assert preemption.planned_s == pytest.approx(4.0)
    # Learning times are forgotten after five rollouts, errors only after sixteen.
    for _ in range(5):
        preemption.observe([report(100, 1.0, 0.1), report(25, preemption.planned_s, 0.1)])
    assert preemption.planned_s == pytest.approx(1.0)


def test_rates_are_steps_over_the_time_of_the_last_five_rollouts(monkeypatch):
    player = make_player(2, 4)
    preemption = OptimalPreemption(player.buffer)
    now = 0.0
    monkeypatch.setattr("ver.preemption.time.perf_counter", lambda: now)
    made = []
    for rollout in range(7):
        player.version = rollout
        preemption.begin()
        already = len(player.steps)
        player.collect()
        made.append([sum(s.environment == e for s in player.steps[already:]) for e in (0, 1)])
        now += 2.0
        preemption.end(True)
    expected = np.sum(made[2:], axis=0) / 10.0
    np.testing.assert_allclose(preemption.report(0.5)["rates"], expected)
    assert preemption.report(0.5)["collecting_s"] == 2.0
    assert preemption.report(0.5)["limit"] == 8


class Several(SingleProcess):
    """Counters of ranks that all live in this process."""

    def __init__(self, rank: int, size: int, counters: dict[str, int]):
        self.rank, self.size, self.counters = rank, size, counters

    def count(self, name: str, more: int) -> int:
        self.counters[name] = self.counters.get(name, 0) + more
        return self.counters[name]

    def forget_counter(self, name: str) -> None:
        del self.counters[name]


def test_a_fixed_fraction_ends_the_others(monkeypatch):
    now = 0.0
    monkeypatch.setattr("ver.preemption.time.monotonic", lambda: now)
    counters: dict[str, int] = {}
    ranks = [FixedFractionPreemption(Several(i, 5, counters), 0.6) for i in range(5)]
    for _ in range(4):
        for rank in ranks:
            rank.begin()
        for rank in ranks[:3]:
            now += 1.0
            assert not ranks[4].due()
            rank.end(True)
        now += 1.0
        assert ranks[3].due()
        assert ranks[4].due()
        for rank in ranks[3:]:
            rank.end(False)
    assert len(counters) == 2  # old ones were removed


def test_the_next_training_of_a_process_counts_anew():
    group, buffer = Several(0, 2, {}), make_player(1, 2).buffer
    for _ in range(2):
        preemption = make_preemption(DistributedConfig("fixed", 0.5), group, buffer)
        assert preemption is not None
        preemption.begin()
        assert not preemption.due()
        preemption.end(True)


def test_one_process_is_never_preempted():
    buffer = make_player(1, 2).buffer
    assert make_preemption(DistributedConfig("optimal"), SingleProcess(), buffer) is None
    group = Several(0, 2, {})
    assert make_preemption(DistributedConfig("none"), group, buffer) is None
    kinds = {"optimal": OptimalPreemption, "fixed": FixedFractionPreemption}
    for name, kind in kinds.items():
        assert isinstance(make_preemption(DistributedConfig(name), group, buffer), kind)


class AfterSteps(Preemption):
    """Ends a rollout after a number of requests."""

    def __init__(self, buffer, most: int):
        self.buffer, self.most, self.full = buffer, most, True

    def due(self) -> bool:
        return int(self.buffer.pointer[0]) >= self.most

    def end(self, full: bool) -> None:
        self.full = full


@pytest.mark.parametrize("inference_workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_collection_ends_early_with_any_number_of_inference_workers(inference_workers):
    workers = f"collect.num_inference_workers={inference_workers}"
    config = small_run(workers, "collect.rollout_length=64")
    collector, _ = start_collector(config, toy_environments.make_reach)
    buffer = collector.buffer
    seen: set[tuple[int, int, int]] = set()
    try:
        for version in range(5):
            preemption = AfterSteps(buffer, 20 if version % 2 else 10**6)
            assert collector.collect(version, preemption=preemption)
            assert preemption.full == (version % 2 == 0)
            experience = make_experience(buffer, 0.9, 0.9, 1.0, 0)
            assert len(experience.slots) == 4 * 64
            if not preemption.full:
                assert 20 <= buffer.fresh_steps < 4 * 64
            assert buffer.fresh_steps == (~experience.stale).sum()
            fresh = experience.slots[~experience.stale]
            columns = (buffer.environments, buffer.episodes, buffer.steps)
            steps = list(zip(*(column[fresh].tolist() for column in columns), strict=True))
            assert len(set(steps)) == len(steps)
            assert not seen & set(steps)
            seen |= set(steps)
            _check_sequences(buffer, experience)
    finally:
        collector.close()
    # No step of any environment was lost on the way.
    for environment in range(4):
        mine = sorted((episode, step) for e, episode, step in seen if e == environment)
        assert mine == [(1 + i // 20, i % 20) for i in range(len(mine))]


def _check_sequences(buffer, experience) -> None:
    """Each step of a sequence leads to the next one."""
    x = buffer.observations["x"][:, 0].numpy()
    for start, length in zip(experience.starts, experience.lengths, strict=True):
        slots = experience.slots[start : start + length]
        assert len(set(buffer.versions[slots[1:]])) <= 1
        moved = x[slots] + 0.1 * (buffer.actions[slots, 0].numpy() - 1)
        np.testing.assert_allclose(x[slots[1:]], moved[:-1], atol=1e-5)
        np.testing.assert_allclose(buffer.rewards[slots], -np.abs(moved), atol=1e-5)
