"""`python -m benchmarks.sample_efficiency`: what the systems learn, by steps and by time.

Every system of `trainer.system=` learns to steer a point (`Steering` in straggling_environments.py) with
the same network, learning settings and seeds, in turn. Steps sleep for durations that spread as those
of one of our own tasks do (benchmarks/step_times.json), so waiting costs time here as it does
there; the processor is not the limit. The curves are success over training episodes: interquartile
means over the seeds (Agarwal et al. 2021; plain means of fewer than four) with 95 % intervals by
bootstrap. With few seeds the interval says little: it cannot reach beyond the best and the worst run.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import trim_mean

from benchmarks.straggling_environments import Steering, StepTimes, Stragglers, load_step_times
from rearrange.command_line import OneLineParser, output_file
from skills.command import counted, run_command
from skills.plot import load_pyplot, read_rows
from skills.provenance import made, write_result
from ver import Trainer, TrainerConfig, merge_config
from ver.collect.systems import system_names
from ver.config import FORMER_DEFAULTS

N, LENGTH = 16, 64
SETTINGS = {
    "tensorboard": "false",
    "log_interval_s": "1e9",
    "checkpoint_interval_s": "1e9",
    "episode_window": "200",
    "collect.num_environments": str(N),
    "collect.environments_per_worker": "1",
    "collect.rollout_length": str(LENGTH),
    "learner_threads": "1",
    "network.memory": "none",
    "network.hidden_size": "64",
    "network.initial_log_std": "-0.5",
    "ppo.learning_rate": "2e-3",
    "ppo.schedule": "constant",
    "ppo.epochs": "3",
    "ppo.mini_batches": "4",
}
POINTS = 60  # of a curve
THRESHOLD = 0.8  # success whose steps and time are told
BOOTSTRAPS = 2000
TRIMMED = 0.25  # share of the runs that a mean leaves out at either end, rounded down
AXES = {"steps": "steps", "seconds": "seconds"}  # name of an axis -> field of the log


def train(
    system: str, seed: int, steps: int, times: StepTimes, changes: Sequence[str] = ()
) -> dict[str, Any]:
    """One run's curve: steps, seconds, success, and how far behind the policy was.

    Args:
        system: Of `trainer.system=`.
        seed: Of the run.
        steps: Its length.
        times: Durations of the environments' steps.
        changes: key=value of the trainer's settings, in place of SETTINGS'.

    Raises:
        UserError: The system refuses these settings.
    """
    settings = SETTINGS | {"system": system, "seed": str(seed), "total_steps": str(steps)}
    words = [*FORMER_DEFAULTS, *(f"{key}={value}" for key, value in settings.items()), *changes]
    config = merge_config(TrainerConfig, [], words)
    with tempfile.TemporaryDirectory(prefix="efficiency-") as folder:
        trainer = Trainer(config, Stragglers(times, N, Steering), folder)
        trainer.train()
        if trainer.interrupted:
            raise SystemExit("interrupted: nothing is reported")
        rows = [row for row in read_rows(Path(folder)) if "episode/success" in row]
    return {
        "seed": seed,
        "steps": [row["steps"] for row in rows],
        "seconds": [row["seconds"] for row in rows],
        "success": [row["episode/success"] for row in rows],
        "policy_lag": float(np.mean([row["loss/policy_lag_mean"] for row in rows])),
        "policy_lag_max": float(max(row["loss/policy_lag_max"] for row in rows)),
    }


def curve(
    runs: Sequence[dict[str, Any]],
    axis: str,
    grid: np.ndarray,
    seed: int = 0,
    figure: str = "success",
) -> np.ndarray:
    """Interquartile mean of a figure and the ends of its interval at places of an axis [3, G].

    After a run's end its figure stays.
    """
    values = np.array([np.interp(grid, run[axis], run[figure]) for run in runs])  # [R, G]
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(runs), size=(BOOTSTRAPS, len(runs)))
    means = trim_mean(values[chosen], TRIMMED, axis=1)  # [B, G]
    low, high = np.quantile(means, (0.025, 0.975), axis=0)
    return np.stack([trim_mean(values, TRIMMED, axis=0), low, high])


def reached(run: dict[str, Any], axis: str, threshold: float = THRESHOLD) -> float | None:
    """Place of an axis at which a run's success first reaches a threshold, None if it never does."""
    for place, success in zip(run[axis], run["success"], strict=True):
        if success >= threshold:
            return float(place)
    return None


def typical(values: Sequence[float | None]) -> str:
    """The median of places, those that were never reached being the farthest."""
    median = np.median([np.inf if value is None else value for value in values])
    return f"{median:,.0f}" if np.isfinite(median) else "never"


