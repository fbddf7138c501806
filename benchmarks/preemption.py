"""`python -m benchmarks.preemption`: what several processes cost and gain, and what preemption does.

Two experiments on a toy task that needs memory (benchmarks/toy_ranks.py), each run a fresh
torchrun. Processes: 1, 2 and 4 of them with the same batch in all; does learning come out the same?
Preemption: 4 processes of which one or two have environments that are slower; a step is a sleep, so
that the ranks do not compete for the cores while they collect. All rules for ending rollouts early
are run in turn, so that whatever else the machine does hits all of them.

Seconds are the training's own: starting processes is left out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.toy_ranks import SleepyCues
from rearrange.command_line import OneLineParser, output_file
from rearrange.errors import UserError
from skills.command import run_command
from skills.provenance import made, write_result

EXPERIMENTS = {"processes": 0, "one_slow": 1, "two_slow": 2}  # slow processes in each
RULES = ("none", "fixed", "optimal")
BATCH = (16, 64)  # environments in all, and steps of each in a rollout
THRESHOLD = 0.9  # mean return over the last 100 episodes that counts as learned; the best is 1
ROOT = Path(__file__).resolve().parent.parent
TRAINER = (
    "tensorboard=false",
    "learner_threads=1",
    "log_interval_s=1e9",
    "checkpoint_interval_s=1e9",
    f"collect.rollout_length={BATCH[1]}",
    "ppo.learning_rate=0.003",
    "ppo.schedule=constant",
    "ppo.gamma=0.9",
    "network.hidden_size=32",
)
Cases = dict[str, tuple[int, SleepyCues, list[str]]]  # processes, environments, settings


def torchrun(processes: int) -> tuple[str, ...]:
    """Arguments of Python that start a program in several processes of this machine; the program's follow."""
    # A free port, so that two runs on one machine do not meet
    free = ("--rdzv-backend", "c10d", "--rdzv-endpoint", "localhost:0")
    return ("-m", "torch.distributed.run", "--nproc-per-node", str(processes), *free)


def run_rank(arguments: Sequence[str]) -> int:
    """Train one process under torchrun until the task is learned."""
    from ver import Trainer, TrainerConfig, merge_config
    from ver.config import FORMER_DEFAULTS

    directory, environments, *overrides = arguments
    config = merge_config(TrainerConfig, [], [*FORMER_DEFAULTS, *overrides])
    Trainer(
        config,
        SleepyCues(**json.loads(environments)),
        directory,
        after_update=lambda _, row: row.get("episode/episode_return", 0.0) >= THRESHOLD,
    ).train()
    return 0


def train(processes: int, environments: SleepyCues, overrides: Sequence[str]) -> dict[str, Any]:
    """Runs one training and reads its log."""
    each = BATCH[0] // processes
    batch = (f"collect.num_environments={each}", f"collect.environments_per_worker={each}")
    with tempfile.TemporaryDirectory() as directory:
        command = [sys.executable, *torchrun(processes), "-m", "benchmarks.preemption"]
        command += [directory, json.dumps(vars(environments))]
        result = subprocess.run(
            [*command, *TRAINER, *batch, *overrides],
            cwd=ROOT,
            env=os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
        )
        if result.returncode:
            raise RuntimeError(f"a run failed:\n{result.stderr[-2000:]}")
        lines = (Path(directory) / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    learned = rows[-1]["episode/episode_return"] >= THRESHOLD
    # The first rollout is never preempted, and the second one's plan knows little.
    stale = [row["loss/stale_fraction"] for row in rows[2:]] or [0.0]
    return {
        "learned": learned,
        "success": rows[-1]["episode/success"],
        "steps": rows[-1]["steps"],
        "seconds": rows[-1]["seconds"],
        "steps_per_second": rows[-1]["steps"] / rows[-1]["seconds"],
        "rollouts": len(rows),
        "stale_fraction": float(np.mean(stale)),
    }


def experiment(options: Any, cases: Cases) -> dict[str, Any]:
    """Runs every case with every seed, in turn."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in cases}
    for repeat in range(options.repeats):
        names = list(cases)
        for name in names[repeat % len(names) :] + names[: repeat % len(names)]:
            processes, environments, overrides = cases[name]
            common = [f"seed={options.seed + repeat}", f"total_steps={options.steps}"]
            run = train(processes, environments, [*common, *overrides])
            print(f"{name}, seed {options.seed + repeat}: {run}", file=sys.stderr, flush=True)
            runs[name].append(run)
    return {name: summarise(each) for name, each in runs.items()}


def summarise(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over the repeats, and the runs themselves."""
    names = ("success", "steps", "seconds", "steps_per_second", "rollouts", "stale_fraction")
    medians = {name: float(np.median([run[name] for run in runs])) for name in names}
    return medians | {"learned": sum(run["learned"] for run in runs), "runs": runs}


def show(title: str, figures: dict[str, Any]) -> None:
    """Print one experiment as a table."""
    table = Table(title=title)
    columns = ("learned", "success", "steps to learn", "seconds to learn", "steps/s", "stale")
    for name in ("run", *columns):
        table.add_column(name, justify="left" if name == "run" else "right")
    for name, each in figures.items():
        table.add_row(
            name,
            f"{each['learned']} of {len(each['runs'])}",
            f"{each['success']:.2f}",
            f"{each['steps']:,.0f}",
            f"{each['seconds']:.1f}",
            f"{each['steps_per_second']:,.0f}",
            f"{each['stale_fraction']:.0%}",
        )
    Console().print(table)


def make_cases(name: str, options: Any) -> tuple[Cases, str]:
    """The runs of an experiment, and its title."""
    if name not in EXPERIMENTS:
        raise UserError(f"unknown experiment '{name}': choose one of {', '.join(EXPERIMENTS)}")
    if name == "processes":
        even = SleepyCues(0.0, 1.0, 0)
        cases = {f"{count} processes": (count, even, []) for count in (1, 2, 4)}
        return cases, "the same batch from 1, 2 and 4 processes"
    slow = EXPERIMENTS[name]
    uneven = SleepyCues(1e-3 * options.step_ms, options.slow_factor, slow)
    cases = {rule: (4, uneven, [f"distributed.preemption={rule}"]) for rule in RULES}
    return cases, f"{slow} of 4 processes {options.slow_factor:g} times slower"


def main(arguments: Sequence[str]) -> int:
    """Run both experiments and report."""
    if "TORCHELASTIC_RUN_ID" in os.environ:
        return run_rank(arguments)
    parser = OneLineParser(prog="benchmarks.preemption", description=__doc__)
    names = ", ".join(EXPERIMENTS)
    parser.add_argument("experiments", nargs="*", help=f"of {names}; none: all")
    parser.add_argument("--steps", type=int, default=60000, help="most steps of a run")
    parser.add_argument(
        "--repeats", type=int, default=3, help="runs of each kind; medians are shown"
    )
    parser.add_argument("--step-ms", type=float, default=0.5, help="nap of a step of a fast rank")
    parser.add_argument(
        "--slow-factor", type=float, default=6.0, help="how much slower slow ones are"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    record: dict[str, Any] = {
        "made": made("benchmarks.preemption", arguments, what="preemption", seed=options.seed),
        "settings": vars(options),
    }
    for name in options.experiments or EXPERIMENTS:
        cases, title = make_cases(name, options)
        record[name] = experiment(options, cases)
        show(f"{title} (medians)", record[name])
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
