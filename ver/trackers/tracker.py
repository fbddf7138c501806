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
# In the run directory: the run's id, which a resumed run keeps; in a stage's: the steps before it
_FILE = "tracker.json"


class Tracker(Protocol):
    """One run in an experiment tracker."""

    def log(self, row: Mapping[str, float], step: int) -> None:
        """Log numbers by name, met after so many steps."""
        ...

    def film(self, path: Path, step: int) -> None:
        """Log a film (mp4) of the policy, of which a copy is kept."""
        ...

    def finish(self, files: Sequence[Path]) -> None:
        """Keep the files that the tracker takes, all of which are there, and end."""
        ...


class Tolerant:
    """A tracker whose failures do not end the run: told once, and left out from there.

    Args:
        tracker: What may fail.
        say: Told of it, in one line.
        before: Steps of earlier stages, which count on in the tracker.
    """

    def __init__(self, tracker: Tracker, say: Callable[[str], None], before: int = 0) -> None:
        self._tracker: Tracker | None = tracker
        self._say, self._before = say, before

    def log(self, row: Mapping[str, float], step: int) -> None:
        """See Tracker."""
        self._try(lambda tracker: tracker.log(row, self._before + step))

    def film(self, path: Path, step: int) -> None:
        """See Tracker."""
        self._try(lambda tracker: tracker.film(path, self._before + step))

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
    """The run of a run directory in a tracker; a resumed run, and the next stage, go on with the same.

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
        before = steps_before(directory)
        run = directory if before is None else directory.parent
        made = kind(project, run, run_id(run), config)
    except Exception as error:  # each has its own
        raise UserError(f"tracker={name} does not start: {one_line(error)}") from None
    return Tolerant(made, say, before or 0)


def mark_stage(directory: Path, before: int) -> None:
    """Make the run of a stage's folder one with that of the folder around it, once and for all.

    Args:
        directory: Of the stage.
        before: Steps of the stages before it.
    """
    if not (directory / _FILE).is_file():
        directory.mkdir(parents=True, exist_ok=True)
        _write(directory, {"before": before})


def steps_before(directory: Path) -> int | None:
    """Steps of the stages before that of a folder; None for a run of its own."""
    found = _read(directory).get("before")
    if found is not None and (type(found) is not int or found < 0):
        raise _damaged(directory)
    return found


def run_id(directory: Path) -> str:
    """The id of a run, made where there is none yet."""
    found = _read(directory) or _write(directory, {"id": secrets.token_hex(4)})
    made = found.get("id")
    if not (isinstance(made, str) and made.isalnum()):
        raise _damaged(directory)
    return made


def _read(directory: Path) -> dict[str, Any]:
    """Content of the file in a run directory; nothing where there is none."""
    path = directory / _FILE
    if not path.is_file():
        return {}
    try:
        found = json.loads(path.read_text())
    except ValueError:
        raise _damaged(directory) from None
    if not (isinstance(found, dict) and found):
        raise _damaged(directory)
    return found


def _write(directory: Path, found: dict[str, Any]) -> dict[str, Any]:
    write_whole(directory / _FILE, (json.dumps(found) + "\n").encode())
    return found


def _damaged(directory: Path) -> UserError:
    return UserError(f"{directory / _FILE} is damaged: delete it, and a new run begins")


def one_line(error: Exception) -> str:
    """An error in one line."""
    return " ".join(str(error).split()) or type(error).__name__
