"""`python -m benchmarks.habitat`: our worlds and Habitat's, side by side on one machine.

Four ways to step Pick with the same 128 x 128 depth image and random actions, each in a process of its own,
a block of steps at a time and in turn, so that whatever else the machine does hits all of them:

- `mujoco`: our environment on MuJoCo, the default;
- `habitat`: our environment on habitat-sim (`sim=habitat`), whose engine is one more process;
- `bare`: the engine alone, in this process: four substeps of physics and an image, and no task;
- `habitat-lab`: habitat-lab's own RearrangePickTask-v0, in one of our apartments (habitat_lab_scene.py).

With `--train STEPS`, our trainer then trains Pick on each with as many workers as `--workers` says, in turn;
its rate counts everything from the second rollout on. What is rendered differs: MuJoCo's worlds are cast
analytically, without tessellation, Habitat's are drawn by its rasteriser, in software where there is no GPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnContext
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.systems import FEW_APARTMENTS
from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.habitat.process import check_installed
from rearrange.sim.mujoco import SimulatorConfig
from rearrange.tasks import make_task
from skills.command import run_command
from skills.habitat_lab import PREFIX, config_of
from skills.provenance import made, told_machine, write_result

SIZE = 128  # pixels
BLOCK = 50  # steps in one turn
WARM_UP = 200  # steps of each that are not measured
ROLLOUT = 128  # steps of each worker
LAB_TASK = f"{PREFIX}RearrangePickTask-v0"
LAB_EPISODES = 8
OURS = ("stages=[]", f"camera_size={SIZE}", *FEW_APARTMENTS)
TRAINING = (
    "trainer.collect.environments_per_worker=1",
    f"trainer.collect.rollout_length={ROLLOUT}",
    "trainer.tensorboard=false",
    "trainer.network.encoder=small_cnn",
)


@dataclass(frozen=True)
class Contestant:
    """One of the compared environments.

    Attributes:
        step: Takes a step; true: `reset` comes next.
        reset: Begins an episode.
    """

    step: Callable[[], bool]
    reset: Callable[[], Any]


def random_steps(env: gymnasium.Env, seed: int) -> Contestant:
    """Random actions in an environment, whose first episode begins here."""
    rng = np.random.default_rng(seed)
    env.reset(seed=seed)

    def step() -> bool:
        action = rng.uniform(-1.0, 1.0, env.action_space.shape or ()).astype(np.float32)
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    return Contestant(step, env.reset)


def our_environment(sim: str, seed: int, folder: Path) -> Contestant:
    """A step of our Pick environment on a simulator, starting over where an episode ends."""
    del folder
    from rearrange.sim.backends import make_simulator

    simulator = make_simulator(sim, 1, SimulatorConfig(camera_size=SIZE))
    env = RearrangeEnv("pick", split="val", simulator=simulator, seed=seed)
    return random_steps(env, seed)


def bare_engine(sim: str, seed: int, folder: Path) -> Contestant:
    """Four substeps and an image of the engine alone, in this process."""
    del sim, folder
    from rearrange.habitat.engine import Engine
    from rearrange.habitat.frames import quaternion_of, to_habitat_pose
    from rearrange.habitat.orders import base_poses, engine_scene, engine_settings
    from rearrange.habitat.simulator import HabitatSimulator

    ours = HabitatSimulator(1, SimulatorConfig(camera_size=SIZE))
    engine = Engine(engine_settings())
    rng = np.random.default_rng(seed)
    episode = make_task("pick").sample_episode("val", rng)
    x, y, yaw = episode.base_pose
    targets, at = np.array(episode.arm_joints), [yaw]

    def step() -> bool:
        nonlocal targets
        targets = targets + rng.uniform(-0.0375, 0.0375, len(targets))
        turn = rng.uniform(-0.02, 0.02)
        poses = base_poses(np.array([x, y, at[0], 0.0, 0.0, turn]))
        at[0] += 4 * turn
        engine.step(targets, poses, ("keep", -1))
        ours.state.base_pose[0] = x, y, at[0]
        position, rotation = ours.camera_pose(0)
        engine.render(*to_habitat_pose(position, quaternion_of(rotation)), SIZE)
        return False

    def reset() -> None:
        nonlocal targets
        engine.reset(engine_scene(episode))
        targets, at[0] = np.array(episode.arm_joints), yaw

    reset()
    return Contestant(step, reset)


def lab_environment(sim: str, seed: int, folder: Path) -> Contestant:
    """A step of habitat-lab's Pick in a composed scene."""
    del sim
    from skills.habitat_lab import HabitatLabEnv

    os.chdir(folder)  # habitat-lab writes its physics settings into ./data
    env = HabitatLabEnv(config_of(LAB_TASK), lab_overrides(folder, seed))
    return random_steps(env, seed)


