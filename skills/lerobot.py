"""Episodes as a LeRobotDataset v3: parquet files and JSON, which LeRobot's own package reads.

Written with pyarrow alone, since that package needs other versions of torch and of the Hub's library.
Images are PNGs within the parquet files. A file of data ends with the episode that passes FILE_MB.
"""

from __future__ import annotations

import io
import json
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from atomic_files import write_whole
from rearrange.errors import UserError

VERSION = "v3.0"
FILE_MB, FILES_PER_CHUNK, VIDEO_MB = 100, 1000, 200
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES = Path("meta", "episodes", "chunk-000", "file-000.parquet")
QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
JUDGED_IMAGES = 100  # of an episode, for the statistics
COUNTED = {  # what every frame has beside what is recorded
    "timestamp": {"dtype": "float32", "shape": [1], "names": None},
    "frame_index": {"dtype": "int64", "shape": [1], "names": None},
    "episode_index": {"dtype": "int64", "shape": [1], "names": None},
    "index": {"dtype": "int64", "shape": [1], "names": None},
    "task_index": {"dtype": "int64", "shape": [1], "names": None},
}
Feature = dict[str, Any]
Statistics = dict[str, np.ndarray]


def vector(names: Sequence[str]) -> Feature:
    """A feature of as many numbers as there are names."""
    return {"dtype": "float32", "shape": [len(names)], "names": list(names)}


def image(size: int) -> Feature:
    """A feature of square images [size, size, 3], uint8."""
    return {"dtype": "image", "shape": [size, size, 3], "names": ["height", "width", "channels"]}


def grid(size: int, dtype: str) -> Feature:
    """A feature of square arrays of numbers [size, size], which LeRobot leaves as they are."""
    return {"dtype": dtype, "shape": [size, size], "names": ["height", "width"]}


def scalar(dtype: str) -> Feature:
    """A feature of one number, or of one "bool"."""
    return {"dtype": dtype, "shape": [1], "names": None}


def import_libraries() -> tuple[Any, Any]:
    """The modules pyarrow, with its parquet, and pandas.

    Raises:
        UserError: One is not installed.
    """
    try:
        import pandas  # pyright: ignore[reportMissingImports]
        import pyarrow.parquet  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise UserError(
            "a LeRobotDataset is written with pandas and pyarrow: pip install pandas pyarrow"
        ) from None
    return pyarrow, pandas


