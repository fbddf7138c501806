"""The learner: variable experience rollouts and PPO, over observations and actions as arrays.

Names are resolved on first use, so that `import ver.collect.environment_worker` does not load
torch: dozens of environment processes would each pay a quarter of a gigabyte for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import interrupts  # noqa: F401 - Ctrl-C from here on is one line

if TYPE_CHECKING:
    from ver.action_space import to_environment_action
    from ver.checkpoint import load_policy, read_metadata, save_policy
    from ver.config import (
        CollectConfig,
        CPCAConfig,
        EntropyConfig,
        NetworkConfig,
        PPOConfig,
        TrainerConfig,
        merge_config,
    )
    from ver.errors import UserError, WorkerCrashError
    from ver.networks.policy import ActorCritic, PolicyOutput
    from ver.trainer import Trainer

_HOMES = {
    "ActorCritic": "ver.networks.policy",
    "CPCAConfig": "ver.config",
    "CollectConfig": "ver.config",
    "EntropyConfig": "ver.config",
    "NetworkConfig": "ver.config",
    "PPOConfig": "ver.config",
    "PolicyOutput": "ver.networks.policy",
    "Trainer": "ver.trainer",
    "TrainerConfig": "ver.config",
    "UserError": "ver.errors",
    "WorkerCrashError": "ver.errors",
    "load_policy": "ver.checkpoint",
    "merge_config": "ver.config",
    "read_metadata": "ver.checkpoint",
    "save_policy": "ver.checkpoint",
    "to_environment_action": "ver.action_space",
}

__all__ = [
    "ActorCritic",
    "CPCAConfig",
    "CollectConfig",
    "EntropyConfig",
    "NetworkConfig",
    "PPOConfig",
    "PolicyOutput",
    "Trainer",
    "TrainerConfig",
    "UserError",
    "WorkerCrashError",
    "load_policy",
    "merge_config",
    "read_metadata",
    "save_policy",
    "to_environment_action",
]


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ver' has no attribute '{name}'")
    return getattr(importlib.import_module(_HOMES[name]), name)
