"""Arms of an experiment: what is compared, the commands of a seed of it, and the figures that they leave."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from experiments.curves import reached
from skills.jobs import Job, torchrun
from skills.plot import read_rows
from skills.train import POLICY
from ver.population import STATE, best_of

Row = dict[str, Any]
JUDGED_BY = "9"  # seed of the episodes that judge
HALF = 0.5  # success of training episodes whose steps and time are told
# Nothing of it is learned from, and a killed training loses a minute at most
OF_ALL = ("trainer.tensorboard=false", "trainer.checkpoint_interval_s=60")
# Of quick budgets, which only show that all works: homes that are made in seconds, and a few thousand steps
FEW_HOMES = ("homes=classic", "split=val")
QUICK_NAVIGATION = (
    *FEW_HOMES,
    "trainer.total_steps=16000",
    "trainer.collect.num_environments=16",
    "trainer.collect.rollout_length=128",
)
QUICK_SKILL = (*QUICK_NAVIGATION, "starts.paths=[]")
QUICK_JUDGE = ("--episodes", "4", "--homes", "classic")
FULL_JUDGE = ("--episodes", "200")


class Arm(Protocol):
    """One of the things that an experiment compares."""

    @property
    def name(self) -> str:
        """Name in tables and plots."""
        ...

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """Commands of one seed, in order; the same ones of several arms are run once."""
        ...

    def row(self, seed: int, folder: Path) -> Row:
        """Figures of one seed, once its commands have run; None for one that there is not."""
        ...

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """Figures while it trained, "steps" and "seconds" among them; empty where nothing is drawn."""
        ...


class Undrawn:
    """Of an arm of which nothing is drawn."""

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`: there is none."""
        return {}


