"""Picture of a result: curves where it has some, else the first of its figures by arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.curves import averaged
from experiments.experiment import Experiment
from skills.plot import load_pyplot

LABELS = {"steps": "environment steps", "seconds": "seconds"}
SHARES = ("success", "spl")  # figures from 0 to 1; a return is of any size


def plot(experiment: Experiment, record: dict[str, Any], path: Path) -> None:
    """Draw a result.

    Raises:
        UserError: matplotlib is not installed.
    """
    pyplot = load_pyplot()
    lines = {name: each for name, each in record["curves"].items() if each}
    figure = _curves(pyplot, lines, record) if lines else _dots(pyplot, experiment, record)
    figure.suptitle(f"{experiment.paper}, {experiment.artefact}", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _curves(pyplot: Any, lines: dict[str, Any], record: dict[str, Any]) -> Any:
    """A panel for each figure and axis, a line for each arm."""
    figures = list(dict.fromkeys(name for each in lines.values() for name in each))
    axes = list(dict.fromkeys(axis for each in lines.values() for axis in each[figures[0]]))
    size = 5.5 * len(axes), 4.0 * len(figures)
    whole, panels = pyplot.subplots(
        len(figures), len(axes), figsize=size, squeeze=False, layout="constrained"
    )
    for row, name in zip(panels, figures, strict=True):
        for panel, axis in zip(row, axes, strict=True):
            for arm, each in lines.items():
                line = each[name][axis]
                panel.plot(line["grid"], line["mean"], label=arm)
                panel.fill_between(line["grid"], line["low"], line["high"], alpha=0.15)
            panel.set(xlabel=LABELS[axis], ylabel=f"{name} of training episodes")
            if name in SHARES:
                panel.set_ylim(0, 1)
            panel.grid(alpha=0.3)
    panels[0][0].legend(fontsize="small", title=averaged(record["seeds"]))
    return whole


def _dots(pyplot: Any, experiment: Experiment, record: dict[str, Any]) -> Any:
    """The first figure, a dot for each seed, a line for each arm."""
    key, label = next(iter(experiment.figures.items()))
    rows = [row for row in record["rows"] if row.get(key) is not None]
    arms = list(dict.fromkeys(row["arm"] for row in record["rows"]))
    whole, panel = pyplot.subplots(figsize=(8, 1 + 0.3 * len(arms)), layout="constrained")
    panel.plot([row[key] for row in rows], [arms.index(row["arm"]) for row in rows], "o", alpha=0.6)
    panel.set_yticks(range(len(arms)), arms)
    panel.invert_yaxis()
    panel.set(xlabel=label, xlim=(0, None))
    panel.grid(alpha=0.3)
    return whole
