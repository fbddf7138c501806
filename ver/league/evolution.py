"""Population-based training within a league: its policies are the members.

After Sample Factory (Petrenko et al. 2020, appendix A.3.1, and its self-play experiment): each time that all
policies have had so many steps, the worst take over the weights of the best, and all but the best mutate. Who
takes over does so once it has learned from the rollout that is under way: that was played with its old weights.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces

from ver.checkpoint import write_json
from ver.config import PPOConfig, TrainerConfig
from ver.entropy import initial_coefficient
from ver.errors import UserError
from ver.population import PopulationConfig, evolve

STATE = "evolution.json"
LARGEST_BETA = 0.9999


@dataclass
class EvolutionConfig:
    """Settings of the evolution of a league's policies."""

    every: int = 0  # steps of each policy between two changes; 0: they never change
    metric: str = "episode_return"  # whose mean over the last episodes is a policy's score
    least_gap: float = 0.0  # difference in score below which weights are kept


@dataclass
class Genome:
    """Settings of a policy that mutate: those that Sample Factory names, but for the rewards."""

    learning_rate: float
    entropy: float
    adam_beta1: float

    @classmethod
    def of(cls, config: PPOConfig, action_space: spaces.Space) -> Genome:
        """Takes them from settings, for actions of that space."""
        entropy = initial_coefficient(config.entropy, action_space)
        return cls(config.learning_rate, entropy, config.adam_beta1)

    def factors(self) -> dict[str, float]:
        """As positive numbers, which may be multiplied: of beta1 what it leaves to 1."""
        return {
            "learning_rate": self.learning_rate,
            "entropy": self.entropy,
            "forgetting": 1.0 - self.adam_beta1,
        }

    @classmethod
    def of_factors(cls, factors: dict[str, float]) -> Genome:
        """Takes them back, within their ranges."""
        beta = min(max(1.0 - factors["forgetting"], 0.0), LARGEST_BETA)
        return cls(min(factors["learning_rate"], 1.0), factors["entropy"], beta)

    def put_into(self, config: TrainerConfig) -> TrainerConfig:
        """Returns settings with these."""
        entropy = replace(config.ppo.entropy, initial=self.entropy)
        own = {"learning_rate": self.learning_rate, "adam_beta1": self.adam_beta1}
        return replace(config, ppo=replace(config.ppo, entropy=entropy, **own))


@dataclass
class Evolution:
    """History of the policies of a league.

    Attributes:
        path: Where it is kept.
        genomes: Of each policy, now.
        rounds: How often they have changed.
        history: Of each change: the scores, whose weights each policy went on with, and all genomes since.
    """

    path: Path
    genomes: list[Genome]
    rounds: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def anew(
        cls, folder: Path, config: PPOConfig, action_space: spaces.Space, policies: int
    ) -> Evolution:
        """Begins with everybody alike."""
        return cls(folder / STATE, [Genome.of(config, action_space) for _ in range(policies)])

    @classmethod
    def begin(
        cls, folder: Path, config: PPOConfig, action_space: spaces.Space, policies: int
    ) -> Evolution:
        """Goes on with what the folder holds, or begins with everybody alike.

        Raises:
            UserError: It holds that of another number of policies.
        """
        path = folder / STATE
        if not path.is_file():
            return cls.anew(folder, config, action_space, policies)
        state = json.loads(path.read_text())
        if len(state["genomes"]) != policies:
            raise UserError(
                f"{path} is of {len(state['genomes'])} policies: set policies to that, or choose another run"
            )
        genomes = [Genome(**genome) for genome in state["genomes"]]
        return cls(path, genomes, len(state["history"]), state["history"])

    def change(self, config: EvolutionConfig, scores: Sequence[float], seed: int) -> list[int]:
        """Decides on the next genomes.

        Args:
            config: Settings.
            scores: Of each policy.
            seed: Of all chance.

        Returns:
            Whose weights each policy goes on with.
        """
        numbers = PopulationConfig(
            members=len(scores), least_gap=config.least_gap, metric=config.metric
        )
        rng = np.random.default_rng([seed, self.rounds])
        factors = [genome.factors() for genome in self.genomes]
        new, parents = evolve(numbers, scores, factors, rng)
        self.genomes = [Genome.of_factors(each) for each in new]
        self.rounds += 1
        genomes = [vars(genome) for genome in self.genomes]
        self.history.append({"scores": list(scores), "parents": parents, "genomes": genomes})
        return parents

    def save(self) -> None:
        """Writes all down."""
        genomes = [vars(genome) for genome in self.genomes]
        write_json(self.path, {"genomes": genomes, "history": self.history})
