"""The Tracker protocol, and trackers by name."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from atomic_files import write_whole
from ver.errors import UserError

NONE = "none"
TRACKERS = {  # name -> module and class
    "wandb": ("ver.trackers.weights_and_biases", "WeightsAndBiases"),
    "trackio": ("ver.trackers.trackio_tracker", "Trackio"),
}
_FILE = "tracker.json"  # in the run directory: the run's id, which a resumed run keeps


class Tracker(Protocol):
    """One run in an experiment tracker."""

    def log(self, row: Mapping[str, float], step: int) -> None:
        """Log numbers by name, met after so many steps."""
        ...

    def film(self, path: Path, step: int) -> None:
        """Log a film (mp4) of the policy, of which a copy is kept."""
        ...

    def finish(self, files: Sequence[Path]) -> None:
        """Keep the files that the tracker takes, and end."""
        ...


class Tolerant:
    """A tracker whose failures do not end the run: told once, and left out from there.

    Args:
        tracker: What may fail.
        say: Told of it, in one line.
    """

    def __init__(self, tracker: Tracker, say: Callable[[str], None]) -> None:
        self._tracker: Tracker | None = tracker
        self._say = say

    def log(self, row: Mapping[str, float], step: int) -> None:
        """See Tracker."""
        self._try(lambda tracker: tracker.log(row, step))

    def film(self, path: Path, step: int) -> None:
        """See Tracker."""
        self._try(lambda tracker: tracker.film(path, step))

    def finish(self, files: Sequence[Path]) -> None:
        """See Tracker."""
        self._try(lambda tracker: tracker.finish(files))
        self._tracker = None

    def _try(self, action: Callable[[Tracker], None]) -> None:
        if self._tracker is None:
            return
        try:
            action(self._tracker)
        except Exception as error:  # whatever a tracker raises, the training is worth more
            self._tracker = None
            self._say(f"the tracker failed and is left out: {one_line(error)}")


def find_tracker(name: str) -> Callable[..., Tracker] | None:
    """The class of a tracker; None for "none", a UserError if what it needs is not installed."""
    if name == NONE:
        return None
    module, kind = TRACKERS[name]
    try:
        return getattr(import_module(module), kind)
    except ImportError:
        raise UserError(f"tracker={name} needs {name}: pip install {name}") from None


def open_tracker(
    name: str,
    project: str,
    directory: Path,
    config: dict[str, Any],
    say: Callable[[str], None],
) -> Tracker | None:
    """The run of a run directory in a tracker; a resumed run goes on with the same one.

    Args:
        name: One of TRACKERS, or "none".
        project: To which the run belongs.
        directory: The run directory; its name is the run's.
        config: The run's settings.
        say: Told, in one line, if the tracker fails later.

    Returns:
        The tracker, or None for "none".

    Raises:
        UserError: It is not installed, or does not start.
    """
    kind = find_tracker(name)
    if kind is None:
        return None
    try:
        made = kind(project, directory, run_id(directory), config)
    except Exception as error:  # each has its own
        raise UserError(f"tracker={name} does not start: {one_line(error)}") from None
    return Tolerant(made, say)


def run_id(directory: Path) -> str:
    """The id of a run, made where there is none yet."""
    path = directory / _FILE
    if path.is_file():
        try:
            found = json.loads(path.read_text())["id"]
        except (ValueError, KeyError, TypeError):
            raise UserError(f"{path} is damaged: delete it, and a new run begins") from None
        if isinstance(found, str) and found.isalnum():
            return found
        raise UserError(f"{path} is damaged: delete it, and a new run begins")
    made = secrets.token_hex(4)
    write_whole(path, (json.dumps({"id": made}) + "\n").encode())
    return made


def one_line(error: Exception) -> str:
    """An error in one line."""
    return " ".join(str(error).split()) or type(error).__name__
