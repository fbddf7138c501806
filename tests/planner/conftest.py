from __future__ import annotations

import pytest
from planner_fakes import FakeSkill, FakeWorld, make_episode, make_skills

from planner.problem import build_problem
from planner.scenarios import Stage
from planner.search import find_plan


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
