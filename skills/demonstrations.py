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
from rearrange.robot.actions import PHYSICAL_ACTION_SIZE, STOP
from rearrange.rules import without_stop_masks
from skills.learned import PolicyRunner
from skills.oracle.skill import begin_oracle
from skills.players import argument_of
from skills.settings import SkillEnvironments
from skills.workers import play_in_workers
from ver.checkpoint import save_policy, write_atomically
from ver.cloning import Demonstrations, clone
from ver.collect.environment_worker import probe_spaces
from ver.collect.processes import cores
from ver.config import CloningConfig, TrainerConfig, config_to_dict
from ver.networks.policy import ActorCritic
from ver.random_state import seed_everything

PATIENCE = 20  # episodes that may fail for each that succeeds
BLOCK = 5_000  # steps that are recorded by one process at a time
TELL_S = 10.0


class Played(NamedTuple):
    """One episode.

    Attributes:
        seen: What a policy would have seen before each action.
        actions: [M, action_size] in [-1, 1].
        led: How many of them, from the first on, are the pupil's.
        success: Whether it ended so.
    """

    seen: list[dict[str, np.ndarray]]
    actions: list[np.ndarray]
    led: int
    success: bool


class Block(NamedTuple):
    """Episodes that succeeded, one after the other; `number` is the block's, `failed` those left out."""

    number: int
    shown: Demonstrations
    failed: int


class Recorder:
    """Plays a skill's task with its oracle and keeps what a policy would have seen and done.

    Stops count wherever they are called: an oracle may end with the arm where a mask ignores it. Where an
    action lasts several steps (`task.action.repeat`), the policy's is the mean of the oracle's. A pupil
    leads for the first steps of each episode, so that the oracle shows how to go on from where pupils get.
    """

    def __init__(
        self, environments: SkillEnvironments, pupil: Path | None = None, lead: int = 0
    ) -> None:
        """Take the environments, with a policy's images.

        Args:
            environments: Of a skill that has an oracle.
            pupil: A policy that leads; None: nobody does.
            lead: Actions for which it does so at most.
        """
        task = without_stop_masks(environments.task_config())
        self._environments = replace(environments, task=asdict(task))
        self.skill = environments.skill
        self._pupil = None if pupil is None else PolicyRunner(pupil, deterministic=True)
        self._lead = lead
        self._scale, self._repeat = task.action.scale(), int(task.action.repeat)
        self.begin(0)

    def begin(self, seed: int) -> None:
        """Start over with another seed."""
        self.environment: RearrangeEnv = self._environments(0, seed)
        self._rng = np.random.default_rng(seed)

    def play(self, number: int, seed: int, count: int) -> Block:
        """About `count` steps of whole episodes that succeeded.

        Args:
            number: Of the block.
            seed: Of its episodes.
            count: Steps of the oracle; the last episode is kept whole.

        Raises:
            UserError: The oracle fails nearly always.
        """
        self.begin(seed)
        kept: list[Played] = []
        failed = steps = 0
        while steps < count:
            played = self.episode()
            if played.success and played.led < len(played.actions):
                kept.append(played)
                steps += len(played.actions) - played.led
            elif not played.success:
                failed += 1
            if failed > PATIENCE * (len(kept) + 1):
                raise UserError(
                    f"the oracle of {self.skill} failed in {failed} of {failed + len(kept)} episodes"
                )
        self.environment.close()
        return Block(number, _joined(kept), failed)

    def episode(self) -> Played:
        """Play one."""
        world = self.environment
        seen, _ = world.reset()
        all_seen: list[dict[str, np.ndarray]] = []
        actions: list[np.ndarray] = []
        lead = int(self._rng.integers(self._lead + 1)) if self._pupil is not None else 0
        ended, info = False, {}
        if self._pupil is not None:
            self._pupil.restart()
            while len(actions) < lead and not ended:
                all_seen.append(seen)
                actions.append(self._pupil.act(seen))
                seen, _, terminated, truncated, info = world.step(actions[-1])
                ended = terminated or truncated
        led = len(actions)
        oracle = (
            None
            if ended
            else begin_oracle(self.skill, world, argument_of(self.skill, world.episode))
        )
        while oracle is not None and not ended:
            all_seen.append(seen)
            action, ended, info = self._act(oracle)
            actions.append(action)
            seen = world.observe()
        return Played(all_seen, actions, led, bool(info["metrics"]["success"]))

    def _act(self, oracle: Any) -> tuple[np.ndarray, bool, dict[str, Any]]:
        """Let the oracle act for one of the policy's actions: that, whether all is over, and `info`."""
        world = self.environment
        means = np.zeros(PHYSICAL_ACTION_SIZE)
        stop = ended = False
        info: dict[str, Any] = {}
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
        return full[world.task.action_slice].astype(np.float32), ended, info


