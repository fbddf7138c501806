"""Navigation tasks (PointNav and its kin) as something to train and evaluate beside the skills.

Imports no torch: environment workers unpickle `NavEnvironments` from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, make_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from nav.agent import CPU, AgentConfig
from nav.buildings import building_names, split_of
from nav.env import NavEnv, NavVectorEnv
from nav.episode import NavEpisode
from nav.episode_files import (
    GRID,
    HABITAT,
    READERS,
    SCENES,
    EpisodeSource,
    check_homes_play,
    episode_files,
    load_episodes,
    source_of,
)
from nav.sharing import Sharing, names_of
from nav.table import all_tasks, default_config, find_task
from rearrange.episodes.dataset import SAMPLED
from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.settings import check_ranges
from skills.environments import Environments, with_values
from skills.recipe import Staged
from ver import TrainerConfig


def navigation_names() -> tuple[str, ...]:
    """Names of all navigation tasks, ours first."""
    return tuple(all_tasks())


@dataclass
class NavigationSettings(Staged):
    """One training run of a navigation task."""

    skill: str = ""  # what is trained
    preset: str = "cpu"  # cpu, or the name of a file in configs/presets/, such as bps
    run: str = ""  # run directory; empty: runs/<task>
    split: str = "train"  # buildings to train in
    homes: str = DEFAULT_HOMES  # collection of homes, see nav.buildings: classic, or generated
    # simulator: grid; scan for scenes in .glb files (docs/navigation.md); habitat for habitat-sim
    sim: str = GRID
    # sim=habitat or scan: file of episodes in Habitat's schema; {split} stands for the split
    dataset: str = ""
    scenes: str = SCENES  # sim=habitat or scan: folder of the scenes
    sharing: Sharing = field(default_factory=Sharing)  # scenes that agents share (system=batched)
    agent: AgentConfig = field(default_factory=AgentConfig)  # body, motion and camera
    trainer: TrainerConfig = field(default_factory=TrainerConfig)  # the learner


@dataclass(frozen=True)
class NavEnvironments(Environments):
    """Makes the environments of a navigation task; picklable.

    Attributes:
        skill: Task to make.
        task: The task's config as plain values.
        split: Which buildings.
        agent: `AgentConfig` as plain values.
        homes: Which collection of buildings.
        dataset: File of episodes in scenes of files; "" for none.
        scenes: Folder of the scenes.
        sim: Simulator, see nav.episode_files.
        sharing: `Sharing` of a training as plain values.
    """

    task: dict[str, Any]
    split: str
    agent: dict[str, Any]
    homes: str = DEFAULT_HOMES
    dataset: str = ""
    scenes: str = SCENES
    sim: str = GRID
    sharing: dict[str, Any] = field(default_factory=dict)

    @classmethod
    @lru_cache
    def settings_type(cls, skill: str) -> type[NavigationSettings]:
        """NavigationSettings with the task's own config in the field `task`, and its own agent."""
        task_type = type(default_config(skill))
        agent = find_task(skill).agent_config
        return make_dataclass(
            "NavigationSettings",
            [
                ("task", task_type, field(default_factory=task_type)),
                ("agent", AgentConfig, field(default_factory=agent)),
            ],
            bases=(NavigationSettings,),
        )

    @classmethod
    def config_names(cls, skill: str) -> tuple[str, ...]:
        """See Environments."""
        return "navigation", skill

    @classmethod
    def from_settings(cls, settings: Any, split: str | None = None) -> NavEnvironments:
        """See Environments."""
        settings.agent.check()
        cls._check_drawing(settings)
        cls.check_numbers(settings.task)
        chosen: str = split or settings.split
        names = building_names(settings.homes, chosen)
        check_homes_play(settings.sim, settings.homes)
        made = cls.of_settings(settings, split=chosen)
        cls._check_sharing(settings, names, made.files())
        return made

    @staticmethod
    def _check_drawing(settings: Any) -> None:
        """Raise a UserError where images drawn on a device do not go with the learner."""
        drawn_on, trainer = settings.agent.draw_on, settings.trainer
        if drawn_on != CPU and trainer.system != "batched":
            raise UserError(
                f"agent.draw_on={drawn_on} is for agents that are stepped together: set "
                f"trainer.system=batched, found {trainer.system}"
            )

    @staticmethod
    def _check_sharing(settings: Any, names: Sequence[str], files: EpisodeSource | None) -> None:
        """Raise a UserError where the scenes that agents share make no sense."""
        sharing, trainer = settings.sharing, settings.trainer
        check_ranges(sharing, "sharing")
        if not sharing.scenes:
            return
        if trainer.system != "batched":
            raise UserError(
                f"sharing.scenes={sharing.scenes} is for agents that are stepped together: set "
                f"trainer.system=batched, found {trainer.system}"
            )
        sharing.check(trainer.collect.num_environments, len(names_of(names, files)))

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any], split: str) -> NavEnvironments:
        """The environments in which a checkpoint is judged, in a split's buildings.

        The agent is the checkpoint's; success, limits and starts are the task's own, so that all policies
        of a task are judged alike.
        """
        kept = {name: metadata[name] for name in ("skill", "agent")}
        for name in ("homes", "dataset", "scenes", "sim"):  # policies of before have none
            kept |= {name: metadata[name]} if name in metadata else {}
        if metadata.get("dataset") and "sim" not in metadata:
            kept["sim"] = HABITAT
        return cls(split=split, task={}, **kept)

    @classmethod
    def check_numbers(cls, task: Any) -> None:
        """See Environments."""
        task.check()

    def files(self) -> EpisodeSource | None:
        """The episodes in scenes of files; None in our buildings."""
        return source_of(self.sim, self.skill, self.dataset, self.scenes, self.split)

    def metadata(self) -> dict[str, Any]:
        """Plain values for a checkpoint, with the paths of episodes and scenes: it is judged on them."""
        return asdict(self)

    def task_config(self) -> Any:
        """The task's config as its dataclass."""
        return with_values(default_config(self.skill), self.task)

    def __call__(self, environment_index: int, seed: int) -> NavEnv:
        """One environment, which is drawn on the CPU whatever draws many."""
        del environment_index
        agent = AgentConfig(**{**self.agent, "draw_on": CPU})
        config, files = self.task_config(), self.files()
        return NavEnv(self.skill, config, self.split, self.homes, agent, seed, files)

    def make_vector(self, count: int, seed: int, threads: int = 0) -> NavVectorEnv:
        """All environments in one process, a thread for every core; what begins episodes seeds them."""
        del seed
        agent = AgentConfig(**self.agent)
        config, files = self.task_config(), self.files()
        task = self.skill, config, self.split, self.homes, agent, files
        return NavVectorEnv(count, *task, threads, sharing=Sharing(**self.sharing))


