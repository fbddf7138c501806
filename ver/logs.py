"""Logs of a run: metrics.jsonl, TensorBoard, the dashboard, and files that describe the run."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from ver.changed_settings import began_from, changed_settings, check_same_start
from ver.checkpoint import write_atomically
from ver.collect.faults import Fault
from ver.collect.processes import cores
from ver.collect.systems import why_runs_differ
from ver.config import TrainerConfig, config_to_dict
from ver.dashboard import Dashboard
from ver.errors import WriteError
from ver.run_lock import RunLock
from ver.trackers import open_tracker

FILM = "film.mp4"  # in the run directory: the tracker takes it with the next row
POLICY = "policy.safetensors"  # there too: the last
BEST = "best.safetensors"  # and the one that validation found best so far


def policy_file(path: str | Path) -> Path:
    """The file of a policy: the path itself, or in a run directory the run's."""
    path = Path(path)
    return path / POLICY if path.is_dir() else path


class Logs:
    """metrics.jsonl, TensorBoard, the dashboard, and the files that describe the run.

    Args:
        directory: Of the run.
        config: Its settings.
        metadata: JSON-able values that are kept with it.
        steps: That were learned from before.
        among: How this run is called beside others that are shown at once: all in plain lines.
    """

    def __init__(
        self,
        directory: Path,
        config: TrainerConfig,
        metadata: dict[str, Any],
        steps: int,
        among: str = "",
    ):
        self._directory, self._lock = directory, RunLock(directory)
        try:
            changed: list[str] = []
            if steps:
                check_same_start(directory, config.start_from)
                # Where it began stays known where that is left out
                config = replace(
                    config, start_from=config.start_from or began_from(directory) or ""
                )
                changed = changed_settings(directory, config_to_dict(config), metadata)
            self._open(config, metadata, steps)
            settings = config_to_dict(config) | {"metadata": metadata}
            self._tracker = open_tracker(
                config.tracker, config.project, directory, settings, self._say
            )
        except BaseException:
            self._lock.release()
            raise
        live = False if among else None
        self.dashboard = Dashboard(
            directory.name, config.total_steps, config.log_interval_s, live, among
        )
        for line in changed:
            self.dashboard.say(f"going on with another setting: {line}")
        reason = why_runs_differ(config)
        if reason:
            mend = "; the trainer's setting 'deterministic' makes them the same"
            mendable = not why_runs_differ(replace(config, deterministic=True))
            self.dashboard.say(f"two such runs differ in bits, as {reason}{mend * mendable}")
        self.dashboard.wait()

    def _open(self, config: TrainerConfig, metadata: dict[str, Any], steps: int) -> None:
        """Opens the logs, and writes what describes the run."""
        directory = self._directory
        text = OmegaConf.to_yaml(OmegaConf.structured(config))
        write_atomically(directory / "config.yaml", text.encode())
        about = describe_run() | {"metadata": metadata}
        write_atomically(directory / "run.json", (json.dumps(about, indent=2) + "\n").encode())
        with self._one_line_errors():
            _drop_rows_after(directory / "metrics.jsonl", steps)
            self._file = (directory / "metrics.jsonl").open("a")
            self._writer: Any = None
            if config.tensorboard:
                from torch.utils.tensorboard import SummaryWriter

                self._writer = SummaryWriter(str(directory / "tensorboard"), purge_step=steps + 1)

    def write_slowly(self, row: dict[str, float]) -> None:
        """Writes what is to be charged to this rollout's overhead."""
        if self._writer is None:
            return
        with self._one_line_errors():
            for name, value in row.items():
                self._writer.add_scalar(name, value, int(row["steps"]))

    def write(self, row: dict[str, float]) -> None:
        """Writes a finished row."""
        times = [name for name in row if name.startswith("time/") or name == "steps_per_second"]
        with self._one_line_errors():
            if self._writer is not None:
                for name in times:
                    self._writer.add_scalar(name, row[name], int(row["steps"]))
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()
        if self._tracker is not None:
            self._tracker.log(row, int(row["steps"]))
            film = self._directory / FILM
            if film.is_file():
                self._tracker.film(film, int(row["steps"]))
                film.unlink(missing_ok=True)
        self.dashboard.update(row)

    def _say(self, line: str) -> None:
        self.dashboard.say(line)

    def fault(self, fault: Fault, steps: int) -> None:
        """Says in one line what went wrong; faults.jsonl keeps it with its traceback."""
        self.dashboard.say(f"fault at step {steps:,}: {fault.what}")
        now = time.strftime("%Y-%m-%d %H:%M:%S")
        line = json.dumps({"time": now, "steps": steps} | asdict(fault))
        with suppress(OSError), (self._directory / "faults.jsonl").open("a") as file:
            file.write(line + "\n")

    def close(self) -> None:
        """Closes the files and leaves the last table on the screen."""
        if self._tracker is not None:
            self._tracker.finish(_policies(self._directory))
        self.dashboard.close()
        for file in (self._file, self._writer):
            with suppress(OSError):  # a full disk has been reported already
                if file is not None:
                    file.close()
        self._lock.release()

    @contextmanager
    def _one_line_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise WriteError(f"{self._directory} could not be written ({error}).") from None


def log_film(path: Path, directory: Path, config: TrainerConfig, steps: int) -> None:
    """Logs a film of a policy in the tracker, if there is one, once the training has ended."""
    tracker = open_tracker(config.tracker, config.project, directory, config_to_dict(config), print)
    if tracker is not None:
        tracker.film(path, steps + 1)  # trackers take none for the step that they ended with
        tracker.finish(_policies(directory))


def _policies(directory: Path) -> list[Path]:
    """The policies in a run directory, each with its description."""
    files = [directory / name for name in (POLICY, BEST)]
    described = [each for file in files for each in (file, file.with_suffix(".json"))]
    return [each for each in described if each.is_file()]


class NoLogs(Logs):
    """Logs of the ranks other than 0: nothing but faults is written."""

    def __init__(
        self,
        directory: Path,
        config: TrainerConfig,
        metadata: dict[str, Any],
        steps: int,
        among: str = "",
    ):
        del metadata, steps, among
        self._directory = directory
        self.dashboard = Dashboard(directory.name, config.total_steps, live=False)

    def write_slowly(self, row: dict[str, float]) -> None:
        """Writes nothing."""

    def write(self, row: dict[str, float]) -> None:
        """Writes nothing."""

    def close(self) -> None:
        """Has nothing to close."""


def _drop_rows_after(path: Path, steps: int) -> None:
    """Drops rows that a resumed run will write again, and one that was cut short."""
    if not path.is_file():
        return
    kept = []
    for line in path.read_text().splitlines():
        with suppress(json.JSONDecodeError):
            if json.loads(line)["steps"] <= steps:
                kept.append(line + "\n")
    write_atomically(path, "".join(kept).encode())


def describe_run() -> dict[str, Any]:
    """Lists what is needed to repeat a run: command, commit, versions, machine."""
    packages = {}
    for name in ("torch", "numpy", "gymnasium", "omegaconf", "safetensors", "mujoco-core"):
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "command": sys.orig_argv,
        "commit": _git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(_git("status", "--porcelain")),
        "python": platform.python_version(),
        "packages": packages,
        "machine": f"{platform.machine()}, {cores()} cores",
        "started": time.strftime("%Y-%m-%d %H:%M:%S"),
    }


def _git(*arguments: str) -> str:
    try:
        result = subprocess.run(
            ["git", *arguments],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return result.stdout.strip() if result.returncode == 0 else ""
