from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.faulty_environments import Trails
from tests.helpers import toy_environments
from tests.helpers.small_runs import small_run, start_collector
from ver.collect.environment_processes import EnvironmentProcesses, WorkerProcess
from ver.collect.environment_worker import probe_spaces
from ver.collect.mailboxes import make_mailboxes
from ver.errors import UserError
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED


@pytest.mark.slow
def test_a_workers_first_step_may_compile_and_take_as_long_as_a_start():
    config = small_run("collect.step_timeout_s=1", "collect.rollout_length=4")
    collector, _ = start_collector(config, toy_environments.make_compiling)
    try:
        assert collector.collect(0)
        assert not any(collector.faults.counts.values())
    finally:
        collector.close()


def test_a_dead_workers_rows_are_settled():
    """Reported results count, their episodes end there; unreported actions are lost."""
    space, action_space = probe_spaces(Trails(), 0)
    mailboxes = make_mailboxes(space, action_space, 5, 5)
    buffer = RolloutBuffer(space, action_space, 5, 4, 1)
    held_back = np.zeros(5, np.uint8)
    processes = EnvironmentProcesses.__new__(EnvironmentProcesses)
    processes.mailboxes, processes.held_back = mailboxes, held_back
    processes.attach(buffer)
    rows = mailboxes.arrays
    buffer.newest[:] = [0, 1, 2, 3, -1]
    rows["outcome"][:] = [CONTINUES, CONTINUES, TERMINATED, CONTINUES, NO_ACTION]
    rows["observation/trail"][:] = np.arange(15).reshape(5, 3)
    rows["request_ready"][:] = [1, 0, 1, 0, 0]
    rows["action_ready"][:] = [0, 1, 0, 0, 0]
    held_back[:] = [0, 0, 0, 1, 0]
    worker = type("Worker", (), {"environments": [0, 1, 2, 3, 4], "number": 0})()
    rows["claimed"][2] = 1
    assert not processes.settle(worker)
    rows["claimed"][2] = 0
    assert processes.settle(worker)
    assert list(rows["outcome"]) == [TRUNCATED, LOST, TERMINATED, LOST, NO_ACTION]
    assert list(rows["final_observation/trail"][0]) == [0, 1, 2]
    for flag in (rows["request_ready"], rows["action_ready"], held_back):
        assert not flag.any()


@pytest.fixture
def watched(monkeypatch):
    """A function that gives the rows of one worker, and what looks at it so often every so many seconds."""
    clock = [1000.0]
    monkeypatch.setattr("ver.collect.environment_processes.time.monotonic", lambda: clock[0])

    def kill():
        raise UserError("ended")

    def make(ready, hung_at_start=False):
        processes = EnvironmentProcesses.__new__(EnvironmentProcesses)
        limits = "collect.startup_timeout_s=20", "collect.step_timeout_s=20"
        processes.config, processes._started = small_run(*limits).collect, ready
        processes.mailboxes = make_mailboxes(*probe_spaces(Trails(), 0), 1, 1)
        worker = WorkerProcess(0, [0], SimpleNamespace(kill=kill), ready=ready)  # pyright: ignore
        worker.hung_at_start = hung_at_start
        processes._workers = [worker]

        def look(times, seconds=1.0):
            for _ in range(times):
                clock[0] += seconds
                processes.check()

        return processes.mailboxes.arrays, look

    return make


@pytest.mark.parametrize(
    ("ready", "hung_at_start", "told"),
    [
        (False, False, "ended"),
        (False, True, "was not ready after 20 s, twice"),
        (True, True, "ended"),
    ],
)
def test_time_in_which_all_were_suspended_is_no_hang(watched, ready, hung_at_start, told):
    """Of a start and of a step; each has its time all the same."""
    rows, look = watched(ready, hung_at_start)
    rows["busy_since"][0] = 1000.0 if ready else 0.0
    look(10, 3600.0)
    with pytest.raises(UserError, match=told):
        look(12)


def test_a_worker_that_was_stopped_while_it_waited_hangs_once_it_is_asked(watched):
    rows, look = watched(True)
    look(100)  # it waits, as for the learner
    rows["action_ready"][0] = 1
    look(15)
    rows["step"][0] += 1  # and was asked again at once
    look(15)
    with pytest.raises(UserError, match="ended"):
        look(15)
