"""The real package, offline, read by its own API: scripts/test_with_others.sh installs it."""

import json

import pytest

from tests.helpers.tracked_run import run, train_stages

READ = """
import json
import trackio
from trackio.sqlite_storage import SQLiteStorage
runs = list(trackio.Api().runs("mine"))
rows = [SQLiteStorage.get_logs("mine", each.name, run_id=each.id) for each in runs]
print(json.dumps([[each.name, each.config, found] for each, found in zip(runs, rows)], default=str))
"""


def test_trackio_keeps_one_run_of_all_stages_with_its_film(tmp_path):
    pytest.importorskip("trackio", reason="pip install trackio")
    folder = tmp_path / "trackio"
    name = train_stages(tmp_path / "run", "trackio", TRACKIO_DIR=str(folder))
    told = run(READ, TRACKIO_DIR=str(folder), HOME=str(tmp_path)).splitlines()[-1]
    ((found, config, rows),) = json.loads(told)
    assert found == f"run-{name}"
    assert config["metadata"] == {"skill": "remember"}
    numbers = [row for row in rows if "film" not in row]
    assert [row["step"] for row in numbers] == [32, 64, 96, 128]
    assert all("loss/value_loss" in row for row in numbers)
    (film,) = [row for row in rows if "film" in row]
    assert film["step"] == 32
    (kept,) = folder.rglob("*.mp4")
    assert film["film"]["file_path"].endswith(kept.name)
