"""A tiny training that tells a tracker of itself, here or in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT, toy_environments
from tests.helpers.small_runs import small_run
from ver.trainer import Trainer

PROGRAM = """
import shutil
from pathlib import Path
import numpy as np
from rearrange.render import VideoWriter
from tests.helpers.tracked_run import train
from ver.logs import FILM
from ver.trackers import mark_stage
one, two = (Path({directory!r}, name) for name in ("one", "two"))
mark_stage(one, 0)
with VideoWriter(one / FILM) as film:
    film.write(np.zeros((64, 64, 3), np.uint8))
train(one, 64, {name!r})
mark_stage(two, 64)
for suffix in (".safetensors", ".json"):
    shutil.copy((one / "policy").with_suffix(suffix), (two / "best").with_suffix(suffix))
for steps in (32, 64):
    train(two, steps, {name!r})
"""


def train(directory: Path, steps: int, name: str = "wandb") -> dict:
    """Train up to so many steps with the tracker of this name."""
    words = ["collect.num_environments=2", f"tracker={name}", "project=mine"]
    config = small_run(f"total_steps={steps}", *words)
    return Trainer(config, toy_environments.make_cue, directory, {"skill": "remember"}).train()


def train_stages(directory: Path, name: str, **environment: str) -> str:
    """Train two stages, the second interrupted and resumed; the run's id. 128 steps in all."""
    run(PROGRAM.format(directory=str(directory), name=name), HOME=str(directory), **environment)
    return json.loads((directory / "tracker.json").read_text())["id"]


def run(program: str, **environment: str) -> str:
    """Run a program in a process of its own, as trackers start threads; returns what it printed."""
    variables = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"} | environment
    done = subprocess.run(
        [sys.executable, "-c", program], env=variables, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
