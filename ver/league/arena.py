"""The arena: all seats at all games, the policies that play there, and who sits where.

Every policy has a rollout, an engine and a row for each seat, as if all seats were its own. A row in which the
policy does not play just waits, which is what variable experience rollouts are made for: the newest step there
has no outcome yet, and is carried on from rollout to rollout until the policy sits there again. Only then its
outcome is told, together with the first observation of the new episode. A row's very first step is never
carried out where another policy sits: it counts as lost, and is written anew when its turn comes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ver.action_space import to_environment_action
from ver.collect.collector import Collector
from ver.collect.environment_worker import told_fault
from ver.collect.episode_order import episode_seed
from ver.collect.faults import Fault
from ver.collect.in_flight import InFlight
from ver.collect.inference import BatchLimits, InferenceEngine
from ver.collect.mailboxes import make_mailboxes
from ver.collect.processes import one_line_errors
from ver.config import TrainerConfig
from ver.errors import UserError
from ver.league.games import SeatStep, Table
from ver.preemption import Preemption
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED


@dataclass
class Seat:
    """State of a seat.

    Attributes:
        player: Number of the policy that plays there.
        playing: Whether its agent is in the game.
        steps: Of the episode so far.
        total: Of its rewards.
    """

    player: int = 0
    playing: bool = False
    steps: int = 0
    total: float = 0.0


class Player(Collector):
    """A policy's part of the arena, as its trainer's collector.

    `begin` begins a rollout, `Arena.advance` fills it, and `collect` finds it full.
    """

    def start(self, in_flight: InFlight | None, keep_going: Callable[[], bool]) -> None:
        """Makes rollout and rows. What was under way in a run that was stopped is begun anew."""
        del in_flight, keep_going
        config, policy = self.config, self._policy
        n = config.collect.num_environments
        spaces = policy.observation_space, policy.action_space
        length = config.collect.rollout_length
        self.buffer = RolloutBuffer(
            *spaces, n, length, policy.state_size, config.device, shared=False
        )
        mailboxes = make_mailboxes(*spaces, n, n)
        self.rows = mailboxes.arrays
        self._version = np.zeros(1, np.int64)
        held_back = np.zeros(n, np.uint8)
        self.engine = InferenceEngine(
            policy, self.buffer, mailboxes, BatchLimits(1, n, 0.0), held_back, self._version
        )
        self.episodes: list[dict[str, float]] = []

    def begin(self, version: int) -> None:
        """Begins a rollout."""
        self._version[0] = version
        self.buffer.begin(may_end_early=False)
        self.engine.replay()

    def collect(
        self,
        version: int,
        keep_going: Callable[[], bool] = lambda: True,
        preemption: Preemption | None = None,
    ) -> bool:
        """Tells whether the arena has filled the rollout."""
        del version, keep_going, preemption
        return self.buffer.full

    @property
    def busy_seconds(self) -> dict[str, float]:
        """Seconds so far by kind of work."""
        return self.engine.seconds

    def drain_episodes(self) -> list[dict[str, float]]:
        """Returns the metrics of the policy's episodes that ended since the last call."""
        episodes, self.episodes = self.episodes, []
        return episodes

    def close(self) -> None:
        """Nothing is this player's alone."""

    def write(self, key: str, index: int, observation: dict[str, np.ndarray]) -> None:
        """Writes an observation into a row; `key` is observation or final_observation."""
        for name, row in self.rows.group(key).items():
            row[index] = observation[name]


