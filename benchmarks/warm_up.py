"""`python -m benchmarks.warm_up TASK ...`: compiles what trainings of these tasks step, for timed ones to find.

One world is begun and stepped as a worker's is, and two together as with system=batched.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from benchmarks.systems import skill_case
from rearrange.command_line import OneLineParser
from skills.command import run_command
from skills.navigation import navigation_names
from skills.registry import skill_names

STEPS = 20


def warm_up(task: str) -> float:
    """Steps worlds of a task, in few homes; returns the seconds that it took."""
    begin = time.perf_counter()
    _, make_env = skill_case("ver", 1, task)
    factory: Any = make_env
    env, worlds = make_env(0, 1), factory.make_vector(2, 1, threads=1)
    for each in (env, worlds):
        each.reset(seed=1)
        each.action_space.seed(1)
        for _ in range(STEPS):
            ended = each.step(each.action_space.sample())[2:4]
            if each is env and any(ended):
                env.reset()
        each.close()
    return time.perf_counter() - begin


def main(arguments: Sequence[str]) -> int:
    """Compile, and tell how long it took."""
    parser = OneLineParser(prog="benchmarks.warm_up", description=__doc__)
    parser.add_argument("tasks", nargs="+", metavar="TASK", help="a skill or a navigation task")
    options = parser.parse_args(arguments)
    names = (*skill_names(), *navigation_names())
    for task in options.tasks:
        if task not in names:
            parser.error(f"unknown task '{task}': choose one of {', '.join(names)}")
    for task in options.tasks:
        print(f"{task}: {warm_up(task):.1f} s", flush=True)
    return 0


if __name__ == "__main__":
    run_command(main)
