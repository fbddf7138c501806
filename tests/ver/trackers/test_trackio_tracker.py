"""The real package, offline, where it is installed: pip install trackio."""

import sqlite3

import pytest

from tests.helpers.tracked_run import train_twice


def test_trackio_keeps_one_run(tmp_path):
    pytest.importorskip("trackio", reason="pip install trackio")
    folder = tmp_path / "trackio"
    run = train_twice(tmp_path / "run", "trackio", TRACKIO_DIR=str(folder))
    with sqlite3.connect(folder / "mine.db") as database:
        rows = database.execute("select run_name, step from metrics order by step").fetchall()
    assert rows == [(f"run-{run}", step) for step in (32, 64, 96, 128)]