@dataclass
class Arena:
    """Games, seats and players.

    Attributes:
        table: The games.
        players: By number.
        seats: What is under way at each.
    """

    table: Table
    players: list[Player] = field(default_factory=list)

    def open(self, players: list[Player], seed: int) -> None:
        """Begins all games; every player gets a first step in every row, where it sits or not.

        Args:
            players: By number, each in a rollout that has begun.
            seed: Of games and of who sits where.
        """
        self.players, self._seed = players, seed
        self._rng = np.random.default_rng([seed, 1])
        self.seats = [Seat() for _ in range(self.table.seats)]
        self._games_begun = [0] * self.table.count
        with one_line_errors("a game"):
            self.table.open()
        for game in range(self.table.count):
            shown = self._begin_game(game)
            for seat in self.table.seats_of(game):
                if seat not in shown:
                    raise UserError("at the begin of a game all agents must be in it")
                for player in self.players:
                    player.write("observation", seat, shown[seat])
                    player.rows["outcome"][seat] = NO_ACTION
                    player.rows["episode"][seat] = 1
                    player.rows["request_ready"][seat] = 1
        self._answer()
        for seat, here in enumerate(self.seats):
            for number, player in enumerate(self.players):
                if number != here.player:
                    player.rows["outcome"][seat] = LOST  # nobody will carry that step out

    def advance(self, keep_going: Callable[[], bool]) -> list[int]:
        """Plays until some players' rollouts are full.

        Args:
            keep_going: Asked now and then.

        Returns:
            Their numbers; none if it said no.
        """
        while True:
            full = [n for n, player in enumerate(self.players) if player.buffer.full]
            if full:
                return full
            if not keep_going():
                return []
            if all(self._has_action(seat) for seat in range(len(self.seats))):
                begin = time.perf_counter()
                for game in range(self.table.count):
                    self._step(game)
                for player in self.players:  # all wait for the games
                    player.engine.seconds["wait"] += time.perf_counter() - begin
            self._answer()

    def close(self) -> None:
        """Frees the games; `open` begins them anew."""
        self.table.close()
        self.players = []

    def _has_action(self, seat: int) -> bool:
        here = self.seats[seat]
        return not here.playing or bool(self.players[here.player].rows["action_ready"][seat])

    def _answer(self) -> None:
        """Lets every player decide wherever it is asked to."""
        for player in self.players:
            while player.engine.serve(0.0):
                pass

    def _step(self, game: int) -> None:
        """Carries out the actions of all who are in a game; a new one begins where it is over."""
        actions = {}
        for seat in self.table.seats_of(game):
            here = self.seats[seat]
            if here.playing:
                rows = self.players[here.player].rows
                rows["action_ready"][seat] = 0
                actions[seat] = to_environment_action(self.table.action_space, rows["action"][seat])
        try:
            results = self.table.step(game, actions)
        except Exception as error:
            self._lose(game, error)
            return
        for seat, result in results.items():
            self._tell(seat, result)
        if not any(self.seats[seat].playing for seat in self.table.seats_of(game)):
            self._sit_down(game)

    def _tell(self, seat: int, result: SeatStep) -> None:
        """Writes what a step has brought into its player's row."""
        here = self.seats[seat]
        player = self.players[here.player]
        here.steps += 1
        here.total += result.reward
        player.rows["reward"][seat] = result.reward
        player.rows["step"][seat] = here.steps
        if not result.ended:
            player.write("observation", seat, result.observation)
            player.rows["outcome"][seat] = CONTINUES
            player.rows["request_ready"][seat] = 1
            return
        # The engine hears of it when the player sits here again
        player.rows["outcome"][seat] = TERMINATED if result.terminated else TRUNCATED
        player.write("final_observation", seat, result.observation)
        here.playing = False
        told = {"episode_return": here.total, "episode_length": float(here.steps)}
        player.episodes.append(told | result.metrics)

    def _sit_down(self, game: int) -> None:
        """Begins a game anew, and lets chance say who plays."""
        for seat, observation in self._begin_game(game).items():
            player = self.players[self.seats[seat].player]
            player.write("observation", seat, observation)
            player.rows["episode"][seat] += 1
            player.rows["step"][seat] = 0
            player.rows["request_ready"][seat] = 1

    def _begin_game(self, game: int) -> dict[int, dict[str, np.ndarray]]:
        self._games_begun[game] += 1
        seed = episode_seed(self._seed, game, self._games_begun[game])
        try:
            shown = self.table.begin(game, seed)
        except Exception as error:  # once more with a new game; if that fails too, the league ends
            self._report(game, error, dict.fromkeys(range(len(self.players)), 0))
            with one_line_errors(f"game {game}"):
                self.table.renew(game)
                shown = self.table.begin(game, seed)
        for seat in self.table.seats_of(game):
            number = int(self._rng.integers(len(self.players)))
            self.seats[seat] = Seat(number, playing=seat in shown)
        return shown

    def _lose(self, game: int, error: Exception) -> None:
        """Makes a game anew whose last actions' results will never be known."""
        lost: Counter[int] = Counter()
        for seat in self.table.seats_of(game):
            here = self.seats[seat]
            if here.playing:
                self.players[here.player].rows["outcome"][seat] = LOST
                lost[here.player] += 1
        self._report(game, error, lost)
        with one_line_errors(f"game {game}"):
            self.table.renew(game)
        self._sit_down(game)

    def _report(self, game: int, error: Exception, lost: Mapping[int, int]) -> None:
        """Tells players of a fault that cost them so many steps."""
        kind, what, detail = told_fault(error)
        for number, steps in lost.items():
            self.players[number].faults.record(Fault(kind, f"game {game} {what}", steps, detail))


def player_config(config: TrainerConfig, seats: int, players: int, number: int) -> TrainerConfig:
    """The settings of one of several policies: each learns from its share of all steps.

    How often a policy sat at a seat is chance, and no trait of the seat: importance weights would only
    shrink some steps.
    """
    length = max(1, round(config.collect.rollout_length / players))
    collect = replace(config.collect, num_environments=seats, rollout_length=length)
    ppo = replace(config.ppo, importance_weights=config.ppo.importance_weights and players == 1)
    own = {"collect": collect, "ppo": ppo, "seed": config.seed + number}
    return replace(config, system="batched", **own)  # all games are stepped together
