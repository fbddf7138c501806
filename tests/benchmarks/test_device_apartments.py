"""Homes on a device: what is measured, and what is refused."""

import json

import pytest

from benchmarks.device_apartments import main
from rearrange import batched
from skills.command import USER_ERRORS


@pytest.mark.slow  # Warp compiles for a minute
def test_a_device_is_measured_beside_the_cpu(tmp_path, monkeypatch):
    pytest.importorskip("warp")
    pytest.importorskip("mujoco_warp")
    monkeypatch.setattr("benchmarks.device_apartments.CPU_WORLDS", 2)
    path = tmp_path / "told.json"
    words = ["--device", "cpu", "--worlds", "2", "--steps", "8", "--starts", "2", "--compared", "2"]
    words += ["--size", "16"]
    assert main([*words, "--json", str(path)]) == 0
    told = json.loads(path.read_text())
    (run,) = told["runs"]
    assert run["steps_per_second"] > 0.0 < told["cpu"]["steps_per_second"]
    assert run["images_per_second"] > run["steps_with_images_per_second"] > 0.0
    assert told["cpu"]["images_per_second"] > 0.0
    assert run["overflow"] == ""
    assert run["worlds_lost"] == 0
    assert told["agreement"]["largest_error_without_touch"] < told["agreement"]["tolerance"]


def test_what_makes_no_sense_is_told_in_one_line():
    with pytest.raises(USER_ERRORS, match="--worlds: whole numbers of at least 1"):
        main(["--worlds", "many"])
    with pytest.raises(USER_ERRORS, match="--steps must be at least 1, found 0"):
        main(["--steps", "0"])


def test_without_warp_the_command_is_told(monkeypatch):
    monkeypatch.setattr(batched, "find_spec", lambda name: None)
    with pytest.raises(USER_ERRORS, match="pip install --no-deps warp-lang"):
        main(["--device", "cpu"])


def test_a_device_that_is_not_there_is_told_before_homes_are_made(monkeypatch):
    pytest.importorskip("warp")
    pytest.importorskip("mujoco_warp")
    monkeypatch.setattr("benchmarks.device_apartments.sample_episodes", None)
    with pytest.raises(USER_ERRORS, match="device=no_such: there is no such device here, but cpu"):
        main(["--device", "no_such"])
