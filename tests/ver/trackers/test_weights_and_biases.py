"""The real package, offline, read by its own kind of records: scripts/test_with_others.sh installs it."""

import json

import pytest

from tests.helpers.tracked_run import train_stages


def test_wandb_keeps_one_run_of_all_stages_with_its_film_and_its_policies(tmp_path):
    pytest.importorskip("wandb", reason="pip install wandb")
    run = train_stages(tmp_path / "run", "wandb", WANDB_MODE="offline")
    files = sorted((tmp_path / "run" / "wandb").glob(f"offline-run-*-{run}/run-{run}.wandb"))
    assert len(files) == 3  # two stages, one of which was resumed
    steps, films, artifacts, config = [], [], {}, {}
    for record in (each for file in files for each in records(file.read_bytes())):
        if record.HasField("run"):
            assert record.run.run_id == run
            config |= {item.key: item.value_json for item in record.run.config.update}
        if record.HasField("history"):
            steps.append(record.history.step.num)
            keys = [(list(item.nested_key), item.value_json) for item in record.history.item]
            films += [(steps[-1], json.loads(at)) for key, at in keys if key == ["film", "path"]]
        for artifact in artifacts_of(record):
            assert artifact.type == "model"
            artifacts[artifact.name] = {each.path for each in artifact.manifest.contents}
    assert steps == [32, 64, 96, 128]
    assert json.loads(config["metadata"]) == {"skill": "remember"}
    assert artifacts == {
        f"policy-{run}": {"policy.safetensors", "policy.json"},
        f"best-{run}": {"best.safetensors", "best.json"},
    }
    ((step, path),) = films
    (film,) = (tmp_path / "run" / "wandb").glob(f"offline-run-*-{run}/files/{path}")
    assert step == 32
    assert film.read_bytes()[4:8] == b"ftyp"  # as an mp4 begins


def artifacts_of(record):
    if record.HasField("request") and record.request.HasField("log_artifact"):
        yield record.request.log_artifact.artifact
    if record.HasField("artifact"):
        yield record.artifact


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
