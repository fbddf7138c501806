"""`python -m benchmarks.install`: the wheel in an empty environment, as a stranger gets it, and its price.

Builds the wheel, makes an empty virtual environment in a folder outside the checkout, downloads what the
wheel needs without pip's cache, installs it, and runs there `rearrange demo`, `gym.make`, `rearrange doctor`,
a short training and an evaluation of what came of it. Told are minutes and megabytes; the first step that
fails ends it. PyTorch's build without CUDA is taken where pip is told of it: PIP_EXTRA_INDEX_URL or
PIP_FIND_LINKS, as in docs/install.md.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rearrange.command_line import OneLineParser, output_file
from rearrange.errors import UserError
from skills.command import run_command
from skills.provenance import ROOT, made, write_result

TORCH = "torch==2.13.0"  # as scripts/setup.sh installs
LEFT_OUT = ("docs/", "results/", "tests/")  # of what the wheel is built from
GYM = "import gymnasium, rearrange; print(gymnasium.make('rearrange/Pick-v0').reset(seed=0)[0])"
MB = 1e6


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout from a copy, so that nothing is left in the checkout."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    with tempfile.TemporaryDirectory() as copy:
        for name in filter(None, names.split("\0")):
            if (ROOT / name).is_file() and not name.startswith(LEFT_OUT):
                target = Path(copy, name)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes((ROOT / name).read_bytes())
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet"]
        run([*pip, "--no-deps", "--wheel-dir", str(folder), copy], folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def run(command: Sequence[str], folder: Path) -> str:
    """Run a command in a folder as one who has no checkout; returns what it printed.

    Raises:
        UserError: It failed.
    """
    done = subprocess.run(
        command, cwd=folder, env=outside(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = (done.stderr or done.stdout).strip()[-2000:]
        raise UserError(f"{' '.join(command)}: exit status {done.returncode}: {last}")
    return done.stdout + done.stderr


def outside() -> dict[str, str]:
    """The variables of this process, without those that lead to a checkout or another environment."""
    led = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONHOME")
    return {name: value for name, value in os.environ.items() if name not in led}


def size(folder: Path) -> float:
    """Megabytes of all files in a folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files) / MB


def measure(folder: Path, steps: int) -> dict[str, Any]:
    """Install and use the wheel in a folder.

    Args:
        folder: Empty, outside the checkout.
        steps: Of the training.

    Returns:
        Minutes of each part, and megabytes.
    """
    minutes: dict[str, float] = {}
    home, wheels, venv = folder / "home", folder / "wheels", folder / "venv"
    home.mkdir()
    wheel = build_wheel(folder)
    run([sys.executable, "-m", "venv", str(venv)], home)
    python, command = str(venv / "bin" / "python"), str(venv / "bin" / "rearrange")
    empty = size(venv)
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    local = [*pip, "install", "--no-index", "--find-links", str(wheels), TORCH, str(wheel)]
    plain = ["stages=[]", f"trainer.total_steps={steps}"]
    parts = {
        "download": [*pip, "download", "--dest", str(wheels), TORCH, str(wheel)],
        "install": local,
        "demo": [command, "demo"],
        "gym.make": [python, "-c", GYM],
        "doctor": [command, "doctor"],
        "train": [command, "train", "pick", *plain],
        "eval": [command, "eval", "pick", "--episodes", "2",
                 "--checkpoint", "runs/pick/policy.safetensors"],
    }  # fmt: skip
    megabytes = {"wheel": wheel.stat().st_size / MB}
    for name, words in parts.items():
        begun = time.perf_counter()
        told = run(words, home)
        minutes[name] = (time.perf_counter() - begun) / 60
        print(
            f"{name}: {minutes[name]:.1f} minutes; {(told.strip() or 'done').splitlines()[-1]}",
            flush=True,
        )
        if name == "download":
            megabytes["download"] = size(wheels)
        if name == "install":
            megabytes["installed"] = size(venv) - empty
    return {"minutes": minutes, "megabytes": megabytes}


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line."""
    parser: ArgumentParser = OneLineParser(prog="benchmarks.install", description=__doc__)
    parser.add_argument("--steps", type=int, default=4096, help="of the training (4096)")
    parser.add_argument("--json", type=output_file, metavar="PATH", help="keep the figures there")
    options = parser.parse_args(arguments)
    if not 64 <= options.steps <= 1_000_000:
        parser.error(f"--steps must be from 64 to 1000000, found {options.steps}")
    return options


def main(arguments: Sequence[str]) -> int:
    """Install, use and tell."""
    options = parse(arguments)
    origin = made("benchmarks.install", arguments, what="the wheel in an empty environment")
    record = {"made": origin, "steps": options.steps, "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory() as folder:
        record |= measure(Path(folder), options.steps)
    told = ", ".join(f"{name} {value:.0f} MB" for name, value in record["megabytes"].items())
    print(f"{told}; {sum(record['minutes'].values()):.1f} minutes in all")
    if options.json:
        write_result(options.json, record)
    return 0


if __name__ == "__main__":
    run_command(main)
