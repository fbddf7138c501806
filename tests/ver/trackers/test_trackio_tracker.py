"""The real package, offline, where it is installed: pip install trackio."""

import json
import sqlite3

import pytest

from tests.helpers.tracked_run import train_twice


def test_trackio_keeps_one_run_with_its_film(tmp_path):
    pytest.importorskip("trackio", reason="pip install trackio")
    folder = tmp_path / "trackio"
    run = train_twice(tmp_path / "run", "trackio", TRACKIO_DIR=str(folder))
    with sqlite3.connect(folder / "mine.db") as database:
        found = "select run_name, step, metrics from metrics order by step, id"
        rows = [(*row, json.loads(values)) for *row, values in database.execute(found)]
    films = [(step, values["film"]) for _, step, values in rows if "film" in values]
    numbers = [(name, step) for name, step, values in rows if "film" not in values]
    assert numbers == [(f"run-{run}", step) for step in (32, 64, 96, 128)]
    ((step, film),) = films
    assert step == 32
    (kept,) = folder.rglob("*.mp4")
    assert film["file_path"].endswith(kept.name)
