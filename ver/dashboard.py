"""Display of a training run: a live table in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

Rows = list[tuple[str, str]]

SILENT_S = 30.0  # after so long without figures a person is told that it still starts
_SHORT = ("episode/success", "episode/episode_return", "loss/entropy", "loss/value_loss")


class Dashboard:
    """Shows the newest row of numbers.

    Args:
        title: Name of the run.
        total_steps: Steps of the whole run.
        interval_s: Seconds between plain lines.
        live: Whether to draw a live table; by default when stdout is a terminal.
        among: How this run is called beside others that are shown at once: each line begins so.
    """

    def __init__(
        self,
        title: str,
        total_steps: int,
        interval_s: float = 5.0,
        live: bool | None = None,
        among: str = "",
    ):
        self.title = title
        self._called = f"{among} " if among else ""
        self.total_steps = total_steps
        self.interval_s = interval_s
        self._printed_at = 0.0
        self._rows = 0
        self._live: Live | None = None
        self._begun = threading.Event()  # figures have come
        if sys.stdout.isatty() if live is None else live:
            self._live = Live(console=Console(), refresh_per_second=4)
            self._live.start()

    def wait(self) -> None:
        """Tells now and then how long the first figures have not come yet; ends with them."""
        threading.Thread(target=self._tell_waiting, daemon=True).start()

    def _tell_waiting(self) -> None:
        since = time.monotonic()
        while not self._begun.wait(SILENT_S):
            waited = _clock(time.monotonic() - since)
            self.say(f"no figures after {waited}: environments start, or the first rollout is made")

    def update(self, row: dict[str, float]) -> None:
        """Shows a row; keys are `steps`, `steps_per_second` and `section/name`."""
        self._begun.set()
        self._rows += 1
        if self._live is not None:
            size = self._live.console.size
            self._live.update(self.table(row, size.width, size.height))
        elif time.monotonic() - self._printed_at >= self.interval_s:
            self._printed_at = time.monotonic()
            print(self._called + self.line(row), flush=True)

    def say(self, message: str) -> None:
        """Prints a line above the table."""
        if self._live is not None:
            self._live.console.print(message, markup=False)
        else:
            print(self._called + message, flush=True)

    def close(self) -> None:
        """Leaves the last table on the screen."""
        self._begun.set()
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
            if key.startswith("time/") and round(100.0 * value)
        ]
        spent = _clock(row.get("seconds", 0.0))
        parts += [" ".join(shares), f"{spent} so far", f"left {self._left(row)}"]
        return " | ".join(parts)

    def _left(self, row: dict[str, float]) -> str:
        if self._rows == 1:  # the first took as long as it does to compile
            return "?"
        rate = row["steps_per_second"]
        return _clock(max(0.0, self.total_steps - row["steps"]) / rate) if rate > 0 else "?"

    def table(self, row: dict[str, float], width: int, height: int) -> Group:
        """Two columns without lines, so that all of it fits a terminal of 80 x 24.

        Where it does not, the last of each column are left out and counted.
        """
        done = row["steps"] / max(1, self.total_steps)
        share = f"{done:.1%}" if done < 1.0 else "done"
        run = [
            ("steps per second", f"{row['steps_per_second']:,.0f}"),
            ("time so far", _clock(row.get("seconds", 0.0))),
            ("time left", self._left(row)),
            ("episodes", f"{row.get('episodes', 0.0):,.0f}"),
        ]
        faults = _section("faults", row)
        if any(value for key, value in row.items() if key.startswith("faults/")):
            run += [("", ""), ("[bold]Faults survived[/bold]", ""), *faults]
        run += [("", ""), ("[bold]Learning[/bold]", ""), *_section("loss", row)]
        spent = ", ".join(
            f"{key.partition('/')[2].replace('_', ' ')} {value:.0%}"
            for key, value in row.items()
            if key.startswith("time/")
        )
        title = f"{self.title}: {int(row['steps']):,} of {self.total_steps:,} steps ({share})"
        spent = Text(f"wall time: {spent}")
        lines = len(spent.wrap(Console(width=width), width))
        room = max(4, height - 3 - lines)  # title, heads, cursor
        both = Table.grid(padding=(0, 3))
        both.add_row(
            _two_columns("Run", run, room),
            _two_columns("Episodes, mean", _section("episode", row), room),
        )
        return Group(Text(title, style="bold"), both, spent)


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds."""
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def _section(name: str, row: dict[str, float]) -> Rows:
    """Names and values of a part of the row."""
    return [
        (key.partition("/")[2], f"{value:.4g}")
        for key, value in row.items()
        if key.startswith(f"{name}/") and not _repeated(key, row)
    ]


def _repeated(key: str, row: dict[str, float]) -> bool:
    """Tells if the task itself reports an episode's return or length, under the shorter name."""
    return key.replace("/episode_", "/") in row and "/episode_" in key


def _two_columns(title: str, rows: Rows, room: int) -> Table:
    """A column of names and one of values, of at most `room` rows."""
    table = Table(title=title, show_header=False, box=None, padding=(0, 1), title_style="bold")
    table.add_column(justify="left")
    table.add_column(justify="right")
    hidden = len(rows) - room
    if hidden > 0:
        rows = [*rows[: room - 1], (f"and {hidden + 1} more", "")]
    for name, value in rows:
        table.add_row(name, value)
    return table