def lab_overrides(folder: Path, seed: int) -> list[str]:
    """Write a scene for habitat-lab, and say how to use it."""
    from benchmarks.habitat_lab_scene import compose

    rng = np.random.default_rng(seed)
    task, episodes = make_task("pick"), []
    while len(episodes) < LAB_EPISODES:
        episode = task.sample_episode("val", rng)
        if not episodes or episode.variation == episodes[0].variation:
            episodes.append(episode)
    return [*compose(folder, episodes), f"habitat.seed={seed}"]


CONTESTANTS: dict[str, tuple[Callable[[str, int, Path], Contestant], str]] = {
    "mujoco": (our_environment, "mujoco"),
    "habitat": (our_environment, "habitat"),
    "bare": (bare_engine, ""),
    "habitat-lab": (lab_environment, ""),
}


def serve(name: str, seed: int, folder: Path, connection: Connection) -> None:
    """Take turns: times of so many steps, resets left out, and the memory they need."""
    make, sim = CONTESTANTS[name]
    contestant = make(sim, seed, folder)
    for _ in range(WARM_UP):  # some of it compiles when it is first used
        if contestant.step():
            contestant.reset()
    connection.send(None)
    while count := asked(connection):
        times: list[float] = []
        while len(times) < count:
            started = time.perf_counter()
            ended = contestant.step()
            times.append(time.perf_counter() - started)
            if ended:
                contestant.reset()
        connection.send((times, memory(os.getpid())))


def asked(connection: Connection) -> int:
    """Read how many steps come next; 0 when the other end is closed."""
    try:
        return connection.recv()
    except EOFError:
        return 0


def memory(pid: int) -> float:
    """Proportional set size of a process and all below it [MiB]."""
    total = 0.0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            total = int(line.split()[1]) / 1024
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return total + sum(memory(int(child)) for child in children)


