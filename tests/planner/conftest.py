from __future__ import annotations

import pytest

from planner import scenarios
from planner.problem import build_problem
from planner.scenarios import Stage
from planner.search import find_plan
from tests.helpers.planner_fakes import (
    FakeSkill,
    FakeWorld,
    make_episode,
    make_skills,
    make_table_episode,
)


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
