"""`python -m skills.initiation`."""

import json
import subprocess
import sys

import numpy as np
import pytest

from rearrange.errors import UserError
from skills.initiation import load_initiation
from skills.initiation.__main__ import judge, main, parse
from skills.initiation.starts import Start
from skills.learned import LearnedSkill
from skills.players import argument_of
from tests.helpers import ROOT
from tests.helpers.initiation import make_set
from ver.checkpoint import copy_policy


def test_it_learns_writes_and_judges(make_checkpoint, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("skills.initiation.__main__.LEAST_STARTS", 12)
    policy, told = tmp_path / "pick.safetensors", tmp_path / "told.json"
    copy_policy(make_checkpoint("pick", "sensors=both"), policy)
    asked = ["pick", "--checkpoint", str(policy), "--starts", "12", "--workers", "1"]
    assert main([*asked, "--played", "4", "--judged", "4", "--json", str(told)]) == 0
    result = json.loads(told.read_text())
    assert result["starts"] == 4 == sum(each["starts"] for each in result["bins"])
    assert result["succeed"] == 0.0  # in 20 steps, without training
    assert result["area_under_curve"] is None
    assert "pick.initiation" in capsys.readouterr().out
    learned = load_initiation(policy)
    assert np.isfinite(learned.odds.numpy()).all()
    skill = LearnedSkill("pick", policy)
    world = skill.environments(0, seed=0)
    world.reset(seed=5)
    chance = skill.chance(world, argument_of("pick", world.episode))
    assert chance is not None
    assert 0.0 <= chance < 0.5
    assert chance == skill.chance(world, argument_of("pick", world.episode))


@pytest.mark.slow
def test_the_command_learns_in_several_processes(make_checkpoint, tmp_path):
    """Run as a user does: what is defined in a package's `__main__` is not found in the others."""
    policy = tmp_path / "pick.safetensors"
    copy_policy(make_checkpoint("pick", "sensors=both"), policy)
    asked = ["--checkpoint", str(policy), "--starts", "100", "--workers", "2"]
    command = [sys.executable, "-m", "skills.initiation", "pick", *asked]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert load_initiation(policy) is not None


def test_a_policy_without_one_cannot_tell(make_checkpoint):
    skill = LearnedSkill("pick", make_checkpoint("pick", "sensors=both"))
    assert skill.chance(None, None) is None


def test_chances_are_compared_with_how_starts_ended():
    learned = make_set(2)
    for parameter in learned.layers.parameters():
        parameter.data.zero_()
    learned.odds[0] = -3.5  # value 8, so a chance of 1 / (1 + e^-0.5) = 0.62 everywhere
    seen = np.zeros(2, np.float32)
    judged = judge(
        learned, [Start(seen, 3.0, False), Start(seen, 9.0, True), Start(seen, 9.5, True)]
    )
    assert judged["succeed"] == pytest.approx(2 / 3)
    assert judged["area_under_curve"] == 0.5
    assert judged["area_under_curve_of_the_critic"] == 1.0
    assert [each["starts"] for each in judged["bins"]] == [0, 0, 0, 3, 0]
    assert judged["bins"][3]["succeed"] == pytest.approx(2 / 3)
    assert judged["bins"][0]["succeed"] is None


def test_how_many_are_played_follows_how_many_are_valued():
    options = parse(["pick", "--starts", "2000"])
    assert (options.played, options.judged) == (100, 100)
    options = parse(["pick", "--played", "7", "--judged", "8"])
    assert (options.starts, options.played, options.judged) == (6000, 7, 8)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fly"], "unknown skill 'fly'"),
        (["pick", "--starts", "99"], "--starts must be at least 100, found 99"),
        (["pick", "--played", "0"], "--played must be at least 1, found 0"),
        (["pick", "--checkpoint", "gone"], "--checkpoint: there is no gone"),
    ],
)
def test_what_makes_no_sense_is_told(arguments, message):
    with pytest.raises(UserError, match=message):
        parse(arguments)
