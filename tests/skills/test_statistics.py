import pytest
from hypothesis import given
from hypothesis import strategies as st

from skills.statistics import mean_score, proportion, wilson


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
    interval = wilson(successes, trials)
    assert interval.mean == successes / trials
    assert interval.low == pytest.approx(low, abs=5e-5)
    assert interval.high == pytest.approx(high, abs=5e-5)


@given(trials=st.integers(1, 1000), data=st.data())
def test_interval_is_ordered_and_symmetric(trials, data):
    successes = data.draw(st.integers(0, trials))
    interval, mirrored = wilson(successes, trials), wilson(trials - successes, trials)
    assert 0.0 <= interval.low <= interval.mean <= interval.high <= 1.0
    assert interval.low == pytest.approx(1.0 - mirrored.high)


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (2, 1), (-1, 3)])
def test_nonsense_is_refused(successes, trials):
    with pytest.raises(ValueError, match="no proportion"):
        wilson(successes, trials)


def test_proportion_counts_true():
    assert proportion([True, False, True, True]).mean == 0.75
    assert str(proportion([True] * 9 + [False])) == "90.0 % (59.6 to 98.2)"


def test_a_mean_scores_interval_by_hand():
    # Mean 0.5, deviation sqrt(2 * 0.25^2 / 2) = 0.25; half width 1.96 * 0.25 / sqrt(3) = 0.2829.
    interval = mean_score([0.25, 0.5, 0.75])
    assert interval.mean == 0.5
    assert (interval.low, interval.high) == pytest.approx((0.2171, 0.7829), abs=5e-5)
    assert mean_score([1.0, 1.0, 0.4]).high == 1.0
    assert (mean_score([0.5]).low, mean_score([0.5]).high) == (0.0, 1.0)  # one says nothing
    with pytest.raises(ValueError, match="no scores"):
        mean_score([])