def summarise(runs: dict[str, list[dict[str, Any]]]) -> dict[str, Any]:
    """Curves, from where every run has a figure, and the numbers of the table, by system."""
    every = [run for each in runs.values() for run in each]
    ends = {axis: max(run[axis][-1] for run in every) for axis in AXES}
    return {
        system: {
            "curves": {
                axis: {
                    "grid": grid.tolist(),
                    **dict(
                        zip(("mean", "low", "high"), curve(each, axis, grid).tolist(), strict=True)
                    ),
                }
                for axis in AXES
                for grid in [np.linspace(max(run[axis][0] for run in each), ends[axis], POINTS)]
            },
            "last_success": [run["success"][-1] for run in each],
            "steps_to_threshold": [reached(run, "steps") for run in each],
            "seconds_to_threshold": [reached(run, "seconds") for run in each],
            "steps_per_second": float(
                np.mean([run["steps"][-1] / run["seconds"][-1] for run in each])
            ),
            "policy_lag": float(np.mean([run["policy_lag"] for run in each])),
            "policy_lag_max": max(run["policy_lag_max"] for run in each),
            "runs": each,
        }
        for system, each in runs.items()
    }


def show(systems: dict[str, Any]) -> None:
    """Prints the table."""
    table = Table(title="learning to steer, medians over the seeds")
    heads = (f"steps to {THRESHOLD:.0%}", f"seconds to {THRESHOLD:.0%}", "steps/s", "last success")
    for name in ("system", *heads, "policy lag, mean (most)"):
        table.add_column(name, justify="left" if name == "system" else "right")
    for name, each in systems.items():
        table.add_row(
            name,
            typical(each["steps_to_threshold"]),
            typical(each["seconds_to_threshold"]),
            f"{each['steps_per_second']:,.0f}",
            f"{np.median(each['last_success']):.2f}",
            f"{each['policy_lag']:.1f} ({each['policy_lag_max']:.0f}) updates",
        )
    Console().print(table)


def averaged(seeds: int) -> str:
    """Describe what a curve and its band average."""
    kind = "interquartile mean" if int(TRIMMED * seeds) else "mean"
    return f"{kind} of {counted(seeds, 'seed')}, bootstrap 95 %"


def plot(systems: dict[str, Any], path: Path) -> None:
    """Two panels: success against steps and against time."""
    pyplot = load_pyplot()
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4), sharey=True, layout="constrained")
    for panel, axis, label in zip(panels, AXES, ("environment steps", "seconds"), strict=True):
        for name, each in systems.items():
            line = each["curves"][axis]
            panel.plot(line["grid"], line["mean"], label=name)
            panel.fill_between(line["grid"], line["low"], line["high"], alpha=0.15)
        panel.set(xlabel=label, ylim=(0, 1))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel(
        f"success, {averaged(min(len(each['runs']) for each in systems.values()))}"
    )
    panels[0].legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str]) -> int:
    """Train, sum up, plot."""
    parser = OneLineParser(prog="benchmarks.sample_efficiency", description=__doc__)
    parser.add_argument("--systems", default=",".join(system_names()), help="which, with commas")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each system")
    parser.add_argument("--seed", type=int, default=1, help="of the first run")
    parser.add_argument("--steps", type=int, default=100_000, help="of each run")
    parser.add_argument("--step-ms", type=float, default=8.0, help="mean duration of a step")
    parser.add_argument(
        "--set", nargs="*", default=[], metavar="KEY=VALUE", help="trainer settings"
    )
    parser.add_argument("--output", type=output_file, help="PNG to write")
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    names = options.systems.split(",")
    for name in names:
        if name not in system_names():
            parser.error(f"unknown system '{name}': choose one of {', '.join(system_names())}")
    merge_config(TrainerConfig, [], options.set)  # refuses what makes no sense
    if options.seeds < 1 or options.steps < 1 or options.step_ms <= 0:
        parser.error("--seeds, --steps and --step-ms must be above zero")
    origin = made(
        "benchmarks.sample_efficiency", arguments, what="sample efficiency", seed=options.seed
    )
    times = load_step_times(options.step_ms * 1e-3)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for repeat in range(options.seeds):
        shift = repeat % len(names)
        for name in [*names[shift:], *names[:shift]]:
            run = train(name, options.seed + repeat, options.steps, times, options.set)
            runs[name].append(run)
            told = {axis: run[axis][-1] for axis in (*AXES, "success")}
            print(f"{name}, seed {run['seed']}: {json.dumps(told)}", file=sys.stderr, flush=True)
    systems = summarise(runs)
    show(systems)
    if options.output is not None:
        plot(systems, options.output)
    if options.json:
        settings = {"steps": options.steps, "step_ms": options.step_ms, "trainer": SETTINGS}
        settings["set"] = options.set
        write_result(options.json, {"made": origin, "settings": settings, "systems": systems})
    return 0


if __name__ == "__main__":
    run_command(main)
