"""`python -m benchmarks.side_by_side_plot RESULT.json ... --output PNG`: curves of `benchmarks.side_by_side`.

A panel for each environment, a line for each seed of each library, up to where it reached the threshold. The
upper row is against seconds, the lower one against steps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.diary import WINDOW
from rearrange.command_line import OneLineParser, output_file
from skills.command import run_command
from skills.plot import load_pyplot
from ver import UserError

AXES = {"seconds": (0, 1.0), "thousand steps": (1, 1000.0)}  # place in a point of a curve, and unit


def read_environments(paths: Sequence[Path]) -> dict[str, Any]:
    """Reads what was found of each environment.

    Raises:
        UserError: A file is none of `benchmarks.side_by_side`'s.
    """
    found: dict[str, Any] = {}
    for path in paths:
        try:
            environments = json.loads(path.read_text())["environments"]
            assert all("systems" in each for each in environments.values())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, AssertionError):
            raise UserError(f"{path} is no result of benchmarks.side_by_side") from None
        found |= environments
    return found


def plot(environments: Mapping[str, Any], output: Path) -> None:
    """Draws the curves.

    Args:
        environments: {name: what was found}.
        output: PNG to write.

    Raises:
        UserError: matplotlib is not installed.
    """
    pyplot = load_pyplot()
    size = 4.2 * len(environments), 6.5
    figure, panels = pyplot.subplots(
        2, len(environments), figsize=size, squeeze=False, layout="constrained"
    )
    systems = list(
        dict.fromkeys(name for each in environments.values() for name in each["systems"])
    )
    for column, (name, each) in enumerate(environments.items()):
        for row, (axis, (place, unit)) in enumerate(AXES.items()):
            panel = panels[row][column]
            for system, told in each["systems"].items():
                color, label = f"C{systems.index(system)}", system
                for run in told["runs"]:
                    points = [(point[place] / unit, point[2]) for point in run["curve"]]
                    panel.plot(*zip(*points, strict=True), color=color, label=label, alpha=0.8)
                    label = None
            panel.axhline(each["threshold"], color="grey", linestyle="--", linewidth=1)
            panel.set(xlabel=axis, title=name if row == 0 else None)
            panel.grid(alpha=0.3)
        panels[0][column].legend(fontsize="small")
    for row in panels:
        row[0].set_ylabel(f"mean return of {WINDOW} episodes")
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=90)
    pyplot.close(figure)


def main(arguments: Sequence[str]) -> int:
    """Plot results."""
    parser = OneLineParser(prog="benchmarks.side_by_side_plot", description=__doc__)
    parser.add_argument("results", nargs="+", type=Path, help="of benchmarks.side_by_side")
    parser.add_argument("--output", type=output_file, required=True, help="PNG to write")
    options = parser.parse_args(arguments)
    plot(read_environments(options.results), options.output)
    return 0


if __name__ == "__main__":
    run_command(main)
