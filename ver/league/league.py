"""A league: several trainers, one for each policy, whose policies play one another."""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gymnasium

from ver.checkpoint import load_training, save_training
from ver.collect.collector import Collector
from ver.config import TrainerConfig, config_to_dict
from ver.errors import UserError, WorkerCrashError
from ver.league.arena import Arena, Player, player_config
from ver.league.evolution import Evolution, EvolutionConfig, Genome
from ver.league.games import MakeGame, Table
from ver.logs import Logs
from ver.population import check_metric
from ver.run_lock import RunLock
from ver.stop_signals import StopSignals
from ver.trainer import Trainer

MOST = 64  # policies
ADOPTED = "adopt.safetensors"  # in a policy's run: what it takes over next
SNAPSHOTS = "snapshots"  # folder of a policy's run: what it was like at times


class PlayerTrainer(Trainer):
    """The trainer of one of several policies.

    Args:
        table: Has the spaces.
        snapshot_every: Steps after which the policy is kept as it is by then; 0: never.
        config: Settings.
        run_directory: Of this policy.
        metadata: As for `Trainer`.

    Attributes:
        player: What collects for it.
        genome: Those of its settings that mutate, where the league evolves.
    """

    def __init__(
        self,
        table: Table,
        snapshot_every: int,
        config: TrainerConfig,
        run_directory: Path,
        metadata: dict[str, Any] | None,
    ):
        super().__init__(config, _SpacesOf(table), run_directory, metadata, _after_rollout)
        if self.group.size > 1:
            raise UserError("a league trains in one process: start it without torchrun")
        self.snapshot_every = snapshot_every
        self.among = run_directory.name
        self.apply(Genome.of(config.ppo, self.policy.action_space))

    def sit(self) -> Player:
        """Makes the player anew."""
        seed = self._choose_environment_seed()
        self.player = Player(self.config, self.make_env, self.policy, seed)
        return self.player

    def apply(self, genome: Genome) -> None:
        """Goes on with other settings; an entropy coefficient that is learned stays as it is."""
        self.genome, self.config = genome, genome.put_into(self.config)
        self.ppo.config, self.ppo.entropy.config = self.config.ppo, self.config.ppo.entropy
        for group in self.ppo.optimizer.param_groups:
            group["betas"] = (genome.adam_beta1, group["betas"][1])

    def hand_over(self, to: Path) -> None:
        """Writes what another policy takes over: weights, and what the optimiser knows."""
        config = config_to_dict(self.config)
        save_training(to, self.policy, self.ppo.state(), {}, config, self.metadata)

    def take_over(self) -> None:
        """Takes over what another policy has handed over, if one has."""
        path = self.run_directory / ADOPTED
        if path.is_file():
            tensors, _ = load_training(path, self.policy, self.metadata)
            self.ppo.load_state(tensors, str(path))
            self.apply(self.genome)  # the optimiser's may have come along
            self.save()  # before the file is gone: who is killed in between just takes it over again
            path.unlink()

    def _make_collector(self, logs: Logs) -> Collector:
        self.boundary = {}  # episodes begin anew
        self.player.faults.listener = lambda fault: logs.fault(fault, self.steps)
        self._attend(self.player)
        return self.player


def _after_rollout(trainer: Trainer, row: dict[str, float]) -> None:
    """Keeps the policy as it is, where it is time, and takes over another's weights, where it shall."""
    del row
    assert isinstance(trainer, PlayerTrainer)
    trainer.take_over()
    every = trainer.snapshot_every
    if every and trainer.steps // every > (trainer.steps - trainer.rollout_steps) // every:
        folder = trainer.run_directory / SNAPSHOTS
        folder.mkdir(exist_ok=True)
        trainer.export(folder / f"{trainer.steps:012d}.safetensors")


