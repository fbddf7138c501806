"""`python -m skills.plot RUN [RUN ...] --output FILE.png`: training curves from metrics.jsonl.

Success and causes of failure; the return where nothing can succeed, as in what `python -m ver train` trains.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rearrange.command_line import OneLineParser, check_picture, output_file
from skills.command import run_command
from skills.validation import read_log, read_validation
from ver import UserError
from ver.changed_settings import run_metadata

SUCCESS, RETURN = "episode/success", "episode/episode_return"  # in rows of a log
TICKS = (1, 2, 5, 10, 20, 30, 60, 120, 240)  # [minutes]


def read_rows(run: Path) -> list[dict[str, Any]]:
    """Rows of a run's log, of all its stages where it has some: steps and seconds go on counting.

    Raises:
        UserError: The directory is not that of a run.
    """
    rows: list[dict[str, Any]] = []
    for log in _logs(run):
        last = rows[-1] if rows else {"steps": 0.0, "seconds": 0.0}
        rows += [
            row | {name: row[name] + last[name] for name in ("steps", "seconds") if name in row}
            for row in read_log(log)
        ]
    return rows


def _logs(run: Path) -> list[Path]:
    """The log of a run, or those of its stages in the order in which its recipe has them."""
    logs = [run / "metrics.jsonl"]
    if not logs[0].is_file():
        stages = _about(run).get("recipe", {}).get("stages", [])
        order = {name: place for place, name in enumerate(stages)}

        def place(log: Path) -> tuple[int, float]:
            return order.get(log.parent.name, -1), log.stat().st_mtime

        logs = sorted(run.glob("*/metrics.jsonl"), key=place)
    if not logs:
        raise UserError(f"no metrics.jsonl in {run}: give the directory of a training run")
    return logs


def _about(run: Path) -> dict[str, Any]:
    """Header of a run's policies, by its run.json or one of its stages'."""
    found = [path for path in (run / "run.json", *run.glob("*/run.json")) if path.is_file()]
    return run_metadata(found[0]) if found else {}


def steps_are_decisions(run: Path) -> bool:
    """Return whether a logged step is a decision that lasts several steps of the world."""
    return _about(run).get("task", {}).get("action", {}).get("repeat", 1) > 1


def validation_points(run: Path) -> list[tuple[float, float, float, float]]:
    """Steps, success and its interval of every validation of a run, of all its stages."""
    points, before = [], 0.0
    for log in _logs(run):
        for row in read_validation(log.parent):
            success = row["success"]
            points.append((before + row["steps"], success["mean"], success["low"], success["high"]))
        before += max((row["steps"] for row in read_log(log)), default=0.0)
    return points


def minute_ticks(minutes: float) -> range:
    """At most eight whole minutes from 0 on."""
    return range(0, int(minutes) + 1, next((k for k in TICKS if minutes / k < 8), TICKS[-1]))


def load_pyplot() -> Any:
    """Matplotlib's pyplot, drawing to files.

    Raises:
        UserError: matplotlib is not installed.
    """
    try:
        import matplotlib  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise UserError("plots need matplotlib: pip install matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pyright: ignore[reportMissingImports]

    return pyplot


def read_curve(run: Path, key: str = SUCCESS) -> list[dict[str, Any]]:
    """Rows of a run's log that have a number.

    Raises:
        UserError: There are none.
    """
    rows = [row for row in read_rows(run) if key in row]
    if not rows:
        raise UserError(
            f"{run}: no row of its log has {key}: no episode has ended, or none can succeed"
        )
    return rows


def plot_returns(runs: Sequence[Path], output: Path) -> None:
    """Mean return of the last training episodes against steps, where none can succeed."""
    curves = {run: read_curve(run, RETURN) for run in runs}
    pyplot = load_pyplot()
    figure, axes = pyplot.subplots(figsize=(7, 4), layout="constrained")
    for run, rows in curves.items():
        steps = [row["steps"] / 1e6 for row in rows]
        axes.plot(steps, [row[RETURN] for row in rows], label=run.name)
    axes.set(xlabel="environment steps [million]", ylabel="return of training episodes")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=110)


def plot(runs: Sequence[Path], output: Path) -> None:
    """Success and causes of failure against steps, with minutes on top."""
    curves = {run: read_curve(run) for run in runs}
    pyplot = load_pyplot()
    figure, (success, failures) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for run, rows in curves.items():
        steps = [row["steps"] / 1e6 for row in rows]
        (line,) = success.plot(steps, [row[SUCCESS] for row in rows], label=run.name)
        points = np.array(validation_points(run)).reshape(-1, 4)
        if len(points):
            mean = points[:, 1]
            bars = mean - points[:, 2], points[:, 3] - mean
            about = {"fmt": "o", "color": line.get_color(), "label": f"{run.name}, validation"}
            success.errorbar(points[:, 0] / 1e6, mean, bars, capsize=3, **about)
        minutes = [row["seconds"] / 60 for row in rows]
        if run == runs[-1]:
            for key in sorted(k for k in rows[-1] if k.startswith("episode/failure/")):
                values = [row.get(key, 0.0) for row in rows]
                failures.plot(steps, values, label=key.removeprefix("episode/failure/"))
            ticks = minute_ticks(minutes[-1])
            top = success.twiny()
            top.set_xlim(success.get_xlim())
            top.set_xticks(np.interp(ticks, minutes, steps), [str(t) for t in ticks])
            top.set_xlabel("minutes")
    unit = "decisions" if any(map(steps_are_decisions, runs)) else "environment steps"
    whose = f"failed, {runs[-1].name}" if len(curves) > 1 else "failed"
    titles = ("success at end (lines: training episodes)", "share of training episodes")
    for axes, title in zip((success, failures), titles, strict=True):
        axes.set(xlabel=f"{unit} [million]", ylabel=title, ylim=(0, 1))
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small", title=whose if axes is failures else None)
    output.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(output, dpi=110)


def main(arguments: Sequence[str]) -> int:
    """Plot runs."""
    parser = OneLineParser(prog="skills.plot", description=__doc__)
    parser.add_argument("runs", nargs="+", type=Path, help="run directories")
    parser.add_argument("--output", type=output_file, required=True, help="PNG to write")
    options = parser.parse_args(arguments)
    check_picture(options)
    told = {key for run in options.runs for row in read_rows(run) for key in row}
    draw = plot_returns if RETURN in told and SUCCESS not in told else plot
    draw(options.runs, options.output)
    return 0


if __name__ == "__main__":
    run_command(main)
