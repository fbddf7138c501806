"""The loop: collect, learn, log, save; and how a run is resumed and ended."""

from __future__ import annotations

import json
import os
import platform
import random
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from omegaconf import OmegaConf

from ver.checkpoint import (
    TRAINING_FORMAT,
    load_weights,
    read_file,
    save_policy,
    save_training,
    strip_prefix,
)
from ver.collect.environment_worker import MakeEnv
from ver.collect.ver import VERCollector, probe_spaces
from ver.config import TrainerConfig, config_to_dict
from ver.dashboard import Dashboard
from ver.distributed import average_dictionaries, join_group
from ver.errors import UserError, WorkerCrashError
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.preemption import Preemption, make_preemption

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
            the numbers that are logged; a true answer ends training. Under torchrun only rank 0
            calls it.

    Attributes:
        group: The processes that train together; a run of one has one.
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
        self.group = join_group(config.device, config.distributed)
        self._seed(config.seed)
        torch.set_num_threads(config.inference_threads)
        observation_space, action_space = probe_spaces(make_env, config.seed)
        self.policy = ActorCritic(observation_space, action_space, config.network)
        self.policy.to(config.device)
        steps = config.collect.num_environments * config.collect.rollout_length * self.group.size
        self.ppo = PPO(
            self.policy,
            config.ppo,
            config.learner_threads or max(1, _cores() // self.group.local_size),
            max(1, steps // config.ppo.mini_batches),
            self.group,
        )
        self.steps = 0
        self.episodes = 0
        self.seconds = 0.0
        self.resumes = 0
        self.interrupted = False
        self._window: deque[dict[str, float]] = deque(maxlen=config.episode_window)
        self._signalled = False
        self._resume_if_possible()
        self.group.broadcast([*self.policy.state_dict().values(), *self.ppo.state().values()])

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
        kind = _Logs if self.group.main else _NoLogs
        logs = kind(self.run_directory, self.config, self.metadata)
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
        self.group.any(False)  # nobody leaves before rank 0 has saved
        return row

    def _loop(self, collector: VERCollector, logs: _Logs) -> dict[str, float]:
        config, row = self.config, {}
        preemption = make_preemption(config.distributed, self.group, collector.buffer)
        saved_at, ended = time.monotonic(), False
        while self.steps < config.total_steps and self._all_go_on(ended):
            begin = time.perf_counter()
            before = dict(collector.busy_seconds)
            packing = self.ppo.packing_seconds
            full = collector.collect(self.ppo.updates, self._keep_collecting, preemption)
            waited = time.perf_counter()
            if self.group.any(not full):
                self.interrupted = True
                break
            collected = time.perf_counter()
            self.ppo.set_progress(self.steps / config.total_steps)
            losses = self.ppo.learn(collector.buffer, self.rng, self._keep_learning)
            learned = time.perf_counter()
            steps, episodes, losses = self._share_news(
                collector, losses, preemption, learned - collected
            )
            self.steps += steps
            busy = {key: value - before[key] for key, value in collector.busy_seconds.items()}
            learning = learned - collected - (self.ppo.packing_seconds - packing)
            row = self._row(episodes, losses)
            if time.monotonic() - saved_at > config.checkpoint_interval_s:
                self.save()
                saved_at = time.monotonic()
            logs.write_slowly(row)
            wall = time.perf_counter() - begin
            self.seconds += wall
            row |= _shares(wall, busy["wait"], busy["inference"], learning, collected - waited)
            row["steps_per_second"] = steps / wall
            learned_from = collector.buffer.length * collector.buffer.num_environments
            row["loss/samples_per_second"] = (
                self.group.size * learned_from * config.ppo.epochs / (learned - collected)
            )
            row["seconds"] = self.seconds
            logs.write(row)
            if self.after_update is not None and self.group.main:
                ended = bool(self.after_update(self, row))
        return row

    def _share_news(
        self,
        collector: VERCollector,
        losses: dict[str, float],
        preemption: Preemption | None,
        learning_s: float,
    ) -> tuple[int, list[dict[str, float]], dict[str, float]]:
        """Combines over all ranks: new steps, ended episodes and losses."""
        reports = self.group.gather(
            {
                "steps": collector.buffer.fresh_steps,
                "episodes": collector.drain_episodes(),
                "losses": losses,
                "preemption": preemption.report(learning_s) if preemption else {},
            }
        )
        if preemption is not None:
            preemption.observe([report["preemption"] for report in reports])
        return (
            sum(report["steps"] for report in reports),
            [episode for report in reports for episode in report["episodes"]],
            average_dictionaries([report["losses"] for report in reports]),
        )

    def _row(self, episodes: list[dict[str, float]], losses: dict[str, float]) -> dict[str, float]:
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
        """Writes a training checkpoint and the exported policy; drops old checkpoints.

        Only rank 0 does, and the others have nothing to add: all learned state is the same.
        """
        if not self.group.main:
            return
        config = config_to_dict(self.config)
        state = self.ppo.state() | {"rng/torch": torch.get_rng_state()}
        if self.config.device != "cpu":
            state["rng/cuda"] = torch.cuda.get_rng_state()
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
        kind, internal, gauss = random.getstate()
        legacy = np.random.get_state(legacy=False)  # noqa: NPY002
        return {
            "steps": self.steps,
            "episodes": self.episodes,
            "seconds": self.seconds,
            "resumes": self.resumes,
            "updates": self.ppo.updates,
            "window": list(self._window),
            "python_rng": [kind, list(internal), gauss],
            "numpy_rng": _jsonable(legacy),
            "trainer_rng": _jsonable(self.rng.bit_generator.state),
        }

    def load(self, path: str | Path) -> None:
        """Restores everything that `save` wrote, and counts one more resume.

        Raises:
            UserError: If the checkpoint is foreign or does not fit the configuration.
        """
        tensors, header = read_file(path, (TRAINING_FORMAT,))
        load_weights(self.policy, strip_prefix(tensors, "policy/"), str(path))
        self.ppo.load_state(tensors, str(path))
        values = header["values"]
        self.steps, self.episodes = values["steps"], values["episodes"]
        self.seconds, self.resumes = values["seconds"], values["resumes"] + 1
        self.ppo.updates = values["updates"]
        self.ppo.set_progress(self.steps / self.config.total_steps)
        self._window.extend(values["window"])
        if not self.group.main:  # the random states are rank 0's
            self._seed(self.config.seed + 7919 * self.resumes)
            return
        torch.set_rng_state(tensors["rng/torch"])
        if "rng/cuda" in tensors and self.config.device != "cpu":
            torch.cuda.set_rng_state(tensors["rng/cuda"])
        kind, internal, gauss = values["python_rng"]
        random.setstate((kind, tuple(internal), gauss))
        np.random.set_state(_from_jsonable(values["numpy_rng"]))  # noqa: NPY002
        self.rng.bit_generator.state = _from_jsonable(values["trainer_rng"])

    def _checkpoints(self) -> list[Path]:
        return sorted(self.checkpoint_directory.glob("training_*.safetensors"))

    def _resume_if_possible(self) -> None:
        # Rank 0 says which file, so that all take the same; the directory must be a shared one.
        own = [str(path) for path in self._checkpoints()] if self.group.main else []
        found = self.group.gather(own)[0]
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
        first = int(sequence.generate_state(1)[0] % 2**30)
        return first + self.group.rank * self.config.collect.num_environments

    def _seed(self, seed: int) -> None:
        """Seeds every generator; ranks must not sample the same actions."""
        seed += 104729 * self.group.rank
        _seed_everything(seed)
        self.rng = np.random.default_rng(seed)

    def _all_go_on(self, ended: bool) -> bool:
        """Agrees with the other ranks on whether to collect another rollout."""
        self.interrupted = self.group.any(self._signalled)
        return not self.interrupted and not self.group.any(ended)

    def _keep_collecting(self) -> bool:
        return not self.group.hears_stop(self._signalled)

    def _keep_learning(self) -> bool:
        return not self.group.agrees_to_stop(self._signalled)

    def _catch_signals(self) -> dict[int, Any]:
        if threading.current_thread() is not threading.main_thread():
            return {}

        def handle(number: int, frame: Any) -> None:
            del number, frame
            self._signalled = True

        return {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}


class _Logs:
    """metrics.jsonl, TensorBoard, the dashboard, and the files that describe the run."""

    def __init__(self, directory: Path, config: TrainerConfig, metadata: dict[str, Any]):
        directory.mkdir(parents=True, exist_ok=True)
        OmegaConf.save(OmegaConf.structured(config), directory / "config.yaml")
        about = describe_run() | {"metadata": metadata}
        (directory / "run.json").write_text(json.dumps(about, indent=2) + "\n")
        self._file = (directory / "metrics.jsonl").open("a")
        self._writer: Any = None
        if config.tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(directory / "tensorboard"))
        self.dashboard = Dashboard(directory.name, config.total_steps, config.log_interval_s)

    def write_slowly(self, row: dict[str, float]) -> None:
        """Writes what is to be charged to this rollout's overhead."""
        if self._writer is not None:
            for name, value in row.items():
                self._writer.add_scalar(name, value, int(row["steps"]))

    def write(self, row: dict[str, float]) -> None:
        if self._writer is not None:
            for name, value in row.items():
                if name.startswith("time/") or name == "steps_per_second":
                    self._writer.add_scalar(name, value, int(row["steps"]))
        self._file.write(json.dumps(row) + "\n")
        self._file.flush()
        self.dashboard.update(row)

    def close(self) -> None:
        self.dashboard.close()
        self._file.close()
        if self._writer is not None:
            self._writer.close()


class _NoLogs(_Logs):
    """What ranks other than 0 have: nothing is written."""

    def __init__(self, directory: Path, config: TrainerConfig, metadata: dict[str, Any]):
        self.dashboard = Dashboard(directory.name, config.total_steps, live=False)

    def write_slowly(self, row: dict[str, float]) -> None:
        pass

    def write(self, row: dict[str, float]) -> None:
        pass

    def close(self) -> None:
        pass


def describe_run() -> dict[str, Any]:
    """Lists what is needed to repeat a run: command, commit, versions, machine."""
    packages = {}
    for name in ("torch", "numpy", "gymnasium", "omegaconf", "safetensors", "mujoco-core"):
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "command": sys.orig_argv,
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain")),
        "python": platform.python_version(),
        "packages": packages,
        "machine": f"{platform.machine()}, {_cores()} cores",
        "started": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _git(*arguments: str) -> str:
    try:
        result = subprocess.run(
            ["git", *arguments],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""


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


def _shares(
    wall: float, wait: float, inference: float, learning: float, ranks: float
) -> dict[str, float]:
    return {
        "time/simulation_wait": wait / wall,
        "time/inference": inference / wall,
        "time/learning": learning / wall,
        "time/waiting_for_ranks": ranks / wall,
        "time/overhead": max(0.0, wall - wait - inference - learning - ranks) / wall,
    }


def _seed_everything(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch.manual_seed(seed)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _jsonable(value: Any) -> Any:
    """Makes a bit generator's state JSON-able: arrays are marked with their dtype."""
    if isinstance(value, dict):
        return {key: _jsonable(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return {"__array__": value.tolist(), "dtype": str(value.dtype)}
    return value.item() if isinstance(value, np.generic) else value


def _from_jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        if "__array__" in value:
            return np.asarray(value["__array__"], dtype=value["dtype"])
        return {key: _from_jsonable(part) for key, part in value.items()}
    return value
