"""What stands before an object is taken first, where there are new plans."""

from dataclasses import replace

import numpy as np
import pytest

from planner.replanning import Replanner
from planner.search import PlanningError
from skills.knowledge import Truth
from tests.helpers.planner_fakes import make_groceries_episode
from tests.helpers.planner_faults import assert_all_done, fail_once, texts, used


def groceries(first, second, receptacles=("fridge_middle", "fridge_middle")):
    """Prepare Groceries, whose first two objects begin there."""
    episode = make_groceries_episode()
    starts = zip((first, second), receptacles, episode.targets, strict=False)
    moved = [replace(each, start=at, start_receptacle=name) for at, name, each in starts]
    targets = (*moved, episode.targets[2])
    objects = {each.slot: (*each.start, 1.0, 0.0, 0.0, 0.0) for each in targets}
    return replace(episode, targets=targets, objects=objects)


def test_what_stands_before_an_object_is_taken_first_and_costs_no_new_plan(follow, skills):
    fail_once(skills["place"], 2)
    execution = follow(groceries((1.2, 0.0, 0.8), (1.1, 0.1, 0.8)), limit=1)
    assert_all_done(execution)
    assert used(execution, "pick") == ["object_1", "object_0", "object_2"]
    assert used(execution, "navigate")[:3] == ["object_0", "object_1", "goal_1"]
    reordered, failed = texts(execution)
    assert reordered == (
        "navigate object_0 (003_cracker_box): object_1 stands before it, and is taken first"
    )
    assert "still in the hand" in failed


def test_a_target_is_put_first_once(follow, world, skills):
    """From where the robot then stands the other one may be the nearer: it would go to and fro."""

    def beside(world, argument):
        there = {0: (0.6, 0.0, 0.0), 1: (1.7, 0.0, np.pi)}
        world.state.base_pose[0] = there.get(argument.target_index, (0.0, 0.0, 0.0))

    skills["navigate"].misses, skills["navigate"].wrong = (0, 1, 2), beside
    execution = follow(groceries((1.2, 0.0, 0.8), (1.1, 0.0, 0.8)), senses=Truth())
    told = [text for text in texts(execution) if "stands before" in text]
    assert [text.split(": ")[1].split()[0] for text in told] == ["object_1", "object_0"]


@pytest.mark.parametrize(
    ("second", "receptacle"),
    [
        ((1.16, 0.0, 0.8), "fridge_middle"),  # hardly nearer
        ((1.1, 0.3, 0.8), "fridge_middle"),  # aside
        ((1.3, 0.0, 0.8), "fridge_middle"),  # behind it
        ((0.4, 0.0, 0.8), "fridge_middle"),  # behind the robot
        ((1.1, 0.0, 0.8), "sink"),
    ],
)
def test_the_order_of_the_targets_is_kept_where_nothing_is_in_the_way(follow, second, receptacle):
    episode = groceries((1.2, 0.0, 0.8), second, ("fridge_middle", receptacle))
    execution = follow(episode)
    assert_all_done(execution)
    assert used(execution, "pick") == ["object_0", "object_1", "object_2"]
    assert not execution.decisions


@pytest.mark.parametrize("fails", [True, False])
def test_the_plan_is_kept_where_no_other_begins_with_what_stands_before(follow, monkeypatch, fails):
    """No plan is found, or another engine's has another order."""
    solved = Replanner._solved

    def solve(self, task):
        if fails:
            raise PlanningError("there is none")
        calls = solved(self, task)
        return (*calls[4:8], *calls[:4], *calls[8:])

    monkeypatch.setattr(Replanner, "_solved", solve)
    execution = follow(groceries((1.2, 0.0, 0.8), (1.1, 0.1, 0.8)))
    assert_all_done(execution)
    assert used(execution, "pick") == ["object_0", "object_1", "object_2"]
    assert not execution.decisions


def test_without_new_plans_the_order_is_the_tasks(follow):
    execution = follow(groceries((1.2, 0.0, 0.8), (1.1, 0.1, 0.8)), replan=False)
    assert used(execution, "pick") == ["object_0", "object_1", "object_2"]
