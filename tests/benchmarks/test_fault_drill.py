import pytest

from benchmarks.fault_drill import SCENARIOS, Drill, NotSurvivedError, drill_one, expect_one_line


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
