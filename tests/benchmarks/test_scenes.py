"""Shared scenes: their triangles, and what is told of their replacement."""

import json

import numpy as np
import pytest

from benchmarks import scenes
from skills.command import USER_ERRORS


def test_the_largest_triangles_are_divided_and_cover_the_same():
    corners = np.array(
        [[(0, 0, 0), (4, 0, 0), (0, 4, 0)], [(0, 0, 1), (1, 0, 1), (0, 1, 1)]], float
    )
    found = scenes.divided(corners, 9)
    sides = found[:, 1:] - found[:, :1]
    areas = np.cross(sides[:, 0], sides[:, 1])[:, 2] / 2.0
    assert 9 <= len(found) <= 11
    assert areas.sum() == pytest.approx(8.5)
    assert (areas > 0.0).all()  # nothing is turned over
    assert areas.max() <= 2.0


def test_pauses_are_of_steps_in_which_a_scene_was_replaced():
    steps = np.array([[9.0, 9.0]] * scenes.WARM_UP + [[0.01, 0.008], [0.05, 0.02], [0.02, 0.01]])
    swaps = np.full_like(steps, 0.001)
    swaps[-2] = 0.03, 0.004
    replaced = np.arange(len(steps)) == len(steps) - 2
    found = scenes.pauses(steps, swaps, replaced)
    assert found["ms_clock"]["median_step"] == pytest.approx(15.0)
    assert found["ms_clock"]["longest_replacing"] == pytest.approx(50.0)
    assert found["ms_clock"]["pause"] == pytest.approx(35.0)
    assert found["ms_cpu"]["pause"] == pytest.approx(11.0)
    assert found["ms_cpu"]["longest_swap"] == pytest.approx(4.0)
    quiet = scenes.pauses(steps, swaps, np.zeros(len(steps), bool))
    assert quiet["ms_clock"]["pause"] is None


def test_memory_is_compared_over_time():
    memory = np.array([(n / 10.0, 100.0 + n, 50.0) for n in range(8)])
    found = scenes.flatness(memory)
    assert found == {"second_quarter_mb": 152.5, "last_quarter_mb": 156.5, "most_mb": 157.0}


@pytest.mark.slow
def test_both_kinds_of_scenes_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(scenes, "FILES", 3)
    path = tmp_path / "told.json"
    words = ["--minutes", "0.1", "--agents", "4", "--scenes", "2", "--steps", "6", "--size", "8"]
    words += ["--scan-agents", "3", "--scan-scenes", "1", "--scan-steps", "5"]
    assert scenes.main([*words, "--triangles", "6000", "--json", str(path)]) == 0
    told = json.loads(path.read_text())
    assert 6000 <= told["loading"]["triangles"] < 6003
    for name, agents in (("homes", 4), ("triangles", 3)):
        row = told["rows"][name]
        assert row["agents"] == agents
        assert row["replaced"] > 0
        assert row["images_per_s"] > 0.0
        assert row["ms_cpu"]["longest_swap"] > 0.0
        assert row["memory"]["most_mb"] > 0.0
    assert told["made"]["seed"] == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--minutes", "0"], "--minutes must be above 0, found 0"),
        (["--agents", "0"], "--agents must be at least 1, found 0"),
        (["--split", "none"], "none"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told, capsys):
    with pytest.raises((*USER_ERRORS, SystemExit)) as raised:
        scenes.main(words)
    assert told in capsys.readouterr().err + str(raised.value)
