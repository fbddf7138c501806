"""The episodes of an evaluation that are done, kept beside its result until that is written.

`PATH.part` is JSON lines: what is evaluated, then one record per episode, on the disk before the next
begins. An evaluation that was killed goes on from there when the same command is given again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import types
import typing
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from planner.evaluation import EpisodeRecord, EvaluationSettings
from rearrange.errors import UserError

SUFFIX = ".part"


class Journal:
    """Records of finished episodes in a file.

    Attributes:
        path: The file.
        records: Those that were there, by index; of the episodes that are asked for now.
    """

    def __init__(self, result: Path, settings: EvaluationSettings, files: Sequence[Path]) -> None:
        """Read what an interrupted evaluation has left.

        Args:
            result: Where the evaluation's JSON goes.
            settings: What is evaluated. More or fewer episodes than before are no other evaluation.
            files: Checkpoints and episodes that decide the results.

        Raises:
            UserError: The file is of another evaluation, or broken.
        """
        self.path = result.with_name(result.name + SUFFIX)
        self._heading = json.loads(json.dumps(heading(settings, files)))
        lines = self._lines()
        if lines:
            self._check(lines[0])
        try:
            found = [decode(EpisodeRecord, line) for line in lines[1:]]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._broken() from None
        self.records = {r.index: r for r in found if r.index < settings.episodes}

    @contextmanager
    def open(self) -> Iterator[typing.Callable[[EpisodeRecord], None]]:
        """Gives a function that keeps a record."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.truncate(self._good)

            def keep(value: Any) -> None:
                file.write(json.dumps(value).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())

            if self._good == 0:
                keep(self._heading)
            yield lambda record: keep(dataclasses.asdict(record))

    def delete(self) -> None:
        """Remove the file: the result is written."""
        self.path.unlink(missing_ok=True)

    def _lines(self) -> list[Any]:
        """The whole lines; one that was cut off by a kill does not count."""
        self._good = 0
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        self._good = content.rfind(b"\n") + 1
        try:
            return [json.loads(line) for line in content[: self._good].splitlines()]
        except ValueError:
            raise self._broken() from None

    def _check(self, there: Any) -> None:
        if not isinstance(there, dict):
            raise self._broken()
        names = [n for n in self._heading if there.get(n) != self._heading[n]]
        if names or set(there) != set(self._heading):
            others = ", ".join(names or sorted(set(there) ^ set(self._heading)))
            raise UserError(
                f"{self.path} is left of an evaluation with another {others}: delete it to start anew, "
                "give back the old settings to go on, or give another --json"
            )

    def _broken(self) -> UserError:
        return UserError(f"{self.path} is broken: delete it to start anew")


def heading(settings: EvaluationSettings, files: Sequence[Path]) -> dict[str, Any]:
    """What has to be the same for an evaluation to go on; as plain data."""
    asked = {k: v for k, v in dataclasses.asdict(settings).items() if k != "episodes"}
    plain = {k: str(v) if isinstance(v, Path) else v for k, v in asked.items()}
    return plain | {str(f): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


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
