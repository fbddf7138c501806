"""The household tasks that can be evaluated, and the world and skills of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rearrange.env import RearrangeEnv
from rearrange.errors import check_choice
from rearrange.robot import DEFAULT_ROBOT
from rearrange.scenes.registry import DEFAULT_HOMES, spec_of_homes
from rearrange.sim.backends import make_simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import TASKS, household_names
from skills import Skill

CAMERA_SIZE = 128  # height and width of the image in which things are recognised [pixels]


@dataclass(frozen=True)
class Stage:
    """A world and the skills that act in it."""

    world: RearrangeEnv
    skills: Mapping[str, Skill]


def title_of(task: str) -> str:
    """The name of a household task for people.

    Raises:
        UserError: There is no such task.
    """
    return TASKS[check_choice("task", task, household_names())][0].title


def open_stage(
    task: str,
    split: str,
    skills: str,
    sim: str = "mujoco",
    homes: str = DEFAULT_HOMES,
    robot: str = DEFAULT_ROBOT,
) -> Stage:
    """Builds the world of a household task and loads its skills.

    Args:
        task: Its name.
        split: Which apartments.
        skills: As `skills.load_skills` takes it.
        sim: Simulator, see rearrange.sim.backends.
        homes: Which collection of homes.
        robot: Name of the robot.

    Raises:
        UserError: There is no such task, or a skill cannot be loaded.
    """
    from skills import load_skills  # brings torch: only where skills run

    title_of(task)
    config = SimulatorConfig(robot=robot, camera_size=CAMERA_SIZE)
    simulator = make_simulator(sim, 1, config, spec_of_homes(homes))
    world = RearrangeEnv(task, split=split, simulator=simulator, homes=homes)
    return Stage(world, load_skills(skills, task))
