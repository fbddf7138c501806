"""`rearrange doctor`: what is installed, what is missing, and how fast this machine is.

Steps Pick's world with random actions for some seconds on one core, after its kernels are compiled. Ends
with 1 where something is missing that is needed.
"""

from __future__ import annotations

import importlib.util
import platform
import re
import sys
import time
from collections.abc import Sequence
from importlib import metadata
from typing import Any

from rearrange.command_line import OneLineParser, output_file
from skills.command import counted, machine, run_command, write_json

DISTRIBUTION = "rearrange"
OPTIONAL = {
    "matplotlib": "curves of trainings (rearrange plot)",
    "viser": "the page in 3D (rearrange live)",
    "huggingface_hub": "rearrange push and pull",
    "pyarrow": "rearrange record",
    "habitat_sim": "the other simulator (docs/habitat.md)",
    "pytest": "scripts/test.sh",
}
COLUMNS = 80  # of a terminal
SIMULATION_SHARE = 1 / 3  # of a training's time on a CPU, roughly: the rest is the network's


def packages() -> dict[str, str]:
    """Version of ours and of every package that it needs; "" where one is missing."""
    names = [re.split(r"[<>=!~;\[ ]", each, maxsplit=1)[0] for each in _needed()]
    return {name: _version(name) for name in (DISTRIBUTION, *names)}


def _needed() -> list[str]:
    try:
        return [each for each in metadata.requires(DISTRIBUTION) or [] if "extra ==" not in each]
    except metadata.PackageNotFoundError:
        return []


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def shipped_files() -> dict[str, int]:
    """Count the configs, policies and episode files that come with this installation."""
    from rearrange.shipped import SHIPPED

    return {
        "configs": len(list(SHIPPED.glob("configs/*.yaml"))),
        "policies": len(list(SHIPPED.glob("data/checkpoints/*.safetensors"))),
        "episode files": len(list(SHIPPED.glob("data/episodes/*/val.json.gz"))),
    }


def gpu() -> str:
    """The name of the first CUDA device, "" where PyTorch sees none."""
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""


def steps_per_second(seconds: float) -> float:
    """Steps of Pick's world, image included, in a second of one core."""
    import numpy as np

    from rearrange import RearrangeEnv, SimulatorConfig

    env = RearrangeEnv("pick", split="val", simulator=SimulatorConfig(camera_size=64))
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    env.step(env.action_space.sample())  # compiles
    env.reset(seed=0)
    count, begun = 0, time.perf_counter()
    while not count or time.perf_counter() < begun + seconds:
        _, _, terminated, truncated, _ = env.step(rng.uniform(-1, 1, env.action_space.shape))
        count += 1
        if terminated or truncated:
            env.reset()
    passed = time.perf_counter() - begun
    env.close()
    return count / passed


def examine(seconds: float) -> dict[str, Any]:
    """All that is told."""
    optional = {name: importlib.util.find_spec(name) is not None for name in OPTIONAL}
    found = {"machine": machine(), "packages": packages(), "optional": optional}
    found |= {"files": shipped_files(), "gpu": gpu()}
    if seconds > 0:
        found["steps_per_second"] = steps_per_second(seconds)
    return found


def lines_of(found: dict[str, Any]) -> list[str]:
    """Lay out the findings for a screen of 80 columns."""
    here = found["machine"]
    lines = [
        f"machine   {here['cpu']}, {counted(here['cores'], 'core')}",
        f"python    {here['python']}, {platform.system()} {platform.machine()}",
        f"GPU       {found['gpu'] or 'none that PyTorch sees; none is needed'}",
    ]
    told = [f"{name} {version or 'MISSING'}" for name, version in found["packages"].items()]
    for begin in range(0, len(told), 3):
        label = "packages" if begin == 0 else ""
        lines.append(
            f"{label:10}" + "".join(f"{each:23}" for each in told[begin : begin + 3]).rstrip()
        )
    width = max(map(len, OPTIONAL))
    for name, there in found["optional"].items():
        has = "there" if there else "not there"
        lines.append(f"{'extra':10}{name:{width}} {has:9} for {OPTIONAL[name]}")
    for name, count in found["files"].items():
        lines.append(f"{name:14}{count or 'MISSING'}")
    if "steps_per_second" in found:
        rate = found["steps_per_second"]
        trained = rate * here["cores"] * SIMULATION_SHARE
        lines += [
            f"speed         {rate:,.0f} steps/s of Pick on one core (random actions, 64x64 depth)",
            f"              so a million steps of training take roughly {1e6 / trained / 60:.0f} minutes",
        ]
    return [line[:COLUMNS] for line in lines]


def main(arguments: Sequence[str]) -> int:
    """Tell; 1 where something is missing that is needed."""
    parser = OneLineParser(prog="rearrange doctor", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0, help="of stepping (5); 0: none")
    parser.add_argument(
        "--json", type=output_file, metavar="PATH", help="also write all of it there"
    )
    options = parser.parse_args(arguments)
    if not 0.0 <= options.seconds <= 600.0:
        parser.error(f"--seconds must be from 0 to 600, found {options.seconds:g}")
    if options.seconds:
        print("stepping the simulator; its first start compiles for a minute", file=sys.stderr)
    found = examine(options.seconds)
    print("\n".join(lines_of(found)))
    if options.json:
        write_json(options.json, found)
    whole = all(found["packages"].values()) and all(found["files"].values())
    if not found["packages"][DISTRIBUTION]:
        print(f"{DISTRIBUTION} is not installed, so what it needs is unknown: pip install -e .")
    print("all that is needed is there" if whole else "something is MISSING: see above")
    return 0 if whole else 1


if __name__ == "__main__":
    run_command(main)
