import numpy as np

from benchmarks.faulty_environments import Trails
from tests.helpers import toy_environments
from tests.helpers.small_runs import small_run, start_collector
from ver.collect.environment_processes import EnvironmentProcesses
from ver.collect.environment_worker import probe_spaces
from ver.collect.mailboxes import make_mailboxes
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED


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
