"""Training checkpoints of one run: their names, and which are kept and loaded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from atomic_files import remove_unfinished
from ver.errors import CorruptFileError, UserError
from ver.run_lock import RunLock


class RunCheckpoints:
    """The folder of a run's training checkpoints.

    Args:
        run_directory: The run's.
        keep: How many are kept; one at least is.

    Attributes:
        folder: Where they lie.
    """

    def __init__(self, run_directory: Path, keep: int):
        self._run_directory = run_directory
        self._keep = max(1, keep)
        self.folder = run_directory / "checkpoints"

    def path(self, steps: int) -> Path:
        """Returns the file of the checkpoint after so many environment steps."""
        return self.folder / f"training_{steps:012d}.safetensors"

    def all(self) -> list[Path]:
        """Returns those that there are, the oldest first."""
        return sorted(self.folder.glob("training_*.safetensors"))

    def drop_old(self) -> None:
        """Removes all but the newest ones."""
        for old in self.all()[: -self._keep]:
            old.unlink(missing_ok=True)

    def clear(self) -> None:
        """Removes all of them."""
        for old in self.all():
            old.unlink(missing_ok=True)

    def remove_unfinished(self) -> None:
        """Removes what a killed process left of files that it had not finished writing.

        Raises:
            UserError: If another training writes into the run directory.
        """
        if not self._run_directory.is_dir():
            return
        with RunLock(self._run_directory):  # what another training is just writing stays
            for directory in (self._run_directory, self.folder):
                remove_unfinished(directory)

    def load_newest(self, load: Callable[[Path], None]) -> Path:
        """Loads the newest checkpoint that is whole; others are renamed on the way.

        Args:
            load: Raises a CorruptFileError for a file that is not whole.

        Returns:
            Which one that was.

        Raises:
            UserError: If none is whole.
        """
        found = self.all()
        for path in reversed(found):
            if _load_if_whole(path, load):
                return path
        raise UserError(
            f"None of the {len(found)} checkpoints in {self.folder} is whole; give another run "
            "directory to start anew."
        )


def _load_if_whole(path: Path, load: Callable[[Path], None]) -> bool:
    try:
        load(path)
    except CorruptFileError as error:
        path.rename(path.with_suffix(".corrupt"))
        print(f"{error} Falling back to the checkpoint before it.", file=sys.stderr)
        return False
    return True
