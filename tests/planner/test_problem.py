import pytest

from planner.problem import (
    build_problem,
    goal_name,
    object_name,
)
from rearrange.errors import UserError
from tests.helpers.planner_fakes import (
    with_receptacles,
)


def test_unknown_receptacle_and_no_targets(episode_factory):
    episode = with_receptacles(episode_factory(1), [("bathtub", "sofa")])
    with pytest.raises(UserError, match="bathtub; known: table_01"):
        build_problem(episode)
    with pytest.raises(UserError, match="no targets"):
        build_problem(episode_factory(0))


@pytest.mark.parametrize("index", range(3))
def test_arguments_tell_starts_and_goals(episode_factory, index):
    episode = episode_factory()
    arguments = build_problem(episode).arguments
    assert arguments[object_name(index)].position == episode.targets[index].start
    assert arguments[goal_name(index)].position == episode.targets[index].goal
    assert arguments[goal_name(index)].slot == episode.targets[index].slot


def test_tidy_house_plan_is_twenty_skills_in_the_order_of_the_targets(task_and_plan):
    _, plan = task_and_plan
    expected = []
    for k in range(5):
        expected += [
            ("nav", object_name(k)),
            ("pick", object_name(k)),
            ("nav", goal_name(k)),
            ("place", goal_name(k)),
        ]
    told = {"nav": 2, "pick": 1, "place": 2}
    assert [(s.action, s.arguments[told[s.action]]) for s in plan.steps] == expected