class _SpacesOf:
    """An environment that has a table's spaces, and no more."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __call__(self, index: int, seed: int) -> gymnasium.Env:
        del index, seed
        env: gymnasium.Env = gymnasium.Env()
        env.observation_space = self._table.observation_space
        env.action_space = self._table.action_space
        return env


class League:
    """Trains several policies in games of several agents; with one, that plays itself.

    At the begin of each agent's episode chance says which policy plays it. Each policy learns from its
    own steps, with a run directory of its own, policy_0 and so on, that is like any other run's. A league
    that was stopped goes on with new episodes.

    Args:
        config: Settings of each policy; `collect.num_environments` are games, `total_steps` each policy's.
        make_game: Makes a game of PettingZoo's parallel kind.
        run_directory: Of all.
        policies: How many.
        snapshot_every: Steps after which each policy is kept as it is by then; 0: never.
        metadata: JSON-able values kept in every policy.
        evolve: When and by what the worst policies take over from the best; never, by default.

    Attributes:
        run_directory: Of all.
        trainers: Of the policies.
        evolution: What has become of them.
        interrupted: Whether a signal ended the last `train()`.

    Raises:
        UserError: Settings make no sense here, or agents of a game differ.
    """

    def __init__(
        self,
        config: TrainerConfig,
        make_game: MakeGame,
        run_directory: str | Path,
        policies: int = 2,
        snapshot_every: int = 0,
        metadata: dict[str, Any] | None = None,
        evolve: EvolutionConfig | None = None,
    ):
        self._evolve = evolve or EvolutionConfig()
        check_league(config, policies, snapshot_every, self._evolve)
        self.arena = Arena(Table(make_game, config.collect.num_environments))
        self.run_directory = Path(run_directory)
        self.interrupted, self._seed = False, config.seed
        self.trainers = [
            PlayerTrainer(
                self.arena.table,
                snapshot_every,
                player_config(config, self.arena.table.seats, policies, number),
                self.run_directory / f"policy_{number}",
                metadata,
            )
            for number in range(policies)
        ]
        space = self.arena.table.action_space
        begin = Evolution.begin if self._evolve.every else Evolution.anew
        self.evolution = begin(self.run_directory, config.ppo, space, policies)
        for trainer, genome in zip(self.trainers, self.evolution.genomes, strict=True):
            trainer.apply(genome)

    @property
    def steps(self) -> int:
        """Steps that the policy which has learned least has learned from."""
        return min(trainer.steps for trainer in self.trainers)

    def train(self) -> list[dict[str, float]]:
        """Trains until all policies have had their steps, or a signal comes.

        Returns:
            The last logged row of each policy.

        Raises:
            UserError: Another league trains in the run directory, which is left as it is.
        """
        if self.steps < self.trainers[0].config.total_steps:
            with RunLock(self.run_directory), StopSignals() as signals, ExitStack() as stack:
                for trainer in self.trainers:
                    trainer.take_over()  # before it was stopped it did not come to that
                players = [trainer.sit() for trainer in self.trainers]
                stack.callback(self.arena.close)
                turns = [trainer.rounds(signals) for trainer in self.trainers]
                for turn in turns:
                    stack.callback(turn.close)  # which saves
                self._play(players, turns, lambda: not signals.heard)
                self.interrupted = signals.heard
        return [trainer.row for trainer in self.trainers]

    def _play(
        self, players: list[Player], turns: list[Generator[None]], keep_going: Callable[[], bool]
    ) -> None:
        """Lets whoever has a full rollout learn from it, until nobody learns any more."""
        learning = set(range(len(turns)))
        full = sorted(learning)
        while True:
            for number in full:
                if number not in learning or next(turns[number], _OVER) is _OVER:
                    learning.discard(number)
                    players[number].begin(0)  # it goes on playing
                    players[number].episodes.clear()
            if not learning:
                return
            self._change()
            try:
                if not self.arena.players:
                    self.arena.open(players, self.trainers[0].environment_seed)
                full = self.arena.advance(keep_going)
            except WorkerCrashError as error:
                turns[min(learning)].throw(error)  # which tells of it
            if not full:
                return

    def _change(self) -> None:
        """Lets the policies evolve, where it is time."""
        evolution, every = self.evolution, self._evolve.every
        if not every or self.steps < (evolution.rounds + 1) * every:
            return
        scores = [each.progress.episode_mean(self._evolve.metric) for each in self.trainers]
        if all(map(math.isnan, scores)):
            check_metric(self._evolve.metric, self.trainers[0].progress.row(), "evolve.metric")
        parents = evolution.change(self._evolve, scores, self._seed)
        for number, parent in enumerate(parents):
            child = self.trainers[number]
            child.apply(evolution.genomes[number])
            if parent != number and child.steps < child.config.total_steps:
                self.trainers[parent].hand_over(child.run_directory / ADOPTED)
        evolution.save()  # last: killed before that, all of it is done again


_OVER = object()


def check_league(
    config: TrainerConfig, policies: int, snapshot_every: int, evolve: EvolutionConfig
) -> None:
    """Raises a UserError that names the first setting that makes no sense in a league."""
    if not 1 <= policies <= MOST:
        raise UserError(f"policies must be from 1 to {MOST}, found {policies}")
    for name, value in (("snapshot_every", snapshot_every), ("evolve.every", evolve.every)):
        if value < 0:
            raise UserError(f"{name} must not be negative, found {value}")
    if not 0.0 <= evolve.least_gap < math.inf:
        raise UserError(f"evolve.least_gap must be at least 0, found {evolve.least_gap}")
    if evolve.every and policies == 1:
        raise UserError(f"evolve.every={evolve.every} needs two policies or more, found policies=1")
    collect = config.collect
    wanted = {
        "collect.overlap": (collect.overlap, False),
        "collect.repeat_failed": (collect.repeat_failed, 0.0),
        "collect.num_inference_workers": (collect.num_inference_workers, 1),
        "distributed.preemption": (config.distributed.preemption, "none"),
        "deterministic": (config.deterministic, False),
        "tracker": (config.tracker, "none"),
    }
    for name, (found, only) in wanted.items():
        if found != only:
            raise UserError(
                f"{name}={str(found).lower()} cannot be had in a league, which is one process and begins "
                f"new episodes when it goes on; set it to {str(only).lower()}"
            )
