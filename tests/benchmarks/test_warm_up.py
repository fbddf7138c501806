import pytest

from benchmarks.warm_up import main


def test_worlds_are_stepped_one_by_one_and_together(capsys):
    assert main(["pointnav"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith("pointnav: ")
    assert float(line.split()[1]) > 0.0


def test_an_unknown_task_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["pik"])
    assert "unknown task 'pik'" in capsys.readouterr().err
