"""Demonstrations by oracles, and policies that begin by imitating them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.robot.actions import PHYSICAL_ACTION_SIZE, STOP
from rearrange.rules import without_stop_masks
from skills.oracle.skill import begin_oracle
from skills.players import argument_of
from skills.settings import SkillEnvironments
from ver.checkpoint import save_policy, write_atomically
from ver.cloning import Demonstrations, clone
from ver.collect.environment_worker import probe_spaces
from ver.collect.processes import cores
from ver.config import CloningConfig, TrainerConfig, config_to_dict
from ver.networks.policy import ActorCritic
from ver.random_state import seed_everything

PATIENCE = 20  # episodes that may fail for each that succeeds
TELL_S = 10.0


class Recorder:
    """Plays a skill's task with its oracle and keeps what a policy would have seen and done.

    Stops count wherever they are called: an oracle may end with the arm where a mask ignores it. Where an
    action lasts several steps (`task.action.repeat`), the policy's is the mean of the oracle's.
    """

    def __init__(self, environments: SkillEnvironments, seed: int) -> None:
        """Make the environment, with a policy's images."""
        task = without_stop_masks(environments.task_config())
        self.environment: RearrangeEnv = replace(environments, task=asdict(task))(0, seed)
        self.skill = environments.skill
        self._scale = self.environment.task.action.scale()
        self._repeat = int(self.environment.task.action.repeat)

    def episode(self) -> tuple[list[dict[str, np.ndarray]], list[np.ndarray], bool]:
        """Play one; returns what was seen, the actions [action_size] in [-1, 1], and whether it succeeded."""
        world = self.environment
        seen, _ = world.reset()
        oracle = begin_oracle(self.skill, world, argument_of(self.skill, world.episode))
        all_seen, actions = [], []
        ended, info = False, {}
        while not ended:
            all_seen.append(seen)
            means = np.zeros(PHYSICAL_ACTION_SIZE)
            stop = False
            for part in range(self._repeat):
                wanted = np.clip(oracle.act(world.state, 0) / self._scale, -1.0, 1.0)
                stop = stop or (part == 0 and oracle.done(world.state, 0))
                _, terminated, truncated, info = world.step_physical(
                    wanted * self._scale, stop and part == 0
                )
                means += wanted / self._repeat
                ended = terminated or truncated
                if ended:
                    break
            full = np.append(means, 1.0 if stop else -1.0)
            assert len(full) == STOP + 1
            actions.append(full[world.task.action_slice].astype(np.float32))
            seen = world.observe()
        return all_seen, actions, bool(info["metrics"]["success"])


def record(
    environments: SkillEnvironments,
    count: int,
    seed: int,
    report: Callable[[int, int, int], None] = lambda steps, episodes, failed: None,
) -> Demonstrations:
    """Demonstrations of whole episodes that succeeded, about `count` steps.

    Args:
        environments: Of a skill that has an oracle.
        count: Steps; the last episode is kept whole.
        seed: Of the episodes.
        report: Called after every episode with the steps kept, the episodes kept, and those that failed.

    Raises:
        UserError: The oracle fails nearly always.
    """
    recorder = Recorder(environments, seed)
    all_seen: dict[str, list[np.ndarray]] = {}
    actions: list[np.ndarray] = []
    first: list[bool] = []
    kept = failed = 0
    while len(actions) < count:
        seen, done, success = recorder.episode()
        if success:
            for key in seen[0]:
                rows = np.stack([each[key] for each in seen])
                # Half the memory; depth of 10 m keeps steps of 5 mm.
                all_seen.setdefault(key, []).append(
                    rows.astype(np.float16) if rows.ndim == 4 else rows
                )
            actions += done
            first += [index == 0 for index in range(len(done))]
        kept, failed = kept + success, failed + (not success)
        report(len(actions), kept, failed)
        if failed > PATIENCE * (kept + 1):
            raise UserError(
                f"the oracle of {environments.skill} failed in {failed} of {kept + failed} episodes"
            )
    recorder.environment.close()
    observations = {k: torch.as_tensor(np.concatenate(v)) for k, v in all_seen.items()}
    return Demonstrations(observations, torch.as_tensor(np.stack(actions)), np.array(first))


def imitate(
    environments: SkillEnvironments,
    trainer: TrainerConfig,
    config: CloningConfig,
    run: Path,
    metadata: dict[str, Any],
    say: Callable[[str], None],
) -> None:
    """Leave a policy in a run directory that imitates the skill's oracle, unless there is one.

    Args:
        environments: What is imitated in.
        trainer: Its network and seed count.
        config: How much is shown, and how it is learned.
        run: Gets policy.safetensors and metrics.jsonl.
        metadata: Kept in the policy.
        say: Tells the person a line.
    """
    path = run / "policy.safetensors"
    if path.exists():
        say(f"done before: {path}")
        return
    begin, told = time.monotonic(), -TELL_S

    def slowly(line: str) -> None:
        nonlocal told
        if time.monotonic() - told >= TELL_S:
            told = time.monotonic()
            say(line)

    seed_everything(trainer.seed)
    torch.set_num_threads(trainer.learner_threads or cores())
    shown = record(
        environments, config.transitions, trainer.seed,
        lambda steps, kept, failed: slowly(
            f"the oracle has shown {steps:,} of {config.transitions:,} steps; "
            f"{failed} of {kept + failed} episodes failed and do not count"
        ),
    )  # fmt: skip
    policy = ActorCritic(*probe_spaces(environments, trainer.seed), trainer.network)  # pyright: ignore
    rng = np.random.default_rng(trainer.seed)
    loss = clone(
        policy, shown, config, rng,
        lambda update, loss: slowly(f"update {update:,} of {config.updates:,}, loss {loss:.3f}"),
    )  # fmt: skip
    steps, seconds = len(shown.first), time.monotonic() - begin
    row = {"steps": float(steps), "seconds": seconds, "loss/cloning": loss}
    write_atomically(run / "metrics.jsonl", (json.dumps(row) + "\n").encode())
    save_policy(path, policy, config_to_dict(trainer), metadata | {"steps": steps})
    say(f"done; {steps:,} steps shown, loss {loss:.3f}, {seconds:.0f} s, policy in {path}")
