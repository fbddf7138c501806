"""`python -m benchmarks.device_images --device cuda`: depth images on a device beside the painter's on the CPU.

N agents of PointNav stand in homes. Told are the share of pixels in which the device's images differ by more
than 1 mm from the painter's, images per second by the device and by the painter on all cores, and steps per
second with images of each (a simulation alone: random actions, of which one in a hundred stops).
`--device cpu` draws on the CPU as the device does, a pixel at a time: it is for tests.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from nav.agent import TENSORS, AgentConfig
from nav.buildings import building_names
from nav.env import NavVectorEnv
from rearrange.command_line import OneLineParser, check_counts, output_file
from rearrange.errors import UserError
from rearrange.render.device import CPU, CUDA, check_device
from rearrange.scenes.registry import CLASSIC
from rearrange.threads import cores
from skills.command import run_command
from skills.provenance import made, write_result

OFF = 1e-3  # [m], by which a pixel differs
STOPS = 0.01  # share of actions
DRAWS, STEPS = 10, 20  # of all agents, between two looks at the clock
SPLIT = "val"
WHO = ("device", "painter")


class Agents:
    """N agents of PointNav whose images are drawn on a device, or by the painter."""

    def __init__(self, device: str, count: int, size: int, options: Any) -> None:
        """Begin an episode each."""
        agent = AgentConfig(camera_size=size, draw_on=TENSORS if device == CPU else device)
        self.env = NavVectorEnv(count, "pointnav", None, SPLIT, options.homes, agent)
        self.worlds, self.device, self.count = self.env.worlds, device, count
        self._on_device = self.worlds._device
        self._rng = np.random.default_rng(options.seed)
        self.env.reset(seed=options.seed)

    def on_device(self, wanted: bool) -> None:
        """Choose who draws from now on."""
        self.worlds._device = self._on_device if wanted else None

    def drawn(self) -> np.ndarray:
        """Images of all agents [N, H, W, 1], metres."""
        images = self.worlds.new_images()
        self.worlds.draw(images)
        depth = images["depth"]
        depth = depth if isinstance(depth, np.ndarray) else depth.cpu().numpy()
        return depth * self.worlds.config.depth_range

    def draw(self) -> None:
        """Draw all agents' images some times."""
        for _ in range(DRAWS):
            self.worlds.draw(self.worlds.new_images())

    def step(self) -> None:
        """Take some steps."""
        for _ in range(STEPS):
            actions = self._rng.integers(1, 4, self.count)
            actions[self._rng.random(self.count) < STOPS] = 0
            self.env.step(actions)

    def rate(self, work: Callable[[], None], times: int, repeats: int) -> float:
        """Median of how many images or steps a second were made by some work that makes N so many times."""
        rates = []
        for _ in range(repeats + 1):  # the first warms up
            self._wait()
            begin = time.perf_counter()
            work()
            self._wait()
            rates.append(self.count * times / (time.perf_counter() - begin))
        return median(rates[1:])

    def _wait(self) -> None:
        """Wait until the device is done."""
        if self.device == CUDA:
            torch.cuda.synchronize()


def measure(count: int, size: int, options: Any) -> dict[str, float]:
    """Figures of N agents."""
    agents = Agents(options.device, count, size, options)
    found: dict[str, float] = {}
    seen = agents.drawn()
    agents.on_device(False)
    found["share_off"] = float((np.abs(seen - agents.drawn()) > OFF).mean())
    for kind, work, times in (("images", agents.draw, DRAWS), ("steps", agents.step, STEPS)):
        for who in WHO:
            agents.on_device(who == WHO[0])
            found[f"{who}_{kind}_per_second"] = agents.rate(work, times, options.repeats)
    agents.env.close()
    return found


def show(results: dict[str, dict[str, dict[str, float]]], device: str) -> None:
    """Prints the table."""
    table = Table(title=f"depth on {device}, and by the painter on {cores()} cores")
    names = ("size", "agents", "off > 1 mm", "images/s", "painter's", "steps/s", "painter's")
    for name in names:
        table.add_column(name, justify="right")
    for size, by_count in results.items():
        for count, found in by_count.items():
            off = f"{100 * found['share_off']:.4f} %"
            kinds = "images", "steps"
            rates = (f"{found[f'{who}_{kind}_per_second']:,.0f}" for kind in kinds for who in WHO)
            table.add_row(size, count, off, *rates)
    Console().print(table)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="benchmarks.device_images", description=__doc__)
    parser.add_argument("--device", default=CUDA, choices=(CUDA, CPU), help="that draws (cuda)")
    parser.add_argument("--worlds", default="256,1024,4096", metavar="N,N", help="agents")
    parser.add_argument("--size", default="64,128", metavar="S,S", help="of images [pixels]")
    parser.add_argument("--homes", default=CLASSIC, help="of the validation split (classic)")
    parser.add_argument("--repeats", type=int, default=5, help="of which the median is told (5)")
    parser.add_argument("--seed", type=int, default=1, help="of episodes and actions (1)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="write the result here")
    options = parser.parse_args(arguments)
    check_counts(options, "repeats")
    options.worlds, options.size = _numbers(options, "worlds"), _numbers(options, "size")
    building_names(options.homes, SPLIT)
    check_device(options.device, "--device")
    return options


def _numbers(options: Any, name: str) -> list[int]:
    """Read the numbers of an option."""
    words = getattr(options, name).split(",")
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise UserError(f"--{name}: whole numbers of at least 1, with commas")
    return [int(word) for word in words]


def main(arguments: Sequence[str]) -> int:
    """Measure and report."""
    options = parse(arguments)
    what = "depth images drawn on a device"
    origin = made("benchmarks.device_images", arguments, what=what, seed=options.seed, split=SPLIT)
    results = {
        str(size): {str(count): measure(count, size, options) for count in options.worlds}
        for size in options.size
    }
    name = torch.cuda.get_device_name() if options.device == CUDA else CPU
    show(results, name)
    if options.json:
        record = {"made": origin, "device": name, "cores": cores(), "images": results}
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
