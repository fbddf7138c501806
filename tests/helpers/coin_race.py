"""Two players on a ring run for the same coin: a game as PettingZoo has it, without that package."""

import numpy as np
from gymnasium import spaces

CELLS = 12
AGENTS = ["red", "blue"]
SEEN, DONE = spaces.Box(-1.0, 1.0, (4,), np.float32), spaces.Discrete(3)


class CoinRace:
    """A step is one cell to either side, or none; who is at the coin first wins, at once is a draw.

    Each sees where the coin and the other are, from itself: cosine and sine of the angle on the ring.
    """

    possible_agents = AGENTS

    def __init__(self, limit=8, falls=None):
        self.limit, self.falls, self.agents = limit, falls, []

    def observation_space(self, agent):
        return SEEN

    def action_space(self, agent):
        return DONE

    def reset(self, seed=None, options=None):
        rng = np.random.default_rng(seed)
        self.agents, self.time = list(AGENTS), 0
        self.coin, *at = rng.integers(CELLS, size=3)
        self.at = dict(zip(AGENTS, at, strict=True))
        return self._seen(), {agent: {} for agent in AGENTS}

    def step(self, actions):
        if self.falls is not None and self.falls():
            raise OSError("the table fell over")
        assert set(actions) == set(self.agents)
        self.time += 1
        for agent, action in actions.items():
            self.at[agent] = (self.at[agent] + int(action) - 1) % CELLS
        there = [agent for agent in AGENTS if self.at[agent] == self.coin]
        over, late = bool(there), self.time >= self.limit
        worth = dict.fromkeys(AGENTS, 0.0)
        if len(there) == 1:
            worth = {agent: 1.0 if agent in there else -1.0 for agent in AGENTS}
        infos = {
            agent: {"metrics": {"score": 0.5 + 0.5 * worth[agent]}} if over or late else {}
            for agent in AGENTS
        }
        if over or late:
            self.agents = []
        return (
            self._seen(),
            worth,
            dict.fromkeys(AGENTS, over),
            dict.fromkeys(AGENTS, late and not over),
            infos,
        )

    def close(self):
        pass

    def _seen(self):
        other = {"red": "blue", "blue": "red"}
        return {agent: self._from(agent, self.at[other[agent]]) for agent in AGENTS}

    def _from(self, agent, rival):
        angles = 2.0 * np.pi / CELLS * (np.array([self.coin, rival]) - self.at[agent])
        return np.concatenate([np.cos(angles), np.sin(angles)]).astype(np.float32)
