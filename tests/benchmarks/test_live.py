"""The page beside a training: the interval of a median, what is told, and what is refused."""

import json
import time

import pytest

from benchmarks.live import LOOKED_AT, NOBODY, TURNS, looking, main, median_interval, window_cost
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


@pytest.mark.slow
def test_a_training_is_measured_in_all_turns(tmp_path):
    pytest.importorskip("viser")
    path = tmp_path / "told.json"
    assert main(["--rounds", "1", "--seconds", "8", "--steps", "5", "--json", str(path)]) == 0
    told = json.loads(path.read_text())
    assert set(told["turns"]) == set(TURNS)
    assert set(told["ratios"]) == {NOBODY, LOOKED_AT}
    assert told["messages_taken"] > 0
    shares = told["page_shares"]
    assert 0.0 <= shares[NOBODY]["median"] < shares[LOOKED_AT]["median"] < 1.0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--skill", "dance"], "--skill: unknown 'dance'"),
        (["--rounds", "0"], "--rounds must be at least 1, found 0"),
        (["--seconds", "0.1"], "--seconds must be from 1 to 600"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)
