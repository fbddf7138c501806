"""Trackio: local first, in SQLite; `trackio show` opens its dashboard, TRACKIO_DIR says where it is kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import trackio  # pyright: ignore[reportMissingImports]


class Trackio:
    """A run of Trackio; it keeps films, and no other files.

    Args:
        project: To which the run belongs.
        directory: The run directory.
        run_id: Of the run; one that is there already goes on.
        config: The run's settings.
    """

    def __init__(self, project: str, directory: Path, run_id: str, config: dict[str, Any]) -> None:
        name = f"{directory.name}-{run_id}"  # trackio knows runs by name
        self._run = trackio.init(
            project=project, name=name, config=config, resume="allow", embed=False
        )

    def log(self, row: Mapping[str, float], step: int) -> None:
        """Log numbers after so many steps."""
        trackio.log(dict(row), step=step)

    def film(self, path: Path, step: int) -> None:
        """Log a film after so many steps."""
        trackio.log({"film": trackio.Video(str(path))}, step=step)

    def finish(self, files: Sequence[Path]) -> None:
        """End the run."""
        del files
        trackio.finish()
