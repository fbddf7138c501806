"""`python -m benchmarks.kill_storm_plot RESULT.json --output PNG`: curves of `benchmarks.kill_storm`.

To the left what was learned by how many steps, to the right how many steps were learned from by when.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rearrange.command_line import OneLineParser, check_picture, output_file
from skills.command import run_command
from skills.plot import load_pyplot
from ver import UserError


def read_curves(path: Path) -> tuple[list[list[list[float]]], list[list[float]]]:
    """Reads the curves left alone, and the storm's: points of seconds, steps, success.

    Raises:
        UserError: The file is not `benchmarks.kill_storm`'s.
    """
    try:
        told = json.loads(path.read_text())
        return [each["curve"] for each in told["calm"]], told["storm"]["curve"]
    except (OSError, ValueError, KeyError, TypeError):
        raise UserError(f"{path} is no result of benchmarks.kill_storm") from None


def plot(calm: Sequence[Any], storm: Any, output: Path) -> None:
    """Draws the curves; UserError where matplotlib is not installed."""
    pyplot = load_pyplot()
    figure, (learned, taken) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    alone = f"left alone, {len(calm)} seeds" if len(calm) > 1 else "left alone"
    labels = [alone, *[None] * (len(calm) - 1), "storm"]
    for curve, label in zip([*calm, storm], labels, strict=True):
        seconds, steps, success = zip(*curve, strict=True)
        color = "tab:red" if curve is storm else "tab:gray"
        learned.plot(steps, success, color=color, label=label)
        taken.plot([each / 60.0 for each in seconds], steps, color=color)
    learned.set(xlabel="environment steps", ylabel="success of training episodes", ylim=(0, 1))
    taken.set(xlabel="minutes", ylabel="environment steps")
    learned.legend()
    for panel in (learned, taken):
        panel.grid(alpha=0.3)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=90)
    pyplot.close(figure)


def main(arguments: Sequence[str]) -> int:
    """Plot a result."""
    parser = OneLineParser(prog="benchmarks.kill_storm_plot", description=__doc__)
    parser.add_argument("result", type=Path, help="of benchmarks.kill_storm")
    parser.add_argument("--output", type=output_file, required=True, help="PNG to write")
    options = parser.parse_args(arguments)
    check_picture(options)
    plot(*read_curves(options.result), options.output)
    return 0


if __name__ == "__main__":
    run_command(main)
