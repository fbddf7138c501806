"""Episodes: what they are and how they are generated."""

from rearrange.episodes.episode import Episode, Target
from rearrange.episodes.generation import Scene, cluttered_scene, load_layout, sample_arm

__all__ = ["Episode", "Scene", "Target", "cluttered_scene", "load_layout", "sample_arm"]
