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
HOMES = "Homes are ours, furnished with boxes and cylinders: no ReplicaCAD."
BUILDINGS = "Homes are ours, furnished with boxes and cylinders: no Gibson, Matterport3D or HM3D."
SENSES = (
    "64x64 depth and a small convolutional network, where the paper has 128x128 and a ResNet18 with a "
    "two-layer LSTM."
)
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
PROMPT = "Observations are not a step late, as all of the paper's are."
ORACLES = "Two in five episodes begin where an oracle's drive had ended."
OF_SKILLS = (HOMES, SENSES, GLIMPSES, MACHINE, MOTION, TEACHING)
OF_SAMPLE_FACTORY = (
    "A robot that learns chores in homes of our own, where the paper has Atari, VizDoom and DMLab.",
    "64x64 depth, where the paper has RGB or grey images.",
    "A few processor cores (the result names them), where the paper has 10 to 36 of them and one to four GPUs.",
    TEACHING,
)
OF_NAVIGATION = (BUILDINGS, MACHINE)
# Of the systems of VER's benchmark
EXPECTED = (
    "The paper claims this of simulators and large networks on a GPU. Of simulators on a CPU with small "
    "networks it expects VER to be faster than DD-PPO, perhaps slower than Sample Factory, and to gain by "
    'overlapping (section 8, appendix E): there "does not hold" of Sample Factory and HTS-RL agrees with it.'
)
LEARNER = (
    "The entropy coefficient is learned, where the paper's benchmark fixes 1e-4; the learning rate is twice "
    "the paper's; the LSTM has one layer."
)
OF_FRIDGE = (
    "Half of the episodes that fail begin again. The policy also learns to estimate the simulator's "
    "state."
)
TWO_PROCESSES = (
    "Environments share two processes: so the slowest one counts for less than in the paper."
)
# Of BPS
OF_BPS = (
    *OF_NAVIGATION,
    "Single precision; the paper acts and learns in half and mixed precision.",
)
SMALL_NETWORK = "A small convolutional network, where the paper has SE-ResNet9."
EIGHT_GPUS = "The paper's N counts the agents of eight GPUs together."
BATCHES = "Mini-batches of 1,024 steps: the learning rate is scaled by 2."
NO_LARGE_ENCODER = (
    "Our ResNet18 has fewer multiplications than SE-ResNet9 (45 and 64 million an image): it is no large "
    "encoder as the paper's ResNet50 at 128x128 is, and what the paper says of that is not tested."
)


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
        beside: Experiment in whose run directory it runs: commands that both have are run once.
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
    beside: str = ""

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
