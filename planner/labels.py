"""Labels for people: title, verb and colour of each skill and of the phases between skills."""

from __future__ import annotations

from dataclasses import dataclass

from skills.modes import MONOLITHIC
from skills.registry import all_specs

# What the executive does beside the skills
REARM, LOOK, BACK_OFF, WAIT = "reset_arm", "look", "back_off", "wait"
_OTHER = "#0891b2"


@dataclass(frozen=True)
class Label:
    """Words and colour.

    Attributes:
        title: As in "open cabinet".
        verb: As in "opening", before what it is done to.
        colour: In charts.
    """

    title: str
    verb: str
    colour: str = _OTHER


PHASES: dict[str, Label] = {
    REARM: Label("folding the arm", "folding the arm", "#475569"),
    LOOK: Label("look", "looking whether it stays"),
    BACK_OFF: Label("back off", "backing off"),
    WAIT: Label("wait", "waiting before the stop"),
    MONOLITHIC: Label("monolithic", "acting without a plan"),
}


def label_of(name: str) -> Label:
    """The label of a skill or a phase; of what is unknown, as in others' results, its name."""
    spec = all_specs().get(name)
    if spec is not None:
        return Label(spec.title, spec.verb, spec.colour)
    return PHASES.get(name, Label(name.replace("_", " "), name.replace("_", " ")))


def legend() -> tuple[str, ...]:
    """Keys of the chart legend, in order."""
    return (*all_specs(), REARM, MONOLITHIC)
