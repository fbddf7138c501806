"""Episodes by number, of a file or sampled, and what came of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.evaluation import episode_seed
from rearrange.episodes import EpisodeSet, find_dataset
from rearrange.errors import UserError
from rearrange.tasks import household_names
from skills.navigation import navigation_names

Asked = Callable[
    [int], tuple[int, dict[str, Any] | None]
]  # a number to seed and options of `reset`


@dataclass(frozen=True)
class Episodes:
    """The episodes of a task, by number; those that evaluations with seed 0 play.

    Attributes:
        task: Of them.
        split: Whose homes.
        file: That holds them; None: they are sampled.
        count: How many there are; the first follows on the last. 0: there is no last.
    """

    task: str
    split: str
    file: Path | None = None
    count: int = 0

    @classmethod
    def find(cls, task: str, split: str, choice: str | None) -> Episodes:
        """Those of a file.

        Args:
            task: A skill, a scenario or a navigation task.
            split: Which homes.
            choice: The file; "sampled": none; None: the shipped one, if there is one.

        Raises:
            UserError: The file is missing, or of something else.
        """
        if task in navigation_names():
            if choice not in (None, "sampled"):
                raise UserError(f"--dataset {choice}: episodes of {task} are sampled; leave it out")
            return cls(task, split)
        found, _ = find_dataset(choice, task, split, 1)
        return cls(task, split) if found is None else cls(task, split, found.path, len(found))

    def number(self, number: int) -> int:
        """The same number, or what it is after the last episode."""
        return number % self.count if self.count else number

    def asked(self, number: int) -> tuple[int, dict[str, Any] | None]:
        """Seed and options for `reset`."""
        number = self.number(number)
        seed = episode_seed(0, number) if self.task in household_names() else number
        if self.file is None:
            return seed, None
        given = EpisodeSet.load(self.file, self.task, self.split)
        return seed, {"episode": given.episode(number)}


def came_of(metrics: Mapping[str, float]) -> str:
    """The end of an episode in a few words."""
    steps = f"{metrics['length']:.0f} steps"
    if "success" not in metrics:
        return f"score {metrics.get('score', 0.0):.2f} after {steps}"
    if "spl" in metrics:
        steps += f", SPL {metrics['spl']:.2f}"
    causes = [name.removeprefix("failure/") for name in metrics if name.startswith("failure/")]
    why = [name.replace("_", " ") for name in causes if metrics[f"failure/{name}"]]
    told = "success" if metrics["success"] else f"failed: {', '.join(why) or 'not done'}"
    return f"{told}, {steps}"
