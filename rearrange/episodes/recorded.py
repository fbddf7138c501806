"""Start states that were met in earlier episodes, mixed into those that a task samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from numbers import Real
from pathlib import Path

import numpy as np

from rearrange.episodes.dataset import DIRECTORY, EpisodeSet
from rearrange.episodes.episode import Episode
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT


@dataclass
class RecordedStarts:
    """Which episode files are mixed in, and how often."""

    # Episode files of the task and split, such as `planner.eval --record-hand-offs` writes, or the folder
    # in which it wrote them for all skills. A relative path that leads nowhere from here starts at the
    # repository's root: configs name those in data/hand_offs
    paths: list[str] = field(default_factory=list)
    share: float = 0.5  # of the episodes that start from them

    def check(self, task: str, split: str, homes: str, robot: str = DEFAULT_ROBOT) -> None:
        """Raise UserError where a file is missing, wrong, empty or of others, or the share is none."""
        if not (isinstance(self.share, Real) and 0.0 <= self.share <= 1.0):
            raise UserError(f"starts.share must be from 0 to 1, found {self.share}")
        if not isinstance(self.paths, list | tuple):
            raise UserError(
                f"starts.paths must be a list of files and folders, found {self.paths!r}"
            )
        for path in self.files(task, split):
            try:
                count = len(EpisodeSet.load(path, task, split, homes, robot))
            except UserError as error:
                raise UserError(f"{error} (starts.paths=[] takes no recorded starts)") from None
            if not count:
                raise UserError(f"starts.paths: {path} holds no episodes: leave it out")

    def files(self, task: str, split: str) -> list[str]:
        """The episode files; of a folder those of the task and split.

        Raises:
            UserError: A folder has none.
        """
        return [file for path in self.paths for file in _files(_located(path), task, split)]

    def draw(
        self, task: str, split: str, rng: np.random.Generator, home_seed: Sequence[int] = ()
    ) -> Episode | None:
        """A recorded episode with a seed of its own, all equally likely; None: one is to be sampled.

        Args:
            task: Of the episode.
            split: Of its apartment.
            rng: Decides all else.
            home_seed: Decides in which apartment, so that a world need not make a new one for each episode;
                none: the generator does.
        """
        if not self.paths or rng.random() >= self.share:
            return None
        sets = [EpisodeSet.load(path, task, split) for path in self.files(task, split)]
        if home_seed:
            home = _home(sets, int(np.random.default_rng(home_seed).integers(sum(map(len, sets)))))
            candidates = [(among, k) for among in sets for k in among.in_home.get(home, ())]
        else:
            candidates = [(among, k) for among in sets for k in range(len(among))]
        among, k = candidates[int(rng.integers(len(candidates)))]
        return replace(among.episode(k), seed=int(rng.integers(2**31)))


def _home(sets: Sequence[EpisodeSet], k: int) -> tuple[int, int]:
    """The home of an episode, counted through all sets."""
    for among in sets:
        if k < len(among):
            return among.episodes[k].layout, among.episodes[k].variation
        k -= len(among)
    raise IndexError("there are not that many episodes")


@lru_cache
def _files(path: str, task: str, split: str) -> tuple[str, ...]:
    if not Path(path).is_dir():
        return (path,)
    found = tuple(sorted(map(str, Path(path, task).glob(f"*_{split}.json.gz"))))
    if not found:
        raise UserError(
            f"starts.paths: {path} has no {task}/*_{split}.json.gz "
            "(starts.paths=[] takes no recorded starts)"
        )
    return found


def _located(path: str) -> str:
    shipped = DIRECTORY.parents[1] / path
    return str(shipped) if not Path(path).exists() and shipped.exists() else path
