"""The real packages, offline, where they are installed: pip install wandb trackio."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parents[1]
PROGRAM = """
import sys
sys.path.insert(0, {here!r})
from trackers.test_tracker import train
from pathlib import Path
for steps in (64, 128):
    train(Path({directory!r}), steps, {name!r})
"""


def train_twice(directory, name, **environment):
    """Train and go on with it in a process of its own: both packages start processes and threads."""
    program = PROGRAM.format(here=str(HERE), directory=str(directory), name=name)
    path = {"PYTHONPATH": str(HERE.parents[1]), "HOME": str(directory), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=path | environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads((directory / "tracker.json").read_text())["id"]


def test_trackio_keeps_one_run(tmp_path):
    pytest.importorskip("trackio", reason="pip install trackio")
    folder = tmp_path / "trackio"
    run = train_twice(tmp_path / "run", "trackio", TRACKIO_DIR=str(folder))
    with sqlite3.connect(folder / "mine.db") as database:
        rows = database.execute("select run_name, step from metrics order by step").fetchall()
    assert rows == [(f"run-{run}", step) for step in (32, 64, 96, 128)]


def test_wandb_keeps_one_run_with_its_policy(tmp_path):
    pytest.importorskip("wandb", reason="pip install wandb")
    run = train_twice(tmp_path / "run", "wandb", WANDB_MODE="offline")
    steps, artifacts = [], []
    for file in sorted((tmp_path / "run" / "wandb").glob(f"offline-run-*-{run}/run-{run}.wandb")):
        for record in records(file.read_bytes()):
            if record.HasField("history"):
                steps.append(record.history.step.num)
            if record.HasField("request") and record.request.HasField("log_artifact"):
                artifacts.append(record.request.log_artifact.artifact.type)
            if record.HasField("artifact"):
                artifacts.append(record.artifact.type)
    assert steps == [32, 64, 96, 128]
    assert set(artifacts) == {"model"}


def records(content):
    """Records of a .wandb file: a log of LevelDB, in blocks of 32 KiB, after a header of 7 bytes."""
    from wandb.proto import wandb_internal_pb2

    block, at, parts = 32768, 7, b""
    while at + 7 <= len(content):
        if block - at % block < 7:
            at += block - at % block
            continue
        length, kind = int.from_bytes(content[at + 4 : at + 6], "little"), content[at + 6]
        parts += content[at + 7 : at + 7 + length]
        at += 7 + length
        if kind in (1, 4):  # whole, or the last part
            record = wandb_internal_pb2.Record()
            record.ParseFromString(parts)
            parts = b""
            yield record
