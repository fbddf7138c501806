"""Weights & Biases: https://docs.wandb.ai; WANDB_MODE=offline keeps runs in the run directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import wandb  # pyright: ignore[reportMissingImports]


class WeightsAndBiases:
    """A run of W&B; its policies are artifacts of type "model": `policy-ID`, and `best-ID`.

    Args:
        project: To which the run belongs.
        directory: The run directory, where wandb keeps its files too.
        run_id: Of the run; one that is there already goes on.
        config: The run's settings.
    """

    def __init__(self, project: str, directory: Path, run_id: str, config: dict[str, Any]) -> None:
        self._run = wandb.init(
            project=project,
            name=directory.name,
            id=run_id,
            resume="allow",
            dir=str(directory),
            config=config,
            settings=wandb.Settings(console="off", silent=True),
        )

    def log(self, row: Mapping[str, float], step: int) -> None:
        """Log numbers after so many steps."""
        self._run.log(dict(row), step=step)

    def film(self, path: Path, step: int) -> None:
        """Log a film after so many steps."""
        self._run.log({"film": wandb.Video(str(path), format="mp4")}, step=step)

    def finish(self, files: Sequence[Path]) -> None:
        """Keep the files, those that differ by suffix alone as one artifact, and end the run."""
        for stem in dict.fromkeys(path.stem for path in files):
            artifact = wandb.Artifact(f"{stem}-{self._run.id}", type="model")
            for path in files:
                if path.stem == stem:
                    artifact.add_file(str(path))
            self._run.log_artifact(artifact)
        self._run.finish()
