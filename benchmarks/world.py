"""`python -m benchmarks.world`: what a step of the world costs on one core.

Steps the Gymnasium environment with random actions, each held for eight steps, from the task's own
start states (the robot moves in clutter), and times three things in the same run, interleaved: the
whole environment step, the same simulator's physics alone, and its depth image alone. Then the same
task with sixteen worlds in one vectorised environment. With `--apartments N` also what N new generated
apartments cost, each of another plan: CPU time of the floor plan, the furniture, the grid of the floor and the
compiled model, after the kernels are compiled, and the memory that all take. In between, a fixed piece of
arithmetic is timed: on a machine that is shared, its mean over its best tells how much slower than undisturbed
everything else was meanwhile.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.calibration import fixed_work
from rearrange.action_pipeline import to_physical
from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.errors import UserError
from rearrange.navigation import load_layout
from rearrange.robot import find_robot
from rearrange.scenes.generator import generate_apartment
from rearrange.scenes.homes import generated_plan
from rearrange.scenes.registry import GENERATED, VARIATION_COUNT, check_split, layouts_of
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import TASKS, default_config
from rearrange.tasks.base import Task
from skills.command import run_command
from skills.provenance import made, told_machine, write_result

ACTION_REPEAT = 8
BLOCK = 100  # steps between switches of what is timed
WORLD_COUNT = 16  # worlds of the vectorised environment
PARTS = (
    "plan",
    "furniture",
    "grid",
    "model",
)  # of an apartment, in the order in which they are made


class RandomActions:
    """Uniform actions, each held for ACTION_REPEAT steps."""

    def __init__(self, task: Task, seed: int) -> None:
        """Actions for this task."""
        self.rng = np.random.default_rng(seed)
        self.size, self.count = task.action_size, 0
        self.action = np.zeros(self.size, np.float32)
        # Empty for tasks without a stop
        self.stop = slice(task.robot.actions.stop - task.action_slice.start, None)

    def __call__(self) -> np.ndarray:
        """The next action [size]."""
        if self.count % ACTION_REPEAT == 0:
            self.action = self.rng.uniform(-1, 1, self.size).astype(np.float32)
            self.action[self.stop] = -1.0  # never stop
        self.count += 1
        return self.action


def timed(function: Callable[[], Any], times: list[float]) -> Any:
    """Call and append the seconds it took."""
    started = time.perf_counter()
    result = function()
    times.append(time.perf_counter() - started)
    return result


class Runner:
    """Times the three things of one task."""

    def __init__(self, task: str, options: Any) -> None:
        """Build the environment and compile what it needs."""
        simulator = SimulatorConfig(camera_size=options.camera_size)
        self.env = RearrangeEnv(task, default_config(task), options.split, simulator)
        self.rng = np.random.default_rng(options.seed)
        self.actions = RandomActions(self.env.task, options.seed)
        self.full = np.zeros((1, self.env.robot.actions.full_size))
        self.times: dict[str, list[float]] = {
            name: [] for name in ("step", "physics", "render", "reset", "calibration")
        }
        self.reset([])
        for _ in range(BLOCK):
            outcome = self.env.step(self.actions())
            if outcome[2] or outcome[3]:
                self.reset([])

    def reset(self, times: list[float]) -> None:
        """Begin an episode whose robot touches nothing."""
        timed(lambda: self.env.reset(seed=int(self.rng.integers(2**31))), times)

    def block(self) -> None:
        """A block of steps, one of physics alone and one of images alone."""
        env, times = self.env, self.times
        for k in range(BLOCK):
            if k % 25 == 0:
                timed(fixed_work, times["calibration"])
            action = self.actions()
            outcome = timed(lambda action=action: env.step(action), times["step"])
            if outcome[2] or outcome[3]:
                self.reset(times["reset"])
                break
        for _ in range(BLOCK):
            self.full[0, env.task.action_slice] = self.actions()
            physical = to_physical(env.task.action.scale(env.robot.actions), self.full)
            timed(lambda physical=physical: env.simulator.step(physical), times["physics"])
        for _ in range(BLOCK // 4):
            timed(env.simulator.render_depth, times["render"])
        self.reset(times["reset"])  # physics alone went on behind the task's back


def measure(task: str, options: Any) -> dict[str, Any]:
    """Time a task; resets are not counted as steps but are reported."""
    runner = Runner(task, options)
    while len(runner.times["step"]) < options.steps:
        runner.block()
    return summarise(runner.times) | measure_vector(task, options)


def measure_vector(task: str, options: Any) -> dict[str, Any]:
    """Time WORLD_COUNT worlds in one RearrangeVectorEnv, restarts of episodes included."""
    simulator = SimulatorConfig(camera_size=options.camera_size)
    parts = task, default_config(task), options.split, simulator
    env = RearrangeVectorEnv(WORLD_COUNT, *parts, threads=1)
    sources = [RandomActions(env.task, options.seed + i) for i in range(WORLD_COUNT)]
    env.reset(seed=options.seed)
    times: list[float] = []
    for _ in range(max(BLOCK, options.steps // WORLD_COUNT)):
        actions = np.stack([source() for source in sources])
        timed(lambda actions=actions: env.step(actions), times)
    env.close()
    return {"vector_env_steps_per_second": WORLD_COUNT / float(np.mean(times))}


def _plan(layout: int, variation: int) -> None:
    del variation
    generated_plan(layout)


def measure_apartments(split: str, count: int) -> dict[str, Any]:
    """CPU time of new apartments by part [ms], and the memory that the process has grown by [MB]."""
    load = partial(load_apartment, robot=find_robot())
    load(0, 0)  # compiles the kernels
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    times = np.empty((count, len(PARTS)))
    for index, layout in enumerate(layouts_of(split, GENERATED)[:count]):
        place = (layout, index % VARIATION_COUNT)
        at = [time.process_time()]
        for make in (_plan, generate_apartment, load_layout, load):
            make(*place)
            at.append(time.process_time())
        times[index] = 1e3 * np.diff(at)
    totals = times.sum(axis=1)
    return {
        "count": count,
        **{f"{part}_ms": float(mean) for part, mean in zip(PARTS, times.mean(axis=0), strict=True)},
        "total_ms": float(totals.mean()),
        "total_p95_ms": float(np.percentile(totals, 95)),
        "grown_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 - before,
    }


def summarise(times: dict[str, list[float]]) -> dict[str, Any]:
    """Rates and the spread of step times."""
    microseconds = np.array(times["step"]) * 1e6
    step_us, physics_us, render_us = (
        1e6 * float(np.mean(times[name])) for name in ("step", "physics", "render")
    )
    p50, p95, p99 = np.percentile(microseconds, [50, 95, 99])
    return {
        "env_steps_per_second": 1e6 / step_us,
        "physics_steps_per_second": 1e6 / physics_us,
        "render_per_second": 1e6 / render_us,
        "task_share": max(0.0, 1 - (physics_us + render_us) / step_us),
        "machine_slowdown": float(np.mean(times["calibration"]) / np.min(times["calibration"])),
        "p50_us": float(p50),
        "p95_us": float(p95),
        "p99_us": float(p99),
        "max_us": float(microseconds.max()),
        "reset_ms": 1e3 * float(np.median(times["reset"])),
        "steps": len(times["step"]),
        "resident_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def show(record: dict[str, Any]) -> None:
    """Print the tasks as a table."""
    table = Table(title=f"world on one core, {record['camera_size']}x{record['camera_size']} depth")
    columns = ("env steps/s", "in a vector", "physics/s", "images/s", "task share", "slowdown")
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
            f"{figures['machine_slowdown']:.2f}",
            *(f"{figures[key]:,.0f}" for key in spread),
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=140)  # a log has room
    console.print(table)
    if apartments := record.get("apartments"):
        parts = ", ".join(f"{part} {apartments[f'{part}_ms']:.1f}" for part in PARTS)
        print(
            f"{apartments['count']} new apartments: {apartments['total_ms']:.1f} ms of CPU time each "
            f"({parts}; p95 {apartments['total_p95_ms']:.1f}), {apartments['grown_mb']:.0f} MB more"
        )
    print(
        "slowdown: what else the machine had to do made a fixed piece of work so many times slower"
    )
    print(told_machine(record["made"]["machine"]))


def main(arguments: Sequence[str]) -> int:
    """Measure the tasks and report."""
    parser = OneLineParser(prog="benchmarks.world", description=__doc__)
    parser.add_argument("tasks", nargs="*", help=f"of {', '.join(TASKS)}; none: all")
    parser.add_argument("--steps", type=int, default=5000, help="environment steps per task")
    parser.add_argument("--camera-size", type=int, default=128, help="pixels")
    parser.add_argument("--split", default="val", help="train, val or test apartments")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    parser.add_argument(
        "--apartments", type=int, default=0, help="so many new generated apartments are made"
    )
    options = parser.parse_args(arguments)
    check_split(options.split)
    most = len(layouts_of(options.split, GENERATED))
    if not 0 <= options.apartments <= most:
        raise UserError(
            f"--apartments must be 0 to {most} in {options.split}, not {options.apartments}"
        )
    check_counts(options, "steps", "camera_size")
    tasks = options.tasks or list(TASKS)
    for task in tasks:
        default_config(task)
    record = {
        "made": made(
            "benchmarks.world", arguments, what="world", seed=options.seed, split=options.split
        ),
        "split": options.split,
        "seed": options.seed,
        "camera_size": options.camera_size,
        "tasks": {task: measure(task, options) for task in tasks},
    }
    if options.apartments:
        # In a process of its own: this one has made some of them for the tasks, and keeps them
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            measured = pool.submit(measure_apartments, options.split, options.apartments)
        record["apartments"] = measured.result()
    show(record)
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
