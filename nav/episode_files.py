"""Files of episodes in Habitat's schema: one, or one for each scene, of our buildings or Habitat's scenes."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import numpy as np

from nav.episode import NavEpisode
from nav.habitat import read_episodes
from nav.habitat_objects import read_object_episodes
from rearrange.errors import UserError

READERS: dict[str, Callable[..., tuple[NavEpisode, ...]]] = {
    "pointnav": read_episodes,
    "objectnav": read_object_episodes,
}
SCENES = "data/scene_datasets"  # where Habitat's downloader puts scenes
STAY = 50  # episodes after which an agent goes to another scene: loading one takes seconds


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

    def draw(self, i: int, rng: np.random.Generator) -> NavEpisode:
        """An episode for agent i: in the scene where it is, or in another, each as likely."""
        episodes, left = self._agents.get(i, ([], 0))
        if not left:
            file = self.files[int(rng.integers(len(self.files)))]
            everywhere = load_episodes(self.task, str(file), self.scenes)
            there = sorted({episode.building for episode in everywhere})
            scene = there[int(rng.integers(len(there)))]
            episodes, left = [each for each in everywhere if each.building == scene], STAY
        self._agents[i] = episodes, left - 1
        return episodes[int(rng.integers(len(episodes)))]
