"""Navigation tasks (PointNav and its kin) as something to train and evaluate beside the skills.

Imports no torch: environment workers unpickle `NavEnvironments` from here.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, make_dataclass
from functools import lru_cache
from typing import Any

from omegaconf import OmegaConf

from nav.agent import AgentConfig
from nav.buildings import APARTMENTS, building_names
from nav.env import NavEnv, NavVectorEnv
from nav.table import TASKS, default_config
from ver import TrainerConfig

NAVIGATION_NAMES = tuple(TASKS)


@dataclass
class NavigationSettings:
    """One training run of a navigation task."""

    skill: str = ""  # what is trained
    run: str = ""  # run directory; empty: runs/<task>
    split: str = "train"  # buildings to train in
    buildings: str = APARTMENTS  # which collection of buildings
    agent: AgentConfig = field(default_factory=AgentConfig)  # body, motion and camera
    trainer: TrainerConfig = field(default_factory=TrainerConfig)  # the learner


@lru_cache
def navigation_settings_type(name: str) -> type[NavigationSettings]:
    """NavigationSettings with the task's own config in the field `task`."""
    task_type = type(default_config(name))
    return make_dataclass(
        "NavigationSettings",
        [("task", task_type, field(default_factory=task_type))],
        bases=(NavigationSettings,),
    )


@dataclass(frozen=True)
class NavEnvironments:
    """Makes the environments of a navigation task; picklable.

    Attributes:
        skill: Task to make.
        task: The task's config as plain values.
        split: Which buildings.
        buildings: Which collection of them.
        agent: `AgentConfig` as plain values.
    """

    skill: str
    task: dict[str, Any]
    split: str
    buildings: str
    agent: dict[str, Any]

    @classmethod
    def from_settings(cls, settings: Any, split: str | None = None) -> NavEnvironments:
        """The environments that these settings ask for; UserError where they make no sense."""
        settings.agent.check()
        settings.task.check()
        split = split or settings.split
        building_names(settings.buildings, split)
        task, agent = asdict(settings.task), asdict(settings.agent)
        return cls(settings.skill, task, split, settings.buildings, agent)

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any], split: str) -> NavEnvironments:
        """The environments in which a checkpoint was trained, in another split's buildings."""
        names = ("skill", "task", "buildings", "agent")
        return cls(split=split, **{name: metadata[name] for name in names})

    def metadata(self) -> dict[str, Any]:
        """Plain values for a checkpoint; `from_metadata` reads them."""
        return asdict(self)

    def task_config(self) -> Any:
        """The task's config as its dataclass."""
        schema = OmegaConf.structured(default_config(self.skill))
        return OmegaConf.to_object(OmegaConf.merge(schema, self.task))

    def __call__(self, environment_index: int, seed: int) -> NavEnv:
        """One environment."""
        del environment_index
        agent = AgentConfig(**self.agent)
        return NavEnv(self.skill, self.task_config(), self.split, self.buildings, agent, seed)

    def make_vector(self, count: int, seed: int) -> NavVectorEnv:
        """All environments in one process; `reset` seeds them, so `seed` is not needed."""
        del seed
        agent = AgentConfig(**self.agent)
        return NavVectorEnv(
            count, self.skill, self.task_config(), self.split, self.buildings, agent
        )
