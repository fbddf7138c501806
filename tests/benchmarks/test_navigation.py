"""The comparison of how fast navigation is simulated and trained."""

import json

import pytest

import nav.env as nav_env
from benchmarks import navigation

SMALL = (
    "agent.camera_size=36",
    "trainer.collect.num_environments=4",
    "trainer.collect.rollout_length=8",
    "trainer.ppo.mini_batches=1",
)


def test_simulation_and_training_are_timed(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(nav_env, "building_names", lambda *_: ("layout5000_variation00",))
    monkeypatch.setattr(navigation, "STEPS", 20)
    path = tmp_path / "figures.json"
    options = ["--systems=batched", "--repeats=2", "--seconds=0.1", f"--json={path}"]
    assert navigation.main([*options, *SMALL]) == 0
    record = json.loads(path.read_text())
    begins = "simulation, nothing but stops"
    assert set(record["rows"]) == {"simulation", "simulation, stops", begins, "batched"}
    assert all(len(runs) == 2 for runs in record["rows"].values())
    rates = {name: runs[0]["steps_per_s"] for name, runs in record["rows"].items()}
    assert rates["simulation"] > rates["batched"] > 0
    assert rates["simulation"] > rates[begins] > 0
    assert 0 < record["rows"]["batched"][0]["learning_share"] < 1
    assert "trainer.system=batched" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--task=pick"], "unknown task 'pick': choose one of pointnav"),
        (["--repeats=0"], "above zero"),
    ],
)
def test_what_makes_no_sense_is_refused(words, message, capsys):
    with pytest.raises(SystemExit):
        navigation.main(words)
    assert message in capsys.readouterr().err
