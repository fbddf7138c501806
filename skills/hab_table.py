"""`python -m skills.hab_table > docs/hab.md`: every number of every task, by our rules and by HAB's.

The source is the code: both configurations are built as for a training (configs/*.yaml) and as for an
evaluation, and compared field by field. What a setting means stands beside it (rearrange.settings).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from rearrange.episodes import RecordedStarts
from rearrange.rules import HAB, OURS, settings_in
from rearrange.settings import Setting
from skills.hab_text import INTRODUCTION, REMAINING
from skills.settings import SkillEnvironments, TrainingSettings
from skills.tasks_table import groups, tasks
from skills.train import load_stages

# Of a training: no rules
APART = {
    "skill", "homes", "preset", "run", "split", "sim", "dataset", "trainer", "rules",
    "stages", "since", "until", "teacher", "cloning", "robot", "live", "sensors",
    "validate_every", "validation_episodes", "bars", "pool",
}  # fmt: skip
# What `values_of` takes into account
COVERED = {"task", "camera_size", "slide", "stall", "randomise", "starts"}
STARTS = {
    "starts.share": Setting("of the episodes begin where an earlier skill of a chain ended", 0.0),
}


@dataclass(frozen=True)
class Row:
    """A setting of one task by both rules.

    Attributes:
        known: What is known of it.
        ours: Its value where we judge a policy.
        trained: Its values where we train, in the stages of the recipe, each once.
        hab: Its value in a training with rules=hab.
    """

    known: Setting
    ours: Any
    trained: tuple[Any, ...]
    hab: Any

    @property
    def differs(self) -> bool:
        """True if the rules give it other values, or HAB itself has another than both."""
        alike = all(same(x, self.hab) for x in (self.ours, *self.trained))
        return not alike or bool(self.known.kept)


def same(first: Any, second: Any) -> bool:
    """Return whether two values are equal to four places."""
    if isinstance(first, bool) or isinstance(second, bool):
        return first == second
    return first == second or abs(first - second) <= 5e-5


def values_of(environments: SkillEnvironments) -> dict[str, tuple[Any, Setting]]:
    """Name -> value and what is known, of all settings of task, simulator and starts.

    Raises:
        TypeError: A field has come up of which nothing is known.
    """
    new = {field.name for field in fields(TrainingSettings)} | {"task"}
    new -= APART | COVERED
    parts = {field.name for field in fields(RecordedStarts)} - {"paths", "share"}
    if new or parts:
        raise TypeError(f"tell in skills/hab_table.py what HAB has for {sorted(new | parts)}")
    starts = environments.starts
    share = starts["share"] if starts.get("paths") else 0.0
    mixed = {"starts.share": share}
    found = {name: (mixed[name], known) for name, known in STARTS.items()}
    for config in (environments.simulator_config(), environments.task_config()):
        found |= {n: (value, known) for n, value, known in settings_in(config) if n not in APART}
    return found


@lru_cache
def rows_of(skill: str) -> dict[str, Row]:
    """Every setting of a skill or scenario by both rules."""
    ours, (hab,) = _trainings(skill, OURS), _trainings(skill, HAB)
    judged = values_of(SkillEnvironments.from_metadata(ours[-1].metadata(), "val"))
    trained, by_hab = [values_of(environments) for environments in ours], values_of(hab)
    return {
        name: Row(
            known,
            value,
            tuple(dict.fromkeys(stage[name][0] for stage in trained)),
            by_hab[name][0],
        )
        for name, (value, known) in judged.items()
    }


def _trainings(skill: str, rules: str) -> list[SkillEnvironments]:
    """Those of the stages of a recipe."""
    return [_environments(settings) for settings in load_stages(skill, [f"rules={rules}"])]


def _environments(settings: Any) -> SkillEnvironments:
    """Those of a training, whose recorded starts need not be there."""
    environments = SkillEnvironments.from_settings(replace(settings, starts=RecordedStarts()))
    starts = {"paths": settings.starts.paths, "share": settings.starts.share}
    return replace(environments, starts=starts)


def is_shared(name: str) -> bool:
    """True if a setting is not of a single task."""
    return name.startswith("action.") or name in rows_elsewhere()


@lru_cache
def rows_elsewhere() -> frozenset[str]:
    """Names of the settings of simulator and starts."""
    simulator = SkillEnvironments("pick", {}, "val", 64, True).simulator_config()
    return frozenset([*STARTS, *(name for name, _, _ in settings_in(simulator))])


# --- how values are shown -------------------------------------------------------------------------------


def shown(value: Any, known: Setting) -> str:
    """A value as text; a limit that is off by that word."""
    if isinstance(value, int):  # a bool, too
        return str(value)
    if value < 0.0 and "below 0: off" in known.about:
        return "off"
    if value >= 1e4 and value != float("inf"):
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4f}" if value != round(value, 4) else f"{value:.10g}"


def told(row: Row) -> str:
    """The meaning of a setting, what is to be said of HAB's value, and what ours hides."""
    known = row.known
    text = known.about
    if known.note:
        text += f" (HAB: {known.note})"
    if known.kept:
        text += f" (HAB: {shown(known.hab, known)}; {known.kept})"
    if known.hides:
        text += f". **Ours hides or makes rarer:** {known.hides}"
    return text


