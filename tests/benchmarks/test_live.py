"""The page beside a training: the interval of a median, what is told, and what is refused."""

import json
import time

import pytest

from benchmarks.live import (
    KINDS,
    LOOKED_AT,
    NOBODY,
    PLAIN,
    Training,
    compared,
    looking,
    main,
    median_interval,
    window_cost,
)
from rearrange.errors import UserError
from skills.command import USER_ERRORS


@pytest.mark.parametrize(
    ("count", "low", "high"),
    # By hand: below the first of six lies the median in 1.6 % of cases, below the second in 10.9
    [(1, 0, 0), (3, 0, 2), (6, 0, 5), (9, 1, 7), (10, 1, 8), (20, 5, 14)],
)
def test_the_interval_of_a_median_is_of_ordered_values(count, low, high):
    told = median_interval(list(range(count))[::-1])
    assert (told["low"], told["high"]) == (low, high)
    assert told["median"] == (count - 1) / 2


def test_a_window_that_nobody_looks_through_is_timed_beside_a_step():
    told = window_cost("pick", 3, 1)
    assert 0.0 < told["window_us"] < told["step_us"]
    assert told["window_us"] < told["sight_us"]


def test_a_page_takes_who_is_counted_as_looking_for_a_looker():
    """A connection that sends no camera is none to viser: nothing was drawn, and the figures were of that."""
    pytest.importorskip("viser")
    from live.page import Page

    page = Page("localhost", 8421, "test")
    try:
        assert not page.is_watched
        with looking(f"localhost:{page.port}"):
            until = time.monotonic() + 20.0
            while not page.is_watched and time.monotonic() < until:
                time.sleep(0.02)
            assert page.is_watched
    finally:
        page.close()


def make_training(kind, passed, page_s=None, value_loss=1.0):
    """A training that was halted before its first row of 100 steps, and at its rows after so many seconds."""
    training = object.__new__(Training)
    training.kind, training.before, training.passed = kind, 1, passed
    training.page_s = page_s or [0.0] * len(passed)
    training.rows = [
        {"steps": 100.0 * (k + 1), "loss/value_loss": value_loss} for k in range(len(passed) + 1)
    ]
    return training


def test_the_same_steps_are_compared(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    trainings = [
        make_training(PLAIN, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]),
        make_training(NOBODY, [1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 10.0]),
        make_training(LOOKED_AT, [2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0, 16.0],
                      [1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4, 3.8]),
    ]  # fmt: skip
    told = compared(trainings, 2)
    assert told["steps"] == [200.0, 800.0]
    assert told["same_work"]
    assert told["seconds"][PLAIN] == pytest.approx([3.0, 3.0])
    assert told["ratios"][NOBODY]["each"] == pytest.approx([1.0, 0.5])
    assert told["whole_ratios"][NOBODY] == pytest.approx(6.0 / 9.0)
    assert told["ratios"][LOOKED_AT]["each"] == pytest.approx([0.5, 0.5])
    # 1.2 s in 6 s of two processors
    assert told["page_shares"][LOOKED_AT]["each"] == pytest.approx([0.1, 0.1])
    assert told["page_shares"][NOBODY]["median"] == 0.0
    assert told["steps_per_second"][PLAIN] == pytest.approx(100.0)


def test_it_is_told_where_the_work_was_not_the_same():
    passed = [1.0, 2.0, 3.0, 4.0]
    trainings = [make_training(kind, passed) for kind in KINDS[:2]]
    trainings.append(make_training(LOOKED_AT, passed, value_loss=2.0))
    assert not compared(trainings, 1)["same_work"]
    with pytest.raises(UserError, match="raise --seconds"):
        compared(trainings, 2)


@pytest.mark.slow
def test_three_trainings_do_the_same_work(tmp_path):
    pytest.importorskip("viser")
    path = tmp_path / "told.json"
    words = ["--seconds", "20", "--stretches", "1", "--steps", "5", "--json", str(path)]
    assert main(words) == 0
    told = json.loads(path.read_text())
    assert told["same_work"]
    assert set(told["seconds"]) == set(KINDS)
    assert told["messages_taken"] > 0
    shares = told["page_shares"]
    assert 0.0 <= shares[NOBODY]["median"] < shares[LOOKED_AT]["median"] < 1.0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--skill", "dance"], "--skill: unknown 'dance'"),
        (["--stretches", "0"], "--stretches must be at least 1, found 0"),
        (["--seconds", "0.1"], "--seconds must be from 1 to 3600"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)
