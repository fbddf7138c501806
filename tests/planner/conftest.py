from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace

import pytest
from unified_planning.io import PDDLReader

from planner import problem, scenarios
from planner.executive import Executive
from planner.problem import build_problem, drawers_of
from planner.replanning import Replanner, ReplanSettings
from planner.scenarios import Stage
from planner.search import find_plan
from skills.knowledge import Knowledge
from tests.helpers.planner_fakes import (
    FakeSkill,
    FakeWorld,
    make_episode,
    make_skills,
    make_table_episode,
)
from tests.helpers.planner_faults import NearSighted


@lru_cache(maxsize=256)
def _read(domain, text):
    return PDDLReader().parse_problem_string(domain, text)


@pytest.fixture(autouse=True)
def read_once(monkeypatch):
    """A PDDL text that was read already is not read again: that took most of the time of these tests."""
    reader = SimpleNamespace(parse_problem_string=lambda *texts: _read(*texts).clone())
    monkeypatch.setattr(problem, "_reader", lambda: reader)


@pytest.fixture
def world() -> FakeWorld:
    return FakeWorld()


@pytest.fixture
def skills() -> dict[str, FakeSkill]:
    return make_skills()


@pytest.fixture(scope="session")
def task_and_plan():
    task = build_problem(make_episode())
    return task, find_plan(task.problem)


@pytest.fixture
def stage_factory():
    return lambda: Stage(FakeWorld(), make_skills())


@pytest.fixture
def episode_factory():
    return make_episode


@pytest.fixture
def table_world() -> FakeWorld:
    """A world of Set Table."""
    return FakeWorld(make_table_episode())


@pytest.fixture
def stage(monkeypatch, stage_factory) -> Stage:
    """Tidy House in a world without physics, in the place of every scenario's stage."""
    stage = stage_factory()
    monkeypatch.setattr(scenarios, "open_stage", lambda *_: stage)
    return stage


@pytest.fixture
def follow(world, skills):
    """Plans an episode and follows the plan, with new plans where it goes wrong."""

    def follow(
        episode=None,
        senses=None,
        close=False,
        replan=True,
        executive=None,
        level="robot",
        **settings,
    ):
        if episode is not None:
            world.load(episode)
        task = build_problem(world.episode, close)
        replanner = Replanner(
            world.episode,
            ReplanSettings(**{"limit": 5} | settings),
            lambda problem: find_plan(problem, validate=True),
            Knowledge(world, level, drawers_of(world.episode), senses or NearSighted()),
            close,
        )
        plan = find_plan(task.problem)
        return Executive(skills, executive).run(
            world, plan, task.arguments, replanner=replanner if replan else None
        )

    return follow
