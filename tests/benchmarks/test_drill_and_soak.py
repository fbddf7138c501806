import os
import subprocess
import sys

import pytest

from benchmarks.fault_drill import SCENARIOS, Drill, NotSurvivedError, drill_one, expect_one_line
from benchmarks.faulty_environments import Trails, plan
from benchmarks.leftovers import MARK, abandoned, survivors
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


def test_a_process_that_stays_is_found():
    code = "import time; time.sleep(60)"
    environment = os.environ | {MARK: "test-of-leftovers"}
    process = subprocess.Popen([sys.executable, "-c", code], env=environment)
    try:
        assert survivors("test-of-leftovers", 0.2) == [process.pid]
        assert survivors("another mark", 0.0) == []
    finally:
        process.kill()
        process.wait()
    assert survivors("test-of-leftovers", 0.0) == []


def test_a_segment_that_stays_is_found():
    name = f"ver-test-{os.getpid()}"
    path = f"/dev/shm/{name}"
    with open(path, "w") as file:
        file.write("x")
    try:
        assert abandoned({name, "no such segment"}) == {name}
    finally:
        os.unlink(path)
    assert abandoned({name}) == set()


def test_an_error_must_be_one_line_with_the_words():
    expect_one_line("fault ...\nerror: the disk is full\n", "disk")
    for said in ("error: a\nerror: b", "Traceback", "error: something else"):
        with pytest.raises(NotSurvivedError):
            expect_one_line(said, "disk")


@pytest.mark.slow
def test_the_drill_notices_what_is_not_survived(tmp_path, monkeypatch):
    """No fault is allowed here, so one environment that raises ends the training."""
    drill = Drill(tmp_path, 0)

    def scenario(drill: Drill) -> str:
        drill.run("x", faults=[["raise", 0, 5]], settings=["collect.max_faults_per_hour=0"])
        return "nothing"

    monkeypatch.setitem(SCENARIOS, "broken", scenario)
    result = drill_one("broken", drill)
    assert not result.survived
    assert "exit status 2 instead of 0: error: environment 0 raised" in result.lost


def test_a_planned_fault_happens_once(tmp_path):
    (fault,) = plan(tmp_path, ("raise", 1, 3))
    assert not fault.happens(0, 9)
    assert not fault.happens(1, 2)
    assert fault.happens(1, 3)
    assert not fault.happens(1, 4)
    env = Trails(plan(tmp_path / "..", ("nan_reward", 0, 10**9)))(0, 0)
    env.reset(seed=1)
    assert env.step(env.action_space.sample())[1] >= 0.0
