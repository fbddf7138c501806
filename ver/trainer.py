"""The loop: collect, learn, log, save; and how a run is resumed and ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ver.adapters.libraries import named_environment
from ver.checkpoint import load_training, save_policy, save_training, strip_prefix
from ver.collect.collector import Collector
from ver.collect.environment_worker import MakeEnv, MakeWorlds, probe_spaces
from ver.collect.faults import Fault
from ver.collect.in_flight import PREFIX
from ver.collect.processes import cores
from ver.collect.systems import checked_system
from ver.config import TrainerConfig, config_to_dict
from ver.distributed import average_dictionaries, join_group
from ver.errors import GradientError, UserError, WorkerCrashError, WriteError
from ver.logs import POLICY, Logs, NoLogs
from ver.networks.policy import ActorCritic
from ver.ppo import PPO
from ver.preemption import Preemption, make_preemption
from ver.progress import Progress
from ver.random_state import (
    generator_tensors,
    generator_values,
    restore_generators,
    seed_everything,
)
from ver.rollout import RolloutBuffer
from ver.rollout_timer import RolloutTimer
from ver.run_checkpoints import RunCheckpoints
from ver.stop_signals import StopSignals
from ver.warm_start import start_from

AfterUpdate = Callable[["Trainer", dict[str, float]], "bool | None"]


class Trainer:
    """Trains one policy.

    The run directory receives config.yaml, run.json (command, commit, versions), metrics.jsonl,
    TensorBoard events, checkpoints/ and policy.safetensors.

    Args:
        config: Settings.
        make_env: `(environment_index, seed) -> gymnasium.Env`, picklable: a function or an
            instance of a class at the top of an importable module that does not import torch. Or a
            function of nothing, or a name; see `ver.adapters.libraries`.
        run_directory: Created if missing. A run found there is resumed if `config.resume`.
        metadata: JSON-able values kept in every checkpoint.
        after_update: Called as `after_update(trainer, row)` after each rollout's learning with
            the numbers that are logged; a true answer ends training. Under torchrun only rank 0
            calls it.

    Attributes:
        group: The processes that train together; a run of one has one.
        policy: The networks.
        progress: What was done so far.
        checkpoints: Those of the run directory.
        rollout_steps: Steps learned from together, over all processes.
        interrupted: Whether a signal ended the last `train()`.
        row: What was logged last in it.
        among: How the run is called beside others that are shown at once; empty: it is alone.
        environment_seed: What the first environment was made with.
        boundary: What a checkpoint holds of the moment between two rollouts.
    """

    def __init__(
        self,
        config: TrainerConfig,
        make_env: MakeEnv | MakeWorlds | str,
        run_directory: str | Path,
        metadata: dict[str, Any] | None = None,
        after_update: AfterUpdate | None = None,
    ):
        self._system = checked_system(config)
        self.make_env: Any = named_environment(make_env, device=config.device)
        one_by_one = callable(self.make_env)
        if not (one_by_one or self._system.together):
            raise UserError(
                f"these worlds are stepped together only: choose system=batched, not {config.system}."
            )
        self.config = config
        self.run_directory = Path(run_directory)
        self.metadata = metadata or {}
        self.after_update = after_update
        self.group = join_group(config.device, config.distributed)
        self.progress = Progress(config.episode_window)
        self._seed_generators()
        torch.set_num_threads(config.inference_threads)
        observation_space, action_space = probe_spaces(self.make_env, config.seed)
        self.policy = ActorCritic(observation_space, action_space, config.network)
        self.policy.to(config.device)
        self.rollout_steps = self._system.batch_steps(config) * self.group.size
        self.ppo = PPO(
            self.policy,
            config.ppo,
            config.learner_threads or max(1, cores() // self.group.local_size),
            max(1, self.rollout_steps // config.ppo.mini_batches),
            self.group,
            self._system.vtrace(config),
        )
        self.checkpoints = RunCheckpoints(self.run_directory, config.keep_checkpoints)
        self.interrupted = False
        self.row: dict[str, float] = {}
        self.among = ""
        self._signals = StopSignals()
        self._timer = RolloutTimer()
        self.environment_seed = 0
        self.boundary: dict[str, Tensor] = {}  # not of now: a signal may come later
        self._ahead: dict[str, Tensor] = {}  # what will be the boundary once a rollout is learned
        self._collected = False  # with overlap: a rollout waits to be learned from
        self._saved = -1  # steps of the newest checkpoint
        self._resume_if_possible()
        self.group.broadcast([*self.policy.state_dict().values(), *self.ppo.state().values()])

    @property
    def steps(self) -> int:
        """Environment steps learned from so far."""
        return self.progress.steps

    def train(self) -> dict[str, float]:
        """Trains until `total_steps`, a signal, or a true answer of `after_update`.

        Returns:
            The last logged row.

        Raises:
            UserError: Among others if a worker crashed; the run is checkpointed first.
        """
        with StopSignals() as signals:
            for _ in self.rounds(signals):
                pass
        self.group.any(False)  # nobody leaves before rank 0 has saved
        return self.row

    def rounds(self, signals: StopSignals) -> Generator[None]:
        """Trains likewise, and gives the turn away before each rollout is collected.

        Who asks for no more rounds closes the iterator, which saves.

        Args:
            signals: End training.
        """
        self._signals, self.interrupted, self.row = signals, False, {}
        if self.steps >= self.config.total_steps:
            return
        kind = Logs if self.group.main else NoLogs
        logs = kind(self.run_directory, self.config, self.metadata, self.steps, self.among)
        collector: Collector | None = None
        save = True
        try:
            collector = self._make_collector(logs)
            yield from self._loop(collector, logs)
        except WorkerCrashError as error:
            logs.dashboard.say(error.detail)
            raise
        except (WriteError, GradientError):
            save = False  # it would fail again, or keep what cannot be learned from
            raise
        finally:
            # Save first: whatever went wrong, what was learned is kept, but for a part of a
            # rollout.
            try:
                if save and self.steps and self._saved != self.steps:
                    self.save()
            finally:
                if collector is not None:
                    collector.close()
                logs.close()

    def _make_collector(self, logs: Logs) -> Collector:
        in_flight = strip_prefix(self.boundary, PREFIX) or None
        collector = self._system(
            self.config,
            self.make_env,
            self.policy,
            self._choose_environment_seed(in_flight is not None),
            in_flight,
            lambda fault: logs.fault(self._locate(fault), self.steps),
            self._keep_collecting,
        )
        if in_flight is not None and not collector.went_on:
            collector.close()
            self.boundary = {}
            return self._make_collector(logs)
        self._attend(collector)
        return collector

    def _attend(self, collector: Collector) -> None:
        """Tells a collector of gradient steps, and lets it count faults on from here."""
        self.ppo.after_update = collector.publish
        self.progress.count_faults_in(collector.faults.counts)

    def _locate(self, fault: Fault) -> Fault:
        alone = self.group.size == 1
        return fault if alone else replace(fault, what=f"rank {self.group.rank}: {fault.what}")

    def _loop(self, collector: Collector, logs: Logs) -> Generator[None]:
        config = self.config
        preemption = make_preemption(config.distributed, self.group, collector.buffer)
        samples = self.rollout_steps * config.ppo.epochs
        saved_at = time.monotonic()
        ended = self._collected = False
        while self.steps < config.total_steps and not self.group.any(ended or self._signals.heard):
            steps = self.steps
            self.ppo.set_progress(steps / config.total_steps)  # of what acts, too
            self._timer.begin(collector.busy_seconds, self.ppo.packing_seconds)
            collector.begin(self.ppo.updates)
            yield
            losses = self._collect_and_learn(collector, preemption)
            if losses is None:
                break
            row = self.row = self._row(collector, losses)
            logs.write_slowly(row)
            row |= self._timer.row(
                collector.busy_seconds, self.ppo.packing_seconds, self.steps - steps, samples
            )
            self.progress.seconds += self._timer.wall
            row["seconds"] = self.progress.seconds
            # Before saving: a resumed run writes rows after its checkpoint anew, none before it
            logs.write(row)
            with self._timer.saving():
                if time.monotonic() - saved_at > config.checkpoint_interval_s:
                    self.save()
                    saved_at = time.monotonic()
            if self.after_update is not None and self.group.main:
                ended = bool(self.after_update(self, row))
        self.interrupted = self.group.any(self._signals.heard)

    def _collect_and_learn(
        self, collector: Collector, preemption: Preemption | None
    ) -> dict[str, float] | None:
        """Learns from one rollout; None if a signal ended its collection on some rank."""
        if not self._collected:
            full = self._collect(collector, self.ppo.updates, preemption)
            begin = time.perf_counter()
            missing = self.group.any(not full)
            self._timer.ranks = time.perf_counter() - begin
            if missing:
                return None
        after = self._ahead  # what is carried beyond the rollout that is learned from now
        if not collector.overlaps:
            losses = self._learn(collector.buffer, preemption)
            self.boundary = after | generator_tensors()
            return losses
        # Learning and its exchange with other ranks are the thread's alone meanwhile. All ranks
        # decide alike on whether there is more to collect: `steps` counts everybody's.
        more = self.steps + self.rollout_steps < self.config.total_steps
        with ThreadPoolExecutor(1, "learner") as thread:
            # The acting weights are those from before this learning until `copy_weights`.
            version = self.ppo.updates
            learning = thread.submit(self._learn, collector.buffer)
            try:
                self._collected = more and self._collect(collector, version)
            finally:  # what was learned is saved, and a resumed run collects all that was not again
                losses = learning.result()
                collector.copy_weights()
                self.boundary = after | generator_tensors()
        return losses

    def _collect(
        self, collector: Collector, version: int, preemption: Preemption | None = None
    ) -> bool:
        if not collector.collect(version, self._keep_collecting, preemption):
            return False
        collector.faults.starting = False
        if self.group.main:  # the other ranks start new episodes when a run is resumed
            in_flight = collector.capture()
            self._ahead = {PREFIX + name: value for name, value in in_flight.items()}
        return True

    def _learn(
        self, buffer: RolloutBuffer, preemption: Preemption | None = None
    ) -> dict[str, float]:
        begin = time.perf_counter()
        losses = self.ppo.learn(buffer, self.rng, self._keep_learning)
        self._timer.learning = time.perf_counter() - begin
        plan = preemption.report(self._timer.learning) if preemption is not None else {}
        reports = self.group.gather(
            {"steps": buffer.fresh_steps, "losses": losses, "preemption": plan}
        )
        if preemption is not None:
            preemption.observe([report["preemption"] for report in reports])
        self.progress.steps += sum(report["steps"] for report in reports)
        return average_dictionaries([report["losses"] for report in reports])

    def _row(self, collector: Collector, losses: dict[str, float]) -> dict[str, float]:
        self.progress.add(self.group.gather((collector.drain_episodes(), self.progress.faults)))
        row = self.progress.row() | {f"loss/{name}": value for name, value in losses.items()}
        row["loss/learning_rate"] = self.ppo.learning_rate
        row["loss/entropy_coefficient"] = self.ppo.entropy.value
        return row

    def save(self) -> None:
        """Writes a training checkpoint and the exported policy; drops old checkpoints.

        Only rank 0 does: what is learned is the same everywhere, the other ranks' episodes are not
        carried over, and each draws its random numbers anew.
        """
        if not self.group.main:
            return
        config = config_to_dict(self.config)
        state = self.ppo.state() | (self.boundary or generator_tensors())
        values = self.progress.values() | generator_values(self.rng)
        values |= {"updates": self.ppo.updates, "environment_seed": self.environment_seed}
        path = self.checkpoints.path(self.steps)
        save_training(path, self.policy, state, values, config, self.metadata)
        self.export(self.run_directory / POLICY)
        self._saved = self.steps
        self.checkpoints.drop_old()

    def export(self, path: Path) -> None:
        """Writes the policy as it is, for `load_policy`."""
        metadata = self.metadata | {"steps": self.steps}
        save_policy(path, self.policy, config_to_dict(self.config), metadata)

    def load(self, path: str | Path) -> None:
        """Restores everything that `save` wrote, and counts one more resume.

        Raises:
            UserError: If the checkpoint is foreign or does not fit the configuration.
        """
        tensors, values = load_training(path, self.policy, self.metadata)
        self.ppo.load_state(tensors, str(path))
        self.progress.restore(values, self.group.main)
        self.ppo.updates = values["updates"]
        self._saved = self.steps
        if not self.group.main:  # what follows is rank 0's alone
            self._seed_generators()
            return
        restore_generators(self.rng, values, tensors)
        self.environment_seed = values.get("environment_seed", 0)
        self.boundary = {n: t for n, t in tensors.items() if n.startswith((PREFIX, "rng/"))}

    def adopt(self, path: str | Path) -> None:
        """Goes on from another run's checkpoint, with random numbers and episodes of its own.

        What this run had learned is dropped, its checkpoints first; then it saves at once.

        Raises:
            UserError: If the checkpoint is foreign or does not fit the configuration.
        """
        self.load(path)
        self.boundary = {}
        self._seed_generators()
        self.checkpoints.clear()
        self.save()

    def _resume_if_possible(self) -> None:
        # Rank 0 says from which file, so that all take the same; the directory must be shared.
        path = self.group.ask_main(self._load_newest)
        if path is not None and not self.group.main:
            self.load(path)

    def _load_newest(self) -> str | None:
        """Loads the newest checkpoint that is whole, and returns which one that was."""
        self.checkpoints.remove_unfinished()
        config = self.config
        if not self.checkpoints.all():
            start_from(config.start_from, self.policy, self.metadata, config.reset_log_std)
            return None
        if not config.resume:
            raise UserError(
                f"{self.run_directory} already holds a run; set resume=true to go on, or choose "
                "another directory."
            )
        return str(self.checkpoints.load_newest(self.load))

    def _choose_environment_seed(self, goes_on: bool = False) -> int:
        if not goes_on:
            # Distinct for every resume: the same first episodes again would be a biased sample.
            sequence = np.random.SeedSequence([self.config.seed, self.progress.resumes])
            first = int(sequence.generate_state(1)[0] % 2**30)
            self.environment_seed = first + self.group.rank * self.config.collect.num_environments
        return self.environment_seed

    def _seed_generators(self) -> None:
        """Seeds every generator; neither ranks nor resumes must sample the same actions."""
        seed = self.config.seed + 7919 * self.progress.resumes + 104729 * self.group.rank
        seed_everything(seed)
        self.rng = np.random.default_rng(seed)

    def _keep_collecting(self) -> bool:
        return not self.group.hears_stop(self._signals.heard)

    def _keep_learning(self) -> bool:
        return not self.group.agrees_to_stop(self._signals.urgent)