def cell(row: Row) -> str:
    """Ours, and in brackets HAB's; bold where they differ."""
    known = row.known
    ours, hab = shown(row.ours, known), shown(row.hab, known)
    if not all(same(row.ours, value) for value in row.trained):
        ours += f", trained {_stages(row)}"
    return f"{f'**{ours}**' if row.differs else ours} [{hab}]"


def _stages(row: Row) -> str:
    """Values in the stages of a recipe."""
    return ", ".join(shown(value, row.known) for value in row.trained)


def _table(names: Sequence[str]) -> list[str]:
    """The settings of tasks that stand beside each other, with a column for each."""
    columns = {name: rows_of(name) for name in names}
    keys = dict.fromkeys(key for rows in columns.values() for key in rows if not is_shared(key))
    lines = [f"| setting | {' | '.join(names)} | meaning |", "|---" * (len(names) + 2) + "|"]
    for key in keys:
        cells = [cell(rows[key]) if key in rows else "" for rows in columns.values()]
        rows = [each[key] for each in columns.values() if key in each]
        kept = [row for row in rows if row.known.kept]
        lines.append(f"| `{key}` | {' | '.join(cells)} | {told((kept or rows)[0])} |")
    return lines


def _by_task(values: dict[str, str]) -> str:
    """Write the value of most tasks, then those of the others."""
    most, _ = Counter(values.values()).most_common(1)[0]
    others: dict[str, list[str]] = {}
    for task, value in values.items():
        if value != most:
            others.setdefault(value, []).append(task)
    return "; ".join([most, *(f"{value}: {', '.join(tasks)}" for value, tasks in others.items())])


def _shared_table() -> list[str]:
    """Table of what all tasks share: simulator, actions, starts."""
    columns = {task: rows_of(task) for task in tasks()}
    lines = ["| setting | ours | hab | meaning |", "|---" * 4 + "|"]
    for key in filter(is_shared, columns["navigate"]):
        rows = {task: column[key] for task, column in columns.items()}
        known = rows["navigate"].known
        ours = _by_task({task: shown(row.ours, known) for task, row in rows.items()})
        trained = {task: _stages(row) for task, row in rows.items()}
        if any(not same(row.ours, value) for row in rows.values() for value in row.trained):
            ours += f" (trained: {_by_task(trained)})"
        hab = _by_task({task: shown(row.hab, known) for task, row in rows.items()})
        if any(row.differs for row in rows.values()):
            ours = f"**{ours}**"
        lines.append(f"| `{key}` | {ours} | {hab} | {told(rows['navigate'])} |")
    return lines


def _kept() -> list[str]:
    """Settings in which rules=hab keeps ours: HAB states none, or its value cannot be had."""
    where: dict[tuple[str, str], list[str]] = {}
    for task in tasks():
        for name, row in rows_of(task).items():
            if row.known.kept:
                why = f"HAB has {shown(row.known.hab, row.known)}; {row.known.kept}"
                where.setdefault((name, why), []).append(task)
            elif row.known.hab is None:
                why = f"HAB states none; ours is {shown(row.hab, row.known)}"
                where.setdefault((name, why), []).append(task)
    return [f"- `{name}` ({', '.join(of)}): {why}." for (name, why), of in where.items()]


def page() -> str:
    """The whole page in Markdown."""
    lines = [INTRODUCTION, "## What differs everywhere", "", *_shared_table(), ""]
    lines += [REMAINING, *_kept(), ""]
    for title, names in groups().items():
        lines += [f"## {title}", "", *_table(names), ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
