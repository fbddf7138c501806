"""Options of an evaluation: what makes no sense together is refused."""

import pytest

import rearrange
from rearrange.scenes.registry import DEFAULT_HOMES, GENERATED
from skills import emergent_navigation
from skills import eval as evaluation
from skills.command import USER_ERRORS


@pytest.mark.parametrize("arguments", [["--episodes", "0"], ["--workers", "0"]])
def test_counts_must_be_positive(arguments):
    with pytest.raises(USER_ERRORS, match="at least 1"):
        evaluation.parse(["pick", *arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["camera_size=32"], "as task.KEY=VALUE"),
        (["task.max_step=3"], "task.max_steps"),
        (["task.max_steps=3", "--policy", "frontier"], "is for navigation tasks"),
        (["--scenes", "scans"], "--scenes is for navigation with --sim scan or habitat"),
    ],
)
def test_changes_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(USER_ERRORS, match=message):
        evaluation.parse(["pick", *arguments])


def test_a_group_of_numbers_changes_those_that_it_names_alone():
    changes = evaluation.parse(["pick", "task.action={delay: 1}", "task.max_steps=9"]).changes
    assert changes == {"action": {"delay": 1}, "max_steps": 9}
    assert evaluation.parse(["pick", "task.action.delay=1"]).changes == {"action": {"delay": 1}}


def test_episodes_of_sanity_rows_are_asked_for_with_them():
    with pytest.raises(USER_ERRORS, match=r"--sanity-episodes counts .*: say --sanity, too"):
        evaluation.parse(["pick", "--sanity-episodes", "20"])


def test_homes_are_chosen_where_there_are_some():
    assert evaluation.parse(["pick"]).homes == DEFAULT_HOMES
    assert evaluation.parse(["pointnav", "--homes", GENERATED]).homes == GENERATED


def test_a_task_of_habitat_labs_has_no_numbers_of_ours():
    name = "habitat-lab:RearrangePickTask-v0"
    assert evaluation.parse([name]).changes == {}
    with pytest.raises(USER_ERRORS, match="unknown key 'task'"):
        evaluation.parse([name, "task.max_steps=3"])


def test_oracles_take_no_checkpoint_and_no_unknown_skill():
    with pytest.raises(USER_ERRORS, match="takes no --checkpoint"):
        evaluation.parse(["pick", "--policy", "oracle", "--checkpoint", "x"])
    with pytest.raises(USER_ERRORS, match="takes no --images"):
        evaluation.parse(["pick", "--policy", "oracle", "--images", "swapped"])
    with pytest.raises(USER_ERRORS, match="--policy random takes no --actions"):
        evaluation.parse(["pick", "--policy", "random", "--actions", "mean"])
    with pytest.raises(rearrange.UserError, match="unknown skill 'dance'"):
        evaluation.parse(["dance", "--policy", "oracle"])


def test_scenarios_have_no_oracle_of_their_own():
    with pytest.raises(
        USER_ERRORS, match=r"no oracle of its own: python -m planner.eval set_table"
    ):
        evaluation.parse(["set_table", "--policy", "oracle"])


def test_a_skill_without_a_shipped_policy_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr("skills.eval_options.CHECKPOINTS", tmp_path)
    with pytest.raises(USER_ERRORS, match=r"no policy of pick is shipped: .*train_skill.sh pick"):
        evaluation.main(["pick"])
    with pytest.raises(USER_ERRORS, match=r"no policy of flee is shipped: .*train_skill.sh flee"):
        evaluation.main(["flee"])


def test_the_test_split_is_for_releases():
    for module, name in ((evaluation, ["pick"]), (emergent_navigation, [])):
        with pytest.raises(rearrange.UserError, match="say --release NAME"):
            module.parse([*name, "--split", "test"])
        with pytest.raises(rearrange.UserError, match="leave it out"):
            module.parse([*name, "--release", "1.0"])
        assert module.parse([*name, "--split", "test", "--release", "1.0"]).release == "1.0"


def test_only_the_skill_has_to_be_named(capsys):
    with pytest.raises(SystemExit):
        evaluation.parse([])
    assert capsys.readouterr().err.strip().endswith("arguments are required: skill")
