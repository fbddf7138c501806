"""Where episodes stand, told from other processes."""

import multiprocessing
from functools import partial
from types import SimpleNamespace

import pytest

from planner.record import Moment
from planner.running import RunningEpisodes


def note(running, index, steps):
    moment = Moment((None,) * 20, 4, "open_cab", None, 3)  # type: ignore[arg-type]
    running.note(index, SimpleNamespace(elapsed_steps=steps), moment)


def test_an_episode_that_goes_on_has_a_line():
    running = RunningEpisodes(3)
    assert running.lines(()) == []
    note(running, 1, 1412)
    note(running, 2, 7)
    told = "episode 1: subtask 5 of 20, open cabinet, 1,412 steps so far"
    assert running.lines({2}) == [told]


@pytest.mark.slow
def test_other_processes_tell_of_theirs():
    running = RunningEpisodes(2)
    context = multiprocessing.get_context("spawn")
    other = context.Process(target=partial(note, running, 1, 30))
    other.start()
    other.join()
    assert [line.partition(":")[0] for line in running.lines(())] == ["episode 1"]
