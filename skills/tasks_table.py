"""`python -m skills.tasks_table > docs/tasks.md`: every task, what it shows, asks for and rewards."""

from __future__ import annotations

import inspect
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from gymnasium import spaces

from nav.agent import ACTION_NAMES
from nav.gym_ids import IDS as NAVIGATION_IDS
from nav.registration import make as make_navigation
from nav.table import TASKS as NAVIGATION_TASKS
from rearrange.gym_ids import id_of
from rearrange.tasks import TASKS, household_names
from skills.names import names_of
from skills.registry import built_in, shipped_policy
from skills.settings import CHECKPOINTS
from skills.train import load_settings

INTRODUCTION = """\
# Tasks

Made from the code by `python -m skills.tasks_table > docs/tasks.md`: do not edit.

Seven skills and three chores are those of the Home Assistant Benchmark ([HAB](glossary.md)).
Four more are of navigation without physics. Each is a Gymnasium environment:

```python
import gymnasium
import rearrange, nav  # they make the ids known

env = gymnasium.make("rearrange/Pick-v0", split="val")
```

`rearrange train NAME` trains a task, and `rearrange eval NAME` judges it. A chore is judged by
`rearrange plan NAME`, which chains skills by a [plan](planner.md).
"""
NUMBERS = """\
[HAB's numbers beside ours](hab.md) has every reward, limit and start of these ten, by our rules and by HAB's.
Each skill has [a page of its own](skills/pick.md) with results and recipe. An action of a skill is a number in
[-1, 1] for each name. A step is 1/30 s.
"""
CHORES = """\
A chore draws a home with thirty objects and says which of them belong where. The same observations and
rewards serve [one policy for the whole of it](planner.md#one-policy-for-a-whole-chore).
"""
NAVIGATION = """\
A disc drives over the floor of the same homes. An action is one of a few. [Navigation tasks](navigation.md) has
agent, rules, scores and scanned scenes.
"""
MASK, TRUE_LABELS = "goal_mask", " by true labels"
SIZE = 61  # of images, in place of which "size" is told
SECTIONS = ("Observation", "Action", "Start", "Reward", "Success")


def groups() -> dict[str, tuple[str, ...]]:
    """Heading -> tasks that stand beside each other in one table; ours, whatever else is installed."""
    found: dict[str, tuple[str, ...]] = {}
    for name, spec in built_in().items():
        found[spec.heading] = (*found.get(spec.heading, ()), name)
    return {**found, "Household scenarios": household_names()}


def tasks() -> list[str]:
    """Names of all tasks with a robot."""
    return list(itertools.chain(*groups().values()))


def sections_of(task_type: type) -> dict[str, str]:
    """The sections of a task's module docstring, where it has none those of the shared one."""
    found: dict[str, str] = {}
    for owner in reversed(task_type.__mro__):
        module = sys.modules.get(owner.__module__)
        if module is not None and module.__name__.startswith("rearrange.tasks."):
            found |= _sections(inspect.getdoc(module) or "")
    if "Start" not in found:
        found["Start"] = (task_type.sample_episode.__doc__ or "").split("\n")[0]  # pyright: ignore
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


def summary_of(kind: type) -> str:
    """The first line of what is said of a task, without its name: of its class, or of its module."""
    text = inspect.getdoc(kind) or ""
    if "see the module" in text.lower():
        text = inspect.getdoc(sys.modules[kind.__module__]) or ""
    return re.sub(r"^[A-Z][A-Za-z ]*: ", "", text.split("\n")[0])


def _named(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _sized(shape: Sequence[int]) -> str:
    """A shape as text, for images of any size."""
    return " x ".join("size" if length == SIZE else str(length) for length in shape)


def _about(name: str) -> dict[str, str]:
    """Heading -> what a task observes, does, starts from, wants and logs."""
    kind = TASKS[name][0]
    task, sections = kind(), sections_of(kind)
    sights = kind(load_settings(name, []).task).gathered_spaces(SIZE)
    shapes = {key: space.shape or () for key, space in sights.items()}
    sizes: dict[str, Any] = {
        "head_depth": "size x size x 1",
        **{key: _sized(shape) for key, shape in shapes.items()},
    }
    sizes |= names_of(name).sizes
    about = {"Observation": ", ".join(f"`{key}` [{size}]" for key, size in sizes.items())}
    about |= {section: sections[section] for section in SECTIONS[1:] if section in sections}
    about["Reward terms"] = _named(task.REWARDS)
    about["Failures that are counted"] = _named(task.FAILURES)
    spec = built_in().get(name)
    if spec is not None:
        actions = _named(action.name for action in spec.actions)
        about["In a plan"] = f"carries out {actions}, within {spec.timeout} steps"
    return about


def _group(names: tuple[str, ...]) -> Iterator[str]:
    """Tasks that stand beside each other; what they share is said only once."""
    about = {name: _about(name) for name in names}
    shared = {
        heading: text
        for heading, text in about[names[0]].items()
        if all(each.get(heading) == text for each in about.values())
    }
    for name, each in about.items():
        yield from (f"**`{name}`**: {summary_of(TASKS[name][0])}", "")
        own = [f"- {heading}: {text}" for heading, text in each.items() if heading not in shared]
        yield from [*own, ""] if own else []
    if len(names) > 1:
        yield from ("All of them:", "")
    yield from (*(f"- {heading}: {text}" for heading, text in shared.items()), "")


def _navigation(name: str) -> Iterator[str]:
    kind, space = NAVIGATION_TASKS[name], cast(spaces.Dict, make_navigation(name).observation_space)
    choices = kind.action_space()
    actions = ACTION_NAMES[choices.start : choices.start + int(choices.n)]
    shapes = {key: " x ".join(map(str, each.shape or ())) for key, each in space.spaces.items()}
    yield from (f"**`{name}`**: {summary_of(kind)}", "")
    seen = [f"`{key}` [{shape}]{TRUE_LABELS * (key == MASK)}" for key, shape in shapes.items()]
    yield f"- Observation: {', '.join(seen)}"
    yield f"- Action: one of {', '.join(actions)}"
    yield from (f"- Reward terms: {_named(kind.REWARDS)}", "")


def _overview(names: Iterable[str]) -> Iterator[str]:
    """A table with a line for each task."""
    yield "| task | Gymnasium | steps at most | shipped policy |"
    yield "|---" * 4 + "|"
    for name in names:
        gym_id = NAVIGATION_IDS.get(name) or id_of(name)
        config = NAVIGATION_TASKS[name].config_type if name in NAVIGATION_TASKS else TASKS[name][1]
        shipped = "yes" if shipped_policy(name, CHECKPOINTS).is_file() else ""
        yield f"| `{name}` | `{gym_id}` | {config().max_steps} | {shipped} |"
    yield ""


def page() -> str:
    """The whole page."""
    own = groups()
    chores = own.pop("Household scenarios")
    lines = [INTRODUCTION, "## Skills", "", *_overview(itertools.chain(*own.values())), NUMBERS]
    for title, names in own.items():
        lines += [f"### {title}", "", *_group(names)]
    lines += ["## Chores", "", *_overview(chores), CHORES, *_group(chores)]
    lines += ["## Navigation", "", *_overview(NAVIGATION_TASKS), NAVIGATION]
    for name in NAVIGATION_TASKS:
        lines += _navigation(name)
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(page())
