"""docs/tasks.md: what the registries say of every task."""

import pytest

from nav.table import TASKS as NAVIGATION_TASKS
from rearrange.robot import find_robot
from rearrange.tasks import TASKS
from skills import tasks_table
from skills.tasks_table import sections_of, summary_of
from tests.helpers import ROOT


@pytest.fixture(scope="module")
def page():
    return tasks_table.page()


def test_the_page_in_the_docs_is_up_to_date(page):
    written = (ROOT / "docs" / "tasks.md").read_text(encoding="utf-8")
    assert written == page, "run `python -m skills.tasks_table > docs/tasks.md`"


def test_every_task_is_on_the_page(page):
    assert sorted(tasks_table.tasks()) == sorted(TASKS)
    for name in (*TASKS, *NAVIGATION_TASKS):
        assert page.count(f"\n**`{name}`**: ") == page.count(f"\n| `{name}` |") == 1, name


@pytest.mark.parametrize("name", TASKS)
def test_every_task_says_what_it_wants(name):
    sections = sections_of(TASKS[name][0])
    assert all(sections[section] for section in ("Observation", "Action", "Start", "Success"))
    size = len(TASKS[name][0].action_names(find_robot()))
    assert sections["Action"].startswith(f"[{size}]")


def test_what_is_told_is_the_environments(page):
    pick = page.split("\n**`pick`**: ")[1].split("\n### ")[0]
    assert "`obj_start_sensor` [3]" in pick
    assert "carries out `pick`, within 200 steps" in pick
    objectnav = page.split("\n**`objectnav`**: ")[1].split("\n\n**")[0]
    assert "`objectgoal` [21]" in objectnav
    assert "one of stop, forward, left, right, look up, look down" in objectnav


def test_a_summary_does_not_repeat_the_name():
    assert summary_of(TASKS["pick"][0]).startswith("drive to an object")
    assert summary_of(TASKS["open_cab"][0]).startswith("Open a drawer")
