"""The systems that `trainer.system=` may name, and what the trainer asks of each.

A system is a way to collect experience, and says when learning may start; networks, buffers, the
learner and the logs are the same for all. To add one, write its collector and a line below.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Protocol

from ver.collect.carried import Carried
from ver.collect.environment_worker import MakeEnv
from ver.collect.faults import Fault, FaultCounter
from ver.config import TrainerConfig
from ver.errors import UserError
from ver.networks.policy import ActorCritic
from ver.preemption import Preemption
from ver.rollout import RolloutBuffer


class Collector(Protocol):
    """What the trainer needs of a system.

    Attributes:
        buffer: The rollout to learn from after `collect`.
        faults: The faults that were survived.
        environment_steps: Steps collected in all.
        overlaps: Whether the next rollout is collected while the learner learns from this one.
        went_on: Whether the episodes that `make_collector` was given were taken up.
    """

    buffer: RolloutBuffer
    faults: FaultCounter
    environment_steps: int
    overlaps: bool
    went_on: bool

    @classmethod
    def check(cls, config: TrainerConfig) -> None:
        """Refuses settings that contradict the system, before anything is started.

        Raises:
            UserError: In one line that names the mend.
        """

    @property
    def busy_seconds(self) -> dict[str, float]:
        """Time so far in "wait", "inference" and "overhead" of the main process."""
        ...

    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Preemption | None = None,
    ) -> bool:
        """Fills a rollout; whether it is full says the answer. See `VERCollector.collect`."""
        ...

    def copy_weights(self) -> None:
        """Hands the learner's weights to the acting policy, where that is another one."""

    def publish(self, version: int) -> None:
        """Told after each gradient step, of which there are `version`, while others may still act."""

    def capture(self) -> Carried:
        """Copies what is under way after a full rollout; a checkpoint keeps it."""
        ...

    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the episodes that ended since the last call."""
        ...

    def close(self) -> None:
        """Ends all worker processes."""


# Each system's collector, imported only if it is used.
SYSTEMS = {
    "ver": "ver.collect.ver:VERCollector",
    "nover": "ver.collect.nover:NoVERCollector",
    "ddppo": "ver.collect.ddppo:DDPPOCollector",
    "htsrl": "ver.collect.htsrl:HTSRLCollector",
    "batched": "ver.collect.batched:BatchedCollector",
    "appo": "ver.collect.appo:APPOCollector",
}


def make_collector(
    config: TrainerConfig,
    make_env: MakeEnv,
    policy: ActorCritic,
    seed: int,
    carried: Carried | None = None,
    on_fault: Callable[[Fault], None] = lambda fault: None,
    keep_going: Callable[[], bool] = lambda: True,
) -> Collector:
    """Starts the collector of `config.system`; see `VERCollector` for the arguments."""
    kind = _collector_class(config.system)
    return kind(config, make_env, policy, seed, carried, on_fault, keep_going)


def check_system(config: TrainerConfig) -> None:
    """Refuses an unknown system, and settings that contradict the one that is named.

    Raises:
        UserError: In one line that names the mend.
    """
    _collector_class(config.system).check(config)


def _collector_class(system: str) -> Any:
    if system not in SYSTEMS:
        raise UserError(f"Unknown system '{system}'; valid: {', '.join(SYSTEMS)}.")
    module, name = SYSTEMS[system].split(":")
    return getattr(import_module(module), name)
