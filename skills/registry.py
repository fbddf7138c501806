"""Every skill that there is, by name: ours, and those of other packages.

Found once, on the first question: ours in `skills/specs/`, others by entry points of GROUP. Environment
workers and other processes find what is installed; what `register` adds is known in this process only.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import iter_modules

from rearrange.entry_points import load
from rearrange.errors import UserError, check_choice
from rearrange.tasks import TASKS, register_task, unregister_task
from skills import specs as ours
from skills.spec import Effect, SkillSpec

GROUP = "rearrange.skills"  # of entry points; each names a SkillSpec

_added: dict[str, SkillSpec] = {}
_found: dict[str, SkillSpec] = {}  # what was there at the first question


def built_in() -> dict[str, SkillSpec]:
    """Our own skills, in the order of their tasks."""
    names = [module.name for module in iter_modules(ours.__path__) if module.name[0] != "_"]
    found = [import_module(f"{ours.__name__}.{name}").SPEC for name in names]
    order = list(TASKS)
    for spec in found:  # a task that rearrange does not list comes last
        register_task(spec.task)
    found.sort(key=lambda spec: order.index(spec.name) if spec.name in order else len(order))
    return {spec.name: spec for spec in found}


def all_specs() -> dict[str, SkillSpec]:
    """All skills by name, ours first.

    Raises:
        UserError: What another package has registered cannot be loaded, or its name or action is taken.
    """
    if not _found:
        known = built_in()
        for point in entry_points(group=GROUP):
            _take(known, load(point, "skill", SkillSpec), f"entry point {point.value}")
        _found.update(known)
    return {**_found, **_added}


def register(spec: SkillSpec) -> SkillSpec:
    """Add a skill in this process; returns it.

    Raises:
        UserError: Its name, or an action that it carries out, is another skill's.
    """
    _take(all_specs(), spec, "register()")
    _added[spec.name] = spec
    return spec


def unregister(name: str) -> None:
    """Take out what `register` has added, its task included."""
    unregister_task(_added.pop(name).name)


def skill_names() -> tuple[str, ...]:
    """Names of all skills, ours first."""
    return tuple(all_specs())


def find(name: str) -> SkillSpec:
    """The skill of that name; a UserError lists those that there are."""
    found = all_specs()
    return found[check_choice("skill", name, found)]


def effect_of(name: str) -> Effect:
    """Return the intended effect of a skill; "" for what is no skill, such as `reset_arm`."""
    spec = all_specs().get(name)
    return "" if spec is None else spec.effect


def shipped_policy(name: str, folder: Path) -> Path:
    """Path of the shipped policy of a skill or another task: in `folder`, unless said."""
    spec = all_specs().get(name)
    return (
        folder / f"{name}.safetensors" if spec is None or not spec.checkpoint else spec.checkpoint
    )


def _take(known: dict[str, SkillSpec], spec: SkillSpec, source: str) -> None:
    """Add a skill to those that are known, and its task to rearrange's."""
    if spec.name in known:
        raise UserError(f"{source}: there is a skill '{spec.name}' already: choose another name")
    taken = {action.name: other.name for other in known.values() for action in other.actions}
    for action in spec.actions:
        if action.name in taken:
            raise UserError(
                f"{source}: skill '{spec.name}': action '{action.name}' is carried out by "
                f"'{taken[action.name]}' already: give it an action of its own, see SkillSpec.pddl"
            )
    register_task(spec.task)
    known[spec.name] = spec
