"""Population-based training: the worst runs copy the best, and all but the best mutate.

After Sample Factory (Petrenko et al. 2020, appendix A.3.1): every so many steps the worst 30 % of
the members take over the weights of one of the best 30 %, and of the worst 70 % every setting that
may change does so with a probability of 15 %, by a factor of 1.2 up or down. Members train in turn,
each with the whole machine, as runs of their own that any trainer could resume.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from ver.checkpoint import write_atomically, write_json
from ver.errors import UserError
from ver.ranges import COUNT, LARGEST, NOT_NEGATIVE, NUMBERS, SEED, SHARE, Range
from ver.run_lock import RunLock
from ver.trainer import Trainer

STATE = "population.json"
ADOPTED = "adopt.safetensors"  # what a member goes on from in the next round

RANGES = {
    "members": Range(2, 1000),  # one has no rivals
    "interval": COUNT,
    "rounds": COUNT,
    "mutated_share": SHARE,
    "mutation_rate": SHARE,
    "factor": Range(1, LARGEST, above=True),
    "replaced_share": Range(0, 0.5),  # who is replaced cannot be among the best
    "least_gap": NOT_NEGATIVE,
    "seed": SEED,
}

MakeTrainer = Callable[
    [int, dict[str, float], Path, Callable[[Trainer, dict[str, float]], bool]], Trainer
]


@dataclass(frozen=True)
class PopulationConfig:
    """Numbers of the evolution; the defaults are Sample Factory's but for size and interval."""

    members: int = 4
    interval: int = 500_000  # steps of every member between two changes
    rounds: int = 8
    mutated_share: float = 0.7  # of the members, from the worst up
    mutation_rate: float = 0.15  # probability with which each setting changes
    factor: float = 1.2  # up or down
    replaced_share: float = 0.3  # of the members, from the worst up, by as many of the best
    least_gap: float = 0.0  # difference in score below which weights are kept
    metric: str = "success"  # of the episodes, of which the mean is the score
    seed: int = 1

    def check(self) -> None:
        """Raises a UserError that names the first number that makes no sense."""
        for name, allowed in RANGES.items():
            if getattr(self, name) not in allowed:
                raise UserError(f"{name} must be {allowed}, found {getattr(self, name):g}")
        if not self.metric:
            raise UserError("metric must not be empty: name a number of the episodes")


@dataclass
class Member:
    """One run of the population.

    Attributes:
        values: Its settings that may change.
        scores: After each round that it has finished.
        parents: By round: whose weights it went on with, itself where it kept its own.
        history: By round: the settings with which it trained.
    """

    values: dict[str, float]
    scores: list[float] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    history: list[dict[str, float]] = field(default_factory=list)


