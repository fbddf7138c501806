"""`python -m benchmarks.device_apartments --device cuda`: homes simulated by the thousand on one device.

Worlds begin in start states of Pick and Place: things at rest, and in every second world one in the hand. All
take random actions of arm, suction cup and base, each held for eight steps. Told are steps per second of
physics alone, images per second that the device draws of these homes, and steps with an image each, for several
numbers of worlds; the same of the simulator on the CPU and its painter, on all cores, in the same run; what a
world needs of the device's memory; how full its buffers were; how long kernels took to compile and to be
captured; and how far a few worlds are off the CPU's after thirty steps of the same actions.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from rearrange.batched import check_installed
from rearrange.batched.bank import Bank, make_bank
from rearrange.batched.starts import Starts, make_starts
from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.episodes import Episode
from rearrange.errors import UserError
from rearrange.robot import RobotSpec, find_robot
from rearrange.scenes.registry import CLASSIC, HOMES, spec_of_homes
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.tasks import make_task
from rearrange.tasks.fitness import draw
from rearrange.tasks.sampling import source_of
from rearrange.threads import cores
from skills.command import run_command
from skills.provenance import made, write_result

TASKS = ("pick", "place")
ATTEMPTS = 200  # of drawing a start that is fit
HELD_FOR = 8  # steps, each action
AGREEMENT_STEPS = 30
POSE_TOLERANCE = 1e-4  # m or rad: worlds that stay below it agree
CPU_WORLDS = 256
WARM_UP = 3  # steps: the first loads kernels, the second captures them
# Of an action, at most: joints [rad], motion forward [m], turn [rad]
LARGEST_JOINT, LARGEST_FORWARD, LARGEST_TURN = 0.08, 0.08, 0.08


def sample_episodes(options: Any, robot: RobotSpec) -> list[Episode]:
    """Start states of TASKS in turn, fit to be played."""
    rng, scene = np.random.default_rng(options.seed), spec_of_homes(options.homes)
    simulator = MujocoSimulator(1, SimulatorConfig(), scene)
    source = source_of(options.split, options.homes)
    tasks = [make_task(name, None, 1, robot, scene) for name in TASKS]
    episodes = []
    for k in range(options.starts):
        sample = partial(tasks[k % len(tasks)].sample_episode, source, rng)
        episode = draw(sample, simulator, 0, ATTEMPTS, Counter())
        if episode is None:
            raise UserError(f"{TASKS[k % len(tasks)]}: no start of {ATTEMPTS} was fit")
        episodes.append(episode)
    return episodes


def random_actions(rng: np.random.Generator, blocks: int, count: int, joints: int) -> np.ndarray:
    """Actions in physical units, of which each is held for HELD_FOR steps [blocks, N, J + 3]."""
    largest = [*[LARGEST_JOINT] * joints, 1.0, LARGEST_FORWARD, LARGEST_TURN]
    return rng.uniform(-1.0, 1.0, (blocks, count, joints + 3)) * largest


class Device:
    """Worlds on the device."""

    def __init__(
        self, parts: tuple[Bank, Starts, SimulatorConfig, RobotSpec], options: Any
    ) -> None:
        """Take what they are made of."""
        import warp  # pyright: ignore[reportMissingImports]

        self.warp, self.parts, self.options = warp, parts, options

    def make(self, count: int) -> tuple[Any, Any]:
        """N worlds, each in a start, and the starts on the device."""
        from rearrange.batched.physics import BatchedPhysics

        bank, starts, config, robot = self.parts
        physics = BatchedPhysics(bank, count, config, robot, self.options.device)
        pool = physics.upload(starts)
        self.reset(physics, pool)
        return physics, pool

    def reset(self, physics: Any, pool: Any) -> None:
        """Put all worlds into starts, in turn, and wait until they are there."""
        count = physics.count
        physics.reset(range(count), pool, np.arange(count) % len(self.parts[1]))
        physics.synchronise()

    def measure(self, count: int) -> dict[str, Any]:
        """Time N worlds, and see what they need."""
        gc.collect()  # worlds of before, whose memory would count as free later
        used = self._used()
        begin = time.perf_counter()
        physics, pool = self.make(count)
        built = time.perf_counter()
        rng = np.random.default_rng([self.options.seed, count])
        blocks = -(-self.options.steps // HELD_FOR)
        host = random_actions(rng, blocks + 1, count, len(self.parts[3].joints))
        actions = [self.warp.array(block, device=physics.device) for block in host]
        first = []
        for _ in range(WARM_UP):
            start = time.perf_counter()
            physics.step(actions[-1])
            physics.synchronise()
            first.append(time.perf_counter() - start)
        start = time.perf_counter()
        self.reset(physics, pool)
        reset = time.perf_counter() - start
        start = time.perf_counter()
        for block in actions[:-1]:
            for _ in range(HELD_FOR):
                physics.step(block)
        physics.synchronise()
        seconds = time.perf_counter() - start
        worlds = physics.records.numpy()
        lost = ~np.isfinite(worlds["object_position"]).all(axis=(1, 2))
        lost |= ~np.isfinite(worlds["arm_joints"]).all(axis=1)
        return {
            "worlds": count,
            "steps_per_second": blocks * HELD_FOR * count / seconds,
            "ms_per_step_of_all": 1e3 * seconds / (blocks * HELD_FOR),
            "steps": blocks * HELD_FOR,
            **self._draw(physics, actions[0]),
            "build_seconds": built - begin,
            "first_step_seconds": first[0],
            "capture_seconds": first[1],
            "reset_of_all_ms": 1e3 * reset,
            "kilobytes_per_world": (self._used() - used) / count / 1e3,
            "peaks": physics.peaks(),
            "overflow": _overflow(physics),
            "worlds_lost": int(lost.sum()),
            "worlds_that_hold": int((worlds["held_object"] >= 0).sum()),
            "largest_force": float(np.nanmax(worlds["contact_force"])),
        }

    def _draw(self, physics: Any, action: Any) -> dict[str, float]:
        """Time images alone, and steps with an image each; nothing where none are asked for."""
        size, count = self.options.size, physics.count
        if not size:
            return {}
        from rearrange.batched.images import HomeImages

        bank, starts, _, robot = self.parts
        images = HomeImages(physics, bank, robot)
        images.reset(range(count), starts.homes[np.arange(count) % len(starts)])
        images.draw(size)  # compiles

        def time_of(steps: bool) -> float:
            physics.synchronise()
            begin = time.perf_counter()
            for _ in range(HELD_FOR):
                if steps:
                    physics.step(action)
                shown = images.draw(size)
            shown[-1, -1, -1].cpu()  # waits for it
            return HELD_FOR * count / (time.perf_counter() - begin)

        return {"images_per_second": time_of(False), "steps_with_images_per_second": time_of(True)}

    def _used(self) -> int:
        """Bytes of the device's memory in use; 0 on the CPU."""
        device = self.warp.get_device(self.options.device)
        return device.total_memory - device.free_memory if device.is_cuda else 0


