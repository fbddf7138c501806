"""Episodes: what they are, and the files that hold them."""

from rearrange.episodes.checking import check_episode
from rearrange.episodes.dataset import EpisodeSet, default_path, find_dataset, shown
from rearrange.episodes.episode import Episode, SceneFiles, SceneHandle, Target, floor_of, spec_of
from rearrange.episodes.recorded import RecordedStarts

__all__ = [
    "Episode",
    "EpisodeSet",
    "RecordedStarts",
    "SceneFiles",
    "SceneHandle",
    "Target",
    "check_episode",
    "default_path",
    "find_dataset",
    "floor_of",
    "shown",
    "spec_of",
]