def find_episode_file(
    choice: str | None, task: str, count: int, split: str, scenes: str = "", sim: str = GRID
) -> tuple[Path | None, str]:
    """The file from which an evaluation of a navigation task takes its episodes.

    Args:
        choice: A file in Habitat's schema; "sampled" or None for none.
        task: Task that is evaluated.
        count: How many episodes are needed.
        split: Whose buildings they must be in.
        scenes: Folder of the scenes that they are in; "": they are in our buildings.
        sim: Simulator in which they are played.

    Returns:
        The file, None where episodes shall be sampled, and a line that says which.

    Raises:
        UserError: The file is missing, wrong or too small, or not of this task or split.
    """
    if choice in (None, SAMPLED):
        if sim == HABITAT:
            raise UserError(
                "--sim habitat needs episodes in Habitat's scenes: give their file as --dataset"
            )
        return None, "episodes: sampled on the fly"
    if task not in READERS:
        raise UserError(
            f"files hold episodes of {' or '.join(READERS)}, not of {task}: leave --dataset out"
        )
    episodes = episodes_of(task, Path(choice), scenes)
    for episode in () if scenes else episodes:
        found = split_of(episode.building)
        if found != split:
            raise UserError(
                f"{choice}: episode '{episode.episode_id}' is in {episode.building}, a building of "
                f"'{found}', not of '{split}': ask for --split {found}, or for another file"
            )
    found = len(episodes)
    if found < count:
        raise UserError(f"{choice} holds {found} episodes, not {count}: ask for fewer")
    return Path(choice), f"episodes: {choice}, which holds {found}"


def episode_of_file(task: str, path: Path, index: int, seed: int, scenes: str = "") -> NavEpisode:
    """Episode `index` of a task's file in the order of a seed; seed 0 is the file's own order."""
    episodes = episodes_of(task, path, scenes)
    if seed:
        index = int(np.random.default_rng(abs(seed)).permutation(len(episodes))[index])
    return episodes[index]


@lru_cache(maxsize=4)
def episodes_of(task: str, path: Path, scenes: str = "") -> tuple[NavEpisode, ...]:
    """All episodes of a dataset: of its file, or in Habitat's scenes of one for each scene."""
    files = episode_files(path) if scenes else [path]
    return tuple(each for file in files for each in load_episodes(task, str(file), scenes))
