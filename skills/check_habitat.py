"""`scripts/check_habitat.sh`: what of Habitat is installed, what is missing, and one frame rendered with it."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Sequence
from pathlib import Path

import imageio.v3 as imageio
import numpy as np

from rearrange.command_line import OneLineParser
from rearrange.habitat.process import INSTALL
from rearrange.habitat.simulator import HabitatSimulator
from rearrange.render.camera import FAR
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import make_task
from skills.command import run_command
from skills.habitat_lab import INSTALL_LAB, download_command

FRAME = Path("habitat_frame.png")
# Where habitat's downloader puts what habitat-lab's rearrangement tasks load, and what it calls it.
DATA_SETS = {
    "replica_cad": "replica_cad_dataset",
    "robots/hab_fetch": "hab_fetch",
    "objects/ycb": "ycb",
    "datasets/replica_cad/rearrange/v2": "rearrange_dataset_v2",
}


def main(arguments: Sequence[str]) -> int:
    """Print a line for each thing; 0 if our tasks can run on habitat-sim, else 1."""
    parser = OneLineParser(prog="check_habitat", description=__doc__)
    parser.add_argument("--data", default="data", help="where Habitat's data lie")
    parser.add_argument("--frame", type=Path, default=FRAME, help="picture to write")
    options = parser.parse_args(arguments)
    simulator = _tell_package("habitat_sim", "habitat-sim", INSTALL)
    lab = _tell_package("habitat", "habitat-lab", f"{INSTALL_LAB} (for its own tasks only)")
    if lab:
        for folder, name in DATA_SETS.items():
            there = (Path(options.data) / folder).exists()
            command = download_command(name, f"{options.data}/")
            print(f"{name}: " + ("there" if there else f"not there, get it with: {command}"))
        print("(these data are for habitat-lab's own tasks; sim=habitat needs none of them)")
    if not simulator:
        return 1
    print("starting the engine and rendering a frame: a minute at first ...", flush=True)
    _render(options.frame)
    print("sim=habitat works")
    return 0


def _tell_package(module: str, package: str, mend: str) -> bool:
    """Print one line on whether a package is installed."""
    if importlib.util.find_spec(module) is None:
        print(f"{package}: missing, get it with: {mend}")
        return False
    try:
        version = importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        version = "built from source"
    print(f"{package}: {version}")
    return True


def _render(path: Path) -> None:
    """Write what the robot sees at the start of a Pick episode: depth in grey, near is light; and colours."""
    episode = make_task("pick").sample_episode("val", np.random.default_rng(0))
    simulator = HabitatSimulator(1, SimulatorConfig(camera_size=128))
    try:
        simulator.reset([0], [episode])
        depth, colours = simulator.render_depth()[0], simulator.render_rgb()[0]
    finally:
        simulator.close()
    grey = (255 * (1.0 - depth / FAR)).astype(np.uint8)
    imageio.imwrite(path, np.concatenate([np.repeat(grey[..., None], 3, axis=2), colours], axis=1))
    print(f"one frame: depth from {depth.min():.2f} to {depth.max():.2f} m, written to {path}")


if __name__ == "__main__":
    run_command(main)
