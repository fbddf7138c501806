"""A league: several trainers, one for each policy, whose policies play one another."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import gymnasium

from ver.collect.collector import Collector
from ver.config import TrainerConfig
from ver.errors import UserError, WorkerCrashError
from ver.league.arena import Arena, Player, player_config
from ver.league.games import MakeGame, Table
from ver.logs import Logs
from ver.stop_signals import StopSignals
from ver.trainer import Trainer

MOST = 64  # policies
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
    """

    def __init__(
        self,
        table: Table,
        snapshot_every: int,
        config: TrainerConfig,
        run_directory: Path,
        metadata: dict[str, Any] | None,
    ):
        super().__init__(config, _SpacesOf(table), run_directory, metadata, _keep_snapshot)
        if self.group.size > 1:
            raise UserError("a league trains in one process: start it without torchrun")
        self.snapshot_every = snapshot_every
        self.among = run_directory.name

    def sit(self) -> Player:
        """Makes the player anew."""
        seed = self._choose_environment_seed()
        self.player = Player(self.config, self.make_env, self.policy, seed)
        return self.player

    def _make_collector(self, logs: Logs) -> Collector:
        self.boundary = {}  # episodes begin anew
        self.player.faults.listener = lambda fault: logs.fault(fault, self.steps)
        self._attend(self.player)
        return self.player


def _keep_snapshot(trainer: Trainer, row: dict[str, float]) -> None:
    """Keeps the policy as it is, where it is time."""
    del row
    assert isinstance(trainer, PlayerTrainer)
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

    Attributes:
        trainers: Of the policies.
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
    ):
        check_league(config, policies, snapshot_every)
        self.arena = Arena(Table(make_game, config.collect.num_environments))
        self.interrupted = False
        self.trainers = [
            PlayerTrainer(
                self.arena.table,
                snapshot_every,
                player_config(config, self.arena.table.seats, policies, number),
                Path(run_directory) / f"policy_{number}",
                metadata,
            )
            for number in range(policies)
        ]

    @property
    def steps(self) -> int:
        """Steps that the policy which has learned least has learned from."""
        return min(trainer.steps for trainer in self.trainers)

    def train(self) -> list[dict[str, float]]:
        """Trains until all policies have had their steps, or a signal comes.

        Returns:
            The last logged row of each policy.
        """
        if self.steps < self.trainers[0].config.total_steps:
            players = [trainer.sit() for trainer in self.trainers]
            with StopSignals() as signals, ExitStack() as stack:
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
            if not self.arena.players:
                self.arena.open(players, self.trainers[0].environment_seed)
            try:
                full = self.arena.advance(keep_going)
            except WorkerCrashError as error:
                turns[min(learning)].throw(error)  # which tells of it
            if not full:
                return


_OVER = object()


def check_league(config: TrainerConfig, policies: int, snapshot_every: int) -> None:
    """Raises a UserError that names the first setting that makes no sense in a league."""
    if not 1 <= policies <= MOST:
        raise UserError(f"policies must be from 1 to {MOST}, found {policies}")
    if snapshot_every < 0:
        raise UserError(f"snapshot_every must not be negative, found {snapshot_every}")
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
