"""Episodes in scenes of files: read in Habitat's schema, one file or one for each scene; or sampled there."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from nav.agent import AgentConfig
from nav.episode import NavEpisode, SceneMesh
from nav.habitat import read_episodes
from nav.habitat_objects import read_object_episodes
from nav.mesh_worlds import MeshWorlds
from nav.scan import OPEN, ScanKey, load_scan, sample_episode
from nav.scan_worlds import ScanWorlds
from nav.task import NavTask
from nav.worlds import AgentWorlds
from rearrange.errors import UserError, check_choice
from rearrange.habitat.process import check_installed
from rearrange.scenes.registry import DEFAULT_HOMES

READERS: dict[str, Callable[..., tuple[NavEpisode, ...]]] = {
    "pointnav": read_episodes,
    "objectnav": read_object_episodes,
}
# Simulators: ours in our buildings; habitat-sim; ours in scanned scenes
GRID, HABITAT, SCAN = "grid", "habitat", "scan"
SCENES = "data/scene_datasets"  # where Habitat's downloader puts scenes
STAY = 50  # episodes after which an agent goes to another scene: loading one takes seconds
OTHERS = {".basis", ".semantic"}  # files beside a scene's own, as in HM3D
TRIES = 50  # episodes of a file that are tried before a scan is given up


class EpisodeSource(Protocol):
    """Source of the episodes of an environment that plays in scenes of files."""

    def worlds(self, count: int, agent: AgentConfig, threads: int) -> AgentWorlds:
        """The agents that play them, and how many threads draw what they see."""
        ...

    def draw(self, i: int, rng: np.random.Generator, task: NavTask) -> NavEpisode:
        """An episode for agent i of a task."""
        ...


def episode_files(path: str | Path) -> list[Path]:
    """The files that hold a dataset's episodes: those in `content/` beside its file, or itself.

    Raises:
        UserError: There is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise UserError(
            f"there is no {path}: get episodes with python -m habitat_sim.utils.datasets_download "
            "--uids habitat_test_pointnav_dataset --data-path data (or another dataset's name)"
        )
    return sorted((path.parent / "content").glob("*.json.gz")) or [path]


@lru_cache(maxsize=8)
def load_episodes(task: str, path: str, scenes: str = "") -> tuple[NavEpisode, ...]:
    """A task's episodes from a file, in our buildings or in the scenes of a folder (cached per process)."""
    return READERS[task](path, scenes)


class SceneEpisodes:
    """Draws training episodes in Habitat's scenes; an agent stays in a scene for STAY of them.

    An agent that is seeded anew stays, too: of an episode there the seed decides all but the scene.

    Args:
        task: Whose episodes.
        path: The dataset's file, see `episode_files`.
        scenes: Folder of the scenes.
    """

    def __init__(self, task: str, path: str, scenes: str) -> None:
        if task not in READERS:
            raise UserError(
                f"{task} knows no scenes of Habitat: choose one of {', '.join(READERS)}"
            )
        self.task, self.scenes = task, scenes
        self.files = episode_files(path)
        self._agents: dict[int, tuple[list[NavEpisode], int]] = {}

    def worlds(self, count: int, agent: AgentConfig, threads: int = 1) -> AgentWorlds:
        """Agents on habitat-sim, which draws in processes of its own."""
        del threads
        return MeshWorlds(count, agent)

    def draw(self, i: int, rng: np.random.Generator, task: NavTask | None = None) -> NavEpisode:
        """An episode for agent i: in the scene where it is, or in another, each as likely."""
        del task
        episodes, left = self._agents.get(i, ([], 0))
        if not left:
            file = self.files[int(rng.integers(len(self.files)))]
            everywhere = load_episodes(self.task, str(file), self.scenes)
            there = sorted({episode.building for episode in everywhere})
            scene = there[int(rng.integers(len(there)))]
            episodes, left = [each for each in everywhere if each.building == scene], STAY
        self._agents[i] = episodes, left - 1
        return episodes[int(rng.integers(len(episodes)))]


