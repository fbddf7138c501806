"""The episodes of an evaluation that are done, kept beside its result until that is written.

`PATH.part` is JSON lines: what is evaluated, then one record per episode, on the disk before the next
begins. An evaluation that was killed goes on from there when the same command is given again, with the same
code. While it runs, the file is locked. Where no episode is done yet, there is nothing to go on with: no file
is left, and one that a kill has left is written anew.
"""

from __future__ import annotations

import dataclasses
import fcntl
import hashlib
import json
import os
import types
import typing
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from planner.evaluation import EpisodeRecord, EvaluationSettings
from rearrange.declarations import parse_yaml
from rearrange.errors import UserError
from ver.public import ROOT

SUFFIX = ".part"
PACKAGES = (
    "locomotion",
    "nav",
    "planner",
    "rearrange",
    "skills",
    "ver",
)  # whose code decides the results
SOURCES = (".py", ".pddl")
CODE = "version of the code"  # in the heading


class Journal:
    """Records of finished episodes in a file, as a context manager; another process has to wait.

    Attributes:
        path: The file.
        records: Those that were there, by index; of the episodes that are asked for now.
    """

    def __init__(self, result: Path, settings: EvaluationSettings, files: Sequence[Path]) -> None:
        """Say what is evaluated.

        Args:
            result: Where the evaluation's JSON goes.
            settings: What is evaluated. More or fewer episodes than before are no other evaluation.
            files: Checkpoints and episodes that decide the results.
        """
        self.path = result.with_name(result.name + SUFFIX)
        self.records: dict[int, EpisodeRecord] = {}
        self._episodes = settings.episodes
        self._heading = json.loads(json.dumps(heading(settings, files)))

    def __enter__(self) -> Journal:
        """Lock the file and read what an interrupted evaluation has left.

        Raises:
            UserError: The file is of another evaluation, or broken, or another process writes it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("a+b")
        try:
            self._lock()
            self._read()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._empty:
            self.delete()
        self._file.close()

    def keep(self, record: EpisodeRecord) -> None:
        """Write a record; it is on the disk afterwards."""
        self._write(dataclasses.asdict(record))
        self._empty = False

    def delete(self) -> None:
        """Remove the file: the result is written, or nothing is lost."""
        self.path.unlink(missing_ok=True)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # goes with the process
        except BlockingIOError:
            raise UserError(
                f"{self.path} is being written by another evaluation: wait for its end, or give "
                "another --json"
            ) from None

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read()
        good = content.rfind(b"\n") + 1  # a line that was cut off by a kill does not count
        try:
            lines = [json.loads(line) for line in content[:good].splitlines()]
        except ValueError:
            raise self._broken() from None
        self._empty = len(lines) < 2  # a heading, at most
        if lines and not isinstance(lines[0], dict):
            raise self._broken()
        if not self._empty:
            self._check(lines[0])
        try:
            found = [decode(EpisodeRecord, line) for line in lines[1:]]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._broken() from None
        self.records = {r.index: r for r in found if r.index < self._episodes}
        self._file.truncate(0 if self._empty else good)
        if self._empty:
            self._write(self._heading)

    def _write(self, value: Any) -> None:
        self._file.write(json.dumps(value).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _check(self, there: dict[str, Any]) -> None:
        names = [n for n in self._heading if there.get(n) != self._heading[n]]
        if names or set(there) != set(self._heading):
            # Of files the name is enough: where they lie is long
            others = ", ".join(
                Path(n).name for n in names or sorted(set(there) ^ set(self._heading))
            )
            raise UserError(
                f"{self.path} is left of an evaluation with another {others}: delete it to start anew, "
                "give back the old settings to go on, or give another --json"
            )

    def _broken(self) -> UserError:
        return UserError(f"{self.path} is broken: delete it to start anew")


def heading(settings: EvaluationSettings, files: Sequence[Path]) -> dict[str, Any]:
    """Return the settings that must be equal for an evaluation to go on, as plain data."""
    asked = {k: v for k, v in dataclasses.asdict(settings).items() if k != "episodes"}
    plain = {k: str(v) if isinstance(v, Path) else v for k, v in asked.items()}
    plain[CODE] = code_version()
    return plain | {str(f): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def declared_files(path: Path) -> list[Path]:
    """List the YAML file of a home or a robot, and the files beside it that it names, such as its model."""
    found, values = [path], [parse_yaml(path, "home or a robot")]
    for value in values:  # grows meanwhile
        if isinstance(value, dict):
            values += value.values()
        elif isinstance(value, list):
            values += value
        elif isinstance(value, str) and len(value) < 256 and (path.parent / value).is_file():
            found.append(path.parent / value)
    return list(dict.fromkeys(found))


def code_version() -> str:
    """A checksum of the sources that decide the results."""
    sums = hashlib.sha256()
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix in SOURCES:
                sums.update(f"{path.relative_to(ROOT)}\0".encode())
                sums.update(hashlib.sha256(path.read_bytes()).digest())
    return sums.hexdigest()


def decode(kind: Any, value: Any) -> Any:
    """A value of dataclasses, tuples and dictionaries from what `json` made of it.

    Args:
        kind: Its type, such as EpisodeRecord or `tuple[float, ...]`.
        value: From `json.loads(json.dumps(dataclasses.asdict(...)))`.
    """
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        return kind(**{name: decode(hints[name], value[name]) for name in value})  # type: ignore[operator]
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if origin is tuple:
        kinds = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        return tuple(decode(k, v) for k, v in zip(kinds, value, strict=True))
    if origin is dict:
        return {parts[0](k): decode(parts[1], v) for k, v in value.items()}
    if origin in (typing.Union, types.UnionType):
        return None if value is None else decode(parts[0], value)
    return value
