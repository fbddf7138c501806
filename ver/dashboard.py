"""Display of a training run: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.live import Live
from rich.table import Table

_SECTIONS = {
    "episode": "Episodes (mean)",
    "loss": "Learning",
    "time": "Share of wall time",
    "faults": "Faults survived",
}
_SHORT = ("episode/success", "episode/episode_return", "loss/entropy", "loss/value_loss")


class Dashboard:
    """Shows the newest row of numbers.

    Args:
        title: Name of the run.
        total_steps: Steps of the whole run.
        interval_s: Seconds between plain lines.
        live: Whether to draw a live table; by default when stdout is a terminal.
    """

    def __init__(
        self, title: str, total_steps: int, interval_s: float = 5.0, live: bool | None = None
    ):
        self.title = title
        self.total_steps = total_steps
        self.interval_s = interval_s
        self._printed_at = 0.0
        self._live: Live | None = None
        if sys.stdout.isatty() if live is None else live:
            self._live = Live(console=Console(), refresh_per_second=4)
            self._live.start()

    def update(self, row: dict[str, float]) -> None:
        """Shows a row; keys are `steps`, `steps_per_second` and `section/name`."""
        if self._live is not None:
            self._live.update(self._table(row))
        elif time.monotonic() - self._printed_at >= self.interval_s:
            self._printed_at = time.monotonic()
            print(self.line(row), flush=True)

    def say(self, message: str) -> None:
        """Prints a line above the table."""
        if self._live is not None:
            self._live.console.print(message, markup=False)
        else:
            print(message, flush=True)

    def close(self) -> None:
        """Leaves the last table on the screen."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def line(self, row: dict[str, float]) -> str:
        """Formats a row as one plain line."""
        parts = [
            f"steps {int(row['steps']):,}/{self.total_steps:,}",
            f"{row['steps_per_second']:,.0f} steps/s",
        ]
        parts += [f"{key.partition('/')[2]} {row[key]:.3g}" for key in _SHORT if key in row]
        shares = [
            f"{key.partition('/')[2]} {value:.0%}"
            for key, value in row.items()
            if key.startswith("time/")
        ]
        parts += [" ".join(shares), f"left {self._left(row)}"]
        return " | ".join(parts)

    def _left(self, row: dict[str, float]) -> str:
        rate = row["steps_per_second"]
        if rate <= 0:
            return "?"
        seconds = int(max(0.0, self.total_steps - row["steps"]) / rate)
        return f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"

    def _table(self, row: dict[str, float]) -> Table:
        """Two columns, so that everything fits a small terminal: the run, and its episodes."""
        done = row["steps"] / max(1, self.total_steps)
        run = _two_columns("Run")
        run.add_row("steps per second", f"{row['steps_per_second']:,.0f}")
        run.add_row("time left", self._left(row))
        both = Table.grid(padding=(0, 1))
        both.title = (
            f"{self.title}: {int(row['steps']):,} of {self.total_steps:,} steps ({done:.1%})"
        )
        tables = {"time": run, "loss": run, "episode": _two_columns(_SECTIONS["episode"])}
        if any(value for key, value in row.items() if key.startswith("faults/")):
            tables["faults"] = run
        for section, table in tables.items():
            if table is run:
                run.add_section()
                run.add_row(f"[bold]{_SECTIONS[section]}[/bold]", "")
            for key, value in row.items():
                if key.startswith(f"{section}/") and not _repeated(key, row):
                    text = f"{value:.1%}" if section == "time" else f"{value:.4g}"
                    table.add_row(key.partition("/")[2], text)
        both.add_row(run, tables["episode"])
        return both


def _repeated(key: str, row: dict[str, float]) -> bool:
    """Tells if the task itself reports an episode's return or length, under the shorter name."""
    return key.replace("/episode_", "/") in row and "/episode_" in key


def _two_columns(title: str) -> Table:
    table = Table(title=title, show_header=False)
    table.add_column(justify="left")
    table.add_column(justify="right")
    return table
