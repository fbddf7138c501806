"""`python -m skills.population SKILL [key=value ...]`: trains a population of one skill.

The members train in turn; every `--interval` steps the worst take over the weights of the best, and
settings mutate (ver/population.py). Ctrl-C and the same command go on.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rearrange.command_line import INTERRUPTED, OneLineParser
from skills.command import run_command
from skills.recipe import trained_stages
from skills.settings import make_environments
from skills.train import load_stages
from ver import Trainer, UserError
from ver.checkpoint import copy_policy
from ver.logs import POLICY
from ver.population import Population, PopulationConfig
from ver.run_directory import run_directory

# What mutates if nothing else is said: the step size, and how rewards are scaled.
MUTATED = ("trainer.ppo.learning_rate",)
SCALES = ("_scale", "_bonus")


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line."""
    parser = OneLineParser(prog="skills.population", description=__doc__)
    parser.add_argument("skill", help="what to train")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings to change")
    parser.add_argument("--mutate", nargs="+", metavar="key", help="settings that may mutate")
    defaults = PopulationConfig()
    for option in fields(PopulationConfig):
        value = getattr(defaults, option.name)
        name = "--" + option.name.replace("_", "-")
        parser.add_argument(name, type=type(value), default=value, help=f"default: {value}")
    return parser.parse_intermixed_args(arguments)


def initial_values(settings: Any, names: Sequence[str] | None) -> dict[str, float]:
    """The settings that may mutate, and their values.

    Args:
        settings: Of the skill's training.
        names: Dotted names; None takes the learning rate and the scales of rewards that are not zero.

    Raises:
        UserError: One of them is no setting, or no number other than zero.
    """
    if names is None:
        task = getattr(settings, "task", None)  # those of habitat-lab have none
        known = [] if task is None else [each.name for each in fields(task)]
        scales = [f"task.{name}" for name in known if name.endswith(SCALES)]
        names = [*MUTATED, *(name for name in scales if _value(settings, name) != 0.0)]
    values = {name: _value(settings, name) for name in names}
    for name, value in values.items():
        if type(value) is not float or value == 0.0:
            raise UserError(f"--mutate {name}: expected a number other than zero, found {value!r}.")
    return values


def _value(settings: Any, name: str) -> Any:
    value = settings
    for part in name.split("."):
        if not hasattr(value, part):
            raise UserError(f"--mutate {name}: there is no such setting.")
        value = getattr(value, part)
    return value


def one_stage(skill: str, overrides: Sequence[str]) -> Any:
    """Settings of what a population trains.

    Raises:
        UserError: The training has several stages, or it imitates.
    """
    parts = load_stages(skill, overrides)
    teacher = getattr(parts[0], "teacher", "")
    if len(parts) > 1:
        first = "" if teacher else f"until={trained_stages(parts[0])[0]}, or "
        raise UserError(
            f"{skill} is trained in {len(parts)} stages, and a population trains one: say {first}"
            "since=STAGE until=STAGE with trainer.start_from"
        )
    if teacher:
        raise UserError(
            f"teacher={teacher}: a population learns by trying, and imitates nobody: say teacher='', or "
            "since=STAGE until=STAGE of another stage with trainer.start_from"
        )
    return parts[0]


class SkillTrainers:
    """Makes the members' trainers."""

    def __init__(self, skill: str, overrides: Sequence[str], config: PopulationConfig) -> None:
        """Remember what all members share."""
        self.skill, self.config = skill, config
        steps = config.interval * config.rounds
        self.overrides = [f"trainer.total_steps={steps}", *overrides]

    def settings(self, member: int, values: dict[str, float]) -> Any:
        """Settings of a member's training, with a seed of its own."""
        own = [f"{name}={value!r}" for name, value in values.items()]
        settings = one_stage(self.skill, [*self.overrides, *own])
        settings.trainer.seed += 1000 * member
        if settings.trainer.total_steps < self.config.interval * self.config.rounds:
            raise UserError(
                f"trainer.total_steps={settings.trainer.total_steps} is less than all rounds take, "
                f"{self.config.interval} x {self.config.rounds}: leave it out."
            )
        return settings

    def __call__(
        self, member: int, values: dict[str, float], directory: Path, after_update: Any
    ) -> Trainer:
        """A member's trainer."""
        settings = self.settings(member, values)
        environments = make_environments(settings)
        metadata = environments.metadata()
        return Trainer(settings.trainer, environments, directory, metadata, after_update)


def table(population: Population) -> Table:
    """Table of the members and their scores."""
    result = Table(title=f"{population.round} of {population.config.rounds} rounds")
    metric = population.config.metric.partition("/")[2] or population.config.metric
    values = [key.rpartition(".")[2] for key in population.members[0].values]
    for column in ("member", f"{metric}, last rounds", "went on from", *values):
        result.add_column(column, justify="right", overflow="fold")
    for index, member in enumerate(population.members):
        parent = member.parents[-1] if member.parents else index
        result.add_row(
            f"{index}{' (best)' if index == population.best else ''}",
            ", ".join(f"{score:.2f}" for score in member.scores[-4:]) or "-",
            "itself" if parent == index else str(parent),
            *(f"{value:.3g}" for value in member.values.values()),
        )
    return result


def main(arguments: Sequence[str]) -> int:
    """Train the population; 130 after a signal."""
    options = parse(arguments)
    names = [option.name for option in fields(PopulationConfig)]
    config = PopulationConfig(**{name: getattr(options, name) for name in names})
    config.check()
    trainers = SkillTrainers(options.skill, options.overrides, config)
    settings = one_stage(options.skill, options.overrides)
    if settings.live:
        raise UserError("live=true shows one training, and a population has several: leave it out")
    if settings.validate_every:
        raise UserError("validate_every: members are compared by their episodes: leave it out")
    values = initial_values(settings, options.mutate)
    trainers.settings(0, values)
    run = run_directory(settings.run, Path("runs") / f"{settings.skill}_population")
    console = Console(stderr=True)
    population = Population(
        config, values, run, trainers, lambda population: console.print(table(population))
    )
    best = population.run()
    ending = "interrupted: the same command goes on from here" if population.interrupted else "done"
    policy = population.run_directory(best) / POLICY
    if not population.interrupted:  # where any training leaves its policy
        copy_policy(policy, run / POLICY)
    print(f"{ending}; best policy in {policy}", file=sys.stderr, flush=True)
    return INTERRUPTED if population.interrupted else 0


if __name__ == "__main__":
    run_command(main)
