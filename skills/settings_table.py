"""`python -m skills.settings_table > docs/settings.md`: every setting of a training, from the code."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nav.agent import AgentConfig
from nav.sharing import Sharing
from nav.table import TASKS as NAVIGATION
from rearrange.batched.pool import PoolConfig
from rearrange.episodes import RecordedStarts
from rearrange.settings import MOST, Setting, setting_of
from rearrange.sim.randomisation import Randomisation
from skills.navigation import NavigationSettings
from skills.registry import built_in
from skills.settings import TrainingSettings, keys
from skills.train import load_settings
from ver.config import CloningConfig, TrainerConfig
from ver.ranges import CHOICES, NUMBERS

INTRODUCTION = """\
# Settings

`python -m skills.settings_table > docs/settings.md` writes this page from the code.

Any of them is given as `key=value` behind `scripts/train_skill.sh pick` or `pointnav`. A YAML file in
`configs/` holds those in which a skill or task differs. The
last column has what our skills set, not the navigation tasks. Several values of a skill are those of its
[stages](training.md#stages), in order. Settings of the tasks of skills and chores
(`task.*`) stand in [hab.md](hab.md), with HAB's beside ours.
"""
OF_OTHERS = ("cloning", "starts", "randomise", "pool")  # that have tables of their own
OF_CARDS = {"skill", "stages", "bars"}  # told on the page of each skill
PARTS = (
    ("The training", TrainingSettings, "", "", {"trainer", *OF_OTHERS}),
    ("The learner", TrainerConfig, "", "trainer.", set[str]()),
    ("Imitation of a teacher", CloningConfig, "cloning.", "", set[str]()),
    ("Recorded starts", RecordedStarts, "starts.", "", set[str]()),
    ("Worlds that differ", Randomisation, "randomise.", "", set[str]()),
    ("Worlds on a device", PoolConfig, "pool.", "", set[str]()),
    (
        "The training of navigation tasks",
        NavigationSettings,
        "",
        "",
        {"trainer", "agent", "sharing", "task", *OF_CARDS},
    ),
    ("The agent of navigation tasks", AgentConfig, "agent.", "", set[str]()),
    ("Scenes that agents share", Sharing, "sharing.", "", set[str]()),
    *(
        (f"The task of {name}", kind.config_type, "task.", "", set[str]())
        for name, kind in NAVIGATION.items()
    ),
)


def about(kind: type[Any]) -> dict[str, str]:
    """Field of a dataclass -> the comment beside it or above it, in its source."""
    found: dict[str, str] = {}
    for base in kind.__mro__[1:]:
        if dataclasses.is_dataclass(base):
            found = about(base) | found
    above: list[str] = []
    for line in textwrap.dedent(inspect.getsource(kind)).splitlines():
        text = line.strip()
        if text.startswith("#"):
            above.append(text.lstrip("# "))
            continue
        match = re.match(r"(\w+): [^#]*(?:#\s*(.*))?$", text)
        if match and match[1] in {each.name for each in dataclasses.fields(kind)}:
            name = match[1]
            found[name] = " ".join([*above, match[2] or ""]).strip()
        elif found and text[:1] in "\"')" and "#" in text:  # a default on lines of its own
            found[list(found)[-1]] = text.partition("#")[2].strip()
        above = []
    return found


@functools.lru_cache
def trained() -> dict[str, str]:
    """Dotted key -> what our skills set it to, and which, where that is not the default."""
    skills = {name: load_settings(name, []) for name in built_in()}
    default = TrainingSettings(skill="pick")
    found: dict[str, str] = {}
    for key in set(keys(default)) - OF_CARDS:
        usual = _shown(_at(default, key))
        sets: dict[str, list[str]] = {}
        for name, settings in skills.items():
            values = dict.fromkeys(map(_shown, _values(settings, key)))
            if any(value != usual for value in values):
                sets.setdefault(", ".join(values), []).append(name)
        found[key] = "; ".join(
            f"{value}: {'all' if len(who) == len(skills) else ', '.join(who)}"
            for value, who in sets.items()
        )
    return found


def _values(settings: TrainingSettings, key: str) -> Iterator[Any]:
    """Values of a setting in the stages that use it: one that imitates needs none of the trainer's."""
    part = key.split(".")[0]
    for stage in settings.stages:
        of_teacher = "teacher" in stage.settings
        if part not in ("cloning", "trainer") or (part == "cloning") == of_teacher:
            yield stage.settings.get(key, _at(settings, key))


def _at(settings: Any, key: str) -> Any:
    return functools.reduce(getattr, key.split("."), settings)


def rows(
    kind: type[Any], prefix: str, apart: set[str], told: str, own: Mapping[str, str]
) -> Iterator[str]:
    """A line of the table for every setting.

    Args:
        kind: A dataclass of settings.
        prefix: Dotted key under which `ver.ranges` knows it, with a dot at its end.
        apart: Fields that other tables hold.
        told: What users write before the key.
        own: What skills set, by the key that users write.
    """
    comments = about(kind)
    for each in dataclasses.fields(kind):
        if each.name in apart:
            continue
        default = each.default
        if each.default_factory is not dataclasses.MISSING:
            default = each.default_factory()
        key = f"{prefix}{each.name}"
        if dataclasses.is_dataclass(default):
            yield from rows(type(default), f"{key}.", set(), told, own)
            continue
        allowed = ", ".join(map(str, CHOICES[key])) if key in CHOICES else str(NUMBERS.get(key, ""))
        what = comments.get(each.name, "")
        if any(isinstance(known, Setting) for known in each.metadata.values()):
            known = setting_of(each)
            what = known.about
            if type(default) in (int, float):
                most = f" to {known.high:g}" if known.high < MOST else " on"
                allowed = f"from {known.low:g}{most}"
        what = what.replace("|", "\\|").replace("<", "&lt;")
        set_to = own.get(f"{told}{key}", "")
        yield f"| `{told}{key}` | {_shown(default)} | {allowed} | {what} | {set_to} |"


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return f"`{value}`" if value or value == 0 else "empty"


def page() -> str:
    """The whole page."""
    lines, own = [INTRODUCTION], trained()
    for title, kind, prefix, told, apart in PARTS:
        lines += [
            f"## {title}",
            "",
            "| setting | default | allowed | meaning | our skills |",
            "|---" * 5 + "|",
        ]
        lines += [*rows(kind, prefix, apart, told, own), ""]
    return "\n".join(lines).rstrip() + "\n"


def main(arguments: Sequence[str]) -> int:
    """Print the page."""
    del arguments
    print(page(), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
