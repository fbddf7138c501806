"""The real package, offline, where it is installed: pip install wandb."""

import json

import pytest

from tests.helpers.tracked_run import train_twice


def test_wandb_keeps_one_run_with_its_film_and_its_policy(tmp_path):
    pytest.importorskip("wandb", reason="pip install wandb")
    run = train_twice(tmp_path / "run", "wandb", WANDB_MODE="offline")
    steps, artifacts, films = [], [], []
    for file in sorted((tmp_path / "run" / "wandb").glob(f"offline-run-*-{run}/run-{run}.wandb")):
        for record in records(file.read_bytes()):
            if record.HasField("history"):
                steps.append(record.history.step.num)
                films += [
                    (steps[-1], json.loads(item.value_json))
                    for item in record.history.item
                    if list(item.nested_key) == ["film", "path"]
                ]
            if record.HasField("request") and record.request.HasField("log_artifact"):
                artifacts.append(record.request.log_artifact.artifact.type)
            if record.HasField("artifact"):
                artifacts.append(record.artifact.type)
    assert steps == [32, 64, 96, 128]
    assert set(artifacts) == {"model"}
    ((step, path),) = films
    (film,) = (tmp_path / "run" / "wandb").glob(f"offline-run-*-{run}/files/{path}")
    assert step == 32
    assert film.read_bytes()[4:8] == b"ftyp"  # as an mp4 begins


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
