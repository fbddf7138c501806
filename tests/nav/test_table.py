import pytest

from nav.table import TASKS, check_task, default_config
from rearrange import UserError


def test_every_task_is_found_by_its_name_and_has_settings_of_its_own():
    assert list(TASKS) == ["pointnav", "objectnav", "flee", "explore"]
    for name, task in TASKS.items():
        assert task.name == check_task(name) == name
        assert default_config(name) == task.config_type()


def test_unknown_tasks_are_refused_with_those_that_there_are():
    with pytest.raises(UserError, match="unknown navigation task 'hide': choose one of pointnav"):
        check_task("hide")
