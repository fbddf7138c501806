"""Arms of an experiment: what is compared, the commands of a seed of it, and the figures that they leave."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.sample_efficiency import reached
from skills.jobs import Job
from skills.plot import read_rows
from skills.train import POLICY

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


@dataclass(frozen=True)
class Training:
    """A training, judged afterwards in homes that it has not seen.

    Attributes:
        name: See `Arm`.
        task: What is trained.
        settings: In which it differs from its config, key=value.
        judge: Options of skills.eval: how it is judged.
    """

    name: str
    task: str
    settings: tuple[str, ...]
    judge: tuple[str, ...] = FULL_JUDGE

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`."""
        run, label = self._run(seed, folder), slug(self.name, seed)
        words = (f"run={run}", f"trainer.seed={seed}", *OF_ALL, *self.settings)
        train = Job(f"train_{label}", ("-m", "skills.train", self.task, *words))
        chosen = ("--checkpoint", str(run / POLICY), "--actions", "mean", "--dataset", "sampled")
        chosen += ("--seed", JUDGED_BY, "--workers", "1", *self.judge)
        words = (self.task, *chosen, "--json", str(result(folder, self.name, seed)))
        return [train, Job(f"judge_{label}", ("-m", "skills.eval", *words), after=(train.name,))]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; `mean_success` is the area under the training's curve, over its steps."""
        judged = json.loads(result(folder, self.name, seed).read_text())
        curve, logged = self.curve(seed, folder), read_rows(self._run(seed, folder))
        success, steps = np.array(curve["success"]), np.array(curve["steps"])
        area = np.trapezoid(success, steps) / (steps[-1] - steps[0]) if len(steps) > 1 else None
        spl = judged.get("scores", {}).get("spl")
        lag = [row["loss/policy_lag_mean"] for row in logged if "loss/policy_lag_mean" in row]
        return {
            "success": judged["success_at_end"]["mean"],
            "spl": spl and spl["mean"],
            "mean_success": None if area is None else float(area),
            "steps_to_half": reached(curve, "steps", HALF),
            "seconds_to_half": reached(curve, "seconds", HALF),
            "steps_per_s": logged[-1]["steps"] / logged[-1]["seconds"],
            "policy_lag": float(np.mean(lag)) if lag else None,
        }

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`; success is that of training episodes."""
        rows = [row for row in read_rows(self._run(seed, folder)) if "episode/success" in row]
        names = {"success": "episode/success", "spl": "episode/spl"}
        names = {name: key for name, key in names.items() if rows and key in rows[0]}
        names |= {"steps": "steps", "seconds": "seconds"}
        return {name: [row[key] for row in rows] for name, key in names.items()}

    def _run(self, seed: int, folder: Path) -> Path:
        return folder / "runs" / slug(self.name, seed)


@dataclass(frozen=True)
class Throughput:
    """Speed of a training by a system, measured by benchmarks.systems.

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
        return [Job(slug(self.name, seed), ("-m", "benchmarks.systems", *words))]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`."""
        told = json.loads(result(folder, self.name, seed).read_text())["environments"]["skill"]
        names = ("mean_sps", "max_sps", "share_of_limit")
        return {name: told["systems"].get(self.system, {}).get(name) for name in names}

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`: there is none."""
        return {}


@dataclass(frozen=True)
class Breakdown:
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
        """See `Arm`; `network_share` is the time in which the network acts or learns."""
        told = json.loads(result(folder, self.name, seed).read_text())["rows"]
        (training,), (simulation,) = told["batched"], told["simulation"]
        shares = ("learning_share", "inference_share", "simulation_share")
        return {
            "steps_per_s": training["steps_per_s"],
            "simulation_per_s": simulation["steps_per_s"],
            **{name: training[name] for name in shares},
            "network_share": training["learning_share"] + training["inference_share"],
        }

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`: there is none."""
        return {}


@dataclass(frozen=True)
class Distances:
    """Success of Pick from given distances, judged by skills.study.

    Attributes:
        name: See `Arm`.
        trainings: What is trained, each from where the one before has ended; the last is judged. Empty:
            untrained weights.
        distances: Along the floor [m].
        judge: Options of skills.study: how it is judged.
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
            path = str(folder / "runs" / slug(training.name, seed) / POLICY)
        words = ("emergent_navigation", "--checkpoint", f"{slug(self.name)}={path}")
        words += ("--distances", *(f"{each:g}" for each in self.distances), "--workers", "1")
        words += ("--seed", str(seed), *self.judge, "--json", str(result(folder, self.name, seed)))
        after = (jobs[-1].name,) if jobs else ()
        return [*jobs, Job(f"judge_{slug(self.name, seed)}", ("-m", "skills.study", *words), after)]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`; one figure for each distance, `success_at_4`."""
        told = json.loads(result(folder, self.name, seed).read_text())["curves"][slug(self.name)]
        return {
            f"success_at_{point['distance']:g}": point["success_at_end"]["mean"] for point in told
        }

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`: there is none."""
        return {}


def slug(name: str, seed: int | None = None) -> str:
    """A name for jobs and files: letters, digits and _."""
    text = re.sub(r"\W+", "_", name).strip("_").lower()
    return text if seed is None else f"{text}_{seed}"


def result(folder: Path, name: str, seed: int) -> Path:
    """File in which a command leaves an arm's figures of a seed."""
    return folder / "results" / f"{slug(name, seed)}.json"