def _overflow(physics: Any) -> str:
    """Return what overflowed, or nothing."""
    try:
        physics.check()
    except UserError as error:
        return str(error)
    return ""


def measure_cpu(
    parts: tuple[Bank, Starts, SimulatorConfig, RobotSpec],
    episodes: Sequence[Episode],
    options: Any,
) -> dict[str, Any]:
    """Steps per second of the simulator on the CPU, on all cores."""
    _, _, config, robot = parts
    scene = spec_of_homes(options.homes)
    simulator = MujocoSimulator(CPU_WORLDS, config, scene, cores())
    simulator.reset(range(CPU_WORLDS), [episodes[i % len(episodes)] for i in range(CPU_WORLDS)])
    blocks = -(-options.steps // HELD_FOR)
    rng = np.random.default_rng(options.seed)
    actions = random_actions(rng, blocks + 1, CPU_WORLDS, len(robot.joints))
    simulator.step(actions[-1])
    start = time.perf_counter()
    for block in actions[:-1]:
        for _ in range(HELD_FOR):
            simulator.step(block)
    seconds = time.perf_counter() - start
    rate = blocks * HELD_FOR * CPU_WORLDS / seconds
    told = {"worlds": CPU_WORLDS, "cores": cores(), "steps_per_second": rate}
    if options.size:
        simulator.render_depth(options.size)
        start = time.perf_counter()
        for _ in range(HELD_FOR):
            simulator.render_depth(options.size)
        seconds = time.perf_counter() - start
        told["images_per_second"] = HELD_FOR * CPU_WORLDS / seconds
    simulator.close()
    return told


def agreement(device: Device, episodes: Sequence[Episode], options: Any) -> dict[str, Any]:
    """Compare a few worlds with those of the CPU after AGREEMENT_STEPS steps of the same actions."""
    _, _, config, robot = device.parts
    count = min(options.compared, len(episodes))
    physics, _ = device.make(count)
    simulator = MujocoSimulator(count, config, spec_of_homes(options.homes))
    simulator.reset(range(count), episodes[:count])
    rng = np.random.default_rng([options.seed, 7])
    touched = np.zeros(count, bool)
    for k in range(AGREEMENT_STEPS):
        if k % HELD_FOR == 0:
            action = random_actions(rng, 1, count, len(robot.joints))[0]
        physics.step(action)
        simulator.step(action)
        touched |= simulator.state.contact_force > 0.0
    found, true = physics.records.numpy(), simulator.state.worlds
    fields = ("arm_joints", "end_effector_position", "object_position", "articulated_joints")
    off = {name: np.abs(found[name] - true[name]).reshape(count, -1).max(axis=1) for name in fields}
    worst = np.max(list(off.values()), axis=0)
    return {
        "worlds": count,
        "steps": AGREEMENT_STEPS,
        "median_error": float(np.median(worst)),
        "largest_error": float(worst.max()),
        "largest_error_without_touch": float(worst[~touched].max(initial=0.0)),
        "worlds_that_touched": int(touched.sum()),
        "worlds_within_tolerance": int((worst <= POSE_TOLERANCE).sum()),
        "tolerance": POSE_TOLERANCE,
        "largest_of": {name: float(errors.max()) for name, errors in off.items()},
    }


def show(result: dict[str, Any]) -> None:
    """Prints the table."""
    table = Table(title=f"homes on {result['device']}: physics alone, and depth images")
    heads = "worlds", "steps/s", "times the CPU", "images/s", "steps/s with them"
    for name in (*heads, "kB a world", "lost", "overflow"):
        table.add_column(name, justify="right")
    of_cpu = result["cpu"]["steps_per_second"]
    for each in result["runs"]:
        table.add_row(
            f"{each['worlds']:,}",
            f"{each['steps_per_second']:,.0f}",
            f"{each['steps_per_second'] / of_cpu:.2f}",
            _rate(each, "images_per_second"),
            _rate(each, "steps_with_images_per_second"),
            f"{each['kilobytes_per_world']:.0f}",
            f"{each['worlds_lost']}",
            each["overflow"] or "no",
        )
    console = Console(width=120)
    console.print(table)
    images = _rate(result["cpu"], "images_per_second")
    cores_told = f"CPU, {result['cpu']['cores']} cores"
    console.print(f"{cores_told}: {of_cpu:,.0f} steps/s, {images or 'no'} images/s")
    console.print(f"against the CPU's: {result['agreement']}")


def _rate(told: dict[str, Any], name: str) -> str:
    """A figure a second; empty where it was not asked for."""
    return f"{told[name]:,.0f}" if name in told else ""


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.device_apartments", description=__doc__)
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1 or cpu (cuda)")
    parser.add_argument("--worlds", default="256,1024,4096", help="with commas (256,1024,4096)")
    parser.add_argument("--size", type=int, default=64, help="of images, pixels; 0: none (64)")
    parser.add_argument("--steps", type=int, default=96, help="of each number of worlds (96)")
    parser.add_argument("--starts", type=int, default=32, help="different start states (32)")
    parser.add_argument("--compared", type=int, default=16, help="worlds held to the CPU's (16)")
    parser.add_argument("--homes", default=CLASSIC, choices=HOMES["choices"], help="(classic)")
    parser.add_argument("--split", default="train", help="whose homes (train)")
    parser.add_argument("--seed", type=int, default=1, help="of starts and actions (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "steps", "starts", "compared")
    try:
        options.worlds = [int(word) for word in options.worlds.split(",")]
    except ValueError:
        options.worlds = []
    if not options.worlds or min(options.worlds) < 1:
        raise UserError("--worlds: whole numbers of at least 1, with commas")
    source_of(options.split, options.homes)
    return options


def check_device(name: str, draws: bool) -> None:
    """Raise a UserError where Warp finds no such device, or it cannot draw, before homes are made."""
    from rearrange.batched.physics import find_device
    from rearrange.render.device import CPU, CUDA
    from rearrange.render.device import check_device as check_drawing

    device = find_device(name)
    if draws:
        check_drawing(CUDA if device.is_cuda else CPU, "without --size 0, --device")


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    options = parse(arguments)
    check_installed()
    check_device(options.device, options.size > 0)
    what = "homes on a device"
    origin = made(
        "benchmarks.device_apartments", arguments, what=what, seed=options.seed,
        split=options.split, homes=options.homes,
    )  # fmt: skip
    begin = time.perf_counter()
    config, robot = SimulatorConfig(), find_robot()
    episodes = sample_episodes(options, robot)
    bank = make_bank(dict.fromkeys((e.layout, e.variation) for e in episodes), config, robot)
    starts = make_starts(MujocoSimulator(1, config, spec_of_homes(options.homes)), bank, episodes)
    parts = (bank, starts, config, robot)
    prepared = time.perf_counter() - begin
    device = Device(parts, options)
    told = Console(stderr=True)
    runs = []
    for count in options.worlds:
        runs.append(device.measure(count))
        told.print(runs[-1])  # if what follows is cut short
    result = {
        "device": device.warp.get_device(options.device).name,
        "prepare_seconds": prepared,
        "runs": runs,
        "cpu": measure_cpu(parts, episodes, options),
        "agreement": agreement(device, episodes, options),
    }
    result["seconds"] = time.perf_counter() - begin
    show(result)
    if options.json:
        write_result(options.json, {"made": origin, **result})
    return 0


if __name__ == "__main__":
    run_command(main)
