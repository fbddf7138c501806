"""`python -m benchmarks.drill_training JSON`: one small training of the fault drill.

The JSON object holds `run` and `markers` (folders) and, optionally: `skill`, `settings`
(`key=value` strings), `faults` ([kind, environment, step], see faulty_environments), `lockstep`,
`stop_after`, `fill_disk_after` and `kill_inference_worker_after` (rollouts), and `kill_in_save`
(SIGKILL to ourselves in the saving after so many rollouts).
"""

from __future__ import annotations

import json
import os
import resource
import signal
from collections.abc import Sequence
from typing import Any

from benchmarks.faulty_environments import Trails, plan
from skills.command import run_command
from ver import Trainer, TrainerConfig, merge_config
from ver.config import FORMER_DEFAULTS

ENVIRONMENTS = 4
LENGTH = 32
ROLLOUTS = 8
STEPS = ENVIRONMENTS * LENGTH * ROLLOUTS
SETTINGS = [
    f"total_steps={STEPS}",
    f"collect.num_environments={ENVIRONMENTS}",
    "collect.environments_per_worker=2",
    f"collect.rollout_length={LENGTH}",
    "network.hidden_size=8",
    "learner_threads=1",
    "tensorboard=false",
    "log_interval_s=0",
]
# Every batch waits for all environments, of which one process takes care.
LOCKSTEP = [
    f"collect.environments_per_worker={ENVIRONMENTS}",
    f"collect.min_requests={ENVIRONMENTS}",
]
_DISK_BYTES = 12_000  # enough for the log, too little for a checkpoint


def main(arguments: Sequence[str]) -> int:
    """Trains as asked."""
    spec = json.loads(arguments[0])
    config = merge_config(
        TrainerConfig,
        [],
        [
            *FORMER_DEFAULTS,
            *SETTINGS,
            *(LOCKSTEP if spec.get("lockstep") else []),
            *spec.get("settings", []),
        ],
    )
    faults = plan(spec["markers"], *map(tuple, spec.get("faults", [])))
    trainer = Trainer(
        config,
        # Steps take a millisecond, so that faults happen while others are under way.
        Trails(faults, delay_s=0.002),
        spec["run"],
        {"skill": spec.get("skill", "trail")},
        after_update=lambda trainer, row: _disturb(spec, trainer),
    )
    if spec.get("kill_in_save"):
        _kill_in_save(trainer, spec["kill_in_save"])
    trainer.train()
    return 0


def _rollout(trainer: Trainer) -> int:
    return trainer.steps // (STEPS // ROLLOUTS)


def _disturb(spec: dict[str, Any], trainer: Trainer) -> bool:
    rollout = _rollout(trainer)
    if rollout == spec.get("fill_disk_after"):
        # Where no file can grow, writing fails as on a full disk.
        _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (_DISK_BYTES, hard))
    if rollout == spec.get("kill_inference_worker_after"):
        import multiprocessing

        for process in multiprocessing.active_children():
            if process.name.startswith("inference"):
                process.kill()
    return rollout == spec.get("stop_after")


def _kill_in_save(trainer: Trainer, rollout: int) -> None:
    """Dies where a checkpoint is written and has not yet got its name."""
    replace = os.replace

    def last_words(source: Any, target: Any) -> None:
        if "training_" in str(target) and _rollout(trainer) == rollout:
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)

    os.replace = last_words


if __name__ == "__main__":
    run_command(main)
