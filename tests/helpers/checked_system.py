"""Settings against the system that they name."""

from ver.collect.systems import checked_system
from ver.config import TrainerConfig, merge_config


def check_system(*overrides: str) -> None:
    """Let the system refuse settings that contradict it."""
    checked_system(merge_config(TrainerConfig, [], overrides))
