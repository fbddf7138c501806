"""Household scenarios as arms: skills in the order of a plan, or one policy alone, judged by planner.eval."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from experiments.arms import Row, Training, Undrawn, result, slug
from skills.jobs import Job

INTERACTIONS = 3  # from the first one on, that have a figure each
JUDGED_ALONE = "pick"  # the skill whose success in its own task is told


@dataclass(frozen=True)
class Chain(Undrawn):
    """A scenario, played in homes that nothing was trained in; a seed has trainings and episodes of its own.

    Attributes:
        name: See `Arm`.
        scenario: What is to be done.
        players: Of planner.eval's `--skills`: learned, spa or monolithic.
        trainings: Policies that play in place of the shipped ones, each for its task.
        options: Of planner.eval.
    """

    name: str
    scenario: str
    players: str
    trainings: tuple[Training, ...] = ()
    options: tuple[str, ...] = ()

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`: all trainings, the judge of one of them, and the scenario."""
        trains, judges = [], []
        for training in self.trainings:
            train, judge = training.jobs(seed, folder)
            trains.append(train)
            judges += [judge] if training.task == JUDGED_ALONE else []
        words = (self.scenario, "--skills", self._players(seed, folder), "--dataset", "sampled")
        words += ("--seed", str(seed), "--workers", "1", *self.options)
        words += ("--ledger", str(result(folder, self.name, seed)))
        after = tuple(train.name for train in trains)
        play = Job(f"play_{slug(self.name, seed)}", ("-m", "planner.eval", *words), after)
        return [*trains, *judges, play]

    def _players(self, seed: int, folder: Path) -> str:
        """Players, as planner.eval is told of them."""
        paths = {each.task: each.policy(seed, folder) for each in self.trainings}
        if self.scenario in paths:
            return f"{self.players}={paths[self.scenario]}"
        return ",".join((self.players, *(f"{task}={path}" for task, path in paths.items())))

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; `after_2` is the share of episodes in which the first two interactions succeeded."""
        told = json.loads(result(folder, self.name, seed).read_text())
        first = told["interactions"][:INTERACTIONS]
        alone = [each for each in self.trainings if each.task == JUDGED_ALONE]
        return {
            "success": told["full_task"]["success_at_end"]["mean"],
            **{f"after_{k}": each["success"]["mean"] for k, each in enumerate(first, 1)},
            "pick_alone": alone[0].row(seed, folder)["success"] if alone else None,
        }
