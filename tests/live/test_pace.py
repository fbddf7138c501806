"""When steps may follow: in real time, slower, one by one, or not at all."""

import pytest

from live.pace import NextEpisode, Pace


class Clock:
    """Time that passes while somebody sleeps."""

    def __init__(self):
        self.now, self.during = 0.0, []

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds
        for act in self.during:
            act()


@pytest.fixture
def timed():
    clock = Clock()
    return Pace(0.1, clock, clock.sleep), clock


def test_steps_take_their_time_and_more_in_slow_motion(timed):
    pace, clock = timed
    for _ in range(10):
        pace.wait()
    assert clock.now == pytest.approx(1.0)
    pace.speed = 0.5
    for _ in range(10):
        pace.wait()
    assert clock.now == pytest.approx(3.0)


def test_a_late_step_is_not_made_up_for_by_many(timed):
    pace, clock = timed
    clock.now = 60.0
    before = clock.now
    for _ in range(11):
        pace.wait()
    assert clock.now - before >= 0.9


def test_while_paused_only_single_steps_pass(timed):
    pace, clock = timed
    pace.paused = True
    pace.step_once()
    pace.wait()
    slept = []

    def let_one_pass():
        slept.append(clock.now)
        if len(slept) == 20:
            pace.step_once()

    clock.during = [let_one_pass]
    pace.wait()
    assert len(slept) >= 20


def test_an_episode_is_left_once_even_while_paused(timed):
    pace, _ = timed
    pace.paused = True
    pace.leave()
    with pytest.raises(NextEpisode):
        pace.wait()
    pace.paused = False
    pace.wait()


def test_an_episode_that_is_asked_for_between_two_is_not_left_at_once(timed):
    pace, _ = timed
    pace.hold(0.1)
    pace.leave(5)
    assert pace.following(0) == 5
    pace.wait()
