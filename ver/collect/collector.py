"""Base class of the systems: a way to collect experience that says when learning may start."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ver.collect.environment_worker import MakeEnv, MakeWorlds
from ver.collect.faults import Fault, FaultCounter
from ver.collect.in_flight import InFlight
from ver.config import APPOConfig, TrainerConfig
from ver.networks.policy import ActorCritic
from ver.preemption import Preemption
from ver.rollout import RolloutBuffer


class Collector(ABC):
    """Collects the experience of one training run.

    What is not abstract here suits a system that acts with the learner's own weights and learns
    from rollouts of T x N steps.

    Attributes:
        buffer: The rollout to learn from after `collect`.
        faults: The faults that were survived.
        overlaps: True if the next rollout is collected while the learner learns from this one.
        went_on: True if the episodes that were carried over were taken up.
        together: True if one vectorised environment steps all worlds.
    """

    buffer: RolloutBuffer
    overlaps = False
    went_on = False
    together = False

    def __init__(
        self,
        config: TrainerConfig,
        make_env: MakeEnv | MakeWorlds,
        policy: ActorCritic,
        seed: int,
        in_flight: InFlight | None = None,
        on_fault: Callable[[Fault], None] = lambda fault: None,
        keep_going: Callable[[], bool] = lambda: True,
    ):
        """Starts the collector.

        Args:
            config: The run's settings.
            make_env: `(environment_index, seed) -> gymnasium.Env`, picklable; or, where worlds are stepped
                together, what makes them.
            policy: The learner's.
            seed: Seeds the environments.
            in_flight: `capture`'s answer from a stopped run, to go on with its episodes.
            on_fault: Told of each fault that the run survived.
            keep_going: Asked now and then while workers start.
        """
        self.config = config
        self._make_env: Any = make_env  # systems that are not `together` have a MakeEnv
        self._policy = policy
        self._seed = seed
        self.faults = FaultCounter(config.collect.max_faults_per_hour, on_fault)
        self.start(in_flight, keep_going)

    @abstractmethod
    def start(self, in_flight: InFlight | None, keep_going: Callable[[], bool]) -> None:
        """Makes the rollout and what fills it; the constructor's last act, with its arguments."""

    @classmethod
    def check(cls, config: TrainerConfig) -> None:
        """Refuses settings that contradict the system, before anything is started.

        Raises:
            UserError: In one line that names the mend.
        """
        del config  # nothing contradicts

    @classmethod
    def why_runs_differ(cls, config: TrainerConfig) -> str:
        """Returns what is left to chance, so that no two runs on a CPU are the same to the byte.

        Empty where nothing is, and a run that is resumed gives the same bytes as one that was left alone.
        """
        return f"system={config.system} does not say that it repeats"

    @classmethod
    def batch_steps(cls, config: TrainerConfig) -> int:
        """Returns how many steps of one process are learned from together."""
        return config.collect.num_environments * config.collect.rollout_length

    @classmethod
    def vtrace(cls, config: TrainerConfig) -> APPOConfig | None:
        """Returns the bounds of V-trace where it takes the place of GAE, None where it does not."""
        return None

    @property
    @abstractmethod
    def busy_seconds(self) -> dict[str, float]:
        """Seconds so far in "wait", "inference" and "overhead" of the main process."""

    def begin(self, version: int) -> None:  # noqa: B027
        """Begins a rollout, where others fill it before `collect` is called; arguments as there."""

    @abstractmethod
    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Preemption | None = None,
    ) -> bool:
        """Fills a rollout.

        Args:
            version: Number of learner updates behind the acting policy, stored with each step.
            keep_going: Asked now and then; collection stops once it says no.
            preemption: Says when to end early and fill up with stale steps.

        Returns:
            True if the rollout is full.

        Raises:
            WorkerCrashError: If an inference worker failed, or environments did too often.
        """

    def copy_weights(self) -> None:  # noqa: B027
        """Hands the learner's weights to the acting policy, where that is another one."""

    def publish(self, version: int) -> None:  # noqa: B027
        """Takes note of a gradient step, the `version`th, while others may still act."""

    def capture(self) -> InFlight:
        """Copies what is under way after a full rollout; a checkpoint keeps it."""
        return {}

    @abstractmethod
    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the episodes that ended since the last call."""

    @abstractmethod
    def close(self) -> None:
        """Ends all worker processes."""
