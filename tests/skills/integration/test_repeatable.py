"""A training of ours is the same to the byte when it is run again, and when it was killed and went on."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.helpers import ROOT
from tests.helpers.forks import Forks
from tests.helpers.small_runs import TINY_NAVIGATION, curve, logged

SKILL = (
    "camera_size=40",
    "stages=[]",
    "trainer.total_steps=512",
    "trainer.collect.num_environments=4",
    "trainer.collect.environments_per_worker=2",
    "trainer.collect.rollout_length=32",
    "trainer.network.hidden_size=16",
    "trainer.network.visual_features=16",
    "trainer.tensorboard=false",
    "trainer.log_interval_s=1e9",
)
SHORT = ("trainer.total_steps=256", "trainer.collect.rollout_length=16")  # as many rollouts
NAVIGATION = (*TINY_NAVIGATION, "trainer.total_steps=256")
TRAININGS = {
    "ddppo": ("pick", "trainer.system=ddppo", *SKILL),
    "batched": ("pick", "trainer.system=batched", *SKILL),
    "navigation": ("pointnav", *NAVIGATION),
}


def start(training: str, directory: Path, *more: str) -> subprocess.Popen:
    command = [
        sys.executable,
        "-m",
        "skills.train",
        *TRAININGS[training],
        f"run={directory}",
        *more,
    ]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def finish(process: subprocess.Popen) -> None:
    try:
        told, _ = process.communicate(timeout=900)
    finally:
        process.kill()
    assert process.returncode == 0, told.decode()


def rows_of(directory: Path) -> int:
    return len(logged(directory)) if (directory / "metrics.jsonl").exists() else 0


def wait_for_rows(directory: Path, rows: int, runs: Callable[[], bool]) -> None:
    """Waits until so many rollouts are logged, while their process runs."""
    deadline = time.monotonic() + 120
    while rows_of(directory) < rows and runs() and time.monotonic() < deadline:
        time.sleep(0.005)


def kill(process: subprocess.Popen, directory: Path, rows: int, delay: float) -> bool:
    """Kills a training after so many logged rollouts and a delay; tells if it was not done before."""
    wait_for_rows(directory, rows, lambda: process.poll() is None)
    time.sleep(delay)
    process.kill()
    process.communicate()
    return process.returncode == -9


def check_same(one: Path, other: Path) -> None:
    for name in ("policy.safetensors", "policy.json"):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name
    assert curve(one) == curve(other)


def test_a_run_that_was_killed_gives_the_bytes_of_one_that_was_left_alone(tmp_path):
    """Each in a process of its own; what they import is imported once."""
    told = tmp_path / "told.txt"
    with Forks("skills.train", dict(os.environ)) as forks:

        def start(name: str) -> int:
            words = (*TRAININGS["batched"], *SHORT, f"run={tmp_path / name}")
            return forks.start(ROOT, told, "skills.train", *words)

        start("whole")
        assert forks.wait() == 0, told.read_text()
        victim = start("killed")
        wait_for_rows(tmp_path / "killed", 2, lambda: Path(f"/proc/{victim}/fd/0").exists())
        os.kill(victim, signal.SIGKILL)
        assert forks.wait() == -signal.SIGKILL
        assert 2 <= rows_of(tmp_path / "killed") < rows_of(tmp_path / "whole")
        start("killed")
        assert forks.wait() == 0, told.read_text()
    check_same(tmp_path / "killed", tmp_path / "whole")


@pytest.mark.slow
@pytest.mark.parametrize("training", TRAININGS)
def test_twenty_kills_at_random_moments_change_no_byte(tmp_path, training):
    longer = f"trainer.total_steps={1024 if training == 'navigation' else 4096}"  # 32 rollouts
    finish(start(training, tmp_path / "whole", longer))
    dice, kills = random.Random(7), 0
    while kills < 20:
        rows = rows_of(tmp_path / "killed") + dice.randrange(2)
        process = start(training, tmp_path / "killed", longer)
        # Also while it starts, and repeats its episodes
        if not kill(process, tmp_path / "killed", rows, dice.random() * 4.0):
            break
        kills += 1
    finish(start(training, tmp_path / "killed", longer))
    check_same(tmp_path / "killed", tmp_path / "whole")
    assert kills == 20
