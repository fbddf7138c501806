"""Everything that can be set for training a skill, and the environments it makes.

Imports no torch: environment workers unpickle `SkillEnvironments` from here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, is_dataclass, make_dataclass, replace
from functools import lru_cache
from typing import Any

from rearrange.batched import DEVICE
from rearrange.batched.env import DeviceVectorEnv, check_on_device
from rearrange.batched.pool import PoolConfig
from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.episodes import RecordedStarts
from rearrange.errors import UserError
from rearrange.habitat.dataset import DatasetEpisodes
from rearrange.robot import DEFAULT_ROBOT
from rearrange.rules import (
    HAB,
    OURS,
    check_rules,
    hab_config,
    judged,
    simulator_config,
    task_config,
)
from rearrange.scenes.registry import DEFAULT_HOMES, layouts_of, spec_of_homes
from rearrange.settings import check_ranges
from rearrange.shipped import ACTING, SHIPPED
from rearrange.sim.backends import SIMULATORS, check_simulator_name, make_simulator
from rearrange.sim.base import Simulator
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.randomisation import Randomisation
from rearrange.tasks import TASKS, default_config, household_names
from rearrange.tasks.true_state import BOTH, DEPTH, STATE, TRUE_STATE, check_sensors
from rearrange.threads import cores
from rearrange.vector_shell import TaskVectorEnv
from rearrange.worlds import EpisodeSource
from skills.environments import Environments, with_values
from skills.habitat_lab import PREFIX, HabitatLabEnvironments
from skills.navigation import NavEnvironments, navigation_names
from skills.recipe import Staged
from skills.registry import all_specs, find, skill_names
from ver import TrainerConfig
from ver.config import CloningConfig

CHECKPOINTS = SHIPPED / "data" / "checkpoints"
ORACLE = "oracle"  # the teacher that there is

LARGEST_HOME = 100.0  # no stop is farther from its goal than this [m]


@dataclass
class TrainingSettings(Staged):
    """One training run of a skill."""

    skill: str = ""  # what is trained
    preset: str = (
        "cpu"  # the machine it is meant for: cpu, or the name of a file in configs/presets/
    )
    run: str = ""  # run directory; empty: runs/<skill>
    split: str = "train"  # apartments to train in
    # homes: generated, without end; classic, drawn by hand; or the YAML file of one (docs/homes.md)
    homes: str = DEFAULT_HOMES
    # simulator: mujoco; device, mujoco-warp on trainer.device (docs/worlds.md); or habitat (docs/habitat.md)
    sim: str = "mujoco"
    pool: PoolConfig = field(default_factory=PoolConfig)  # sim=device: where episodes begin
    # Rules: ours, or hab, habitat-lab v0.3.4's with the VER paper's changes; of configs/*.yaml `hab` takes the
    # learner (`trainer:`, `sensors:`) only (docs/hab.md)
    rules: str = OURS
    robot: str = DEFAULT_ROBOT  # who acts: a name, or a YAML file (docs/robots.md)
    camera_size: int = 64  # height and width of the depth image [pixels]
    # Episodes of habitat-lab's rearrangement datasets instead of our apartments and of recorded starts
    # (sim=habitat; the seven skills; see docs/habitat.md)
    dataset: str = ""
    # What is observed: depth, the robot's own sensors. With both the critic is told besides what no robot is
    # (rearrange.tasks.true_state). With state the policy is told that in the place of the image, for studies
    sensors: str = DEPTH
    slide: bool = True  # the base slides along obstacles instead of stopping; false in habitat-lab
    stall: bool = True  # the base stops before what its wheels cannot push (mujoco)
    randomise: Randomisation = field(default_factory=Randomisation)  # how far worlds differ
    starts: RecordedStarts = field(default_factory=RecordedStarts)  # that are mixed in
    trainer: TrainerConfig = field(default_factory=TrainerConfig)  # the learner
    # Who shows what to do: nobody, which is VER, or oracle: its actions are imitated, as a first stage
    teacher: str = ""
    cloning: CloningConfig = field(default_factory=CloningConfig)  # how, with a teacher


def check_skill(skill: str) -> str:
    """Return the name of what can be trained or raise a UserError that lists what there is."""
    names = (*skill_names(), *household_names(), *navigation_names())
    if skill not in names and not skill.startswith(PREFIX):
        hint = ""
        ours = next((name for name, s in all_specs().items() if s.habitat_name == skill), None)
        if ours is not None:
            hint = f" (habitat-lab's {skill} is {ours} here)"
        elif re.fullmatch(r"\w+-v\d+", skill):
            hint = f" (for habitat-lab's own task: {PREFIX}{skill}; Gymnasium's: python -m ver train {skill})"
        raise UserError(f"unknown skill '{skill}': choose one of {', '.join(names)}{hint}")
    return skill


def check_task(name: str) -> str:
    """The name of a task of rearrange; finds the skill, and with it its task, where it is not known yet.

    Ours are known at once: an environment worker need not load all skills.
    """
    return name if name in TASKS else find(name).name


def kind_of(skill: str) -> type[Environments]:
    """Find the kind of environments of something that can be trained."""
    if skill.startswith(PREFIX):
        return HabitatLabEnvironments
    return NavEnvironments if skill in navigation_names() else SkillEnvironments


def settings_type(skill: str) -> type[Any]:
    """Settings of its training, with the task's own config in the field `task` where the task is ours."""
    return kind_of(skill).settings_type(skill)


