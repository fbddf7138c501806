"""`python -m benchmarks.world`: what a step of the world costs on one core.

Steps the Gymnasium environment with random actions, each held for eight steps, from the task's own
start states (the robot moves in clutter), and times three things in the same run, interleaved: the
whole environment step, the same simulator's physics alone, and its depth image alone. Then the same
task with sixteen worlds in one vectorised environment.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from rearrange.env import RearrangeEnv, RearrangeVectorEnv, to_physical
from rearrange.episodes.generation import check_split
from rearrange.errors import UserError
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import TASKS, default_config
from skills.command import OneLineParser, machine, run_command, write_json

ACTION_REPEAT = 8
BLOCK = 100  # steps between switches of what is timed
WORLD_COUNT = 16  # worlds of the vectorised environment


class RandomActions:
    """Uniform actions, each held for ACTION_REPEAT steps."""

    def __init__(self, size: int, seed: int) -> None:
        """Actions of this size."""
        self.rng = np.random.default_rng(seed)
        self.size, self.count = size, 0
        self.action = np.zeros(size, np.float32)

    def __call__(self) -> np.ndarray:
        """The next action [size]."""
        if self.count % ACTION_REPEAT == 0:
            self.action = self.rng.uniform(-1, 1, self.size).astype(np.float32)
            if self.size > 10:
                self.action[10] = -1.0  # never stop
        self.count += 1
        return self.action


def timed(function: Callable[[], Any], times: list[float]) -> Any:
    """Call and append the seconds it took."""
    started = time.perf_counter()
    result = function()
    times.append(time.perf_counter() - started)
    return result


def measure(task: str, split: str, seed: int, steps: int, camera_size: int) -> dict[str, Any]:
    """Time a task's environment; resets are not counted as steps but are reported."""
    simulator = SimulatorConfig(camera_size=camera_size)
    env = RearrangeEnv(task, default_config(task), split, simulator, seed=seed)
    actions = RandomActions(env.task.action_size, seed)
    step_times: list[float] = []
    physics_times: list[float] = []
    render_times: list[float] = []
    reset_times: list[float] = []
    full = np.zeros((1, 11))
    timed(env.reset, [])  # compiles the kernels
    for _ in range(BLOCK):
        env.step(actions())
    while len(step_times) < steps:
        ended = False
        for _ in range(BLOCK):
            action = actions()
            outcome = timed(lambda action=action: env.step(action), step_times)
            ended = outcome[2] or outcome[3]
            if ended:
                break
        if ended:
            timed(env.reset, reset_times)
        for _ in range(BLOCK):
            full[0, : len(actions.action)] = actions()
            physical = to_physical(env.task.action.scale(), full)
            timed(lambda physical=physical: env.simulator.step(physical), physics_times)
        for _ in range(BLOCK // 4):
            timed(env.simulator.render_depth, render_times)
        # Physics alone went on behind the task's back: start afresh.
        timed(env.reset, reset_times)
    figures = summarise(step_times, physics_times, render_times, reset_times)
    return figures | measure_vector(task, split, seed, steps, simulator)


def measure_vector(
    task: str, split: str, seed: int, steps: int, simulator: SimulatorConfig
) -> dict[str, Any]:
    """Time WORLD_COUNT worlds in one RearrangeVectorEnv, restarts of episodes included."""
    env = RearrangeVectorEnv(WORLD_COUNT, task, default_config(task), split, simulator)
    sources = [RandomActions(env.task.action_size, seed + i) for i in range(WORLD_COUNT)]
    env.reset(seed=seed)
    times: list[float] = []
    for _ in range(max(BLOCK, steps // WORLD_COUNT)):
        actions = np.stack([source() for source in sources])
        timed(lambda actions=actions: env.step(actions), times)
    env.close()
    return {"vector_env_steps_per_second": WORLD_COUNT / float(np.mean(times))}


def summarise(
    step: list[float], physics: list[float], render: list[float], reset: list[float]
) -> dict[str, Any]:
    """Rates and the spread of step times."""
    microseconds = np.array(step) * 1e6
    step_us, physics_us, render_us = (1e6 * float(np.mean(x)) for x in (step, physics, render))
    p50, p95, p99 = np.percentile(microseconds, [50, 95, 99])
    return {
        "env_steps_per_second": 1e6 / step_us,
        "physics_steps_per_second": 1e6 / physics_us,
        "render_per_second": 1e6 / render_us,
        "task_share": max(0.0, 1 - (physics_us + render_us) / step_us),
        "p50_us": float(p50),
        "p95_us": float(p95),
        "p99_us": float(p99),
        "max_us": float(microseconds.max()),
        "reset_ms": 1e3 * float(np.median(reset)),
        "steps": len(step),
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def show(record: dict[str, Any]) -> None:
    """Print the tasks as a table."""
    table = Table(title=f"world on one core, {record['camera_size']}x{record['camera_size']} depth")
    columns = ("env steps/s", "in a vector", "physics steps/s", "images/s", "task share")
    for name in ("task", *columns, "p50 us", "p95 us", "p99 us", "max us", "reset ms", "MB"):
        table.add_column(name, justify="left" if name == "task" else "right")
    for task, figures in record["tasks"].items():
        rates = (
            "env_steps_per_second",
            "vector_env_steps_per_second",
            "physics_steps_per_second",
            "render_per_second",
        )
        spread = ("p50_us", "p95_us", "p99_us", "max_us", "reset_ms", "resident_mb")
        table.add_row(
            task,
            *(f"{figures[key]:,.0f}" for key in rates),
            f"{figures['task_share']:.0%}",
            *(f"{figures[key]:,.0f}" for key in spread),
        )
    Console().print(table)
    print(f"machine: {record['machine']['cpu']}, {record['machine']['cores']} cores")


def main(arguments: Sequence[str]) -> int:
    """Measure the tasks and report."""
    parser = OneLineParser(prog="benchmarks.world", description=__doc__)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(TASKS)}; none: all")
    parser.add_argument("--steps", type=int, default=5000, help="environment steps per task")
    parser.add_argument("--camera-size", type=int, default=128, help="pixels")
    parser.add_argument("--split", default="val", help="train, val or test apartments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", default="", help="also write the figures to this file")
    options = parser.parse_args(arguments)
    check_split(options.split)
    if options.steps < 1 or options.camera_size < 1:
        raise UserError("--steps and --camera-size must be at least 1")
    tasks = options.tasks or list(TASKS)
    for task in tasks:
        default_config(task)
    record = {
        "split": options.split,
        "seed": options.seed,
        "camera_size": options.camera_size,
        "tasks": {
            task: measure(task, options.split, options.seed, options.steps, options.camera_size)
            for task in tasks
        },
        "machine": machine(),
    }
    show(record)
    if options.json:
        write_json(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
