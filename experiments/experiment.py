"""One artefact of a paper: what is run for it, what is read of it, and in what it differs from the paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.arms import Arm
from experiments.claims import Claim
from experiments.curves import interquartile
from skills.jobs import Job

POINTS = 40  # of a curve
DIGITS = 4  # that are kept of a figure
AXES = ("steps", "seconds")

# Departures that several experiments share
HOMES = "Homes are ours, furnished with boxes and cylinders; no scans, no ReplicaCAD."
SENSES = "64x64 depth and a small convolutional network, where the paper has a ResNet."
GLIMPSES = "Pick and Place also see the window of the image around their target, finely: the paper's do not."
MACHINE = "A few processor cores (the result names them), where the paper has up to eight GPUs."
MOTION = (
    "The base slides along furniture and stops before what its wheels cannot push. "
    "The arm is three times as fast as HAB's."
)
TEACHING = "The critic is told the simulator's state, and the recipe's own rewards and masks count."
CURVES = (
    "Curves are of training episodes, with sampled actions. "
    "`success` is judged after the training, by mean actions in homes of the validation split."
)
OF_SKILLS = (HOMES, SENSES, GLIMPSES, MACHINE, MOTION, TEACHING)
OF_SAMPLE_FACTORY = (
    "A robot that learns chores in homes of our own, where the paper has Atari, VizDoom and DMLab.",
    "64x64 depth, where the paper has RGB or grey images.",
    "A few processor cores (the result names them), where the paper has 10 to 36 of them and one to four GPUs.",
    TEACHING,
)
OF_NAVIGATION = (HOMES, SENSES, MACHINE)


@dataclass(frozen=True)
class Experiment:
    """An artefact of a paper that a command makes again.

    Attributes:
        name: Of the command and the result.
        paper: Its short name.
        artefact: Table, figure or section, and what it shows.
        arms: What is compared, for a budget: quick if true, else full.
        figures: Of the rows, those that are told, and their heads.
        claims: Of the paper.
        departures: From the paper, sentences.
        not_measured: What of the artefact is missing.
        timed: Time counts: its commands run one at a time.
        curves: Figures whose curves are drawn.
    """

    name: str
    paper: str
    artefact: str
    arms: Callable[[bool], Sequence[Arm]]
    figures: Mapping[str, str]
    claims: Sequence[Claim]
    departures: Sequence[str]
    not_measured: Sequence[str] = ()
    timed: bool = True
    curves: Sequence[str] = ()

    def jobs(self, quick: bool, seeds: int, folder: Path) -> list[Job]:
        """All commands: all arms with the first seed, then with the next."""
        found: dict[str, Job] = {}
        for seed in range(1, seeds + 1):
            for arm in self.arms(quick):
                for job in arm.jobs(seed, folder):
                    if found.setdefault(job.name, job) != job:
                        raise ValueError(f"{self.name}: two commands are called {job.name}")
        return list(found.values())

    def gather(self, quick: bool, seeds: int, folder: Path) -> dict[str, Any]:
        """Rows, curves and verdicts of commands that have run, as the result has them."""
        arms, every = self.arms(quick), range(1, seeds + 1)
        rows = [
            {"arm": arm.name, "seed": seed, **arm.row(seed, folder)}
            for seed in every
            for arm in arms
        ]
        curves = {arm.name: [arm.curve(seed, folder) for seed in every] for arm in arms}
        return {
            "rows": rounded(rows),
            "curves": rounded({name: self._lines(runs) for name, runs in curves.items()})
            if self.curves
            else {},
            "claims": rounded([claim.judge(rows) for claim in self.claims]),
            "departures": list(self.departures),
            "not_measured": list(self.not_measured),
        }

    def _lines(self, runs: Sequence[dict[str, list[float]]]) -> dict[str, Any]:
        """Figure -> axis -> grid, interquartile mean and its interval, of an arm's seeds."""
        lines: dict[str, Any] = {}
        for figure in self.curves:
            if not all(run.get(figure) for run in runs):
                continue  # no episode ended
            lines[figure] = {}
            for axis in AXES if self.timed else AXES[:1]:
                ends = max(run[axis][0] for run in runs), max(run[axis][-1] for run in runs)
                grid = np.linspace(*ends, POINTS)
                mean, low, high = interquartile(runs, axis, grid, figure).tolist()
                lines[figure][axis] = {
                    "grid": grid.tolist(),
                    "mean": mean,
                    "low": low,
                    "high": high,
                }
        return lines


def rounded(value: Any) -> Any:
    """Plain data with DIGITS digits of each number that is not whole."""
    if isinstance(value, Mapping):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
