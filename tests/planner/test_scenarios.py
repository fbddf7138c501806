import pytest

from planner.scenarios import title_of
from rearrange.errors import UserError
from rearrange.tasks import household_names


def test_scenarios_have_titles_and_other_tasks_are_refused_with_those_that_there_are():
    titles = [title_of(task) for task in household_names()]
    assert len(set(titles)) == len(titles) > 0
    for name in ("pick", "nothing"):
        with pytest.raises(UserError, match=f"unknown task '{name}': choose one of tidy_house"):
            title_of(name)
