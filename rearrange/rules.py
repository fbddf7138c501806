"""Two sets of rules: `ours`, and `hab`, habitat-lab v0.3.4's with the VER paper's changes.

`hab` takes what stands as HAB's value beside every setting (rearrange.settings) of tasks and simulator;
docs/hab.md lists all of them, and what differs still. For an environment:
`RearrangeEnv("pick", hab_config("pick"), simulator=simulator_config("hab"))`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from rearrange.errors import check_choice
from rearrange.settings import Setting, group_values, setting_of
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import default_config

OURS, HAB = "ours", "hab"
RULES = (OURS, HAB)


def check_rules(name: str) -> str:
    """Return the name of a set of rules or raise a UserError that lists those that exist."""
    return check_choice("rules", name, RULES)


def settings_in(
    config: Any, prefix: str = "", hab: dict[str, Any] | None = None
) -> Iterator[tuple[str, Any, Setting]]:
    """Every setting of a config and of the groups in it: dotted name, value, what is known of it.

    Raises:
        TypeError: A field was not made by `setting` or `group`.
    """
    for field in dataclasses.fields(config):
        value, name = getattr(config, field.name), f"{prefix}{field.name}"
        if dataclasses.is_dataclass(value):
            yield from settings_in(value, f"{name}.", group_values(field))
        else:
            yield name, value, setting_of(field, hab)


def with_hab(config: Any) -> Any:
    """A copy of a config, whose fields were made by `setting` and `group`, with HAB's values.

    Ours stay where HAB states none or where its own cannot be had.
    """
    values: dict[str, Any] = {}
    for name, value, known in settings_in(config):
        group, _, rest = name.rpartition(".")
        ours = known.kept or known.hab is None
        values.setdefault(group, {})[rest] = value if ours else known.hab
    top = values.pop("", {})
    for group, parts in values.items():
        top[group] = dataclasses.replace(getattr(config, group), **parts)
    return dataclasses.replace(config, **top)


def hab_config(task: str) -> Any:
    """A task's config under HAB's rules; see `with_hab`. UserError: There is no such task."""
    return with_hab(default_config(task))


def task_config(task: str, rules: str = OURS) -> Any:
    """A task's config under a set of rules; UserError where there is no such task or set."""
    return hab_config(task) if check_rules(rules) == HAB else default_config(task)


def without_stop_masks(config: Any) -> Any:
    """A copy of a task's config by which every stop counts, wherever it is called."""
    return _with(config, stop_zone=0.0, stop_distance=math.inf)


def judged(config: Any) -> Any:
    """A copy of a task's config by which policies are judged: no stop farther than 2 m from the goal counts.

    That is the VER paper's, and by our rules always so. In a training by HAB's rules every stop counts.
    """
    return _with(config, stop_distance=2.0)


def _with(config: Any, **values: Any) -> Any:
    """A copy of a config with those of the values whose settings it has."""
    there = {field.name for field in dataclasses.fields(config)}
    return dataclasses.replace(config, **{k: v for k, v in values.items() if k in there})


def simulator_config(rules: str = OURS) -> SimulatorConfig:
    """The simulator's settings under a set of rules; UserError where there is no such set."""
    config = SimulatorConfig()
    return with_hab(config) if check_rules(rules) == HAB else config
