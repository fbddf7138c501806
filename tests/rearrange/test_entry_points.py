"""Tasks of other packages, found by their entry points."""

from importlib.metadata import EntryPoint

import pytest

import rearrange
from rearrange import tasks
from rearrange.errors import UserError
from rearrange.tasks import unregister_task


@pytest.fixture
def registered(monkeypatch):
    """A way to pretend that another package's entry point names a task."""

    def pretend(value):
        point = EntryPoint("wait_for_it", value, tasks.GROUP)
        monkeypatch.setattr(tasks, "entry_points", lambda group: [point])
        tasks._load_others.cache_clear()

    yield pretend
    monkeypatch.undo()
    tasks._load_others.cache_clear()


class WaitForIt(rearrange.TASKS["tidy_house"][0]):
    """A household task of another package."""

    name = "wait_for_it"


def test_tasks_of_other_packages_are_found_by_their_entry_points(registered):
    registered(f"{__name__}:WaitForIt")
    try:
        assert tasks.household_names()[-1] == "wait_for_it"
        assert tasks.default_config("wait_for_it") == tasks.default_config("tidy_house")
    finally:
        unregister_task("wait_for_it")
    assert "wait_for_it" not in tasks.household_names()


def test_a_task_that_cannot_be_loaded_is_told_in_one_line(registered):
    registered("nowhere.at_all:Task")
    with pytest.raises(UserError, match=r"task 'wait_for_it' cannot be loaded from nowhere"):
        tasks.default_config("wait_for_it")


def test_what_is_no_task_is_told_in_one_line(registered):
    registered("json:dumps")
    with pytest.raises(UserError, match=r"task 'wait_for_it': json:dumps is no Task"):
        tasks.household_names()
