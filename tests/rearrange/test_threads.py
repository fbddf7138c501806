"""Threads that share worlds: every part is done once, and the worlds are those that one thread steps."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nav.env import NavVectorEnv
from rearrange import RearrangeVectorEnv, SimulatorConfig
from rearrange.tasks import make_task
from rearrange.tasks.navigate import NavigateConfig
from rearrange.tasks.pick import PickConfig
from rearrange.threads import Threads, cores


@given(count=st.integers(-1, 5), parts=st.integers(0, 20))
def test_every_part_is_done_once_by_some_thread(count, parts):
    threads, done = Threads(count), []
    threads.each(lambda part, thread: done.append((part, thread)), parts)
    assert sorted(part for part, _ in done) == list(range(parts))
    assert {thread for _, thread in done} <= set(range(threads.count))
    threads.close()
    threads.close()


@given(count=st.integers(-1, 5), rows=st.integers(0, 40))
def test_every_row_is_done_once(count, rows):
    threads, done = Threads(count), np.zeros(rows, int)

    def work(some):
        done[some] += 1

    threads.rows(work, rows)
    assert (done == 1).all()
    threads.close()


def test_who_is_done_takes_the_next_part():
    threads, done = Threads(2), []
    free = threading.Event()

    def work(part, thread):
        if part == 0:
            assert free.wait(30.0)
        done.append((part, thread))
        if len(done) == 5:
            free.set()

    threads.each(work, 6)
    assert done[-1][0] == 0
    assert len({thread for part, thread in done if part}) == 1
    threads.close()


@pytest.mark.parametrize("where", [0, 3])
def test_an_error_is_raised_once_all_have_ended(where):
    threads, done = Threads(3), []

    def work(part, thread):
        if part == where:
            raise RuntimeError("the gears jammed")
        time.sleep(0.001)
        done.append(part)

    with pytest.raises(RuntimeError, match="the gears jammed"):
        threads.each(work, 6)
    before = len(done)
    time.sleep(0.01)
    assert len(done) == before
    threads.close()


def test_ranks_share_the_cores(monkeypatch):
    alone = cores()
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    assert cores() == max(1, alone // 2)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "100000")
    assert cores() == 1


def assert_same(one, other, actions, steps):
    for vector in (one, other):
        vector.reset(seed=3)
    for _ in range(steps):
        action = actions()
        outcomes = one.step(action), other.step(action)
        for key, value in outcomes[0][0].items():
            np.testing.assert_array_equal(value, outcomes[1][0][key], key)
        for first, second in zip(*(outcome[1:4] for outcome in outcomes), strict=True):
            np.testing.assert_array_equal(first, second)
    one.close()
    other.close()


@pytest.mark.parametrize("homes", ["classic", "generated"])
def test_worlds_do_not_depend_on_the_threads_that_step_them(homes):
    """In homes drawn by hand worlds share models, whose numbers a grasp changes."""
    small = SimulatorConfig(camera_size=16)
    pairs = (
        RearrangeVectorEnv(6, "place", None, "val", small, homes=homes, threads=n) for n in (1, 3)
    )
    rng = np.random.default_rng(0)
    shape = (6, 10)
    assert_same(*pairs, lambda: rng.uniform(-1.0, 1.0, shape).astype(np.float32), 40)


@pytest.mark.parametrize(
    ("task", "config"),
    [
        ("navigate", NavigateConfig(floor_map=True, map_way=True)),
        ("pick", PickConfig(glimpse=True)),
    ],
)
def test_what_is_made_of_images_does_not_depend_on_threads(task, config):
    pairs = (RearrangeVectorEnv(7, task, config, "val", threads=n) for n in (1, 3))
    rng, size = np.random.default_rng(0), make_task(task).action_size
    assert_same(*pairs, lambda: rng.uniform(-1.0, 1.0, (7, size)).astype(np.float32), 10)


def test_images_do_not_depend_on_the_threads_that_draw_them():
    pairs = (NavVectorEnv(11, "objectnav", None, "val", threads=n) for n in (1, 3))
    rng = np.random.default_rng(0)
    assert_same(*pairs, lambda: rng.choice([1, 1, 2, 3], 11), 12)
