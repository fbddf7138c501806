"""`python -m benchmarks.navigation`: how fast navigation is simulated and trained, in turn on one machine.

Each repeat measures pure simulation and then trains with every system, so that whatever else the machine does
hits all of them. Pure simulation is a `NavVectorEnv` of as many agents as the task's settings have, in this
process on one core, with random actions: without STOP, which ends an episode, with it in one of a hundred,
and with nothing else, as a policy acts that knows nothing: then a step is an episode. Training has the task's
usual settings (configs/navigation.yaml), from random weights, in the buildings of `--split`; its first
rollout, which contains the start, is left out. "Of the limit" is its rate as a share of pure simulation on
every core that there is.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from nav.agent import FORWARD, STOP
from nav.table import TASKS
from rearrange.command_line import OneLineParser, output_file
from rearrange.threads import processors
from skills.command import run_command
from skills.navigation import NavEnvironments, navigation_names
from skills.provenance import made, write_result
from skills.train import load_settings
from ver import Trainer

SYSTEMS = ("ver", "batched")
SETTINGS = (
    "trainer.total_steps=1000000000000",
    "trainer.tensorboard=false",
    "trainer.log_interval_s=1e9",
    "trainer.checkpoint_interval_s=1e9",
)
WARM_UP, STEPS = 100, 300  # steps of all agents
STOP_CHANCE = 0.01


def simulate(settings: Any, seed: int, stop_chance: float) -> dict[str, float]:
    """Steps of agents per second of one core, by the clock and of processor time."""
    count = settings.trainer.collect.num_environments
    env = NavEnvironments.from_settings(settings).make_vector(count, seed, threads=1)
    rng = np.random.default_rng(seed)
    space: Any = env.single_action_space
    first = max(FORWARD, int(space.start))
    env.reset(seed=seed)
    for step in range(WARM_UP + STEPS):
        if step == WARM_UP:
            begin, busy = time.perf_counter(), time.process_time()
        actions = rng.integers(first, int(space.start + space.n), count)
        if env.task.CAN_STOP:
            actions[rng.random(count) < stop_chance] = STOP
        env.step(actions)
    seconds, busy = time.perf_counter() - begin, time.process_time() - busy
    env.close()
    return {"steps_per_s": count * STEPS / seconds, "steps_per_cpu_s": count * STEPS / busy}


def train(settings: Any, seconds: float) -> dict[str, float]:
    """Steps per second of a training, and the shares of time in which it acts and learns."""
    marks: list[tuple[float, ...]] = []

    def watch(trainer: Trainer, row: dict[str, float]) -> bool:
        shares = (row["time/learning"], row["time/inference"], row["time/simulation_wait"])
        marks.append((time.perf_counter(), trainer.steps, *shares))
        return len(marks) > 1 and marks[-1][0] - marks[0][0] >= seconds

    with tempfile.TemporaryDirectory(prefix="navigation-") as folder:
        environments = NavEnvironments.from_settings(settings)
        trainer = Trainer(settings.trainer, environments, f"{folder}/run", after_update=watch)
        trainer.train()
    if trainer.interrupted:
        raise SystemExit("interrupted: nothing is reported")
    times, steps, *shares = np.array(marks).T
    rate = (steps[-1] - steps[0]) / (times[-1] - times[0])
    learning, inference, simulation = (
        float(np.average(share[1:], weights=np.diff(times))) for share in shares
    )
    return {
        "steps_per_s": float(rate),
        "learning_share": learning,
        "inference_share": inference,
        "simulation_share": simulation,
    }


def compare(options: Any) -> dict[str, Any]:
    """All repeats: {row: [figures of each repeat]}."""
    rows: dict[str, list[dict[str, float]]] = {}
    for repeat in range(options.repeats):
        seed = options.seed + repeat
        words = [*SETTINGS, f"trainer.seed={seed}", f"split={options.split}", *options.overrides]
        settings = load_settings(options.task, words)
        found = {
            "simulation": simulate(settings, seed, 0.0),
            "simulation, stops": simulate(settings, seed, STOP_CHANCE),
        }
        if TASKS[options.task].CAN_STOP:
            found["simulation, nothing but stops"] = simulate(settings, seed, 1.0)
        for system in options.systems:
            settings.trainer.system = system
            found[system] = train(settings, options.seconds)
        for name, figures in found.items():
            rows.setdefault(name, []).append(figures)
            print(f"{name}, seed {seed}: {figures}", file=sys.stderr, flush=True)
    return {"rows": rows, "cores": processors()}


def show(task: str, record: dict[str, Any]) -> None:
    """Print means over the repeats and their deviations."""
    rows, cores = record["rows"], record["cores"]
    one_core = np.mean([each["steps_per_s"] for each in rows["simulation"]])
    table = Table(title=f"{task}: pure simulation on {cores} cores {cores * one_core:,.0f} steps/s")
    table.add_column("what")
    for name in ("steps/s", "steps per CPU second", "of the limit", "time in learning"):
        table.add_column(name, justify="right")
    for name, runs in rows.items():
        rate = np.array([each["steps_per_s"] for each in runs])
        busy = [each["steps_per_cpu_s"] for each in runs if "steps_per_cpu_s" in each]
        learning = [each["learning_share"] for each in runs if "learning_share" in each]
        table.add_row(
            f"{name} (one core)" if busy else f"trainer.system={name}",
            f"{rate.mean():,.0f} ± {rate.std():,.0f}",
            f"{np.mean(busy):,.0f}" if busy else "",
            f"{rate.mean() / (cores * one_core):.0%}" if learning else "",
            f"{np.mean(learning):.0%}" if learning else "",
        )
    console = Console()
    (console if console.is_terminal else Console(width=120)).print(table)


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    parser = OneLineParser(prog="benchmarks.navigation", description=__doc__)
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="settings to change")
    parser.add_argument("--task", default="pointnav", help="which task")
    parser.add_argument("--systems", default=",".join(SYSTEMS), help="which, with commas")
    parser.add_argument("--seconds", type=float, default=30.0, help="least length of each training")
    parser.add_argument("--repeats", type=int, default=3, help="how often all are run")
    parser.add_argument("--seed", type=int, default=1, help="of the first repeat")
    parser.add_argument("--split", default="val", help="whose buildings")
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    options.systems = options.systems.split(",")
    if options.task not in navigation_names():
        parser.error(
            f"unknown task '{options.task}': choose one of {', '.join(navigation_names())}"
        )
    for name in set(options.systems) - {*SYSTEMS}:
        parser.error(f"--systems: unknown '{name}': choose from {', '.join(SYSTEMS)}")
    if options.seconds <= 0 or options.repeats < 1:
        parser.error("--seconds and --repeats must be above zero")
    origin = made(
        "benchmarks.navigation", arguments, what=options.task, seed=options.seed,
        split=options.split,
    )  # fmt: skip
    record = compare(options)
    show(options.task, record)
    if options.json:
        write_result(options.json, {"made": origin, "settings": vars(options)} | record)
    return 0


if __name__ == "__main__":
    run_command(main)
