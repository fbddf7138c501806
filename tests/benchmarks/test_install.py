"""The wheel, installed into an empty environment outside the checkout: what a stranger gets with pip."""

import sys

import pytest

from benchmarks import install
from rearrange.errors import UserError


@pytest.mark.slow
def test_an_installed_wheel_films_trains_and_evaluates_elsewhere(tmp_path):
    found = install.measure(tmp_path, 256)
    assert set(found["minutes"]) > {"install", "demo", "gym.make", "doctor", "train", "eval"}
    home = tmp_path / "home"
    assert list(home.glob("runs/demo/*.mp4"))
    config = (home / "runs" / "pick" / "config.yaml").read_text()
    assert "final_log_std: -2.2" in config  # of configs/pick.yaml
    assert not list((tmp_path / "venv").rglob("runs"))
    assert 0 < found["megabytes"]["wheel"] < found["megabytes"]["installed"]


def test_a_step_that_fails_ends_it_with_what_it_said(tmp_path):
    with pytest.raises(UserError, match=r"exit status 1: .*no such thing"):
        install.run([sys.executable, "-c", "raise SystemExit('no such thing')"], tmp_path)


def test_commands_run_without_what_leads_to_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", "/checkout")
    told = install.run([sys.executable, "-c", "import sys; print(sys.path)"], tmp_path)
    assert "/checkout" not in told


@pytest.mark.parametrize("steps", ["63", "1000001"])
def test_steps_out_of_their_range_are_refused(steps, capsys):
    with pytest.raises(SystemExit) as left:
        install.parse(["--steps", steps])
    assert left.value.code == 2
    assert f"--steps must be from 64 to 1000000, found {steps}" in capsys.readouterr().err
