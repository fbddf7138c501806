"""A tiny training that tells a tracker of itself, here or in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from tests.helpers import ROOT, toy_environments
from tests.helpers.small_runs import small_run
from ver.trainer import Trainer

PROGRAM = """
from pathlib import Path
import numpy as np
from rearrange.render import VideoWriter
from tests.helpers.tracked_run import train
from ver.logs import FILM
run = Path({directory!r})
with VideoWriter(run / FILM) as film:
    film.write(np.zeros((64, 64, 3), np.uint8))
for steps in (64, 128):
    train(run, steps, {name!r})
"""


def train(directory: Path, steps: int, name: str = "wandb") -> dict:
    """Train up to so many steps with the tracker of this name."""
    words = ["collect.num_environments=2", f"tracker={name}", "project=mine"]
    config = small_run(f"total_steps={steps}", *words)
    return Trainer(config, toy_environments.make_cue, directory, {"skill": "remember"}).train()


def train_twice(directory: Path, name: str, **environment: str) -> str:
    """Train and go on with it in a process of its own, as trackers start threads; the run's id."""
    program = PROGRAM.format(directory=str(directory), name=name)
    path = {"PYTHONPATH": str(ROOT), "HOME": str(directory), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=path | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads((directory / "tracker.json").read_text())["id"]
