"""Files that are replaced whole: readers see the old file or the new one, also after a crash."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives a file beside the target, which takes its place when the block ends well.

    An exception leaves the target as it was, and so does a block that removes the file.

    Args:
        path: The target; its folder is made if needed.

    Raises:
        OSError: If something cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    os.close(descriptor)
    part = Path(name)
    try:
        yield part
        if part.exists():
            _sync(part)
            part.chmod(0o644)
            os.replace(part, path)
            _sync(path.parent)
    finally:
        part.unlink(missing_ok=True)


def write_whole(path: str | Path, content: bytes | str) -> None:
    """Writes a file atomically, text as UTF-8; its folder is made if needed.

    Raises:
        OSError: If it cannot be written; what was there before is intact.
    """
    with replacing(Path(path)) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def remove_unfinished(folder: Path, name: str = "") -> None:
    """Removes what a killed process left of files that it had not finished writing.

    Args:
        folder: Where.
        name: Only what begins with it.
    """
    for path in folder.glob(f".{name}*.tmp"):
        path.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    """Waits until a file, or a folder's list of files, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
