"""Demonstrations by oracles, and policies that begin by imitating them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.rules import without_stop_masks
from skills.command import Slowly
from skills.oracle.skill import begin_oracle
from skills.players import argument_of
from skills.settings import SkillEnvironments
from skills.workers import play_in_workers
from ver.changed_settings import differences
from ver.checkpoint import load_policy, save_policy, write_atomically
from ver.cloning import Demonstrations, clone
from ver.collect.environment_worker import probe_spaces
from ver.collect.processes import cores
from ver.config import CloningConfig, TrainerConfig, config_to_dict
from ver.logs import POLICY
from ver.networks.policy import ActorCritic
from ver.random_state import seed_everything
from ver.run_lock import RunLock

PATIENCE = 20  # episodes that may fail for each that succeeds
BLOCK = 5_000  # steps that are recorded by one process at a time


class Block(NamedTuple):
    """Episodes that succeeded, one after the other; `number` is the block's, `failed` those left out."""

    number: int
    shown: Demonstrations
    failed: int


class Recorder:
    """Plays a skill's task with its oracle and keeps what a policy would have seen and done.

    Stops count wherever they are called: an oracle may end with the arm where a mask ignores it. Where an
    action lasts several steps (`task.action.repeat`), the policy's is the mean of the oracle's.
    """

    def __init__(self, environments: SkillEnvironments) -> None:
        """Take the environments of a skill that has an oracle, with a policy's images."""
        task = without_stop_masks(environments.task_config())
        self._environments = replace(environments, task=asdict(task))
        self.skill = environments.skill
        self._repeat = int(task.action.repeat)
        self.begin(0)
        self._scale = task.action.scale(self.environment.robot.actions)

    def begin(self, seed: int) -> None:
        """Start over with another seed."""
        self.environment: RearrangeEnv = self._environments(0, seed)

    def play(self, number: int, seed: int, count: int) -> Block:
        """About `count` steps of whole episodes that succeeded.

        Args:
            number: Of the block.
            seed: Of its episodes.
            count: Steps; the last episode is kept whole.

        Raises:
            UserError: The oracle fails nearly always.
        """
        self.begin(seed)
        kept: list[Demonstrations] = []
        failed = 0
        while sum(len(each.first) for each in kept) < count:
            episode, success = self.episode()
            kept += [episode] * success
            failed += not success
            if failed > PATIENCE * (len(kept) + 1):
                raise UserError(
                    f"the oracle of {self.skill} failed in {failed} of {failed + len(kept)} episodes"
                )
        self.environment.close()
        return Block(number, Demonstrations.joined(kept), failed)

    def episode(self) -> tuple[Demonstrations, bool]:
        """Play one; returns what was seen and done, and whether it succeeded."""
        world = self.environment
        seen, _ = world.reset()
        oracle = begin_oracle(self.skill, world, argument_of(self.skill, world.episode))
        all_seen: list[dict[str, np.ndarray]] = []
        actions: list[np.ndarray] = []
        ended, info = False, {}
        while not ended:
            all_seen.append(seen)
            action, ended, info = self._act(oracle)
            actions.append(action)
            seen = world.observe()
        first = np.arange(len(actions)) == 0
        observations = {key: _stacked([each[key] for each in all_seen]) for key in seen}
        shown = Demonstrations(observations, torch.as_tensor(np.stack(actions)), first)
        return shown, bool(info["metrics"]["success"])

    def _act(self, oracle: Any) -> tuple[np.ndarray, bool, dict[str, Any]]:
        """Let the oracle act for one of the policy's actions: that, whether all is over, and `info`."""
        world = self.environment
        means = np.zeros(len(self._scale))
        stop = ended = False
        info: dict[str, Any] = {}
        for part in range(self._repeat):
            wanted = np.clip(oracle.act(world.state) / self._scale, -1.0, 1.0)
            stop = stop or (part == 0 and oracle.done)
            _, terminated, truncated, info = world.step_physical(
                wanted * self._scale, stop and part == 0
            )
            means += wanted / self._repeat
            ended = terminated or truncated
            if ended:
                break
        full = np.append(means, 1.0 if stop else -1.0)
        return full[world.task.action_slice].astype(np.float32), ended, info