class Population:
    """Runs that compete; killed at any moment, the same call goes on.

    Args:
        config: Numbers of the evolution.
        initial: Settings that may change, and with what everybody begins.
        directory: Where `population.json` and a run directory of each member are kept.
        make_trainer: `(member, values, run_directory, after_update) -> Trainer`; a member's seed is
            its own. The trainer's total_steps must not be less than rounds * interval.
        tell: Called after each member's training.

    Attributes:
        members: The runs.

    Raises:
        UserError: If the directory holds another population.
    """

    def __init__(
        self,
        config: PopulationConfig,
        initial: dict[str, float],
        directory: str | Path,
        make_trainer: MakeTrainer,
        tell: Callable[[Population], None] = lambda population: None,
    ):
        config.check()
        self.config = config
        self.directory = Path(directory)
        self.members = [Member(dict(initial)) for _ in range(config.members)]
        self.interrupted = False
        self._make_trainer = make_trainer
        self._tell = tell
        self._load()

    @property
    def round(self) -> int:
        """The round that somebody has still to finish."""
        return min(len(member.scores) for member in self.members)

    def run(self) -> int:
        """Trains all rounds, or until a signal; returns the best member.

        Raises:
            UserError: Another population is trained in the directory.
        """
        with RunLock(self.directory):
            self._load()
            if len(self.members[0].parents) < self.round < self.config.rounds:
                # All had finished when it was stopped, or more rounds are asked for.
                self._evolve()
            return self._run()

    def _run(self) -> int:
        while self.round < self.config.rounds:
            now = self.round
            for index, member in enumerate(self.members):
                if len(member.scores) > now:
                    continue
                score = self._train(index, now)
                if self.interrupted:
                    return self.best
                member.scores.append(score)
                member.history.append(dict(member.values))
                self._save()
                self._tell(self)
            if self.round < self.config.rounds:
                self._evolve()
        return self.best

    @property
    def best(self) -> int:
        """The member with the highest score so far."""
        return best_of(
            [member.scores[-1] if member.scores else math.nan for member in self.members]
        )

    def run_directory(self, index: int) -> Path:
        """Folder of a member's run."""
        return self.directory / f"member_{index}"

    def _train(self, index: int, now: int) -> float:
        """One member's part of a round; its score."""
        until = (now + 1) * self.config.interval
        directory = self.run_directory(index)
        trainer = self._make_trainer(
            index, self.members[index].values, directory, lambda t, _: t.steps >= until
        )
        adopted = directory / ADOPTED
        if adopted.exists():
            trainer.adopt(adopted)
            adopted.unlink()
        if trainer.steps < until:
            trainer.train()
        self.interrupted = trainer.interrupted
        score = trainer.progress.episode_mean(self.config.metric)
        if math.isnan(score):
            check_metric(self.config.metric, trainer.progress.row())
        return score

    def _evolve(self) -> None:
        """Decides, hands weights over, and only then writes down that the next round has begun."""
        values, parents = evolve(
            self.config,
            [member.scores[-1] for member in self.members],
            [member.values for member in self.members],
            np.random.default_rng([self.config.seed, self.round]),
        )
        for index, parent in enumerate(parents):
            if parent != index:
                newest = sorted(
                    self.run_directory(parent).glob("checkpoints/training_*.safetensors")
                )
                write_atomically(self.run_directory(index) / ADOPTED, newest[-1].read_bytes())
        for member, new, parent in zip(self.members, values, parents, strict=True):
            member.values = new
            member.parents.append(parent)
        self._save()

    def _save(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        state = {"config": asdict(self.config), "members": [asdict(m) for m in self.members]}
        write_json(self.directory / STATE, state)

    def _load(self) -> None:
        path = self.directory / STATE
        if not path.exists():
            return
        try:
            state = json.loads(path.read_text())
            members = [Member(**values) for values in state["members"]]
            before, found = state["config"].items(), set(members[0].values)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            raise UserError(f"{path} is broken: choose another run directory.") from None
        mine, names = asdict(self.config), set(self.members[0].values)
        for name, value in before:
            if name != "rounds" and value != mine.get(name):
                raise UserError(
                    f"{path}: {name} was {value}, and is {mine.get(name)} now; choose another run "
                    "directory, or the settings of before."
                )
        if found != names:
            raise UserError(
                f"{path}: {', '.join(sorted(found))} may change, not {', '.join(sorted(names))}; "
                "choose another run directory, or the settings of before."
            )
        self.members = members


def check_metric(metric: str, row: dict[str, float], setting: str = "metric") -> None:
    """Refuses a metric that no episode of a logged row has, where some have ended."""
    names = [key.removeprefix("episode/") for key in row if key.startswith("episode/")]
    if names and metric not in names:
        raise UserError(f"{setting}={metric}: no episode has it; choose one of {', '.join(names)}")


def best_of(scores: Sequence[float]) -> int:
    """Return whose score is the highest, the first of several; NaN is the lowest."""
    return int(np.argmax(np.nan_to_num(scores, nan=-math.inf)))


def evolve(
    config: PopulationConfig,
    scores: Sequence[float],
    values: Sequence[dict[str, float]],
    rng: np.random.Generator,
) -> tuple[list[dict[str, float]], list[int]]:
    """Chooses each member's next settings and parent.

    Args:
        config: Numbers of the evolution.
        scores: Of each member; NaN is the worst.
        values: Settings of each member.
        rng: All chance.

    Returns:
        New settings of each member, and whose weights it goes on with. Who takes over weights takes
        over the settings too, and these may mutate.
    """
    count = len(scores)
    known = [-math.inf if math.isnan(score) else score for score in scores]
    ranked = sorted(range(count), key=lambda index: (known[index], -index))  # worst first
    # Of an odd number the one in the middle must not both be copied and copy.
    replaced = min(math.floor(config.replaced_share * count + 0.5), count // 2)
    mutated = math.floor(config.mutated_share * count + 0.5)
    parents = list(range(count))
    for index in ranked[:replaced]:
        parent = int(rng.choice(ranked[count - replaced :]))
        if known[parent] - known[index] > config.least_gap:
            parents[index] = parent
    new = [dict(values[parent]) for parent in parents]
    for index in ranked[:mutated]:
        for name in new[index]:
            if rng.random() < config.mutation_rate:
                factor = config.factor if rng.random() < 0.5 else 1.0 / config.factor
                new[index][name] = _allowed(name).cut(new[index][name] * factor)
    return new, parents


def _allowed(name: str) -> Range:
    """The range of a setting; of those of others than the trainer any number."""
    return NUMBERS.get(name.removeprefix("trainer."), Range(-math.inf))
