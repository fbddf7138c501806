"""Episodes: what they are, how they are generated, and the files that hold them."""

from rearrange.episodes.checking import check_episode
from rearrange.episodes.dataset import EpisodeSet, default_path, find_dataset, shown
from rearrange.episodes.episode import Episode, SceneFiles, SceneHandle, Target
from rearrange.episodes.generation import (
    HandleWay,
    Scene,
    cluttered_scene,
    empty_scene,
    floor_of,
    load_layout,
    sample_arm,
)
from rearrange.episodes.recorded import RecordedStarts

__all__ = [
    "Episode",
    "EpisodeSet",
    "HandleWay",
    "RecordedStarts",
    "Scene",
    "SceneFiles",
    "SceneHandle",
    "Target",
    "check_episode",
    "cluttered_scene",
    "default_path",
    "empty_scene",
    "find_dataset",
    "floor_of",
    "load_layout",
    "sample_arm",
    "shown",
]
