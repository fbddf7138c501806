"""Matches between policies, and ratings made of their results (`python -m ver rate RUN`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import torch

from ver.action_space import to_environment_action
from ver.collect.episode_order import episode_seed
from ver.league.games import Table
from ver.networks.policy import ActorCritic

_SCALE = 400.0 / np.log(10.0)  # of ratings, as in chess: 400 more are ten to one
_ROUNDS = 2000


def elo(scores: np.ndarray) -> np.ndarray:
    """Ratings of players, the first of whom has 0.

    The likeliest ones by Bradley and Terry's model, found by Hunter's iteration (2004, section 2); each pair
    is given a draw besides, without which who never lost would be infinitely good.

    Args:
        scores: [P, P], points that the row's player has won against the column's: 1 for a victory, 1/2 for a
            draw.

    Returns:
        [P], in the units of chess.
    """
    players = len(scores)
    won = scores + 0.5 * (1.0 - np.eye(players))
    games, points = won + won.T, won.sum(1)
    strength = np.ones(players)
    for _ in range(_ROUNDS):
        chances = games / (strength[:, None] + strength)
        np.fill_diagonal(chances, 0.0)
        strength = points / chances.sum(1)
        strength /= np.exp(np.log(strength).mean())
    return _SCALE * np.log(strength / strength[0])


def play_all(
    table: Table,
    policies: Sequence[ActorCritic],
    rounds: int,
    seed: int = 0,
    tell: Callable[[int, int], None] = lambda played, pairs: None,
) -> np.ndarray:
    """Lets each policy play each other one; actions are sampled.

    Args:
        table: K games, of which a round takes all.
        policies: P of them.
        rounds: Of each pair; in every other one they change seats.
        seed: Of games and actions.
        tell: Called after each pair with how many have played, and how many there are.

    Returns:
        [P, P] points that the row's policy has won against the column's: of each two agents of theirs in one
        game who has the larger return has a point, of equals each a half.
    """
    torch.manual_seed(seed)
    scores = np.zeros((len(policies), len(policies)))
    table.open()
    try:
        pairs = list(combinations(range(len(policies)), 2))
        for played, pair in enumerate(pairs, 1):
            for number in range(rounds):
                of_seat = [pair[(seat + number) % 2] for seat in range(len(table.agents))]
                returns = _play(table, policies, of_seat * table.count, seed + number)
                _count(scores, of_seat, returns.reshape(table.count, -1))
            tell(played, len(pairs))
    finally:
        table.close()
    return scores


def _count(scores: np.ndarray, of_seat: Sequence[int], returns: np.ndarray) -> None:
    """Adds the points of some games, whose agents had these returns [K, A]."""
    for first, second in combinations(range(len(of_seat)), 2):
        one, other = of_seat[first], of_seat[second]
        if one != other:
            points = 0.5 * (1.0 + np.sign(returns[:, first] - returns[:, second]))
            scores[one, other] += points.sum()
            scores[other, one] += len(points) - points.sum()


@torch.inference_mode()
def _play(
    table: Table, policies: Sequence[ActorCritic], of_seat: Sequence[int], seed: int
) -> np.ndarray:
    """Plays one episode of every game; returns of all seats."""
    seats = np.arange(table.seats)
    shown = {}
    for game in range(table.count):
        shown |= table.begin(game, episode_seed(seed, game, 1))
    stored = {
        key: np.stack([shown[seat][key] for seat in seats])
        for key in table.observation_space.spaces
    }
    playing = np.ones(table.seats, bool)
    returns, first = np.zeros(table.seats), True
    own = {player: seats[np.array(of_seat) == player] for player in set(of_seat)}
    state = {player: policies[player].initial_state(len(rows)) for player, rows in own.items()}
    before = {player: policies[player].initial_actions(len(rows)) for player, rows in own.items()}
    while playing.any():
        actions = {}
        for player, rows in own.items():
            policy, masks = policies[player], torch.full((len(rows),), not first)
            seen = {key: torch.from_numpy(values[rows]) for key, values in stored.items()}
            choice = policy.choose(seen, state[player], before[player], masks)
            state[player], before[player] = choice.state, choice.actions
            for row, action in zip(rows.tolist(), choice.actions.numpy(), strict=True):
                actions[row] = to_environment_action(table.action_space, action)
        first = False
        for game in range(table.count):
            there = {seat: actions[seat] for seat in table.seats_of(game) if playing[seat]}
            for seat, result in table.step(game, there).items() if there else ():
                returns[seat] += result.reward
                playing[seat] = not result.ended
                for key, values in stored.items():
                    values[seat] = result.observation[key]
    return returns
