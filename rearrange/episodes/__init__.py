"""Episodes: what they are, how they are generated, and the files that hold them."""

from rearrange.episodes.checking import check_episode
from rearrange.episodes.dataset import EpisodeSet, default_path, find_dataset, shown
from rearrange.episodes.episode import Episode, Target
from rearrange.episodes.generation import (
    Scene,
    cluttered_scene,
    empty_scene,
    load_layout,
    sample_arm,
)
from rearrange.episodes.recorded import FailedStarts, RecordedStarts

__all__ = [
    "Episode",
    "EpisodeSet",
    "FailedStarts",
    "RecordedStarts",
    "Scene",
    "Target",
    "check_episode",
    "cluttered_scene",
    "default_path",
    "empty_scene",
    "find_dataset",
    "load_layout",
    "sample_arm",
    "shown",
]
