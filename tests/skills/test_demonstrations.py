"""What an oracle shows, and a policy that imitates it."""

import numpy as np
import pytest
from safetensors.torch import load_file

from rearrange.errors import UserError
from skills import train
from skills.command import USER_ERRORS
from skills.demonstrations import Recorder, record
from skills.train import load_settings, make_environments
from ver.checkpoint import load_policy
from ver.run_lock import RunLock

SMALL = ["camera_size=16", "split=val", "starts.paths=[]", "sensors=depth"]


@pytest.mark.parametrize("skill", ["close_fridge", "navigate"])
def test_replaying_what_was_shown_does_the_task_again(skill):
    environments = make_environments(load_settings(skill, SMALL))
    recorder = Recorder(environments)
    recorder.begin(6)  # none in which the way over the map hangs on the rounding of a cell
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


STAGES = (
    "stages=[{name: shown, settings: {teacher: oracle, cloning.transitions: 40, cloning.updates: 2}},"
    "{name: alone}]"
)
TINY = ["close_fridge", "trainer.total_steps=32", "trainer.collect.num_environments=2"]
TINY += ["trainer.system=batched", "trainer.collect.rollout_length=16", "camera_size=40"]
TINY += ["trainer.network.hidden_size=8", "trainer.network.visual_features=8"]
TINY += ["trainer.tensorboard=false", "split=val"]


def test_a_stage_imitates_and_the_next_goes_on_from_it(tmp_path, capsys):
    words = [*TINY, f"run={tmp_path}", STAGES]
    assert train.main(words) == 0
    told = capsys.readouterr().err
    assert "imitating the oracle of close_fridge" in told
    assert f"from the weights of {tmp_path / 'shown' / 'policy.safetensors'}" in told
    shown, last = (load_file(tmp_path / n / "policy.safetensors") for n in ("shown", "alone"))
    assert shown.keys() == last.keys()
    assert (
        load_policy(tmp_path / "shown" / "policy.safetensors").metadata["skill"] == "close_fridge"
    )

    _check_going_on(tmp_path, words, capsys)


def _check_going_on(run, words, capsys):
    """What is asked for otherwise when the same run goes on is told, or refused."""
    assert train.main(words) == 0
    told = capsys.readouterr().err
    assert f"done before: {run / 'shown' / 'policy.safetensors'}" in told
    assert "another setting" not in told
    other = [word.replace("transitions: 40", "transitions: 60") for word in words]
    assert train.main([*other, "trainer.seed=3", "trainer.ppo.clip=0.3"]) == 0
    lines = [each for each in capsys.readouterr().err.splitlines() if "another setting" in each]
    begin = "it was shown with another setting, and stays so: "
    assert lines == [
        f"{begin}trainer.seed: 1 before, 3 now",
        f"{begin}cloning.transitions: 40 before, 60 now",
    ]
    taught, alone = ([*words, f"until={name}"] for name in ("shown", "alone"))
    with pytest.raises(USER_ERRORS, match=r"shown holds a policy and no checkpoints to go on from"):
        train.main([word.replace("teacher: oracle, ", "") for word in taught])
    with pytest.raises(USER_ERRORS, match=r"teacher=oracle: .*alone was begun without one"):
        train.main(
            [word.replace("alone}", "alone, settings: {teacher: oracle}}") for word in alone]
        )


@pytest.mark.parametrize("held", ["", "shown"])
def test_two_trainings_do_not_overwrite_what_was_shown(tmp_path, held, monkeypatch):
    monkeypatch.setattr("skills.demonstrations.record", None)  # it does not come to that
    with RunLock(tmp_path / held), pytest.raises(USER_ERRORS, match="another training writes into"):
        train.main([*TINY, f"run={tmp_path}", STAGES])


def test_who_has_no_oracle_cannot_teach(monkeypatch):
    from skills import settings

    monkeypatch.setattr(settings, "find", lambda name: type("Spec", (), {"oracle": None}))
    with pytest.raises(UserError, match="there is no oracle for close_fridge"):
        make_environments(load_settings("close_fridge", ["teacher=oracle"]))
