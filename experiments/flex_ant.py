"""GPU-accelerated robotic simulation, figures 3 and 5: how soon Ant learns to run, by the number of robots."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks.locomotion import FINAL, RETURN, RUNS, SPEED
from experiments.arms import JUDGED_BY, Row, result, run_of, slug
from experiments.claims import VALUE, Claim
from experiments.experiment import Experiment
from skills.jobs import Job
from skills.plot import read_rows

WORLDS = "locomotion:ant"
COUNTS = (256, 512, 1024, 2048, 4096, 8192)
FULL = ("total_steps=30000000",)
# Two updates of the paper's size, whatever the number of robots
QUICK = ("total_steps=65536", "ppo.epochs=1")


@dataclass(frozen=True)
class Running:
    """So many robots that learn to run, judged afterwards by the most likely actions.

    Attributes:
        count: Robots.
        settings: In which the training differs from the paper's, key=value.
        episodes: That judge it.
    """

    count: int
    settings: tuple[str, ...]
    episodes: int

    @property
    def name(self) -> str:
        """See `Arm`."""
        return f"{self.count} robots"

    def jobs(self, seed: int, folder: Path) -> list[Job]:
        """See `Arm`; on a GPU where there is one."""
        run, label = run_of(folder, self.name, seed), slug(self.name, seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        words = (f"run={run}", f"seed={seed}", f"collect.num_environments={self.count}")
        words += ("tensorboard=false", "checkpoint_interval_s=60", f"device={device}")
        train = Job(f"train_{label}", ("-m", "ver", "train", WORLDS, *words, *self.settings))
        judge = ("-m", "ver", "eval", str(run), "--episodes", str(self.episodes))
        judge += ("--seed", JUDGED_BY, "--json", str(result(folder, self.name, seed)))
        return [train, Job(f"judge_{label}", judge, after=(train.name,))]

    def row(self, seed: int, folder: Path) -> Row:
        """See `Arm`."""
        rows = read_rows(run_of(folder, self.name, seed))
        told = [row for row in rows if RETURN in row]
        running = next((row for row in told if row[RETURN] >= RUNS), None)
        return {
            "return": json.loads(result(folder, self.name, seed).read_text())["mean"],
            "speed": told[-1][SPEED] if told else None,
            "steps_to_run": running and running["steps"],
            "seconds_to_run": running and running["seconds"],
            "steps_per_s": rows[-1]["steps"] / rows[-1]["seconds"],
        }

    def curve(self, seed: int, folder: Path) -> dict[str, list[float]]:
        """See `Arm`."""
        rows = [row for row in read_rows(run_of(folder, self.name, seed)) if RETURN in row]
        names = {"return": RETURN, "steps": "steps", "seconds": "seconds"}
        return {name: [row[key] for row in rows] for name, key in names.items()}


def arms(quick: bool) -> list[Running]:
    """Each number of robots."""
    counts, settings, episodes = (COUNTS[:2], QUICK, 4) if quick else (COUNTS, FULL, 200)
    return [Running(count, settings, episodes) for count in counts]


EXPERIMENT = Experiment(
    name="flex_ant",
    paper="GPU-accelerated robotic simulation",
    artefact="Figures 3 and 5: Ant, return against steps and time, by the number of robots",
    arms=arms,
    figures={
        "return": "return",
        "speed": "speed [m/s]",
        "steps_to_run": "steps to run",
        "seconds_to_run": "seconds to run",
        "steps_per_s": "steps/s",
    },
    claims=(
        Claim(
            f"1024 ants learn to run: a return of {RUNS}",
            *("return", "1024 robots"),
            by=VALUE,
            least=RUNS,
            reference="flex_ant.runs",
        ),
        Claim(
            f"They reach the paper's threshold of a final reward, {FINAL}",
            *("return", "1024 robots"),
            by=VALUE,
            least=FINAL,
            reference="flex_ant.final",
        ),
        Claim(
            "1024 ants learn to run in less time than 256",
            *("seconds_to_run", "256 robots", "1024 robots"),
            least=1.0,
        ),
    ),
    departures=(
        "MuJoCo, or mujoco-warp on a GPU, in place of NVIDIA Flex; each ant is alone on its floor.",
        "A frame is two timesteps: the paper does not tell how many.",
        "Costs count the mean joint and foot, where the paper's equation sums: docs/locomotion.md says why.",
        "The learning rate follows the divergence of each mini-batch, and returns are normalised.",
        "Returns are of another scale and cannot be compared with the paper's: the thresholds are its numbers "
        "only.",
        "30 million steps; the paper stops after a fixed time and does not tell how long.",
        "`return` is by mean actions after the training; time to run is of training episodes.",
        "The device is a GPU where there is one, else the processor; the paper's is a V100.",
        "1024 against 256 is read from figure 3; on a processor more robots are not simulated faster.",
    ),
    not_measured=("Humanoid, Humanoid Flagrun Harder, terrain.", "Several GPUs."),
    curves=("return",),
)
