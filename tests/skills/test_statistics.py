import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.statistics import Proportion, clustered_variance, mean_score, proportion, wilson


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        # By hand with z = 1.96: center (p + z2/2n)/(1 + z2/n), half width z sqrt(.)/(1 + z2/n).
        (5, 10, 0.2366, 0.7634),
        (90, 100, 0.8256, 0.9448),
        (0, 10, 0.0, 0.2775),  # z2/(n + z2) = 3.8415/13.8415
        (10, 10, 0.7225, 1.0),
        (1, 1, 0.2065, 1.0),  # 1/(1 + z2)
    ],
)
def test_hand_worked_values(successes, trials, low, high):
    interval = wilson(successes / trials, trials)
    assert interval.mean == successes / trials
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(trials=st.integers(1, 1000), data=st.data())
def test_interval_is_ordered_and_symmetric(trials, data):
    successes = data.draw(st.integers(0, trials))
    interval, mirrored = (
        wilson(successes / trials, trials),
        wilson(1.0 - successes / trials, trials),
    )
    assert 0.0 <= interval.low <= interval.mean <= interval.high <= 1.0
    assert interval.low == pytest.approx(1.0 - mirrored.high)


@pytest.mark.parametrize(("rate", "trials"), [(0.0, 0), (2.0, 1), (-0.3, 3)])
def test_nonsense_is_refused(rate, trials):
    with pytest.raises(ValueError, match="no proportion"):
        wilson(rate, trials)


def test_of_one_plan_the_interval_is_wilsons():
    outcomes = [True, False, True, True]
    assert proportion(outcomes, ["3"] * 4) == wilson(0.75, 4)
    assert str(proportion([True] * 9 + [False], [3] * 10)) == "90.0 % (59.6 to 98.2)"


def test_an_interval_over_plans_by_hand():
    # Of six episodes half succeed; the plans' deviations from that are 1, 0 and -1. Variance:
    # 3/2 * (1/36 + 1/36) = 1/12, as of 0.25 * 12 = 3 episodes; with t = 4.3027 for z, of 0.6225.
    outcomes, plans = [True, True, True, False, False, False], ["a", "a", "b", "b", "c", "c"]
    assert clustered_variance(np.array(outcomes, float), plans) == pytest.approx(1 / 12)
    interval = proportion(outcomes, plans)
    assert interval.mean == 0.5
    assert (interval.low, interval.high) == pytest.approx((0.0362, 0.9638), abs=5e-5)
    # Half width of a mean: 4.3027 * sqrt(1/12) = 1.2421, cut to [0, 1].
    assert mean_score([float(x) for x in outcomes], plans) == Proportion(0.5, 0.0, 1.0)


def test_alike_plans_are_no_more_certain_than_their_episodes():
    outcomes, plans = [True, False] * 50, [str(k // 2) for k in range(100)]
    interval, alone = proportion(outcomes, plans), wilson(0.5, 100)
    assert interval.low < alone.low < alone.high < interval.high
    assert interval.high - interval.low < 1.03 * (alone.high - alone.low)


def test_where_all_succeed_there_still_is_a_width():
    interval = proportion([True] * 500, [str(k % 100) for k in range(500)])
    assert interval.high == 1.0
    assert 0.985 < interval.low < wilson(1.0, 500).low


def test_intervals_over_plans_hold_what_they_promise():
    # Twenty plans of five episodes, succeeding at 90 % with a correlation of 0.3 within a plan.
    rng = np.random.default_rng(36)
    plans, mean, within = [k // 5 for k in range(100)], 0.9, 0.3
    spread = 1.0 / within - 1.0
    held = {"plans": 0, "episodes": 0}
    draws = 400
    for _ in range(draws):
        rates = rng.beta(mean * spread, (1.0 - mean) * spread, 20).repeat(5)
        outcomes = rng.random(100) < rates
        intervals = {"plans": proportion(outcomes, plans), "episodes": wilson(outcomes.mean(), 100)}
        for name, interval in intervals.items():
            held[name] += interval.low <= mean <= interval.high
    assert held["plans"] / draws > 0.92
    assert held["episodes"] / draws < 0.88  # what it was before: too sure


def test_a_mean_scores_interval_by_hand():
    # Mean 0.5, deviation sqrt(2 * 0.25^2 / 2) = 0.25; half width 1.96 * 0.25 / sqrt(3) = 0.2829.
    interval = mean_score([0.25, 0.5, 0.75], "aaa")
    assert interval.mean == 0.5
    assert (interval.low, interval.high) == pytest.approx((0.2171, 0.7829), abs=5e-5)
    assert mean_score([1.0, 1.0, 0.4], "aaa").high == 1.0
    assert (mean_score([0.5], "a").low, mean_score([0.5], "a").high) == (0.0, 1.0)  # says nothing
    # Two plans at 0.4 and 0.6: variance 2 * (0.2^2 + 0.2^2) / 16 = 0.01; t = 12.706: no news.
    assert mean_score([0.4, 0.4, 0.6, 0.6], "aabb") == Proportion(0.5, 0.0, 1.0)


@pytest.mark.parametrize("figure", [proportion, mean_score])
def test_every_episode_has_a_plan(figure):
    with pytest.raises(ValueError, match="there is no"):
        figure([], [])
    with pytest.raises(ValueError, match="2 values on 1 plans"):
        figure([1.0, 0.0], ["a"])