class DatasetWriter:
    """Writes episodes; the dataset is whole once it is closed."""

    def __init__(self, folder: Path, features: Mapping[str, Feature], fps: int, robot: str) -> None:
        """Begin a dataset in a folder that is empty or not there.

        Args:
            folder: Where.
            features: Name -> what `vector`, `image`, `grid` and `scalar` make.
            fps: Frames per second.
            robot: Its name.

        Raises:
            UserError: There is something in the folder, it cannot be written, or a library is missing.
        """
        self._arrow, self._pandas = import_libraries()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise UserError(f"{folder} is not empty: choose another --output")
            (folder / "data").mkdir()
        except OSError as error:
            raise UserError(f"{folder}: {error.strerror}: choose another --output") from None
        self._folder, self._fps, self._robot = folder, fps, robot
        self._features = {**features, **COUNTED}
        self._tasks: dict[str, int] = {}
        self._rows: list[dict[str, Any]] = []  # of the episodes
        self._statistics: list[dict[str, Statistics]] = []  # likewise
        self._frames = self._file = 0
        self._writer: Any = None

    @property
    def episodes(self) -> int:
        """The number of those that were written."""
        return len(self._rows)

    def add(self, frames: Mapping[str, np.ndarray], tasks: Sequence[str]) -> None:
        """Write an episode, as a whole or not at all where Ctrl-C comes.

        Args:
            frames: Feature -> one row for each frame [T, ...].
            tasks: What is being done in each frame, in words [T].
        """
        with _uninterrupted():
            self._add(frames, tasks)

    def _add(self, frames: Mapping[str, np.ndarray], tasks: Sequence[str]) -> None:
        count = len(tasks)
        numbers = [self._tasks.setdefault(task, len(self._tasks)) for task in tasks]
        index = np.arange(count)
        rows: dict[str, np.ndarray] = {
            **frames,
            "timestamp": (index / self._fps).astype(np.float32),
            "frame_index": index,
            "episode_index": np.full(count, self.episodes),
            "index": index + self._frames,
            "task_index": np.asarray(numbers),
        }
        self._write(rows)
        statistics = {name: _statistics(rows[name]) for name in self._features}
        self._statistics.append(statistics)
        chunk, file = divmod(self._file, FILES_PER_CHUNK)
        self._rows.append(
            {
                "episode_index": self.episodes,
                "tasks": list(dict.fromkeys(tasks)),
                "length": count,
                "data/chunk_index": chunk,
                "data/file_index": file,
                "dataset_from_index": self._frames,
                "dataset_to_index": self._frames + count,
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
            }
        )
        self._frames += count
        if self._path.stat().st_size > FILE_MB * 1_000_000:
            self._end_file()
            self._file += 1

    def close(self) -> None:
        """End the files of data and write what describes them; without episodes nothing is left."""
        self._end_file()
        if not self._rows:
            shutil.rmtree(self._folder / "data")  # an episode that could not be written, at most
            return
        meta = self._folder / "meta"
        rows = [
            row | {f"stats/{name}/{key}": value.tolist() for name, found in each.items()
                   for key, value in found.items()}
            for row, each in zip(self._rows, self._statistics, strict=True)
        ]  # fmt: skip
        (self._folder / EPISODES).parent.mkdir(parents=True)
        self._arrow.parquet.write_table(
            self._arrow.Table.from_pylist(rows), self._folder / EPISODES
        )
        tasks = self._pandas.DataFrame(
            {"task_index": [*self._tasks.values()]}, index=[*self._tasks]
        )
        tasks.to_parquet(meta / "tasks.parquet")
        overall = {
            name: {
                key: value.tolist()
                for key, value in joined(each[name] for each in self._statistics).items()
            }
            for name in self._features
        }
        write_whole(meta / "stats.json", json.dumps(overall, indent=4))
        write_whole(meta / "info.json", json.dumps(self._info(), indent=4))

    def _info(self) -> dict[str, Any]:
        return {
            "codebase_version": VERSION,
            "robot_type": self._robot,
            "total_episodes": self.episodes,
            "total_frames": self._frames,
            "total_tasks": len(self._tasks),
            "chunks_size": FILES_PER_CHUNK,
            "data_files_size_in_mb": FILE_MB,
            "video_files_size_in_mb": VIDEO_MB,
            "fps": self._fps,
            "splits": {"train": f"0:{self.episodes}"},
            "data_path": DATA,
            "video_path": None,
            "features": self._features,
        }

    @property
    def _path(self) -> Path:
        chunk, file = divmod(self._file, FILES_PER_CHUNK)
        return self._folder / DATA.format(chunk_index=chunk, file_index=file)

    def _write(self, rows: Mapping[str, np.ndarray]) -> None:
        arrow = self._arrow
        arrays = [_column(arrow, rows[name], each) for name, each in self._features.items()]
        table = arrow.Table.from_arrays(arrays, names=list(self._features))
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = arrow.parquet.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)

    def _end_file(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._writer = None


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let Ctrl-C wait for the end."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python interrupts the main thread alone
        return
    heard: list[Any] = []
    before = signal.signal(signal.SIGINT, lambda *told: heard.append(told))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard and callable(before):
        before(*heard[0])


def _column(pyarrow: Any, rows: np.ndarray, feature: Feature) -> Any:
    """A feature's rows [T, ...] as an Arrow array."""
    if feature["dtype"] == "image":
        kind = pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])
        return pyarrow.array([{"bytes": _png(row), "path": None} for row in rows], kind)
    kind = (
        pyarrow.bool_() if feature["dtype"] == "bool" else pyarrow.type_for_alias(feature["dtype"])
    )
    if rows.ndim == 1:
        return pyarrow.array(rows, kind)
    if rows.ndim == 3:
        return _lists(pyarrow, rows, kind)
    (size,) = feature["shape"]
    if rows.shape[1] != size:
        raise ValueError(f"expected {size} numbers in a row, found {rows.shape[1]}")
    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(rows.ravel(), kind), size)


def _lists(pyarrow: Any, rows: np.ndarray, kind: Any) -> Any:
    """Arrays [T, H, W] as lists of lists."""
    count, height, width = rows.shape
    flat: Any = pyarrow.array(rows.ravel(), kind)
    for size, number in ((width, count * height), (height, count)):
        offsets = pyarrow.array(np.arange(number + 1) * size, pyarrow.int32())
        flat = pyarrow.ListArray.from_arrays(offsets, flat)
    return flat


def _png(picture: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def _statistics(rows: np.ndarray) -> Statistics:
    """A feature's figures in an episode, as LeRobot keeps them.

    Those of images are per channel, in [0, 1] [3, 1, 1], those of a grid one for all its numbers [1].
    """
    count = np.array([len(rows)])
    if rows.ndim >= 3:
        rows = rows[:: -(-len(rows) // JUDGED_IMAGES)]
    values = rows.astype(np.float64)
    if rows.ndim == 3:
        values = values.ravel()
    if rows.ndim == 4:
        values = values.reshape(-1, rows.shape[3]) / 255.0
    if values.ndim == 1:
        values = values[:, None]
    found = {"min": values.min(0), "max": values.max(0), "mean": values.mean(0)}
    found |= {"std": values.std(0)}
    found |= {name: np.quantile(values, share, axis=0) for name, share in QUANTILES.items()}
    if rows.ndim == 4:
        found = {name: value[:, None, None] for name, value in found.items()}
    return {**found, "count": count}


def joined(parts: Iterable[Statistics]) -> Statistics:
    """Statistics of several episodes as one; quantiles are means of theirs, as LeRobot's own are."""
    every = list(parts)
    counts = np.array([each["count"][0] for each in every])
    weights = counts / counts.sum()

    def weighted(values: Sequence[np.ndarray]) -> np.ndarray:
        return np.tensordot(weights, np.stack(values), axes=1)

    mean = weighted([each["mean"] for each in every])
    variance = weighted([each["std"] ** 2 + (each["mean"] - mean) ** 2 for each in every])
    return {
        "min": np.min([each["min"] for each in every], axis=0),
        "max": np.max([each["max"] for each in every], axis=0),
        "mean": mean,
        "std": np.sqrt(variance),
        **{name: weighted([each[name] for each in every]) for name in QUANTILES},
        "count": np.array([counts.sum()]),
    }
