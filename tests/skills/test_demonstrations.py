"""What an oracle shows, and a policy that imitates it."""

import numpy as np
import pytest
from safetensors.torch import load_file

from rearrange.errors import UserError
from skills import train
from skills.demonstrations import Recorder, record
from skills.train import load_settings, make_environments
from ver.checkpoint import load_policy

SMALL = ["camera_size=16", "split=val", "starts.paths=[]", "sensors=depth"]


@pytest.mark.parametrize("skill", ["close_fridge", "navigate"])
def test_replaying_what_was_shown_does_the_task_again(skill):
    environments = make_environments(load_settings(skill, SMALL))
    recorder = Recorder(environments)
    recorder.begin(5)
    shown, success = recorder.episode()
    while not success:
        shown, success = recorder.episode()
    world, episode = recorder.environment, recorder.environment.episode
    world.reset(options={"episode": episode})
    info = {}
    for index, action in enumerate(shown.actions.numpy()):
        now = world.observe()
        if world.elapsed_steps < 30:  # later, roundings have added up
            for key, values in shown.observations.items():
                off = np.abs(np.asarray(now[key]) - values[index].numpy()) > 0.05
                assert off.mean() < 0.01  # an edge may lie in the next pixel
        _, _, _, _, info = world.step(action)
    assert info["metrics"]["success"]
    assert shown.actions.abs().max() <= 1.0


def test_only_whole_episodes_that_succeeded_are_kept():
    environments = make_environments(load_settings("close_fridge", SMALL))
    told = []
    shown = record(environments, 60, 3, report=lambda *each: told.append(each))
    assert told[-1][0] == len(shown.first) == len(shown.actions) >= 60
    assert shown.first.sum() == told[-1][1]
    assert shown.first[0]
    again = record(environments, 60, 3)
    for key, values in shown.observations.items():
        assert (values == again.observations[key]).all()
    # An episode ends where stop is called, and nowhere before.
    stops = np.flatnonzero(shown.actions[:, -1] > 0)
    assert set(stops) == set(np.append(np.flatnonzero(shown.first)[1:], len(shown.first)) - 1)


@pytest.mark.slow
def test_processes_do_not_change_what_is_shown(monkeypatch):
    monkeypatch.setattr("skills.demonstrations.BLOCK", 50)
    environments = make_environments(load_settings("close_fridge", SMALL))
    one, two = (record(environments, 150, 3, workers=workers) for workers in (1, 2))
    assert (one.actions == two.actions).all()
    assert (one.first == two.first).all()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["teacher=mother"], "teacher must be oracle or empty, found 'mother'"),
        (["teacher=oracle", "cloning.batch=0"], "cloning.batch must be at least 1 and .*, found 0"),
    ],
)
def test_a_teacher_that_there_is_not_is_refused(overrides, message):
    with pytest.raises(Exception, match=message):
        make_environments(load_settings("close_fridge", overrides))


def test_a_stage_imitates_and_the_next_goes_on_from_it(tmp_path, capsys):
    stages = (
        "stages=[{name: shown, settings: {teacher: oracle, cloning.transitions: 40, cloning.updates: 2}},"
        "{name: alone}]"
    )
    tiny = ["trainer.total_steps=32", "trainer.collect.num_environments=2"]
    tiny += ["trainer.system=batched", "trainer.collect.rollout_length=16", "camera_size=40"]
    tiny += ["trainer.network.hidden_size=8", "trainer.network.visual_features=8"]
    tiny += ["trainer.tensorboard=false", "split=val", f"run={tmp_path}", stages]
    assert train.main(["close_fridge", *tiny]) == 0
    told = capsys.readouterr().err
    assert "imitating the oracle of close_fridge" in told
    assert f"from the weights of {tmp_path / 'shown' / 'policy.safetensors'}" in told
    shown, last = (load_file(tmp_path / n / "policy.safetensors") for n in ("shown", "alone"))
    assert shown.keys() == last.keys()
    assert (
        load_policy(tmp_path / "shown" / "policy.safetensors").metadata["skill"] == "close_fridge"
    )


def test_who_has_no_oracle_cannot_teach(monkeypatch):
    from skills import settings

    monkeypatch.setattr(settings, "find", lambda name: type("Spec", (), {"oracle": None}))
    with pytest.raises(UserError, match="there is no oracle for close_fridge"):
        make_environments(load_settings("close_fridge", ["teacher=oracle"]))