def _stacked(rows: list[np.ndarray]) -> torch.Tensor:
    whole = np.stack(rows)
    # Half the memory; depth of 10 m keeps steps of 5 mm.
    halved = whole.ndim == 4 and whole.dtype == np.float32
    return torch.as_tensor(whole.astype(np.float16) if halved else whole)


def record(
    environments: SkillEnvironments,
    count: int,
    seed: int,
    workers: int = 1,
    report: Callable[[int, int, int], None] = lambda steps, episodes, failed: None,
) -> Demonstrations:
    """Demonstrations of whole episodes that succeeded, about `count` steps; the same for any `workers`.

    Args:
        environments: Of a skill that has an oracle.
        count: Steps.
        seed: Of the episodes.
        workers: Processes.
        report: Called after every block with the steps kept, the episodes kept, and those that failed.

    Raises:
        UserError: The oracle fails nearly always.
    """
    numbers = range(-(-count // BLOCK))
    seeds = np.random.SeedSequence(seed).generate_state(len(numbers)).tolist()
    cases = [(k, seeds[k], min(BLOCK, count - k * BLOCK)) for k in numbers]
    blocks: list[Block] = []
    for block in play_in_workers(partial(Recorder, environments), cases, workers):
        blocks.append(block)
        report(
            sum(len(each.shown.first) for each in blocks),
            sum(int(each.shown.first.sum()) for each in blocks),
            sum(each.failed for each in blocks),
        )
    blocks.sort(key=lambda each: each.number)
    return Demonstrations.joined([each.shown for each in blocks])


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
        metadata: Kept in the policy, with `config`.
        say: Tells the person a line; of a policy that there is also what is asked for otherwise now.

    Raises:
        UserError: Another training holds the run directory.
    """
    path, about = run / POLICY, metadata | {"cloning": asdict(config)}
    with RunLock(run):
        if path.exists():
            say(f"done before: {path}")
            for line in _changes(path, trainer, about):
                say(f"it was shown with another setting, and stays so: {line}")
            return
        begin, slowly = time.monotonic(), Slowly(say)
        seed_everything(trainer.seed)
        shown = record(
            environments, config.transitions, trainer.seed, cores(),
            lambda steps, kept, failed: slowly(
                f"the oracle has shown {steps:,} of {config.transitions:,} steps; "
                f"{failed} of {kept + failed} episodes failed and do not count"
            ),
        )  # fmt: skip
        torch.set_num_threads(trainer.learner_threads or cores())
        policy = ActorCritic(*probe_spaces(environments, trainer.seed), trainer.network)  # pyright: ignore
        rng = np.random.default_rng(trainer.seed)
        loss = clone(
            policy, shown, config, rng,
            lambda update, loss: slowly(f"update {update:,} of {config.updates:,}, loss {loss:.3f}"),
        )  # fmt: skip
        steps, seconds = len(shown.first), time.monotonic() - begin
        row = {"steps": float(steps), "seconds": seconds, "loss/cloning": loss}
        write_atomically(run / "metrics.jsonl", (json.dumps(row) + "\n").encode())
        save_policy(path, policy, config_to_dict(trainer), about | {"steps": steps})
        say(f"done; {steps:,} steps shown, loss {loss:.3f}, {seconds:.0f} s, policy in {path}")


def _changes(path: Path, trainer: TrainerConfig, about: dict[str, Any]) -> list[str]:
    """A line for each setting with which a policy would imitate otherwise than it has."""
    policy, now = load_policy(path), config_to_dict(trainer)
    kept = {"trainer": {name: now[name] for name in ("seed", "network")}} | about
    return differences({"trainer": policy.config} | policy.metadata, json.loads(json.dumps(kept)))