@dataclass(frozen=True)
class Training:
    """A training, judged afterwards in homes that it has not seen.

    Attributes:
        name: See `Arm`.
        task: What is trained.
        settings: In which it differs from its config, key=value.
        judge: Options of skills.eval: how it is judged.
        processes: That train together; what `collect` counts is counted for each.
    """

    name: str
    task: str
    settings: tuple[str, ...]
    judge: tuple[str, ...] = FULL_JUDGE
    processes: int = 1

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`: the training, and what judges it."""
        label = slug(self.name, seed)
        train = Job(f"train_{label}", self._command(seed, folder))
        chosen = ("--checkpoint", str(self.policy(seed, folder)))
        chosen += ("--actions", "mean", "--dataset", "sampled")
        chosen += ("--seed", JUDGED_BY, "--workers", "1", *self.judge)
        words = (self.task, *chosen, "--json", str(result(folder, self.name, seed)))
        return [train, Job(f"judge_{label}", ("-m", "skills.eval", *words), after=(train.name,))]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; `mean_success` and `mean_spl` are means of the training's curves over its steps."""
        judged = json.loads(result(folder, self.name, seed).read_text())
        curve, logged = self.curve(seed, folder), self._logged(seed, folder)
        spl = judged.get("scores", {}).get("spl")
        lag, stale = (
            [row[key] for row in logged if key in row]
            for key in ("loss/policy_lag_mean", "loss/stale_fraction")
        )
        return {
            "success": judged["success_at_end"]["mean"],
            "spl": spl and spl["mean"],
            "mean_success": mean_of(curve, "success"),
            "mean_spl": mean_of(curve, "spl"),
            "steps_to_half": reached(curve, "steps", HALF),
            "seconds_to_half": reached(curve, "seconds", HALF),
            "steps_per_s": logged[-1]["steps"] / logged[-1]["seconds"],
            "policy_lag": float(np.mean(lag)) if lag else None,
            "stale_share": float(np.mean(stale)) if stale else None,
        }

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`; success is that of training episodes, [] before one has ended."""
        rows = [row for row in self._logged(seed, folder) if "episode/success" in row]
        names = {"success": "episode/success", "steps": "steps", "seconds": "seconds"}
        names |= {"spl": "episode/spl"} if rows and "episode/spl" in rows[0] else {}
        return {name: [row[key] for row in rows] for name, key in names.items()}

    def policy(self, seed: int, folder: Path) -> Path:
        """File in which the training leaves its policy."""
        return run_of(folder, self.name, seed) / POLICY

    def _words(self, seed: int, folder: Path) -> tuple[str, ...]:
        """Task, run directory and settings, as words of a command."""
        own = (f"run={run_of(folder, self.name, seed)}", f"trainer.seed={seed}")
        return (self.task, *own, *OF_ALL, *self.settings)

    def _command(self, seed: int, folder: Path) -> tuple[str, ...]:
        start = torchrun(self.processes) if self.processes > 1 else ()
        return (*start, "-m", "skills.train", *self._words(seed, folder))

    def _logged(self, seed: int, folder: Path) -> list[Row]:
        """Rows of its log."""
        return read_rows(run_of(folder, self.name, seed))


@dataclass(frozen=True)
class Population(Training):
    """Trainings that compete, by skills.population; the best of them is judged.

    Its curve is the best one's, over the steps and seconds of all.

    Attributes:
        members: How many.
        interval: Steps of each between two changes.
        rounds: How many such intervals.
        evolves: The worst go on from the best, and settings mutate; else all only train.
    """

    members: int = 4
    interval: int = 100_000
    rounds: int = 10
    evolves: bool = True

    def _command(self, seed: int, folder: Path) -> tuple[str, ...]:
        counts = {"members": self.members, "interval": self.interval, "rounds": self.rounds}
        words = [word for name, count in counts.items() for word in (f"--{name}", str(count))]
        still = () if self.evolves else ("--replaced-share", "0", "--mutation-rate", "0")
        words = (*self._words(seed, folder), *words, "--seed", str(seed), *still)
        return ("-m", "skills.population", *words)

    def _logged(self, seed: int, folder: Path) -> list[Row]:
        run = run_of(folder, self.name, seed)
        members = json.loads((run / STATE).read_text())["members"]
        best = best_of([member["scores"][-1] for member in members])
        every = {"steps": len(members), "seconds": len(members)}  # members take turns
        return [
            {name: value * every.get(name, 1) for name, value in row.items()}
            for row in read_rows(run / f"member_{best}")
        ]


@dataclass(frozen=True)
class Throughput(Undrawn):
    """Speed of a training by a system beside pure simulation, measured by benchmarks.systems.

    Attributes:
        name: See `Arm`.
        task: What is trained.
        system: Of `trainer.system=`.
        seconds: How long it is measured.
        waits: Seconds that a step waits for each second that it computes.
    """

    name: str
    task: str
    system: str
    seconds: float
    waits: float = 0.0

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`."""
        words = ("skill", "--skill", self.task, "--systems", self.system, "--repeats", "1")
        words += ("--seed", str(seed), "--seconds", f"{self.seconds:g}")
        words += ("--waits", f"{self.waits:g}", "--json", str(result(folder, self.name, seed)))
        alone = ("skill", "--skill", self.task, "--limit", "--seed", str(seed))
        alone += ("--waits", f"{self.waits:g}", "--json", str(result(folder, self._alone, seed)))
        # Pure simulation first: it compiles what no system shall have to
        return [
            Job(slug(self._alone, seed), ("-m", "benchmarks.systems", *alone)),
            Job(slug(self.name, seed), ("-m", "benchmarks.systems", *words)),
        ]

    @property
    def _alone(self) -> str:
        """Name of pure simulation, which systems share."""
        return f"{self.task} alone, waits {self.waits:g}"

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; pure simulation is told with every system."""
        told, alone = (
            json.loads(result(folder, name, seed).read_text())["environments"]["skill"]
            for name in (self.name, self._alone)
        )
        row = {"limit_sps": alone["limit"]}
        figures = told["systems"].get(self.system)
        if figures is None:
            return row | dict.fromkeys(("mean_sps", "max_sps", "mean_of_max", "share_of_limit"))
        mean, fastest = figures["mean_sps"], figures["max_sps"]
        shares = {"mean_of_max": mean / fastest, "share_of_limit": mean / alone["limit"]}
        return row | {"mean_sps": mean, "max_sps": fastest} | shares


@dataclass(frozen=True)
class Breakdown(Undrawn):
    """Speed of PointNav, alone and while it trains, measured by benchmarks.navigation.

    Attributes:
        name: See `Arm`.
        settings: Of the training, key=value.
        seconds: How long it is measured.
    """

    name: str
    settings: tuple[str, ...]
    seconds: float

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`."""
        words = ("--task", "pointnav", "--systems", "batched", "--repeats", "1")
        words += ("--seed", str(seed), "--seconds", f"{self.seconds:g}")
        words += ("--json", str(result(folder, self.name, seed)))
        words += (*FEW_HOMES[:1], *self.settings)
        return [Job(slug(self.name, seed), ("-m", "benchmarks.navigation", *words))]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; `network` is the time in which the network acts or learns, `_us` that of a frame [µs]."""
        told = json.loads(result(folder, self.name, seed).read_text())["rows"]
        (training,), (simulation,) = told["batched"], told["simulation"]
        shares = {
            part: training[f"{part}_share"] for part in ("learning", "inference", "simulation")
        }
        shares["network"] = shares["learning"] + shares["inference"]
        frame_us = 1e6 / training["steps_per_s"]
        return {
            "steps_per_s": training["steps_per_s"],
            "simulation_per_s": simulation["steps_per_s"],
            **{f"{part}_share": share for part, share in shares.items()},
            **{f"{part}_us": share * frame_us for part, share in shares.items()},
        }


@dataclass(frozen=True)
class Distances(Undrawn):
    """Success of Pick from given distances, judged by skills.emergent_navigation.

    Attributes:
        name: See `Arm`.
        trainings: What is trained, each from where the one before has ended; the last is judged. Empty:
            untrained weights.
        distances: Along the floor [m].
        judge: Options of skills.emergent_navigation: how it is judged.
    """

    name: str
    trainings: tuple[Training, ...]
    distances: tuple[float, ...]
    judge: tuple[str, ...]

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`."""
        jobs: list[Job] = []
        path = "untrained"
        for training in self.trainings:
            train = training.jobs(seed, folder)[0]
            begun = (f"trainer.start_from={path}",) if jobs else ()
            after = (jobs[-1].name,) if jobs else ()
            jobs.append(Job(train.name, (*train.arguments, *begun), after))
            path = str(training.policy(seed, folder))
        words = ("--checkpoint", f"{slug(self.name)}={path}")
        words += ("--distances", *(f"{each:g}" for each in self.distances), "--workers", "1")
        words += ("--seed", str(seed), *self.judge, "--json", str(result(folder, self.name, seed)))
        after = (jobs[-1].name,) if jobs else ()
        judge = ("-m", "skills.emergent_navigation", *words)
        return [*jobs, Job(f"judge_{slug(self.name, seed)}", judge, after)]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; one figure for each distance, `success_at_4`."""
        told = json.loads(result(folder, self.name, seed).read_text())["curves"][slug(self.name)]
        return {
            f"success_at_{point['distance']:g}": point["success_at_end"]["mean"] for point in told
        }


def mean_of(curve: Mapping[str, Sequence[float]], figure: str) -> float | None:
    """Mean of a figure over the steps of a curve; None where it has fewer than two places."""
    values, steps = curve.get(figure, []), curve["steps"]
    if len(values) < 2:
        return None
    return float(np.trapezoid(values, steps) / (steps[-1] - steps[0]))


def slug(name: str, seed: int | None = None) -> str:
    """A name for jobs and files: letters, digits and _."""
    text = re.sub(r"\W+", "_", name).strip("_").lower()
    return text if seed is None else f"{text}_{seed}"


def result(folder: Path, name: str, seed: int) -> Path:
    """File in which a command leaves an arm's figures of a seed."""
    return folder / "results" / f"{slug(name, seed)}.json"


def run_of(folder: Path, name: str, seed: int) -> Path:
    """Run directory of an arm's training of a seed."""
    return folder / "runs" / slug(name, seed)
