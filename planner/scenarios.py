"""The household tasks that can be evaluated: what differs between them, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rearrange.env import RearrangeEnv
from rearrange.scenes.apartment import DEFAULT_HOMES
from rearrange.sim.backends import make_simulator
from skills import Skill


@dataclass(frozen=True)
class Scenario:
    """One household task.

    Attributes:
        name: On the command line and in the JSON.
        title: For people.
        task: Name in rearrange.tasks.
    """

    name: str
    title: str
    task: str


SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        Scenario("tidy_house", "Tidy House", "tidy_house"),
        Scenario("prepare_groceries", "Prepare Groceries", "prepare_groceries"),
        Scenario("set_table", "Set Table", "set_table"),
    )
}


@dataclass(frozen=True)
class Stage:
    """A world and the skills that act in it."""

    world: RearrangeEnv
    skills: Mapping[str, Skill]


def open_stage(
    scenario: Scenario, split: str, skills: str, sim: str = "mujoco", homes: str = DEFAULT_HOMES
) -> Stage:
    """Builds the world of a scenario and loads its skills.

    Args:
        scenario: What is to be done.
        split: Which apartments.
        skills: As `skills.load_skills` takes it.
        sim: Simulator, see rearrange.sim.backends.
        homes: Which collection of homes.
    """
    from skills import load_skills  # brings torch: only where skills run

    simulator = make_simulator(sim, 1)
    world = RearrangeEnv(scenario.task, split=split, simulator=simulator, homes=homes)
    return Stage(world, load_skills(skills, scenario.task))