def _joined(episodes: list[Played]) -> Demonstrations:
    observations: dict[str, torch.Tensor] = {}
    for key in episodes[0].seen[0]:
        rows = np.concatenate([np.stack([each[key] for each in e.seen]) for e in episodes])
        # Half the memory; depth of 10 m keeps steps of 5 mm.
        observations[key] = torch.as_tensor(rows.astype(np.float16) if rows.ndim == 4 else rows)
    actions = np.concatenate([np.stack(e.actions) for e in episodes])
    first = np.concatenate([np.arange(len(e.actions)) == 0 for e in episodes])
    taught = np.concatenate([np.arange(len(e.actions)) >= e.led for e in episodes])
    return Demonstrations(observations, torch.as_tensor(actions), first, taught)


def record(
    environments: SkillEnvironments,
    count: int,
    seed: int,
    pupil: Path | None = None,
    lead: int = 0,
    workers: int = 1,
    report: Callable[[int, int, int], None] = lambda steps, episodes, failed: None,
) -> Demonstrations:
    """Demonstrations of whole episodes that succeeded, about `count` steps; the same for any `workers`.

    Args:
        environments: Of a skill that has an oracle.
        count: Steps of the oracle.
        seed: Of the episodes.
        pupil: See Recorder.
        lead: See Recorder.
        workers: Processes.
        report: Called after every block with the steps kept, the episodes kept, and those that failed.

    Raises:
        UserError: The oracle fails nearly always.
    """
    numbers = range(-(-count // BLOCK))
    seeds = np.random.SeedSequence(seed).generate_state(len(numbers)).tolist()
    cases = [(k, seeds[k], min(BLOCK, count - k * BLOCK)) for k in numbers]
    blocks: list[Block] = []
    for block in play_in_workers(partial(Recorder, environments, pupil, lead), cases, workers):
        blocks.append(block)
        report(
            sum(int(each.shown.taught.sum()) for each in blocks),
            sum(int(each.shown.first.sum()) for each in blocks),
            sum(each.failed for each in blocks),
        )
    return Demonstrations.joined(
        [each.shown for each in sorted(blocks, key=lambda each: each.number)]
    )


def imitate(
    environments: SkillEnvironments,
    trainer: TrainerConfig,
    config: CloningConfig,
    run: Path,
    metadata: dict[str, Any],
    say: Callable[[str], None],
) -> None:
    """Leave a policy in a run directory that imitates the skill's oracle, unless there is one.

    After the first round the policy so far leads for a part of each episode (DAgger's idea, Ross et al.
    2011, with whole episodes instead of labelled states), and learns from all that was shown.

    Args:
        environments: What is imitated in.
        trainer: Its network and seed count.
        config: How much is shown, and how it is learned.
        run: Gets policy.safetensors and metrics.jsonl.
        metadata: Kept in the policy.
        say: Tells the person a line.
    """
    path, pupil = run / "policy.safetensors", run / "pupil.safetensors"
    if path.exists():
        say(f"done before: {path}")
        return
    begin = time.monotonic()
    seed_everything(trainer.seed)
    policy = ActorCritic(*probe_spaces(environments, trainer.seed), trainer.network)  # pyright: ignore
    rng = np.random.default_rng(trainer.seed)
    parts: list[Demonstrations] = []
    rows: list[dict[str, float]] = []
    for index in range(config.rounds):
        told = _Slowly(say, f"round {index + 1} of {config.rounds}: ")
        parts.append(
            record(
                environments, config.transitions // config.rounds,
                int(np.random.SeedSequence([trainer.seed, index]).generate_state(1)[0]),
                pupil if index else None, config.lead, cores(), told.shown,
            )
        )  # fmt: skip
        torch.set_num_threads(trainer.learner_threads or cores())
        part = replace(config, updates=config.updates // config.rounds)
        loss = clone(policy, Demonstrations.joined(parts), part, rng, told.learned)
        steps = sum(len(each.first) for each in parts)
        rows.append(
            {"steps": float(steps), "seconds": time.monotonic() - begin, "loss/cloning": loss}
        )
        save_policy(pupil, policy, config_to_dict(trainer), metadata | {"steps": steps})
    write_atomically(
        run / "metrics.jsonl", "".join(json.dumps(row) + "\n" for row in rows).encode()
    )
    for suffix in (".json", ".safetensors"):
        pupil.with_suffix(suffix).rename(path.with_suffix(suffix))
    say(
        f"done; {steps:,} steps shown, loss {loss:.3f}, {rows[-1]['seconds']:.0f} s, policy in {path}"
    )


class _Slowly:
    """Tells a person how it goes, at most every TELL_S."""

    def __init__(self, say: Callable[[str], None], label: str) -> None:
        self._say, self._label, self._told = say, label, -TELL_S

    def shown(self, steps: int, kept: int, failed: int) -> None:
        self._line(
            f"the oracle has shown {steps:,} steps; "
            f"{failed} of {kept + failed} episodes failed and do not count"
        )

    def learned(self, update: int, loss: float) -> None:
        self._line(f"update {update:,}, loss {loss:.3f}")

    def _line(self, line: str) -> None:
        if time.monotonic() - self._told >= TELL_S:
            self._told = time.monotonic()
            self._say(self._label + line)