def measure(options: Any, folder: Path) -> dict[str, Any]:
    """Time the contestants in turn."""
    context = SpawnContext()
    ends: dict[str, Connection] = {}
    processes = []
    for name in options.contestants:
        ours, theirs = context.Pipe()
        own = folder / name
        own.mkdir()
        # Not daemons: the engine is a child of theirs.
        process = context.Process(target=serve, args=(name, options.seed, own, theirs))
        process.start()
        theirs.close()
        processes.append(process)
        ends[name] = ours
    times: dict[str, list[float]] = {name: [] for name in ends}
    needed: dict[str, float] = {}
    try:
        for end in ends.values():
            end.recv()
        for turn in range(1 + -(-options.steps // BLOCK)):
            for name, end in ends.items():
                end.send(BLOCK)
                taken, needed[name] = end.recv()
                if turn > 0:  # the first compiles
                    times[name] += taken
    except EOFError:
        raise UserError("a contestant ended; its last words are above") from None
    finally:
        for end in ends.values():
            end.close()
        for process in processes:
            process.join(10.0)
            if process.is_alive():
                process.kill()
    return {name: summarise(times[name], needed[name]) for name in ends}


def summarise(times: list[float], needed: float) -> dict[str, float]:
    """Rate, spread and memory."""
    p50, p99 = np.percentile(np.array(times) * 1e3, [50, 99])
    return {
        "steps_per_second": 1.0 / float(np.mean(times)),
        "p50_ms": float(p50),
        "p99_ms": float(p99),
        "memory_mib": needed,
        "steps": len(times),
    }


def train(options: Any, folder: Path) -> dict[str, float]:
    """Environment steps per second of our trainer on each, one after the other."""
    kinds = {
        "mujoco": ["pick", "sim=mujoco", *OURS],
        "habitat": ["pick", "sim=habitat", *OURS],
    }
    if "habitat-lab" in options.contestants:
        lab = folder / "training"
        lab.mkdir()
        # Quoted, as some hold lists themselves
        chosen = json.dumps(lab_overrides(lab, options.seed))
        kinds["habitat-lab"] = [LAB_TASK, f"overrides={chosen}"]
    rates: dict[str, float] = {}
    for name, arguments in kinds.items():
        if name not in options.contestants:
            continue
        run = folder / f"run_{name}"
        common = [
            f"run={run}",
            f"trainer.total_steps={options.train}",
            f"trainer.seed={options.seed}",
            f"trainer.collect.num_environments={options.workers}",
        ]
        command = [sys.executable, "-m", "skills.train", *arguments, *common, *TRAINING]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
        if subprocess.run(command, cwd=folder, env=environment, stdout=sys.stderr).returncode:
            raise UserError(f"the training on {name} failed; its last words are above")
        rates[name] = training_rate(run)
    return rates


def training_rate(run: Path) -> float:
    """Steps per second of a run from its second rollout on."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    first, last = lines[0], lines[-1]
    return (last["steps"] - first["steps"]) / (last["seconds"] - first["seconds"])


def show(record: dict[str, Any]) -> None:
    """Print the figures as a table."""
    table = Table(title=f"Pick, {SIZE}x{SIZE} depth, one process each, in turn")
    for name in ("", "steps/s", "p50 ms", "p99 ms", "MiB", "trained steps/s"):
        table.add_column(name, justify="right" if name else "left")
    for name, figures in record["steps"].items():
        trained = record["training"].get(name)
        table.add_row(
            name,
            f"{figures['steps_per_second']:,.0f}",
            f"{figures['p50_ms']:.2f}",
            f"{figures['p99_ms']:.2f}",
            f"{figures['memory_mib']:,.0f}",
            "" if trained is None else f"{trained:,.0f}",
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=120)
    console.print(table)
    print(told_machine(record["made"]["machine"]))


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    parser = OneLineParser(prog="benchmarks.habitat", description=__doc__)
    parser.add_argument("contestants", nargs="*", help=f"of {', '.join(CONTESTANTS)}; none: all")
    parser.add_argument("--steps", type=int, default=2000, help="steps of each")
    parser.add_argument("--train", type=int, default=0, help="steps to train on each; 0: none")
    parser.add_argument("--workers", type=int, default=4, help="of the training")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    options.contestants = options.contestants or list(CONTESTANTS)
    for name in options.contestants:
        if name not in CONTESTANTS:
            raise UserError(f"unknown '{name}': choose one of {', '.join(CONTESTANTS)}")
    check_counts(options, "steps", "workers")
    first = ROLLOUT * options.workers
    if options.train and options.train <= first:
        raise UserError(
            f"--train must be 0, or above {first}, found {options.train}: the first rollout does not count"
        )
    if options.contestants != ["mujoco"]:
        check_installed()
    with tempfile.TemporaryDirectory() as folder:
        record = {
            "made": made("benchmarks.habitat", arguments, what="habitat-sim", seed=options.seed),
            "seed": options.seed,
            "camera_size": SIZE,
            "simulator": asdict(SimulatorConfig(camera_size=SIZE)),
            "steps": measure(options, Path(folder)),
            "training": {},
        }
        if options.train:
            show(record)  # what there is, should a training fail
            record["training"] = train(options, Path(folder))
    show(record)
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
