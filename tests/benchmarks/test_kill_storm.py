"""The storm, on a training that only counts."""

import random
import sys

import pytest

from benchmarks import kill_storm
from benchmarks.kill_storm import (
    ENVIRONMENT_WORKER,
    Phase,
    Storm,
    band,
    last_row,
    main,
    workers_of,
)
from benchmarks.leftovers import survivors
from skills.command import USER_ERRORS


@pytest.fixture
def storm(tmp_path, monkeypatch):
    def make(*hits):
        made = Storm(tmp_path / "run", (), f"test-of-storm-{tmp_path}", *hits)
        made.command = [sys.executable, "-m", "tests.helpers.counting_training", str(made.folder)]
        return made

    monkeypatch.setattr(kill_storm, "LOOK_S", 0.02)
    monkeypatch.setattr(kill_storm, "REST_S", 0.1)
    monkeypatch.setattr(kill_storm, "SAMPLE_S", 0.5)
    return make


@pytest.mark.slow
def test_workers_and_the_trainer_are_hit_and_all_is_begun_again(storm):
    weather = storm(random.Random(3), 0.4, 1.7)
    phase = weather.run(0.12)
    assert phase.starts > 1
    assert sum(count for name, count in phase.hits.items() if name.startswith("trainer")) >= 2
    assert {name.rpartition(" ")[0] for name in phase.hits} == {"trainer", ENVIRONMENT_WORKER}
    assert "1: the sleeper died" in phase.last_words
    assert phase.steps == last_row(weather.folder / "metrics.jsonl")["steps"] > 0
    assert phase.curve[-1][1:] == [phase.steps, 0.5]
    assert phase.faults == {"faults/died": 1.0}
    assert survivors(weather.mark) == []


@pytest.mark.slow
def test_one_that_is_left_alone_is_started_once(storm):
    phase = storm().run(0.05)
    assert (phase.starts, dict(phase.hits), dict(phase.last_words)) == (1, {}, {})
    assert phase.begun > 0  # the start does not count
    assert phase.speed == (phase.steps - phase.begun) / phase.seconds > 0


@pytest.mark.slow
def test_one_that_ends_before_it_learned_is_no_storm(storm):
    weather = storm()
    weather.command = [sys.executable, "-c", "raise SystemExit('no such thing')"]
    with pytest.raises(USER_ERRORS, match="ended before it learned: no such thing"):
        weather.run(0.05)


def phase_of(*points):
    return Phase(curve=[[0.0, steps, success] for steps, success in points])


def test_the_band_is_what_undisturbed_curves_span():
    calm = [phase_of((0, 0.0), (100, 1.0)), phase_of((0, 0.0), (50, 0.1), (200, 0.2))]
    storm = phase_of((0, 0.0), (50, 0.3), (50, 0.6), (100, 0.1), (150, 0.9))
    # at 50 they span 0.1 to 0.5, at 100 0.13 to 1; the first ends at 100
    assert band(storm, calm) == {
        "steps": 100,
        "points": 4,
        "inside": 0.5,
        "below": 0.25,
        "above": 0.25,
    }


def test_who_is_gone_has_no_workers(tmp_path):
    assert workers_of(2**22 + 1) == {}
    assert last_row(tmp_path / "none") == {}
    (tmp_path / "cut").write_text('{"steps": 4}\n{"ste')
    assert last_row(tmp_path / "cut") == {"steps": 4}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["dance"], "unknown skill 'dance': choose of"),
        (["pick", "--minutes", "0"], "--minutes must be above 0, found 0"),
        (["pick", "--seeds", "0"], "--seeds must be from 1 to 100, found 0"),
        (["pick", "--trainer-every", "0"], "--trainer-every must be above 0, found 0"),
    ],
)
def test_what_makes_no_sense_is_told_in_one_line(words, told):
    with pytest.raises(USER_ERRORS, match=told):
        main(words)
