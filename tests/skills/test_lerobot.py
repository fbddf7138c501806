"""A LeRobotDataset, written and read by pyarrow, and opened by LeRobot's own package where it is there."""

import io
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from rearrange.errors import UserError

pytest.importorskip("pyarrow", reason="pip install pyarrow pandas")
pytest.importorskip("pandas", reason="pip install pyarrow pandas")

from skills import lerobot
from skills.lerobot import DatasetWriter, grid, image, scalar, vector

FEATURES = {
    "observation.images.head": image(4),
    "depth": grid(4, "uint16"),
    "observation.state": vector(["a", "b", "c"]),
    "action": vector(["left"]),
    "next.done": scalar("bool"),
}


def episode(length, seed):
    rng = np.random.default_rng(seed)
    return {
        "observation.images.head": rng.integers(0, 256, (length, 4, 4, 3)).astype(np.uint8),
        "depth": rng.integers(0, 10_000, (length, 4, 4)).astype(np.uint16),
        "observation.state": rng.normal(size=(length, 3)).astype(np.float32),
        "action": rng.normal(size=length).astype(np.float32),
        "next.done": np.arange(length) == length - 1,
    }


@pytest.fixture
def written(tmp_path):
    """Two episodes in a folder, of 5 and 3 frames."""
    parts = [episode(5, 0), episode(3, 1)]
    writer = DatasetWriter(tmp_path / "new", FEATURES, 30, "fetch")
    writer.add(parts[0], ["reach"] * 2 + ["lift"] * 3)
    writer.add(parts[1], ["lift"] * 3)
    writer.close()
    return tmp_path / "new", {key: np.concatenate([p[key] for p in parts]) for key in FEATURES}


def test_rows_stand_in_the_file_of_data(written):
    import pyarrow.parquet

    folder, whole = written
    table = pyarrow.parquet.read_table(folder / "data/chunk-000/file-000.parquet")
    rows = table.to_pydict()
    assert rows["episode_index"] == [0] * 5 + [1] * 3
    assert rows["frame_index"] == [0, 1, 2, 3, 4, 0, 1, 2]
    assert rows["index"] == list(range(8))
    assert rows["task_index"] == [0, 0, 1, 1, 1, 1, 1, 1]
    assert np.array_equal(
        np.array(rows["observation.state"], np.float32), whole["observation.state"]
    )
    assert np.array_equal(np.array(rows["depth"], np.uint16), whole["depth"])
    first = Image.open(io.BytesIO(rows["observation.images.head"][0]["bytes"]))
    assert np.array_equal(np.asarray(first), whole["observation.images.head"][0])


def test_ctrl_c_waits_until_an_episode_is_whole(tmp_path, monkeypatch):
    statistics = lerobot._statistics

    def interrupted(rows):
        signal.raise_signal(signal.SIGINT)
        return statistics(rows)

    monkeypatch.setattr(lerobot, "_statistics", interrupted)
    writer = DatasetWriter(tmp_path / "new", FEATURES, 30, "fetch")
    with pytest.raises(KeyboardInterrupt):
        writer.add(episode(5, 0), ["reach"] * 5)
    writer.close()
    info = json.loads((tmp_path / "new/meta/info.json").read_text())
    assert (info["total_episodes"], info["total_frames"]) == (1, 5)


def test_an_episode_that_cannot_be_written_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(lerobot, "_statistics", lambda rows: 1 / 0)
    writer = DatasetWriter(tmp_path / "new", FEATURES, 30, "fetch")
    with pytest.raises(ZeroDivisionError):
        writer.add(episode(5, 0), ["reach"] * 5)
    writer.close()
    assert list((tmp_path / "new").iterdir()) == []


def test_statistics_are_those_of_all_frames(written):
    folder, whole = written
    found = json.loads((folder / "meta/stats.json").read_text())
    state = whole["observation.state"].astype(np.float64)
    for key, expected in (("mean", state.mean(0)), ("std", state.std(0)), ("max", state.max(0))):
        np.testing.assert_allclose(found["observation.state"][key], expected, rtol=1e-6)
    assert found["observation.state"]["count"] == [8]
    assert found["depth"]["max"] == [whole["depth"].max()]
    np.testing.assert_allclose(found["depth"]["mean"], [whole["depth"].mean()], rtol=1e-6)
    pictures = whole["observation.images.head"] / 255
    mean = np.array(found["observation.images.head"]["mean"])
    assert mean.shape == (3, 1, 1)
    np.testing.assert_allclose(mean.ravel(), pictures.mean((0, 1, 2)), rtol=1e-6)


def test_a_full_file_is_followed_by_another(tmp_path, monkeypatch):
    monkeypatch.setattr(lerobot, "FILE_MB", 0)
    writer = DatasetWriter(tmp_path / "new", FEATURES, 30, "fetch")
    for seed in range(2):
        writer.add(episode(3, seed), ["reach"] * 3)
    writer.close()
    found = sorted(path.name for path in (tmp_path / "new/data/chunk-000").iterdir())
    assert found == ["file-000.parquet", "file-001.parquet"]


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "mine.txt").touch()
    with pytest.raises(UserError, match="is not empty"):
        DatasetWriter(tmp_path, FEATURES, 30, "fetch")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(UserError, match=r"mine\.txt"):
        DatasetWriter(tmp_path / "mine.txt", FEATURES, 30, "fetch")


def test_without_episodes_the_folder_stays_empty(tmp_path):
    DatasetWriter(tmp_path / "new", FEATURES, 30, "fetch").close()
    assert not list((tmp_path / "new").iterdir())


def test_lerobot_opens_it(written, monkeypatch):
    pytest.importorskip("lerobot.datasets", reason="pip install lerobot")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    from lerobot.datasets.lerobot_dataset import LeRobotDataset

    folder, whole = written
    dataset = LeRobotDataset(
        "rearrange/test", root=folder, delta_timestamps={"action": [0, 1 / 30]}
    )
    assert (len(dataset), dataset.num_episodes, dataset.fps) == (8, 2, 30)
    for index in range(8):
        frame = dataset[index]
        assert np.array_equal(frame["observation.state"], whole["observation.state"][index])
        picture = (frame["observation.images.head"].numpy() * 255).round().transpose(1, 2, 0)
        assert np.array_equal(picture, whole["observation.images.head"][index])
        assert np.array_equal(frame["depth"], whole["depth"][index])
        assert frame["task"] == ("reach" if index < 2 else "lift")
    assert dataset[4]["action_is_pad"].tolist() == [False, True]  # an episode's end
    assert dataset[0]["action"][1] == whole["action"][1]


def test_rerun_opens_it(written, tmp_path):
    """By the loader of its viewer, without the viewer: into a recording, which its command prints."""
    rerun = pytest.importorskip("rerun", reason="pip install rerun-sdk")
    stream = rerun.RecordingStream("rearrange")
    stream.save(tmp_path / "dataset.rrd")
    stream.log_file_from_path(written[0])
    missing, end = {"/observation.images.head", "/observation.state", "/action"}, time.time() + 60
    while missing and time.time() < end:  # the loader has a thread of its own
        stream.flush()
        told = subprocess.run(
            [sys.executable, "-m", "rerun", "rrd", "print", str(tmp_path / "dataset.rrd")],
            capture_output=True, text=True, check=False,
        ).stdout  # fmt: skip
        missing = {name for name in missing if name not in told}
    assert not missing
