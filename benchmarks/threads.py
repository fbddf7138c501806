"""`python -m benchmarks.threads`: worlds that are stepped together, by one thread and by several.

N worlds of a task take random actions, episodes that end begin anew, and so do the same N worlds stepped by
another number of threads. Blocks of steps alternate, so that whatever else the machine does hits all. Told
are steps per second (of a world, with its image), and how many times one thread's they are; and the same of
images alone. Skills have physics, navigation tasks only motion.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.errors import UserError
from rearrange.threads import cores
from skills.command import run_command
from skills.navigation import navigation_names
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.settings import make_environments
from skills.train import load_settings

BLOCK = 25  # steps of all worlds between switches
IMAGES = 10  # draws of all worlds after each block


class Worlds:
    """N worlds of a task, stepped by some threads.

    Attributes:
        rates: Of each block: steps of a world per second.
        images: Likewise: images per second.
    """

    def __init__(self, task: str, count: int, threads: int, seed: int, split: str) -> None:
        """Begin N episodes; the same, whatever the number of threads."""
        words = [f"split={split}"]
        if task in skill_names():  # whose recorded starts are of training homes
            words += ["sensors=depth", "starts.paths=[]"]
        settings = load_settings(task, words)
        environments: Any = make_environments(settings)
        self.env = environments.make_vector(count, seed, threads)
        self.env.reset(seed=seed)
        self.env.action_space.seed(seed)
        self.count = count
        self.rates: list[float] = []
        self.images: list[float] = []

    def block(self) -> None:
        """Step, then draw."""
        actions = [self.env.action_space.sample() for _ in range(BLOCK)]
        begin = time.perf_counter()
        for action in actions:
            self.env.step(action)
        middle = time.perf_counter()
        for _ in range(IMAGES):
            self.env._worlds.observe()
        self.rates.append(self.count * BLOCK / (middle - begin))
        self.images.append(self.count * IMAGES / (time.perf_counter() - middle))


def measure(task: str, options: Any) -> dict[str, dict[str, float]]:
    """Medians over the blocks, by the number of threads."""
    counts = options.threads
    make = partial(Worlds, task, options.worlds)
    guide = make(1, options.seed, options.split)
    for _ in range(options.blocks):  # compiles, and makes the homes that are not made yet
        guide.block()
    guide.env.close()
    several = {n: make(n, options.seed, options.split) for n in counts}
    for _ in range(options.blocks):
        for worlds in several.values():
            worlds.block()
    found = {}
    one = several[counts[0]]
    for n, worlds in several.items():
        ratios = [a / b for a, b in zip(worlds.rates, one.rates, strict=True)]
        drawn = [a / b for a, b in zip(worlds.images, one.images, strict=True)]
        found[str(n)] = {
            "steps_per_second": median(worlds.rates),
            "times_of_the_first": median(ratios),
            "images_per_second": median(worlds.images),
            "images_times_of_the_first": median(drawn),
        }
        worlds.env.close()
    return found


def show(tasks: dict[str, dict[str, dict[str, float]]], worlds: int) -> None:
    """Prints the table."""
    table = Table(title=f"{worlds} worlds stepped together")
    for name in ("task", "threads", "steps/s", "times", "images/s", "times"):
        table.add_column(name, justify="left" if name == "task" else "right")
    for task, found in tasks.items():
        for threads, each in found.items():
            table.add_row(
                task,
                threads,
                f"{each['steps_per_second']:,.0f}",
                f"{each['times_of_the_first']:.2f}",
                f"{each['images_per_second']:,.0f}",
                f"{each['images_times_of_the_first']:.2f}",
            )
    Console().print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.threads", description=__doc__)
    parser.add_argument("--tasks", default="pick,pointnav", help="with commas (pick,pointnav)")
    parser.add_argument("--worlds", type=int, default=32, metavar="N", help="side by side (32)")
    parser.add_argument(
        "--threads", default=f"1,{cores()}", metavar="A,B", help=f"how many (1,{cores()})"
    )
    parser.add_argument("--blocks", type=int, default=20, help="of steps, of each (20)")
    parser.add_argument("--split", default="val", help="whose homes (val)")
    parser.add_argument("--seed", type=int, default=1, help="of worlds and actions (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "worlds", "blocks")
    options.tasks = options.tasks.split(",")
    for task in options.tasks:
        if task not in (*skill_names(), *navigation_names()):
            raise UserError(f"--tasks: unknown '{task}'")
    try:
        options.threads = [int(word) for word in options.threads.split(",")]
    except ValueError:
        options.threads = []
    if not options.threads or min(options.threads) < 1:
        raise UserError("--threads: whole numbers of at least 1, with commas")
    return options


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    options = parse(arguments)
    origin = made(
        "benchmarks.threads", arguments, what="threads that step worlds", seed=options.seed
    )
    tasks = {task: measure(task, options) for task in options.tasks}
    show(tasks, options.worlds)
    if options.json:
        write_result(options.json, {"made": origin, "worlds": options.worlds, "tasks": tasks})
    return 0


if __name__ == "__main__":
    run_command(main)
