"""The plan and the beliefs in words."""

from dataclasses import replace

import pytest

from live.plan import BY_PLAN, beliefs_of, plan_of
from planner.beliefs import Beliefs, Whereabouts
from planner.interactions import bind
from planner.problem import build_problem
from planner.record import Moment
from planner.search import find_plan
from rearrange.scenes.apartment_kind import APARTMENT
from skills.knowledge import HANDLE
from tests.helpers.planner_fakes import FakeWorld, make_episode


@pytest.fixture
def world():
    return FakeWorld(make_episode(2))


@pytest.fixture
def moment(world):
    task = build_problem(world.episode)
    steps = find_plan(task.problem).steps
    calls = tuple(bind(step, task.arguments, APARTMENT) for step in steps)
    return Moment(calls, 0, calls[0].skill, calls[0].argument, 1)


def test_the_plan_shows_what_is_done_and_what_went_wrong(moment):
    now = replace(moment, plan_index=2, missed=frozenset({1}))
    text = plan_of(now)
    later = plan_of(replace(moment, plan_index=6))
    assert "✓ 3 before" in later
    assert later.count("<div") == 2 + len(moment.calls) - 3
    assert text.count("<div") == 1 + len(moment.calls)
    assert (text.count("✓"), text.count("✗"), text.count("▶")) == (1, 1, 1)


def test_without_replanning_the_plan_is_believed(world, moment):
    told = [beliefs_of(world, replace(moment, plan_index=index)) for index in range(5)]
    assert all(BY_PLAN in text for text in told)
    first = [text.split("</div>")[0] for text in told]
    assert first[0] == first[1]  # it drives there
    assert first[2].endswith("in the hand")
    assert first[4].endswith("at its goal")


def test_beliefs_say_what_was_seen_and_what_is_lost(world, moment):
    beliefs = Beliefs(world.episode, FakeKnowledge())
    now = replace(moment, beliefs=beliefs)
    assert beliefs_of(world, now).count("not seen yet") == 2
    beliefs.objects[0] = Whereabouts((0.0, 0.0, 0.0), "table_01", at_goal=True)
    beliefs.seen.add(0)
    beliefs.objects[1] = Whereabouts(None, "elsewhere")
    assert "at its goal, seen" in beliefs_of(world, now)
    assert "lost" in beliefs_of(world, now)
    beliefs.held = world.episode.targets[1].slot
    assert "in the hand" in beliefs_of(world, now)
    beliefs.held = HANDLE
    assert "a handle" in beliefs_of(world, now)


class FakeKnowledge:
    """Of a robot that never looks."""

    senses = None
