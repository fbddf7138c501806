"""A training on the page: the world of one of its environments, and its curves."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from live.page import Page
from rearrange.robot import DEFAULT_ROBOT, find_robot
from rearrange.scenes.registry import DEFAULT_HOMES, check_homes
from skills.peek import FILE, Peek
from ver.changed_settings import run_metadata

# [s] between looks at the world, at the curves, and for somebody who looks
LOOKS, READS, WAITS = 1 / 20, 2.0, 1 / 4
NICENESS = 10  # of the page, 0 being the training's
POINTS = 400  # of a curve, at most
# Of a row in metrics.jsonl: how they are called, and the least and largest that is drawn
CURVES: dict[str, tuple[str, tuple[float | None, float | None]]] = {
    "episode/success": ("success", (-0.05, 1.15)),  # room for the labels
    "episode/return": ("return", (None, None)),
}
COLOUR = "#2f9e6e"


def give_way() -> None:
    """Let the training compute first where both want to."""
    os.nice(NICENESS)
    # Linux weighs sessions first, and the page of a training has its own
    with suppress(OSError):
        Path("/proc/self/autogroup").write_text(str(NICENESS))


class Curves:
    """Success and return of a run, from its metrics.jsonl or from that of its newest stage.

    Attributes:
        steps: Of the rows so far.
        values: Of each curve, as many.
    """

    def __init__(self, run: Path) -> None:
        """Begin without rows."""
        self._run, self._file, self._offset = run, Path(), 0
        self.last: dict[str, float] = {}
        self._forget()

    def _forget(self) -> None:
        self.steps: list[float] = []
        self.values: dict[str, list[float]] = {name: [] for name in CURVES}
        self._offset = 0

    def read(self) -> bool:
        """Read the rows that are new; whether there were any."""
        files = [*self._run.glob("metrics.jsonl"), *self._run.glob("*/metrics.jsonl")]
        if not files:
            return False
        newest = max(files, key=lambda file: file.stat().st_mtime_ns)
        if newest != self._file or newest.stat().st_size < self._offset:
            self._forget()
            self._file = newest
        with newest.open("rb") as file:
            file.seek(self._offset)
            new = file.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            with suppress(ValueError):
                self._add(json.loads(line))
        return bool(whole)

    def _add(self, row: dict[str, float]) -> None:
        self.last = row
        self.steps.append(row["steps"])
        for name, values in self.values.items():
            values.append(row.get(name, np.nan))

    def points(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Thousands of steps, and a curve [P], [P]; all rows or some of them."""
        steps, values = np.array(self.steps), np.array(self.values[name])
        there = np.flatnonzero(np.isfinite(values))
        chosen = there[:: max(1, -(-len(there) // POINTS))]
        return steps[chosen] / 1e3, values[chosen]

    def words(self) -> str:
        """The last row in a line."""
        row = self.last
        if not row:
            return "no figures yet"
        told = f"{row['steps']:,.0f} steps, {row.get('steps_per_second', 0.0):,.0f} in a second"
        if "episode/success" in row:
            told += f", success {row['episode/success']:.2f}"
        return told


class TrainingPage:
    """Looks at a run as long as it goes on and a browser shows the page."""

    def __init__(self, page: Page, run: Path, homes: str = "", robot: str = "") -> None:
        """Put the choice of environments and the curves on the page.

        Args:
            page: Where.
            run: Run directory.
            homes: Of the training; empty: as its run.json says, which shortens paths.
            robot: Likewise.

        Raises:
            UserError: Nothing there can be watched.
        """
        self._page, self._run = page, run
        self.peek, self.curves = Peek(run / FILE), Curves(run)
        gui = page.server.gui
        page.controls.only_watch()
        page.training.visible = True
        with page.training:
            self.environment = gui.add_number(
                "environment", 0, min=0, max=self.peek.count - 1, step=1
            )
            self._words = gui.add_markdown("no figures yet")
            self._charts = {name: self._chart(*told) for name, told in CURVES.items()}
        self._read_at, self._homes, self._robot = 0.0, homes, robot
        self._knows_files = False

    def _chart(self, title: str, limits: tuple[float | None, float | None]) -> Any:
        empty = np.zeros(1)
        return self._page.server.gui.add_uplot(
            (empty, empty),
            (
                {"label": "thousand steps"},
                {"label": title, "stroke": COLOUR, "width": 2, "points": {"show": True, "size": 4}},
            ),
            scales={"x": {"time": False, "auto": True}, "y": {"range": limits}},
            legend={"show": False},
            title=f"{title}, over thousands of steps",
            aspect=2.2,
        )

    def watch(self) -> None:
        """Show until the training ends."""
        while self.peek.is_written():
            self.update()
            time.sleep(LOOKS if self._page.is_watched else WAITS)

    def update(self) -> None:
        """Show what is new."""
        page = self._page
        if not page.is_watched:
            return
        environment = int(np.clip(self.environment.value, 0, self.peek.count - 1))
        self.peek.ask(environment)
        sight = self.peek.take()
        if sight is not None and not page.pace.paused:
            self._read_files()
            page.controls.told = f"environment {environment}"
            page.draw(lambda size: sight, "")
        now = time.monotonic()
        if now - self._read_at >= READS:
            self._read_at = now
            if self.curves.read():
                self._draw()

    def _read_files(self) -> None:
        """Make the training's home and robot known, once, where files name them."""
        if self._knows_files:
            return
        self._knows_files = True
        for path in (*self._run.glob("run.json"), *self._run.glob("*/run.json")):
            metadata = run_metadata(path)
            check_homes(self._homes or metadata.get("homes", DEFAULT_HOMES))
            find_robot(self._robot or metadata.get("robot", DEFAULT_ROBOT))

    def _draw(self) -> None:
        self._words.content = self.curves.words()
        for name, chart in self._charts.items():
            points = self.curves.points(name)
            if len(points[0]) > 1:  # axes need a range
                chart.data = points