class ScanEpisodes:
    """Draws episodes in scans, which need no habitat-sim: those of files, or sampled ones.

    OPEN agents choose scenes and stay in one for STAY episodes; the others go where these are, so that few
    scenes are in memory. An agent that is seeded anew chooses anew: then the seed alone decides.

    Args:
        task: Whose episodes.
        path: The dataset's file, see `episode_files`; "": they are sampled.
        scenes: Folder of the scenes; where episodes are sampled, it may be a single file.
    """

    def __init__(self, task: str, path: str, scenes: str) -> None:
        if path and task not in READERS:
            raise UserError(f"no files hold episodes of {task}: leave dataset out")
        if not path and task == "objectnav":
            raise UserError(
                "objectnav in scans needs a file of episodes, with view points: give it as dataset"
            )
        self.task, self.scenes = task, scenes
        self.files = [str(each) for each in (episode_files(path) if path else scan_files(scenes))]
        self.sampled = not path
        self._places: dict[int, tuple[np.random.Generator, Any, int]] = {}

    def worlds(self, count: int, agent: AgentConfig, threads: int = 1) -> AgentWorlds:
        """Agents on floors found in the meshes."""
        return ScanWorlds(count, agent, threads)

    def draw(self, i: int, rng: np.random.Generator, task: NavTask) -> NavEpisode:
        """An episode for agent i. Those of a file that cannot be begun are left out."""
        leader = i % OPEN
        known = self._places.get(leader)
        if known is None or (leader == i and (known[0] is not rng or known[2] <= 0)):
            known = rng, self._choose(rng), STAY
        seeded, place, left = known
        self._places[leader] = seeded, place, left - (leader == i)
        if self.sampled:
            key = ScanKey.of(SceneMesh(place), task.worlds.config)
            return sample_episode(load_scan(key), task, rng)
        episode = place[int(rng.integers(len(place)))]
        for _ in range(TRIES):
            if _can_begin(task, i, episode):
                break
            episode = place[int(rng.integers(len(place)))]
        return episode

    def _choose(self, rng: np.random.Generator) -> Any:
        """A scene's file, or its episodes."""
        file = self.files[int(rng.integers(len(self.files)))]
        if self.sampled:
            return file
        everywhere = load_episodes(self.task, file, self.scenes)
        there = sorted({episode.building for episode in everywhere})
        scene = there[int(rng.integers(len(there)))]
        return [each for each in everywhere if each.building == scene]


def source_of(
    sim: str, task: str, dataset: str, scenes: str, split: str = ""
) -> EpisodeSource | None:
    """Make the source of a simulator's episodes; None in our buildings.

    Args:
        sim: GRID, HABITAT or SCAN.
        task: Whose episodes.
        dataset: Their file, in which `{split}` stands for the split; "": none, they are sampled.
        scenes: Folder of the scenes.
        split: Which.

    Raises:
        UserError: There is no such simulator, or it has no such episodes.
    """
    path = dataset.replace("{split}", split)
    if sim == SCAN:
        return ScanEpisodes(task, path, scenes)
    if sim == HABITAT:
        check_installed()
        if not path:
            raise UserError(
                "sim=habitat needs episodes, for example dataset=data/datasets/pointnav/"
                "habitat-test-scenes/v1/{split}/{split}.json.gz"
            )
        return SceneEpisodes(task, path, scenes)
    check_choice("simulator", sim, (GRID, HABITAT, SCAN))
    if path:
        raise UserError(
            f"dataset={dataset} is played in scenes of files: say sim=habitat or sim=scan"
        )
    if scenes not in ("", SCENES):
        raise UserError(
            f"scenes={scenes} are for sim=scan or sim=habitat: say which, or leave it out"
        )
    return None


def check_homes_play(sim: str, homes: str) -> None:
    """Raise a UserError where a choice of our buildings has no effect."""
    if sim != GRID and homes != DEFAULT_HOMES:
        raise UserError(
            f"homes={homes} chooses our buildings, sim={sim} plays elsewhere: leave it out"
        )


def scan_files(scenes: str | Path) -> list[Path]:
    """The scene files in a folder and those below, or a single one.

    Raises:
        UserError: There is none.
    """
    path = Path(scenes)
    found = [path] if path.is_file() else sorted(path.rglob("*.glb"))
    kept = [each for each in found if path.is_file() or not set(each.suffixes) & OTHERS]
    if not kept:
        raise UserError(f"scenes={scenes}: expected a .glb file, or a folder of such, found none")
    return kept


def _can_begin(task: NavTask, i: int, episode: NavEpisode) -> bool:
    """Return whether a way leads from an episode's start to its goal, which is not there already."""
    try:
        shortest, _ = task.worlds.lengths(i, episode, task.origin(episode))
    except UserError:
        return False
    return task.config.success_distance <= shortest < np.inf
