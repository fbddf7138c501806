import sys

import pytest

from planner.eval import main
from planner.eval_options import parse, settings_from
from planner.report import row_name
from planner.rules import REDRIVES
from rearrange.errors import UserError
from skills import MODES
from skills.command import run_command
from tests.helpers.refusals import refusal_of


def limits(*words):
    return settings_from(parse(["tidy_house", *words])).executive.timeouts


def test_drives_anew_where_it_is_asked_for():
    asked = [[], ["--redrive"], ["--redrive", "5"]]
    found = [settings_from(parse(["tidy_house", *words])).executive.redrives for words in asked]
    assert found == [0, REDRIVES, 5]


def test_skills_may_take_as_long_as_is_said():
    assert limits() == limits("--timeouts", "own") == {}
    of_hab = limits("--timeouts", "hab")
    assert (of_hab["navigate"], of_hab["pick"], of_hab["open_fridge"]) == (300, 200, 200)
    assert set(limits("--timeouts", "450").values()) == {450}
    assert set(limits("--timeouts", "450")) == set(of_hab)


@pytest.mark.parametrize(
    ("options", "row"),
    [
        (("--skills", "learned"), "TP-SRL (knowledge: robot)"),
        (("--skills", "learned", "--no-nav"), "TP-SRL (NoNav, knowledge: robot)"),
        (("--skills", "mixed", "--no-nav"), "TP-SRL (mixed, NoNav, knowledge: robot)"),
        (
            ("--skills", "learned", "--navigate-timeout", "proceed"),
            "TP-SRL (late drives go on, knowledge: robot)",
        ),
        (
            ("--skills", "spa", "--timeouts", "hab"),
            "TP-SPA (at most 200 or 300 steps a skill, knowledge: robot)",
        ),
        (
            ("--skills", "learned", "--timeouts", "600", "--replan"),
            "TP-SRL (at most 600 steps a skill, replanning, knowledge: robot)",
        ),
        (("--skills", "spa", "--timeouts", "own"), "TP-SPA (knowledge: robot)"),
        (("--skills", "mixed", "--replan"), "TP-SRL (mixed, replanning, knowledge: robot)"),
        (("--skills", "mixed", "--replan", "0"), "TP-SRL (mixed, knowledge: robot)"),
        (
            ("--skills", "learned", "--replan", "--redrive"),
            "TP-SRL (replanning, drives anew below 0.5, knowledge: robot)",
        ),
        (("--skills", "learned", "--redrive", "0"), "TP-SRL (knowledge: robot)"),
        (("--skills", "oracle", "--close"), "oracle (closing, knowledge: robot)"),
        (
            ("--skills", "oracle", "--robot", "mast"),
            "oracle (robot: mast, knowledge: robot)",
        ),
        (("--skills", "oracle", "--knowledge", "hab"), "oracle (knowledge: hab)"),
        (
            ("--skills", "learned", "--no-nav", "--replan", "3", "--knowledge", "privileged"),
            "TP-SRL (NoNav, replanning, knowledge: privileged)",
        ),
    ],
)
def test_row_names_the_method(options, row):
    assert row_name(settings_from(parse(["tidy_house", *options]))) == row


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["laundry"],
            "unknown task 'laundry': choose one of tidy_house, prepare_groceries, set_table",
        ),
        (["tidy_house", "--split", "moon"], "unknown split 'moon': choose one of train, val, test"),
        (
            ["tidy_house", "--skills", "magic"],
            f"unknown skills 'magic': choose one of {', '.join(MODES)}",
        ),
        (["tidy_house", "--engine", "x"], "unknown engine 'x': choose one of forward"),
        (["tidy_house", "--episodes", "0"], "--episodes must be at least 1, found 0"),
        (["tidy_house", "--episodes", "many"], "argument --episodes: invalid int value: 'many'"),
        (["tidy_house", "--colour", "red"], "unrecognized arguments: --colour red"),
        (
            ["tidy_house", "--navigate-timeout", "x"],
            "unknown navigate-timeout 'x': choose one of end, proceed",
        ),
        *(
            (
                ["tidy_house", "--timeouts", word],
                f"argument --timeouts: must be own, hab, or from 1 to 3000, found '{word}'",
            )
            for word in ("x", "0", "3001", "-5", "1.5")
        ),
        (
            ["tidy_house", "--plan-only", "--timeouts", "hab"],
            "--plan-only follows no plan: leave out --timeouts",
        ),
        (["tidy_house", "--replan", "-1"], "argument --replan: must be from 0 to"),
        *(
            (
                ["tidy_house", "--redrive", "--least-chance", word],
                f"argument --least-chance: must be from 0 to 1, found '{word}'",
            )
            for word in ("x", "nan", "-0.1", "1.1")
        ),
        (
            ["tidy_house", "--least-chance", "0.7"],
            "--least-chance is for --redrive: give that, too, or leave it out",
        ),
        (["tidy_house", "--redrive", "-1"], "argument --redrive: must be from 0 to"),
        (
            ["tidy_house", "--no-nav", "--redrive"],
            "--no-nav has no drives: leave --redrive out",
        ),
        (
            ["tidy_house", "--plan-only", "--redrive"],
            "--plan-only follows no plan: leave out --redrive",
        ),
        (["tidy_house", "--seed", "-1"], "argument --seed: must be from 0 to"),
        (
            ["tidy_house", "--plan-only", "--workers", "2"],
            "--plan-only follows no plan: leave out --workers",
        ),
        (
            ["tidy_house", "--plan-only", "--video"],
            "--plan-only follows no plan: leave out --video",
        ),
        (
            ["tidy_house", "--plan-only", "--record-hand-offs", "x"],
            "--plan-only follows no plan: leave out --record-hand-offs",
        ),
        (
            ["tidy_house", "--plan-only", "--knowledge", "hab"],
            "--plan-only follows no plan: leave out --knowledge",
        ),
        (
            ["tidy_house", "--skills", "monolithic", "--knowledge", "hab"],
            "--skills monolithic follows no plan: leave out --knowledge",
        ),
        (
            ["tidy_house", "--no-nav", "--navigate-timeout", "proceed"],
            "--no-nav has no drives: leave --navigate-timeout out",
        ),
        (
            ["tidy_house", "--output", "x"],
            "--output is for --video: give that, too, or leave it out",
        ),
        (
            ["tidy_house", "--json", "x.json", "--ledger", "./x.json"],
            "--json and --ledger are both x.json: name a file for each",
        ),
        (
            ["tidy_house", "--ledger", "x", "--page", "x"],
            "--ledger and --page are both x: name a file for each",
        ),
        (
            ["tidy_house", "--knowledge", "x"],
            "unknown knowledge 'x': choose one of hab, robot, privileged",
        ),
        (["tidy_house", "--sim", "x"], "unknown simulator 'x': choose one of mujoco, habitat"),
        (["tidy_house", "--sim", "habitat", "--video"], "--video draws MuJoCo's worlds"),
        ([], "the following arguments are required: task"),
    ],
)
def test_bad_input_is_answered_in_one_line(arguments, message, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["planner.eval", *arguments])
    with pytest.raises(SystemExit) as stopped:
        run_command(main)
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.err.partition(": ")[2].startswith(message)
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_exit_code_reaches_the_shell():
    assert refusal_of("planner.eval", ["laundry"]) == (
        "error: unknown task 'laundry': choose one of tidy_house, prepare_groceries, set_table"
    )


def test_only_releases_see_the_test_split():
    with pytest.raises(UserError, match="say --release NAME"):
        parse(["tidy_house", "--split", "test"])