def keys(settings: Any, prefix: str = "") -> Iterator[str]:
    """Dotted keys of a dataclass of settings and of those in it."""
    for each in fields(settings):
        value = getattr(settings, each.name)
        if is_dataclass(value):
            yield from keys(value, f"{prefix}{each.name}.")
        else:
            yield f"{prefix}{each.name}"


def hab_settings(skill: str) -> Any:
    """TrainingSettings of a skill or a household scenario under HAB's rules, with ver's own learner."""
    simulator = simulator_config(HAB)
    return settings_type(skill)(
        rules=HAB,
        task=hab_config(skill),
        camera_size=simulator.camera_size,
        slide=simulator.slide,
        stall=simulator.stall,
    )


@dataclass(frozen=True)
class SkillEnvironments(Environments):
    """Makes the environments of a skill or a scenario; picklable.

    Attributes:
        skill: Task to make.
        task: The task's config as plain values.
        split: Apartments.
        camera_size: Depth image [pixels].
        slide: Whether the base slides.
        stall: Whether the base stops before what it cannot push.
        randomise: How far the worlds differ from the nominal one; what is left out is off.
        starts: Recorded start states that are mixed in, as plain values.
        sim: Simulator, see rearrange.sim.backends.
        dataset: File of habitat-lab's rearrangement episodes that take place of our apartments, or none.
        rules: Set of rules, see rearrange.rules.
        homes: Collection of floor plans, see rearrange.scenes.registry.
        robot: Name of the robot.
        sensors: What is observed, see rearrange.tasks.true_state.
        pool: Numbers of the start states of sim=device, see rearrange.batched.pool.
        device: Where sim=device simulates: cpu or cuda.
    """

    task: dict[str, Any]
    split: str
    camera_size: int
    slide: bool
    randomise: dict[str, float] = field(default_factory=dict)
    starts: dict[str, Any] = field(default_factory=dict)
    sim: str = "mujoco"
    stall: bool = True
    dataset: str = ""
    rules: str = OURS
    homes: str = DEFAULT_HOMES
    robot: str = DEFAULT_ROBOT
    sensors: str = DEPTH
    pool: dict[str, int] = field(default_factory=dict)
    device: str = "cpu"

    @classmethod
    @lru_cache
    def settings_type(cls, skill: str) -> type[Any]:
        """TrainingSettings with the task's own config in the field `task`."""
        task_type = type(default_config(check_skill(skill)))
        return make_dataclass(
            "TrainingSettings",
            [("task", task_type, field(default_factory=task_type))],
            bases=(TrainingSettings,),
        )

    @classmethod
    def config_names(cls, skill: str) -> tuple[str, ...]:
        """See Environments; scenarios share one."""
        return "skill", "household" if skill in household_names() else skill

    @classmethod
    def from_settings(cls, settings: Any, split: str | None = None) -> SkillEnvironments:
        """See Environments."""
        chosen: str = split or settings.split
        settings.randomise.check()
        check_teacher(settings)
        check_rules(settings.rules)
        layouts_of(chosen, settings.homes)
        check_dataset(settings.dataset, settings.sim, settings.skill)
        told = TRUE_STATE in settings.trainer.network.critic_only
        if check_sensors(settings.sensors) == BOTH and not told:
            raise UserError("sensors=both needs trainer.network.critic_only=[true_state]")
        starts = settings.starts
        if settings.dataset:  # what was recorded took place in our apartments
            starts = replace(starts, paths=[])
        starts.check(settings.skill, chosen, settings.homes, settings.robot)
        cls.check_numbers(settings.task)
        simulator = SimulatorConfig(robot=settings.robot, camera_size=settings.camera_size)
        asked = replace(simulator, randomise=settings.randomise)
        if check_simulator_name(settings.sim, (*SIMULATORS, DEVICE)) == DEVICE:
            check_device(settings, asked)
        elif settings.sim != "mujoco":
            make_simulator(settings.sim, 1, asked).close()
        given = {"starts": asdict(starts), "device": settings.trainer.device}
        return cls.of_settings(settings, split=chosen, **given)

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any], split: str) -> SkillEnvironments:
        """The environments in which a checkpoint is judged, in a split's apartments of its own collection.

        The policy keeps what it acts with, and the rules it was trained by. Success, limits, starts and how
        the base meets furniture are the rules' own, so that all policies of a skill are judged alike by these
        rules, as in chains, whatever training changed; nothing is randomised or mixed in.
        """
        kept = {name: metadata[name] for name in ("skill", "camera_size")}
        trained_in = metadata.get("sim", "mujoco")
        kept["sim"] = "mujoco" if trained_in == DEVICE else trained_in  # the same physics
        kept["robot"] = metadata.get("robot", DEFAULT_ROBOT)
        kept["homes"] = metadata.get("homes", DEFAULT_HOMES)
        kept["sensors"] = STATE if metadata.get("sensors") == STATE else DEPTH
        rules = kept["rules"] = metadata.get("rules", OURS)
        world = simulator_config(rules)
        kept["slide"], kept["stall"] = world.slide, world.stall
        trained: Mapping[str, Any] = metadata["task"]
        task = {name: trained[name] for name in ACTING if name in trained}
        if rules == HAB:  # it says with which masks
            task = asdict(judged(hab_config(metadata["skill"]))) | task
        else:
            task |= unmasked(trained)
        return cls(split=split, task=task, **kept)

    @classmethod
    def check_numbers(cls, task: Any) -> None:
        """See Environments."""
        check_ranges(task, "task")

    @classmethod
    def of_rules(cls, skill: str, split: str, rules: str, camera_size: int) -> SkillEnvironments:
        """The environments in which who has no checkpoint is judged, by a set of rules."""
        simulator, task = simulator_config(rules), judged(task_config(check_task(skill), rules))
        return cls(
            skill, asdict(task), split, camera_size, simulator.slide, stall=simulator.stall,
            rules=rules,
        )  # fmt: skip

    def task_config(self) -> Any:
        """The task's config as its dataclass."""
        return with_values(default_config(check_task(self.skill)), self.task)

    def simulator_config(self) -> SimulatorConfig:
        """Settings of the simulator."""
        return replace(
            simulator_config(self.rules),
            robot=self.robot,
            camera_size=self.camera_size,
            slide=self.slide,
            stall=self.stall,
            randomise=Randomisation(**self.randomise),
        )

    def make_simulator(self, world_count: int, threads: int = 1) -> Simulator:
        """The simulator, with so many worlds."""
        scene = spec_of_homes(self.homes)
        # One world alone is looked at, and not trained in
        sim = "mujoco" if self.sim == DEVICE else self.sim
        return make_simulator(sim, world_count, self.simulator_config(), scene, threads)

    def __call__(self, environment_index: int, seed: int) -> RearrangeEnv:
        """One environment."""
        return RearrangeEnv(
            self.skill, self.task_config(), self.split, self.make_simulator(1), seed=seed,
            starts=RecordedStarts(**self.starts), source=self.make_source(), homes=self.homes,
            sensors=self.sensors,
        )  # fmt: skip

    def make_source(self) -> EpisodeSource | None:
        """Make the source of episodes, if they are not from our apartments."""
        if not self.dataset:
            return None
        return DatasetEpisodes(self.dataset)

    def make_vector(self, count: int, seed: int, threads: int = 0) -> TaskVectorEnv:
        """All environments in one process, a thread for every core; what begins episodes seeds them."""
        if self.sim == DEVICE:
            return self._on_device(count, seed)
        simulator = self.make_simulator(count, threads or min(cores(), count))
        return RearrangeVectorEnv(
            count, self.skill, self.task_config(), self.split, simulator,
            RecordedStarts(**self.starts), self.make_source(), self.homes, self.sensors,
        )  # fmt: skip

    def _on_device(self, count: int, seed: int) -> TaskVectorEnv:
        """All environments on a device, from a pool that the seed decides."""
        return DeviceVectorEnv(
            count, self.skill, self.task_config(), self.split, self.simulator_config(),
            RecordedStarts(**self.starts), self.homes, self.sensors, self.device,
            PoolConfig(**self.pool), seed,
        )  # fmt: skip


