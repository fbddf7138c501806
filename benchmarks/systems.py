"""`python -m benchmarks.systems`: how fast the systems collect and learn, side by side.

Every system of `trainer.system=` trains, in turn, so that whatever else the machine does hits all of them (the
VER paper's Table 1). What is trained is a rearrange skill or a navigation task with its usual settings, but in
the 21 hand-drawn apartments of val: they are generated in the first seconds, whereas those of train take
minutes. The processor is the limit there. With `--waits 50` each environment has a process of its own, and
waits after each step for 50 times the processor time that it took, as if for a GPU.

Mean is over the whole run but for its first rollout, max is the fastest rollout's. The limit is pure
simulation: what one environment alone does in this process, with random actions, on each core that there is
(measured before each run, with `--limit` alone; who waits may do less). "Waits" is the share of time that
environment workers have nothing to step, that inference waits for requests, and that nobody learns.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from rich.console import Console
from rich.table import Table

from benchmarks.waiting import MOST_WAIT_S, TimedEnvironments, WaitingEnvironments
from rearrange.command_line import OneLineParser, output_file
from rearrange.threads import processors
from skills.command import run_command
from skills.navigation import navigation_names
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.settings import make_environments
from skills.train import load_settings
from ver import Trainer, TrainerConfig, UserError
from ver.collect.environment_worker import MakeEnv
from ver.collect.episode_order import EpisodeOrder
from ver.collect.systems import find_system, system_names

KIND = "skill"  # of environments
N, LENGTH = 16, 128  # environments, and steps of each in a rollout: the paper's
COMMON = {
    "total_steps": "1000000000000",
    "tensorboard": "false",
    "log_interval_s": "1e9",
    "checkpoint_interval_s": "1e9",
    "collect.num_environments": str(N),
    "collect.rollout_length": str(LENGTH),
}
WARM_S, LIMIT_S = 2.0, 6.0  # of pure simulation: first without, then with a clock
# Generated within seconds, and nothing is kept of what is learned there; recorded starts are of train.
FEW_APARTMENTS = ("split=val", "homes=classic", "starts.paths=[]")
FEW_BUILDINGS = FEW_APARTMENTS[:2]  # of a navigation task
ALONE = ("batched", "ddppo")  # decide in one process, whatever a preset says
Case = tuple[TrainerConfig, MakeEnv]


class Watch:
    """Notes the time, steps and waiting of every rollout; ends the run when its time is up.

    Args:
        seconds: How long to measure.
        path: Where the environments add up their seconds.
        workers: Environment worker processes; 0: this process steps all worlds together.
    """

    def __init__(self, seconds: float, path: Path, workers: int) -> None:
        self.seconds = seconds
        self.path = path
        self.workers = workers
        self.marks: list[tuple[float, int, float]] = []  # time, steps, environments' seconds
        self.waits: list[tuple[float, float]] = []  # shares of rollouts: inference, learner

    def __call__(self, trainer: Trainer, row: dict[str, float]) -> bool:
        """After each rollout's learning; true at the end."""
        busy = float(np.fromfile(self.path).sum())
        self.marks.append((time.perf_counter(), trainer.steps, busy))
        self.waits.append((row["time/simulation_wait"], 1.0 - row["time/learning"]))
        return len(self.marks) > 1 and self.marks[-1][0] - self.marks[0][0] >= self.seconds

    def figures(self) -> dict[str, Any]:
        """Rates, and shares of waiting. The first rollout contains the start, and is left out."""
        times, steps, busy = np.array(self.marks).T
        wall = np.diff(times)
        waits = np.average(self.waits[1:], axis=0, weights=wall)
        stepping = (busy[-1] - busy[0]) / (times[-1] - times[0]) / max(self.workers, 1)
        if not self.workers:  # worlds that this process steps: inference waits for nothing else
            stepping = waits[0]
        return {
            "mean_sps": float((steps[-1] - steps[0]) / (times[-1] - times[0])),
            "max_sps": float((np.diff(steps) / wall).max()),
            "waiting": {
                "environments": 1.0 - float(stepping),
                "inference": float(waits[0]),
                "learner": float(waits[1]),
            },
            "rollouts": len(wall),
        }


