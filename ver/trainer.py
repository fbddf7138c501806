"""The loop: collect, learn, log, save; and how a run is resumed and ended."""

from __future__ import annotations

import math
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.checkpoint import (
    TRAINING_FORMAT,
    check_same_training,
    load_weights,
    read_file,
    remove_unfinished,
    save_policy,
    save_training,
    strip_prefix,
)
from ver.collect.environment_worker import MakeEnv
from ver.collect.processes import cores
from ver.collect.ver import VERCollector, probe_spaces
from ver.config import TrainerConfig, config_to_dict
from ver.errors import CorruptFileError, UserError, WorkerCrashError, WriteError
from ver.logs import Logs, time_shares
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.random_state import (
    generator_tensors,
    generator_values,
    restore_generators,
    seed_everything,
)
from ver.rollout import RolloutBuffer

_LEARNING_GRACE_S = 15.0

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
        collect = config.collect
        steps = collect.num_environments * collect.rollout_length
        self.ppo = PPO(
            self.policy,
            config.ppo,
            config.learner_threads or cores(),
            max(1, steps // config.ppo.mini_batches),
        )
        self.steps = 0
        self.episodes = 0
        self.seconds = 0.0
        self.resumes = 0
        self.interrupted = False
        self._window: deque[dict[str, float]] = deque(maxlen=config.episode_window)
        self._signals = 0
        self._learn_until = math.inf  # monotonic time
        self._learning_seconds = 0.0
        self._collected = False  # with overlap: whether a rollout is waiting to be learned from
        self._seed = 0  # of the environments
        self._fault_counts: dict[str, int] = {}
        # What a checkpoint holds of the moment between two rollouts; a signal may come later.
        self._boundary: dict[str, Tensor] = {}
        self._saved = (-1, -1)  # steps and updates of the newest checkpoint
        self._resume_if_possible()

    def train(self) -> dict[str, float]:
        """Trains until `total_steps`, a signal, or a true answer of `after_update`.

        Returns:
            The last logged row.

        Raises:
            UserError: Among others if a worker crashed; the run is checkpointed first.
        """
        self.interrupted = False
        self._signals, self._learn_until = 0, math.inf
        row: dict[str, float] = {}
        if self.steps >= self.config.total_steps:
            return row
        handlers = self._catch_signals()
        logs = Logs(self.run_directory, self.config, self.metadata, self.steps)
        collector: VERCollector | None = None
        save = True
        try:
            collector = self._make_collector(logs)
            row = self._loop(collector, logs)
        except WorkerCrashError as error:
            logs.dashboard.say(error.detail)
            raise
        except WriteError:
            save = False  # it would fail again
            raise
        finally:
            # Save first: whatever went wrong, what was learned is kept.
            try:
                if save and self._saved != (self.steps, self.ppo.updates):
                    self.save()
            finally:
                if collector is not None:
                    collector.close()
                logs.close()
                for number, handler in handlers.items():
                    signal.signal(number, handler)
        return row

    def _make_collector(self, logs: Logs) -> VERCollector:
        carried = strip_prefix(self._boundary, "carried/") or None
        collector = VERCollector(
            self.config,
            self.make_env,
            self.policy,
            self._environment_seed(carried is not None),
            carried,
            lambda fault: logs.fault(fault, self.steps),
            self._keep_going,
        )
        if carried is not None and not collector.went_on:
            collector.close()
            self._boundary = {}
            return self._make_collector(logs)
        counts = collector.faults.counts
        for name in counts:
            counts[name] += self._fault_counts.get(name, 0)
        self._fault_counts = counts
        return collector

    def _loop(self, collector: VERCollector, logs: Logs) -> dict[str, float]:
        config, row = self.config, {}
        saved_at = time.monotonic()
        saving = 0.0
        self._collected = False
        while self.steps < config.total_steps and self._keep_going():
            begin = time.perf_counter() - saving
            before = dict(collector.busy_seconds)
            packing, steps = self.ppo.packing_seconds, self.steps
            losses = self._collect_and_learn(collector)
            if losses is None:
                break
            self._boundary |= generator_tensors()
            steps = self.steps - steps
            busy = {key: value - before[key] for key, value in collector.busy_seconds.items()}
            learning = self._learning_seconds - (self.ppo.packing_seconds - packing)
            row = self._row(collector, losses)
            logs.write_slowly(row)
            wall = time.perf_counter() - begin
            self.seconds += wall
            row |= time_shares(wall, busy["wait"], busy["inference"], learning)
            row["steps_per_second"] = steps / wall
            row["loss/samples_per_second"] = steps * config.ppo.epochs / self._learning_seconds
            row["seconds"] = self.seconds
            # Before saving: of a row that is later than the last checkpoint, a resumed run will
            # write another; one that was never written would be missing from the curve.
            logs.write(row)
            saving = -time.perf_counter()
            if time.monotonic() - saved_at > config.checkpoint_interval_s:
                self.save()
                saved_at = time.monotonic()
            saving += time.perf_counter()  # charged to the next rollout
            if self.after_update is not None and self.after_update(self, row):
                break
        self.interrupted = self._signals > 0
        return row

    def _collect_and_learn(self, collector: VERCollector) -> dict[str, float] | None:
        """Learns from one rollout; None if a signal ended its collection."""
        if not self.config.collect.overlap:
            return self._learn(collector.buffer) if self._collect(collector) else None
        if not self._collected and not self._collect(collector):
            return None
        buffer = collector.buffer
        coming = self.steps + buffer.length * buffer.num_environments
        with ThreadPoolExecutor(1, "learner") as thread:
            # The acting weights are those from before this learning until `copy_weights`.
            version = self.ppo.updates
            learning = thread.submit(self._learn, buffer)
            more = coming < self.config.total_steps
            self._collected = more and self._collect(collector, version)
            losses = learning.result()
        collector.copy_weights()
        return losses

    def _collect(self, collector: VERCollector, version: int | None = None) -> bool:
        version = self.ppo.updates if version is None else version
        if not collector.collect(version, self._keep_going):
            return False
        carried = collector.capture()
        self._boundary = {f"carried/{name}": value for name, value in carried.items()}
        return True

    def _learn(self, buffer: RolloutBuffer) -> dict[str, float]:
        begin = time.perf_counter()
        self.ppo.set_progress(self.steps / self.config.total_steps)
        losses = self.ppo.learn(buffer, self.rng, lambda: time.monotonic() < self._learn_until)
        self.steps += buffer.length * buffer.num_environments
        self._learning_seconds = time.perf_counter() - begin
        return losses

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
        row |= {f"faults/{name}": float(value) for name, value in self._fault_counts.items()}
        row["loss/learning_rate"] = self.ppo.learning_rate
        row["loss/entropy_coefficient"] = self.ppo.entropy.value
        return row

    def save(self) -> None:
        """Writes a training checkpoint and the exported policy; drops old checkpoints."""
        config = config_to_dict(self.config)
        state = self.ppo.state() | (self._boundary or generator_tensors())
        path = self.checkpoint_directory / f"training_{self.steps:012d}.safetensors"
        save_training(path, self.policy, state, self._values(), config, self.metadata)
        save_policy(
            self.run_directory / "policy.safetensors",
            self.policy,
            config,
            self.metadata | {"steps": self.steps},
        )
        self._saved = (self.steps, self.ppo.updates)
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
            "environment_seed": self._seed,
            "faults": self._fault_counts,
            "window": list(self._window),
        } | generator_values(self.rng)

    def load(self, path: str | Path) -> None:
        """Restores everything that `save` wrote, and counts one more resume.

        Raises:
            UserError: If the checkpoint is foreign or does not fit the configuration.
        """
        tensors, header = read_file(path, (TRAINING_FORMAT,))
        weights = strip_prefix(tensors, "policy/")
        shapes = {name: tensor.shape for name, tensor in weights.items()}
        check_same_training(path, header, shapes, self.policy, self.metadata)
        load_weights(self.policy, weights, str(path))
        self.ppo.load_state(tensors, str(path))
        values = header["values"]
        self.steps, self.episodes = values["steps"], values["episodes"]
        self.seconds, self.resumes = values["seconds"], values["resumes"] + 1
        self.ppo.updates = values["updates"]
        self.ppo.set_progress(self.steps / self.config.total_steps)
        self._window.extend(values["window"])
        restore_generators(self.rng, values, tensors)
        self._seed = values.get("environment_seed", 0)
        self._fault_counts = values.get("faults", {})
        kept = ("carried/", "rng/")
        self._boundary = {n: tensor for n, tensor in tensors.items() if n.startswith(kept)}
        self._saved = (self.steps, self.ppo.updates)

    def _checkpoints(self) -> list[Path]:
        return sorted(self.checkpoint_directory.glob("training_*.safetensors"))

    def _resume_if_possible(self) -> None:
        for directory in (self.run_directory, self.checkpoint_directory):
            remove_unfinished(directory)
        found = self._checkpoints()
        if not found:
            return
        if not self.config.resume:
            raise UserError(
                f"{self.run_directory} already holds a run; set resume=true to go on, or choose "
                "another directory."
            )
        for path in reversed(found):
            if self._load_if_whole(path):
                return
        raise UserError(
            f"None of the {len(found)} checkpoints in {self.checkpoint_directory} is whole; give "
            "another run directory to start anew."
        )

    def _load_if_whole(self, path: Path) -> bool:
        try:
            self.load(path)
        except CorruptFileError as error:
            path.rename(path.with_suffix(".corrupt"))
            print(f"{error} Falling back to the checkpoint before it.", file=sys.stderr)
            return False
        return True

    def _environment_seed(self, goes_on: bool) -> int:
        if not goes_on:
            # Distinct for every resume: the same first episodes again would be a biased sample.
            sequence = np.random.SeedSequence([self.config.seed, self.resumes])
            self._seed = int(sequence.generate_state(1)[0] % 2**30)
        return self._seed

    def _keep_going(self) -> bool:
        return not self._signals

    def _catch_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def handle(number: int, frame: Any) -> None:
            del number, frame
            self._signals += 1
            # What is being learned is finished, unless it takes long or a second signal comes.
            patience = _LEARNING_GRACE_S if self._signals == 1 else 0.0
            self._learn_until = time.monotonic() + patience

        return {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}


def _check(config: TrainerConfig) -> None:
    if config.system != "ver":
        raise UserError(f"Unknown system '{config.system}'; valid: ver.")
    collect = config.collect
    for name in ("num_environments", "environments_per_worker", "rollout_length"):
        if getattr(collect, name) < 1:
            raise UserError(f"collect.{name} must be at least 1, found {getattr(collect, name)}.")
    for name in ("epochs", "mini_batches", "base_batch_size"):
        if getattr(config.ppo, name) < 1:
            raise UserError(f"ppo.{name} must be at least 1, found {getattr(config.ppo, name)}.")
    if collect.num_inference_workers < 1:
        raise UserError("collect.num_inference_workers counts the main process; give at least 1.")
    if config.device != "cpu" and not torch.cuda.is_available():
        raise UserError(f"device={config.device}, but torch finds no GPU; set device=cpu.")