def unmasked(task: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of masks that ignore early stops, where a policy was trained without one.

    Such a policy is judged without it, too. The others are judged with the task's own.
    """
    off = {"stop_zone": task.get("stop_zone", math.inf) <= 0.0,
           "stop_distance": task.get("stop_distance", 0.0) > LARGEST_HOME}  # fmt: skip
    return {name: task[name] for name, is_off in off.items() if is_off}


def check_teacher(settings: Any) -> None:
    """Raise a UserError where settings name a teacher that there is not."""
    teacher = settings.teacher
    if teacher not in ("", ORACLE):
        raise UserError(f"teacher must be {ORACLE} or empty, found '{teacher}'")
    if not teacher:
        return
    if settings.dataset or settings.sim != "mujoco":
        raise UserError("teacher=oracle knows our own apartments: leave sim= and dataset= out")
    if find(settings.skill).oracle is None:
        raise UserError(f"there is no oracle for {settings.skill}: leave teacher= out")


def check_device(settings: Any, simulator: SimulatorConfig) -> None:
    """Raise a UserError where settings of sim=device make no sense."""
    check_ranges(settings.pool, "pool")
    if settings.trainer.system != "batched":
        raise UserError(
            f"sim={DEVICE} steps all worlds together: set trainer.system=batched, found "
            f"{settings.trainer.system}"
        )
    if settings.dataset:
        raise UserError(f"sim={DEVICE} knows our own homes: leave dataset= out")
    homes, device = settings.homes, settings.trainer.device
    check_on_device(check_task(settings.skill), settings.task, simulator, homes, device)


def check_dataset(dataset: str, sim: str, skill: str) -> None:
    """Raise a UserError where a skill cannot take place in a dataset of habitat-lab."""
    if not dataset:
        return
    if sim != "habitat":
        raise UserError(f"dataset={dataset} takes episodes of habitat-lab: set sim=habitat, too")
    if skill in household_names():
        raise UserError(
            f"{skill} knows our own apartments only: leave dataset= out, or take a skill"
        )
    DatasetEpisodes(dataset)


def make_environments(settings: Any) -> Any:
    """The environments that settings ask for; UserError where they make no sense."""
    return kind_of(settings.skill).from_settings(settings)


def environments_of(metadata: dict[str, Any], split: str) -> SkillEnvironments | NavEnvironments:
    """The environments in which a checkpoint with that metadata was trained, in another split.

    Raises:
        UserError: It was trained on a task of habitat-lab, or in no environment of ours.
    """
    if "skill" not in metadata:
        raise UserError(
            "the policy was trained by ver alone, in an environment that it does not tell: make that one"
        )
    return kind_of(metadata["skill"]).from_metadata(metadata, split)
