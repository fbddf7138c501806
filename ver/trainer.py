"""The loop: collect, learn, log, save; and how a run is resumed and ended."""

from __future__ import annotations

import signal
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ver.checkpoint import (
    TRAINING_FORMAT,
    load_optimizer,
    load_weights,
    optimizer_tensors,
    read_file,
    save_policy,
    save_training,
    strip_prefix,
)
from ver.collect.environment_worker import MakeEnv
from ver.collect.processes import cores
from ver.collect.ver import VERCollector, probe_spaces
from ver.config import TrainerConfig, config_to_dict
from ver.errors import UserError, WorkerCrashError
from ver.logs import Logs, time_shares
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.random_state import (
    generator_tensors,
    generator_values,
    restore_generators,
    seed_everything,
)

AfterUpdate = Callable[["Trainer", dict[str, float]], "bool | None"]


class Trainer:
    """Trains one policy.

    The run directory receives config.yaml, run.json (command, commit, versions), metrics.jsonl,
    TensorBoard events, checkpoints/ and policy.safetensors.

    Args:
        config: Settings.
        make_env: `(environment_index, seed) -> gymnasium.Env`, picklable: a function or an
            instance of a class at the top of an importable module that does not import torch.
        run_directory: Created if missing. A run found there is resumed if `config.resume`.
        metadata: JSON-able values kept in every checkpoint.
        after_update: Called as `after_update(trainer, row)` after each rollout's learning with
            the numbers that are logged; a true answer ends training.

    Attributes:
        policy: The networks.
        steps: Environment steps learned from so far.
        interrupted: Whether a signal ended the last `train()`.
    """

    def __init__(
        self,
        config: TrainerConfig,
        make_env: MakeEnv,
        run_directory: str | Path,
        metadata: dict[str, Any] | None = None,
        after_update: AfterUpdate | None = None,
    ):
        _check(config)
        self.config = config
        self.make_env = make_env
        self.run_directory = Path(run_directory)
        self.metadata = metadata or {}
        self.after_update = after_update
        seed_everything(config.seed)
        torch.set_num_threads(config.inference_threads)
        self.rng = np.random.default_rng(config.seed)
        observation_space, action_space = probe_spaces(make_env, config.seed)
        self.policy = ActorCritic(observation_space, action_space, config.network)
        self.policy.to(config.device)
        self.ppo = PPO(self.policy, config.ppo, config.learner_threads or cores())
        self.steps = 0
        self.episodes = 0
        self.seconds = 0.0
        self.resumes = 0
        self.interrupted = False
        self._window: deque[dict[str, float]] = deque(maxlen=config.episode_window)
        self._signalled = False
        self._resume_if_possible()

    def train(self) -> dict[str, float]:
        """Trains until `total_steps`, a signal, or a true answer of `after_update`.

        Returns:
            The last logged row.

        Raises:
            UserError: Among others if a worker crashed; the run is checkpointed first.
        """
        self.interrupted = self._signalled = False
        row: dict[str, float] = {}
        if self.steps >= self.config.total_steps:
            return row
        handlers = self._catch_signals()
        logs = Logs(self.run_directory, self.config, self.metadata)
        collector: VERCollector | None = None
        try:
            collector = VERCollector(
                self.config, self.make_env, self.policy, self._environment_seed()
            )
            row = self._loop(collector, logs)
        except WorkerCrashError as error:
            logs.dashboard.say(error.detail)
            raise
        finally:
            # Save first: whatever went wrong, what was learned is kept.
            try:
                self.save()
            finally:
                if collector is not None:
                    collector.close()
                logs.close()
                for number, handler in handlers.items():
                    signal.signal(number, handler)
        return row

    def _loop(self, collector: VERCollector, logs: Logs) -> dict[str, float]:
        config, row = self.config, {}
        saved_at = time.monotonic()
        while self.steps < config.total_steps and self._keep_going():
            begin = time.perf_counter()
            before = dict(collector.busy_seconds)
            packing = self.ppo.packing_seconds
            if not collector.collect(self.ppo.updates, self._keep_going):
                break
            collected = time.perf_counter()
            self.ppo.set_progress(self.steps / config.total_steps)
            losses = self.ppo.learn(collector.buffer, self.rng, self._keep_going)
            learned = time.perf_counter()
            steps = collector.buffer.length * collector.buffer.num_environments
            self.steps += steps
            busy = {key: value - before[key] for key, value in collector.busy_seconds.items()}
            learning = learned - collected - (self.ppo.packing_seconds - packing)
            row = self._row(collector, losses)
            if time.monotonic() - saved_at > config.checkpoint_interval_s:
                self.save()
                saved_at = time.monotonic()
            logs.write_slowly(row)
            wall = time.perf_counter() - begin
            self.seconds += wall
            row |= time_shares(wall, busy["wait"], busy["inference"], learning)
            row["steps_per_second"] = steps / wall
            row["loss/samples_per_second"] = steps * config.ppo.epochs / (learned - collected)
            row["seconds"] = self.seconds
            logs.write(row)
            if self.after_update is not None and self.after_update(self, row):
                break
        self.interrupted = self._signalled
        return row

    def _row(self, collector: VERCollector, losses: dict[str, float]) -> dict[str, float]:
        episodes = collector.drain_episodes()
        self.episodes += len(episodes)
        self._window.extend(episodes)
        row = {"steps": float(self.steps), "episodes": float(self.episodes)}
        sums: dict[str, list[float]] = {}
        for episode in self._window:
            for name, value in episode.items():
                sums.setdefault(name, []).append(value)
        row |= {f"episode/{name}": float(np.mean(values)) for name, values in sums.items()}
        row |= {f"loss/{name}": value for name, value in losses.items()}
        row["loss/learning_rate"] = self.ppo.learning_rate
        row["loss/entropy_coefficient"] = self.ppo.entropy.value
        return row

    def save(self) -> None:
        """Writes a training checkpoint and the exported policy; drops old checkpoints."""
        config = config_to_dict(self.config)
        state = optimizer_tensors(self.ppo.optimizer, "optimizer/")
        state |= optimizer_tensors(self.ppo.entropy_optimizer, "entropy_optimizer/")
        state |= {"entropy/log_alpha": self.ppo.entropy.log_alpha} | generator_tensors()
        path = self.checkpoint_directory / f"training_{self.steps:012d}.safetensors"
        save_training(path, self.policy, state, self._values(), config, self.metadata)
        save_policy(
            self.run_directory / "policy.safetensors",
            self.policy,
            config,
            self.metadata | {"steps": self.steps},
        )
        for old in self._checkpoints()[: -max(1, self.config.keep_checkpoints)]:
            old.unlink(missing_ok=True)

    @property
    def checkpoint_directory(self) -> Path:
        """Where training checkpoints lie."""
        return self.run_directory / "checkpoints"

    def _values(self) -> dict[str, Any]:
        return {
            "steps": self.steps,
            "episodes": self.episodes,
            "seconds": self.seconds,
            "resumes": self.resumes,
            "updates": self.ppo.updates,
            "window": list(self._window),
        } | generator_values(self.rng)

    def load(self, path: str | Path) -> None:
        """Restores everything that `save` wrote, and counts one more resume.

        Raises:
            UserError: If the checkpoint is foreign or does not fit the configuration.
        """
        tensors, header = read_file(path, (TRAINING_FORMAT,))
        load_weights(self.policy, strip_prefix(tensors, "policy/"), str(path))
        load_optimizer(self.ppo.optimizer, tensors, "optimizer/")
        load_optimizer(self.ppo.entropy_optimizer, tensors, "entropy_optimizer/")
        with torch.no_grad():
            self.ppo.entropy.log_alpha.copy_(tensors["entropy/log_alpha"])
        values = header["values"]
        self.steps, self.episodes = values["steps"], values["episodes"]
        self.seconds, self.resumes = values["seconds"], values["resumes"] + 1
        self.ppo.updates = values["updates"]
        self.ppo.set_progress(self.steps / self.config.total_steps)
        self._window.extend(values["window"])
        restore_generators(self.rng, values, tensors)

    def _checkpoints(self) -> list[Path]:
        return sorted(self.checkpoint_directory.glob("training_*.safetensors"))

    def _resume_if_possible(self) -> None:
        found = self._checkpoints()
        if not found:
            return
        if not self.config.resume:
            raise UserError(
                f"{self.run_directory} already holds a run; set resume=true to go on, or choose "
                "another directory."
            )
        self.load(found[-1])

    def _environment_seed(self) -> int:
        # Distinct for every resume: the same first episodes again would be a biased sample.
        sequence = np.random.SeedSequence([self.config.seed, self.resumes])
        return int(sequence.generate_state(1)[0] % 2**30)

    def _keep_going(self) -> bool:
        return not self._signalled

    def _catch_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def handle(number: int, frame: Any) -> None:
            del number, frame
            self._signalled = True

        return {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}


def _check(config: TrainerConfig) -> None:
    if config.system != "ver":
        raise UserError(f"Unknown system '{config.system}'; valid: ver.")
    collect = config.collect
    for name in ("num_environments", "environments_per_worker", "rollout_length"):
        if getattr(collect, name) < 1:
            raise UserError(f"collect.{name} must be at least 1, found {getattr(collect, name)}.")
    if collect.num_inference_workers < 1:
        raise UserError("collect.num_inference_workers counts the main process; give at least 1.")
    if config.device != "cpu" and not torch.cuda.is_available():
        raise UserError(f"device={config.device}, but torch finds no GPU; set device=cpu.")
