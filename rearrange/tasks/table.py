"""`python -m rearrange.tasks.table > docs/hab.md`: every number of every task beside the reference's.

The source is the code: config dataclasses with the comments of their fields, module docstrings, and the
tasks themselves. A field's comment reads `[reference] meaning`; tests/ check that the page is up to date.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import io
import re
import sys
import textwrap
import tokenize
from functools import lru_cache
from typing import Any

import numpy as np

from rearrange.sim.base import SimState
from rearrange.tasks import HOUSEHOLD_NAMES, TASKS
from rearrange.tasks.base import ActionConfig

# Tasks that stand beside each other in one table, and the heading.
GROUPS = {
    "Navigate": ("navigate",),
    "Pick": ("pick",),
    "Place": ("place",),
    "Open and close": ("open_cab", "close_cab", "open_fridge", "close_fridge"),
    "Household scenarios": HOUSEHOLD_NAMES,
}
SECTIONS = ("Observation", "Action", "Start", "Reward", "Success")

INTRODUCTION = """\
# The tasks of the Home Assistant Benchmark

Made from the code by `python -m rearrange.tasks.table > docs/hab.md`: do not edit.

Ten tasks: seven skills and three household scenarios. Numbers are ours; in brackets stands the value of
habitat-lab v0.3.4, the reference, and **bold** is what differs from it. Every number is a setting
(`task.max_steps=200` on the command line of the trainer). Results in our apartments and with our physics are
not comparable with those in ReplicaCAD.

## What differs everywhere

- **Changes of the VER paper**, which the reference has in part: base motion in every skill, suction on
  contact, an action of its own to stop and a force penalty that applies in Navigate, and in every
  observation `gps_compass`, the pose relative to the start (x, y in metres, cosine and sine of the turn).
- **Force penalties and limits apply** in every skill. In the reference Navigate's reward overwrites them,
  Place caps the penalty at zero, and the open and close skills have no penalty, the latter no limits either.
- **Force** is the largest contact force on the robot or on what it holds; the reference takes the largest in
  the whole scene.