def train(case: Case, seconds: float) -> dict[str, Any]:
    """Runs one training."""
    config, make_env = case
    collect = config.collect
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="systems-") as folder:
        path = Path(folder) / "seconds"
        np.zeros(collect.num_environments).tofile(path)
        workers = -(-collect.num_environments // collect.environments_per_worker)
        environments: Any = TimedEnvironments(make_env, str(path))
        if find_system(config.system).together and hasattr(make_env, "make_vector"):
            workers, environments = 0, make_env
        watch = Watch(seconds, path, workers)
        trainer = Trainer(config, environments, Path(folder) / "run", after_update=watch)
        trainer.train()
        if trainer.interrupted:
            raise SystemExit("interrupted: nothing is reported")
        return watch.figures() | {"seed": config.seed, "load_before": load}


def skill_case(
    system: str,
    seed: int,
    skill: str,
    changes: Sequence[str] = (),
    where: Sequence[str] | None = None,
    waits: float = 0.0,
    given: Sequence[str] = (),
) -> Case:
    """Settings and environments of a skill or a navigation task.

    Args:
        system: Who waits for whom.
        seed: Of all that is random.
        skill: Its name.
        changes: Of the trainer's settings, key=value.
        where: Settings that say in which homes; None: in few.
        waits: Seconds to wait for each second of a step's computing, in a process for each environment.
        given: Further settings, key=value, which win.
    """
    settings = COMMON | {
        "collect.environments_per_worker": "1" if waits else str(N // 2),
        "system": system,
        "seed": str(seed),
    }
    if where is None:
        where = FEW_BUILDINGS if skill in navigation_names() else FEW_APARTMENTS
    words = [f"{key}={value}" for key, value in settings.items()]
    alone = ("collect.num_inference_workers=1",) if system in ALONE else ()
    overrides = [*where, *(f"trainer.{word}" for word in (*words, *changes)), *given]
    overrides += [f"trainer.{word}" for word in alone]
    loaded = load_settings(skill, overrides)
    make_env = make_environments(loaded)
    return loaded.trainer, WaitingEnvironments(make_env, waits) if waits else make_env


def skill_limit(skill: str, seed: int, waits: float = 0.0, given: Sequence[str] = ()) -> float:
    """Steps per second of pure simulation: what one environment does in this process, on each core.

    What waits is slower where all workers wait longer than the cores compute. Without settings of its own there
    are two workers, and where it waits one for each environment.
    """
    config, make_env = skill_case("ver", seed, skill, given=given)
    collect = skill_case("ver", seed, skill, waits=waits, given=given)[0].collect
    workers = -(-collect.num_environments // collect.environments_per_worker)
    env, spread = make_env(0, seed), config.network.initial_log_std
    simulate(env, seed, spread, WARM_S)  # compiles, and makes a home
    steps, busy_s, waited_s = simulate(env, seed, spread, LIMIT_S, waits)
    env.close()
    each = steps / (busy_s + waited_s)
    return min(steps / busy_s * min(processors(), workers), each * workers)


def simulate(
    env: Any, seed: int, spread: float, seconds: float, waits: float = 0.0
) -> tuple[int, float, float]:
    """Let one environment play for some seconds by random actions, as spread as an untrained policy's.

    Episodes begin as in a training, where a home serves several.

    Args:
        env: The environment.
        seed: Of episodes and actions.
        spread: Logarithm of the deviation of actions, in half ranges.
        seconds: How long.
        waits: Seconds that it would wait for each second of a step's computing.

    Returns:
        Steps, seconds that they and the resets took, and seconds that it would have waited.
    """
    order, rng, number, steps, over = EpisodeOrder(seed), np.random.default_rng(seed), 0, 0, True
    waited_s, begin = 0.0, time.perf_counter()
    env.action_space.seed(seed)
    while not steps or time.perf_counter() - begin < seconds:
        if over:
            number += 1
            own, options = order.beginning(0, number)
            env.reset(seed=own, options=options)
        action = random_action(env.action_space, spread, rng)
        before = time.thread_time()
        _, _, terminated, truncated, _ = env.step(action)
        waited_s += min(MOST_WAIT_S, waits * (time.thread_time() - before))
        steps, over = steps + 1, terminated or truncated
    return steps, time.perf_counter() - begin, waited_s


def random_action(space: spaces.Space, spread: float, rng: np.random.Generator) -> Any:
    """An action of a Box as an untrained policy draws it; of others any, with the same chance."""
    if not isinstance(space, spaces.Box):
        return space.sample()
    half = (space.high - space.low) / 2
    drawn = space.low + half * (1.0 + math.exp(spread) * rng.standard_normal(space.shape))
    return np.clip(drawn, space.low, space.high).astype(space.dtype)


def compare(options: Any) -> dict[str, Any]:
    """Runs all systems in turn, as often as asked, and sums up."""
    limits: list[float] = []
    runs: dict[str, list[dict[str, Any]]] = {system: [] for system in options.systems}
    refused: dict[str, str] = {}
    for repeat in range(options.repeats):
        seed = options.seed + repeat
        shift = repeat % len(runs)
        for system in [*options.systems[shift:], *options.systems[:shift]]:
            if system in refused:
                continue
            limits.append(skill_limit(options.skill, seed, options.waits, options.settings))
            case = skill_case(
                system, seed, options.skill, waits=options.waits, given=options.settings
            )
            try:
                run = train(case, options.seconds)
            except UserError as error:
                refused[system] = str(error)
                continue
            runs[system].append(run)
            print(f"{options.skill}, {system}, seed {seed}: {run}", file=sys.stderr, flush=True)
    limit = float(np.mean(limits))
    systems = {name: summarise(each, limit) for name, each in runs.items() if each}
    return {"limit": limit, "systems": systems, "refused": refused}


def summarise(runs: list[dict[str, Any]], limit: float) -> dict[str, Any]:
    """Means over the repeats and their spread, and the runs themselves."""
    mean = np.array([run["mean_sps"] for run in runs])
    fastest = np.array([run["max_sps"] for run in runs])
    waiting = {
        name: float(np.mean([run["waiting"][name] for run in runs])) for name in runs[0]["waiting"]
    }
    return {
        "mean_sps": float(mean.mean()),
        "mean_sps_deviation": float(mean.std()),
        "max_sps": float(fastest.mean()),
        "max_sps_deviation": float(fastest.std()),
        "share_of_limit": float(mean.mean() / limit),
        "waiting": waiting,
        "runs": runs,
    }


def show(title: str, record: dict[str, Any]) -> None:
    """Prints the table."""
    table = Table(title=f"{title}: limit {record['limit']:,.0f} steps/s")
    columns = ("mean steps/s", "max steps/s", "of the limit")
    waits = ("environments wait", "inference waits", "no learning")
    for name in ("system", *columns, *waits):
        table.add_column(name, justify="left" if name == "system" else "right")
    for name, each in record["systems"].items():
        table.add_row(
            name,
            f"{each['mean_sps']:,.0f} ± {each['mean_sps_deviation']:,.0f}",
            f"{each['max_sps']:,.0f} ± {each['max_sps_deviation']:,.0f}",
            f"{each['share_of_limit']:.0%}",
            *(f"{share:.0%}" for share in each["waiting"].values()),
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)  # a log has room
    console.print(table)
    for name, reason in record["refused"].items():
        print(f"{name} refused: {reason}")


def main(arguments: Sequence[str]) -> int:
    """Compare the systems and report."""
    parser = OneLineParser(prog="benchmarks.systems", description=__doc__)
    # Of a time when there was another kind, too: results name commands that say it
    parser.add_argument("kind", nargs="?", choices=[KIND], help="the only one")
    parser.add_argument("--systems", default=",".join(system_names()), help="which, with commas")
    parser.add_argument("--skill", default="open_fridge", help="which skill, or navigation task")
    parser.add_argument(
        "--waits", type=float, default=0.0, metavar="TIMES", help="wait for a step's time so often"
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="least length of each run")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each system")
    parser.add_argument("--seed", type=int, default=1, help="of the first repeat")
    parser.add_argument(
        "--limit", action="store_true", help="pure simulation alone, trains nothing"
    )
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    parser.add_argument(
        "--settings", nargs="*", default=[], metavar="key=value", help="of the skill's training"
    )
    options = parser.parse_args(arguments)
    options.systems = options.systems.split(",")
    for kind, given, valid in (
        ("system", options.systems, system_names()),
        ("skill", [options.skill], (*skill_names(), *navigation_names())),
    ):
        for name in given:
            if name not in valid:
                parser.error(f"unknown {kind} '{name}': choose one of {', '.join(valid)}")
    if options.seconds <= 0 or options.repeats < 1:
        parser.error("--seconds and --repeats must be above zero")
    if options.waits < 0:
        parser.error(f"--waits must be at least 0, found {options.waits:g}")
    load_settings(options.skill, options.settings)  # names what is wrong in them
    origin = made("benchmarks.systems", arguments, what="systems: skill", seed=options.seed)
    record: dict[str, Any] = {"made": origin, "settings": vars(options)}
    if options.limit:
        limit = skill_limit(options.skill, options.seed, options.waits, options.settings)
        found: dict[str, Any] = {"limit": limit, "systems": {}, "refused": {}}
    else:
        found = compare(options)
    record["environments"] = {KIND: found}
    show(options.skill, record["environments"][KIND])
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
