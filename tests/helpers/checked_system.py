"""Settings against the system that they name."""

from ver.collect.systems import find_system
from ver.config import TrainerConfig, merge_config


def check_system(*overrides: str) -> None:
    """Let the system refuse settings that contradict it."""
    config = merge_config(TrainerConfig, [], overrides)
    find_system(config.system).check(config)
