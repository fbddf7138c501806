import json

import pytest

from console import doctor


def test_what_is_needed_is_there_and_fits_a_terminal(tmp_path, capsys):
    path = tmp_path / "found.json"
    assert doctor.main(["--seconds", "0", "--json", str(path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[-1] == "all that is needed is there"
    assert len(told) < 24
    assert max(map(len, told)) <= 80
    found = json.loads(path.read_text())
    assert found["packages"]["mujoco-core"]
    assert found["files"]["configs"] > 10
    assert "steps_per_second" not in found


def test_what_is_missing_is_said(monkeypatch, capsys):
    needed = ["numpy>=2", "no-such-package[extra]>=3; python_version > '3'"]
    monkeypatch.setattr(doctor, "_needed", lambda: needed)
    assert doctor.main(["--seconds", "0"]) == 1
    told = capsys.readouterr().out
    assert "no-such-package MISSING" in told
    assert "something is MISSING" in told


def test_a_checkout_that_is_not_installed_is_not_whole(monkeypatch, capsys):
    monkeypatch.setattr(doctor, "DISTRIBUTION", "no-such-distribution")
    assert doctor.main(["--seconds", "0"]) == 1
    told = capsys.readouterr().out
    assert "no-such-distribution is not installed, so what it needs is unknown" in told
    assert "all that is needed is there" not in told


def test_speed_is_measured():
    assert doctor.steps_per_second(0.2) > 1.0
    assert doctor.steps_per_second(1e-9) > 0.0  # what follows divides by it


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["--seconds", "601"], "--seconds must be from 0 to 600"), (["--json", "."], "is a folder")],
)
def test_bad_arguments_are_one_line(arguments, message, capsys):
    with pytest.raises(SystemExit) as left:
        doctor.main(arguments)
    assert left.value.code == 2
    assert message in capsys.readouterr().err
