"""`python -m rearrange.episodes`: makes and checks episode files.

generate TASK   make episodes and write data/episodes/TASK/SPLIT.json.gz
check PATH      read a file, check every field, and say what it holds
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.episodes.dataset import EpisodeSet, default_path, shown
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.scenes.registry import HOMES, check_homes, check_split
from rearrange.threads import processors

LINE_INTERVAL = 10.0  # [s] between lines where there is no terminal


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line; raises UserError where it is wrong."""
    parser = OneLineParser(prog="python -m rearrange.episodes", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    generate = commands.add_parser("generate", help="make an episode file")
    generate.add_argument("task", help="whose episodes")
    generate.add_argument("--split", default="val", help="train, val (default) or test apartments")
    generate.add_argument("--homes", **HOMES)
    generate.add_argument("--robot", default=DEFAULT_ROBOT, metavar="NAME", help="who acts")
    generate.add_argument("--episodes", type=int, default=1000, metavar="N")
    generate.add_argument("--seed", type=int, default=0, metavar="S")
    generate.add_argument(
        "--workers", type=int, default=processors(), metavar="W", help="processes"
    )
    generate.add_argument(
        "--output", type=output_file, metavar="PATH", help="instead of data/episodes/"
    )
    generate.add_argument(
        "--skip-existing",
        action="store_true",
        help="do nothing where the file holds as many of the same seed",
    )
    check = commands.add_parser("check", help="check an episode file")
    check.add_argument("path", type=Path)
    check.add_argument("--homes", **HOMES)
    check.add_argument("--robot", default=DEFAULT_ROBOT, metavar="NAME|FILE.yaml", help="who acts")
    options = parser.parse_args(arguments)
    find_robot(options.robot)  # and so one of a file is known, as homes are
    check_homes(options.homes)
    if options.command == "generate":
        check_split(options.split)
        check_counts(options, "episodes", "workers")
    return options


def main(arguments: Sequence[str]) -> int:
    """Run a command; returns the exit code."""
    options = parse(arguments)
    if options.command == "check":
        from rearrange.tasks import TASKS  # compiles kernels: only when needed

        found = EpisodeSet.load(options.path)
        if found.task not in TASKS:
            known = ", ".join(TASKS)
            raise UserError(f"{options.path}: task: expected one of {known}, found '{found.task}'")
        print(describe(found))
        return 0
    try:
        return generate(options)
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return 130


def generate(options: argparse.Namespace) -> int:
    """Make one file."""
    from rearrange.generate import production  # compiles kernels: only when needed
    from rearrange.tasks import default_config

    default_config(options.task)  # an unknown task is told before anything else
    asked = options.task, options.split, options.episodes, options.seed, options.homes
    order = production.Order(*asked, options.robot)
    path = options.output or default_path(order.task, order.split, order.homes, order.robot)
    if options.skip_existing and path.exists():
        there = EpisodeSet.load(path, order.task, order.split, order.homes, order.robot)
        if there.seed == order.seed and len(there) >= order.episodes:
            print(f"{shown(path)}: holds {len(there)} episodes already")
            return 0
    made = production.Batch()
    started = time.perf_counter()
    with _report(order.task, order.split, order.episodes) as tell:
        for batch in production.produce(order, options.workers):
            made.add(batch)
            tell(len(made.lines), made.rejected)
    production.write(order, made, path)
    seconds = time.perf_counter() - started
    print(
        f"{shown(path)}: {len(made.lines)} episodes in {seconds:.1f} s "
        f"({len(made.lines) / seconds:.1f} per second), {path.stat().st_size / 1024:.0f} KiB; "
        f"rejected samples: {_reasons(made.rejected)}"
    )
    return 0


def describe(episodes: EpisodeSet) -> str:
    """What a file holds, in a few lines; every episode's apartment is compared too."""
    for _ in episodes:
        pass
    objects = [len(episode.objects) for episode in episodes.episodes]
    mean = sum(objects) / max(len(objects), 1)
    return "\n".join(
        [
            f"{episodes.path}: {len(episodes)} episodes of {episodes.task}, all fields checked",
            f"homes {episodes.homes or 'none'}, split {episodes.split}, "
            f"seed {episodes.seed}, {len(episodes.apartments)} apartments, "
            f"{mean:.1f} objects on average",
            f"made with: {episodes.generator}",
        ]
    )


@contextmanager
def _report(task: str, split: str, total: int) -> Iterator[Any]:
    """Live progress on a terminal, now and then a line elsewhere; gives `tell(done, rejected)`."""
    console = Console()
    started = time.perf_counter()
    title = f"{task} {split}"
    if not console.is_terminal:
        yield _LineReport(title, total, started)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[rejected]}"),
    )
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(title, total=total, rate="", rejected="")

        def tell(done: int, rejected: Counter[str]) -> None:
            rate = f"{done / (time.perf_counter() - started):.1f}/s"
            progress.update(
                bar, completed=done, rate=rate, rejected=f"rejected: {_reasons(rejected)}"
            )

        yield tell


class _LineReport:
    def __init__(self, title: str, total: int, started: float) -> None:
        self._title, self._total, self._started = title, total, started
        self._told = started
        print(f"{title}: {total} episodes", flush=True)

    def __call__(self, done: int, rejected: Counter[str]) -> None:
        """A line, unless the last one is recent."""
        now = time.perf_counter()
        if now - self._told < LINE_INTERVAL:
            return
        self._told = now
        rate = done / (now - self._started)
        print(
            f"{self._title}: {done}/{self._total}, {rate:.1f}/s, "
            f"{(self._total - done) / rate:.0f} s left, rejected: {_reasons(rejected)}",
            flush=True,
        )


def _reasons(rejected: Counter[str]) -> str:
    return ", ".join(f"{reason} {count}" for reason, count in rejected.most_common()) or "none"