- **The base** is moved against any force, as in the reference: with the arm stretched out it drives that into
  walls with 60,000 N and more. With `stall=true` it stops before what the wheels cannot push (two of 8.85 N m:
  283 N); the shipped policies were trained without, see [the robot's base](training.md#a-base-that-stalls).
- **The arm** moves three times as far per action: the reference's 0.0125 rad per step are 0.4 rad/s, a third of
  what the slowest joint of the real Fetch can do.
- **The resting hand** is where the reference wants it, (0.5, 0, 1.0) m before the base, but with other joint
  angles: the reference's own leave our arm 0.29 m from it.
- **Start states** in which the robot touches anything are drawn again, for every task.
- **One drawer** is opened and closed, `drawer_right_top`; the reference uses one too.
- **Set Table** pays for opening, see there.
"""


@dataclasses.dataclass(frozen=True)
class Note:
    """What the comment of a field says.

    Attributes:
        reference: Text in the leading brackets, or None.
        meaning: What follows them.
    """

    reference: str | None
    meaning: str


def notes_of(config_type: type) -> dict[str, Note]:
    """Field name -> its note, inherited fields included."""
    notes: dict[str, Note] = {}
    for owner in reversed(config_type.__mro__):
        if dataclasses.is_dataclass(owner):
            notes |= _own_notes(owner)
    return notes


@lru_cache
def _own_notes(config_type: type) -> dict[str, Note]:
    """Notes of the fields that this class itself defines."""
    source = textwrap.dedent(inspect.getsource(config_type))
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    lines = source.splitlines()
    notes: dict[str, Note] = {}
    (definition,) = ast.parse(source).body
    assert isinstance(definition, ast.ClassDef)
    for node in definition.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            first = node.lineno
            while lines[first - 2].lstrip().startswith("#"):  # comments above the field
                first -= 1
            said = [
                comments[n] for n in range(first, (node.end_lineno or first) + 1) if n in comments
            ]
            match = re.fullmatch(r"(?:\[([^\]]*)\])?\s*(.*)", " ".join(said))
            assert match is not None
            notes[node.target.id] = Note(match[1], match[2])
    return notes


def sections_of(task_type: type) -> dict[str, str]:
    """The sections of a task's module docstring, where it has none those of the shared one."""
    found: dict[str, str] = {}
    for owner in reversed(task_type.__mro__):
        module = sys.modules.get(owner.__module__)
        if module is not None and module.__name__.startswith("rearrange.tasks."):
            found |= _sections(inspect.getdoc(module) or "")
    if "Start" not in found:
        found["Start"] = (task_type.sample_episode.__doc__ or "").split("\n")[0]
    return found


def _sections(text: str) -> dict[str, str]:
    """Section name -> its text on one line."""
    marker = rf"^({'|'.join(SECTIONS)})\b[^:\n]*:"
    starts = [*re.finditer(marker, text, re.MULTILINE)]
    ends = [*(match.start() for match in starts[1:]), len(text)][: len(starts)]
    found = {}
    for match, end in zip(starts, ends, strict=True):
        body = " ".join(text[match.start() : end].split("\n\n")[0].split())
        found[match[1]] = re.sub(r"^\w+ ?", "", body, count=1).lstrip(": ")
    return found


def differs(value: Any, reference: str | None) -> bool:
    """Whether our value is another than the reference's; what is no number counts as another."""
    if reference in (None, "not stated"):
        return False
    assert reference is not None
    if isinstance(value, bool):
        return str(value) != reference
    try:
        return abs(float(value) - float(reference.replace(" ", ""))) > 5e-5
    except ValueError:
        return True


def _cell(value: Any, reference: str | None) -> str:
    number = f"{value:.10g}" if isinstance(value, float) and value < 1e4 else str(value)
    if isinstance(value, float) and value != round(value, 4):
        number = f"{value:.4f}"
    elif isinstance(value, float) and value >= 1e4:
        number = f"{value:,.0f}".replace(",", " ")
    shown = f"**{number}**" if differs(value, reference) else number
    return shown if reference is None else f"{shown} [{reference}]"


def _rows(
    config: Any, prefix: str = "", references: dict[str, str] | None = None
) -> dict[str, tuple[str, str]]:
    """Name of a setting -> its cell and its meaning; `references` go before those of the comments."""
    rows: dict[str, tuple[str, str]] = {}
    notes = notes_of(type(config))
    for field in dataclasses.fields(config):
        value, note = getattr(config, field.name), notes[field.name]
        if isinstance(value, ActionConfig):
            continue  # the same everywhere: a table of its own
        if dataclasses.is_dataclass(value):
            # A comment on a group reads `[name: reference, name: reference]`.
            parts = note.reference.split(", ") if note.reference else []
            inner = dict(part.split(": ") for part in parts)
            rows |= _rows(value, f"{prefix}{field.name}.", inner)
        else:
            cell = _cell(value, (references or {}).get(field.name, note.reference))
            rows[f"{prefix}{field.name}"] = (cell, note.meaning)
    return rows


def _table(columns: dict[str, dict[str, tuple[str, str]]]) -> list[str]:
    """A Markdown table with a column of numbers per task."""
    names = list(dict.fromkeys(name for rows in columns.values() for name in rows))
    head = " | ".join(columns)
    lines = [f"| setting | {head} | meaning |", "|---" * (len(columns) + 2) + "|"]
    for name in names:
        cells = [rows.get(name, ("", ""))[0] for rows in columns.values()]
        meaning = next(rows[name][1] for rows in columns.values() if name in rows)
        lines.append(f"| `{name}` | {' | '.join(cells)} | {meaning} |")
    return lines


def _about(name: str) -> tuple[str, dict[str, str]]:
    """A task's summary, and what it observes, does, starts from, wants and logs by heading."""
    kind = TASKS[name][0]
    task, sections = kind(), sections_of(kind)
    shapes = {"head_depth": "size x size x 1"}
    shapes |= {key: str(space.shape[0]) for key, space in task.observation_spaces().items()}
    outcome = task.evaluate(SimState(1), np.zeros((1, 11)))
    summary = kind.__doc__ or ""
    if "see the module" in summary:
        summary = (inspect.getdoc(sys.modules[kind.__module__]) or "").split("\n")[0]
    told = {"Observation": ", ".join(f"`{key}` [{shape}]" for key, shape in shapes.items())}
    told |= {section: sections[section] for section in SECTIONS[1:] if section in sections}
    told["Reward terms"] = ", ".join(f"`{term}`" for term in outcome.rewards)
    told["Failures that are counted"] = ", ".join(f"`{term}`" for term in outcome.failures)
    return f"`{name}`: {summary}", told


def _group(names: tuple[str, ...]) -> list[str]:
    """What is to be said of tasks that stand beside each other, what they share only once."""
    about = {name: _about(name) for name in names}
    first = about[names[0]][1]
    shared = {
        heading: text
        for heading, text in first.items()
        if all(told.get(heading) == text for _, told in about.values())
    }
    lines: list[str] = []
    for summary, told in about.values():
        lines += [f"**{summary}**", ""]
        lines += [f"- {heading}: {text}" for heading, text in told.items() if heading not in shared]
        lines += [""] * (lines[-1] != "")
    if len(names) > 1:
        lines += ["All of them:", ""]
    return [*lines, *(f"- {heading}: {text}" for heading, text in shared.items()), ""]


def page() -> str:
    """The whole page in Markdown."""
    lines = [INTRODUCTION, "## What an action of 1 means", ""]
    lines += [*_table({"all tasks": _rows(ActionConfig(), "action.")}), ""]
    for title, names in GROUPS.items():
        lines += [f"## {title}", "", *_group(names)]
        lines += [*_table({name: _rows(TASKS[name][1]()) for name in names}), ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
