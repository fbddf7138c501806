import pytest

from benchmarks.soak import Sample, drift, drifts


def test_drift_compares_the_halves():
    assert drift([100, 100, 103, 101]) == pytest.approx(0.02)
    assert drift([100, 7, 110]) == pytest.approx(0.1)
    assert drift([0, 0]) == 0.0
    assert drift([0, 5]) == 1.0


def test_drifts_leave_the_warm_up_out():
    samples = [Sample(minute, 50, 50, 0, 0, 2, 1000, 0.3) for minute in range(1, 21)]
    samples[0] = Sample(1, 1, 1, 0, 0, 2, 5, 0.3)
    samples[-1] = Sample(20, 70, 50, 0, 0, 2, 900, 0.3)
    result = drifts(samples)
    assert result["memory"] == pytest.approx(0.2 / 9)
    assert result["steps_per_second"] == pytest.approx(-0.1 / 9)
    assert result["fixed_work"] == 0.0
    assert drifts(samples[:1]) == {}
