"""docs/hab.md: two sets of rules, compared field by field."""

import dataclasses
import itertools
import re

import pytest

from rearrange.rules import settings_in
from rearrange.tasks import TASKS
from skills import hab_table
from skills.hab_table import rows_of, same
from skills.settings import SkillEnvironments
from skills.train import load_settings
from tests.helpers import ROOT

PAGE = ROOT / "docs" / "hab.md"


@pytest.fixture(scope="module")
def page():
    return hab_table.page()


def cells(page, title):
    """Setting -> cells of its row, in the section with this title."""
    section = re.split(r"^## ", page, flags=re.MULTILINE)
    (text,) = (part for part in section if part.startswith(title + "\n"))
    rows = re.findall(r"^\| `([\w.]+)` \| (.*) \|$", text, re.MULTILINE)
    return {name: row.split(" | ") for name, row in rows}


def test_the_page_is_up_to_date(page):
    assert PAGE.read_text(encoding="utf-8") == page, (
        "run `python -m skills.hab_table > docs/hab.md`"
    )


def test_every_task_is_on_the_page():
    assert sorted(itertools.chain(*hab_table.groups().values())) == sorted(TASKS)


def flat(environments):
    """Dotted name -> value of all of the task's and the simulator's numbers, read without their notes."""

    def walk(values, prefix=""):
        for name, value in values.items():
            if isinstance(value, dict):
                yield from walk(value, f"{prefix}{name}.")
            elif name != "robot":  # which one acts is no rule
                yield f"{prefix}{name}", value

    configs = (environments.task_config(), environments.simulator_config())
    return {name: value for each in configs for name, value in walk(dataclasses.asdict(each))}


@pytest.mark.parametrize("task", TASKS)
def test_whatever_differs_between_the_two_configurations_is_on_the_page(page, task):
    """Both are built as for a training; neither may differ in anything that has no bold row."""
    kinds = []
    for rules in ("ours", "hab"):
        settings = load_settings(task, [f"rules={rules}"])
        bare = dataclasses.replace(settings, starts=type(settings.starts)())
        kinds.append(flat(SkillEnvironments.from_settings(bare)))
    ours, hab = kinds
    assert ours.keys() == hab.keys()
    (title,) = (title for title, names in hab_table.groups().items() if task in names)
    column = hab_table.groups()[title].index(task)
    everywhere, own = cells(page, "What differs everywhere"), cells(page, title)
    for name, value in ours.items():
        bold = everywhere[name][0] if name in everywhere else own[name][column]
        if not same(value, hab[name]):
            assert bold.startswith("**"), name


def test_recorded_starts_are_on_the_page(page):
    assert cells(page, "What differs everywhere")["starts.share"][1] == "0"


def test_a_setting_of_a_training_that_nobody_told_about_is_an_error(monkeypatch):
    monkeypatch.setattr(hab_table, "COVERED", hab_table.COVERED - {"slide"})
    with pytest.raises(TypeError, match=r"hab_table.py what HAB has for \['slide'\]"):
        hab_table.values_of(SkillEnvironments("pick", {}, "val", 8, True))


def test_values_are_those_that_we_train_and_judge_with():
    navigate = rows_of("navigate")
    assert (navigate["action.repeat"].ours, navigate["action.repeat"].hab) == (3, 1)
    assert (navigate["camera_size"].ours, navigate["camera_size"].hab) == (64, 128)
    distance = navigate["distance_scale"]
    assert (distance.ours, distance.trained, distance.hab) == (1, (5,), 1)
    assert navigate["stop_distance"].known.note.startswith("2 where")
    assert rows_of("place")["starts.share"].trained == (0.45,)
    assert rows_of("open_cab")["randomise.short_sight"].trained == (0.7,)
    # In the order of the stages
    assert rows_of("pick")["early_grip_penalty"].trained == (0.02, 0.1)
    assert rows_of("open_cab")["wrong_stop_ends"].trained == (True, False)


def test_what_our_rules_hide_is_named(page):
    hiding = {
        name
        for task in TASKS
        for name, row in rows_of(task).items()
        if row.known.hides and row.differs
    }
    masks = {"stop_distance", "release_distance", "release_pause"}
    assert masks | {"slide", "target_lead", "hard_contacts", "scene_force"} <= hiding
    for name in hiding:
        assert re.search(rf"^\| `{name}` \|.*Ours hides or makes rarer:", page, re.MULTILINE), name


def test_what_habs_rules_cannot_have_is_listed(page):
    remaining = page.split("## Remaining differences under rules=hab")[1].split("\n## ")[0]
    for task, (_, kind) in TASKS.items():
        for name, _, known in settings_in(kind()):
            if known.kept or known.hab is None:
                assert re.search(rf"^- `{name}` \(.*{task}.*\): ", remaining, re.MULTILINE), name
