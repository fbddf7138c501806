"""VER, section 6.2: Pick learns to drive, although it begins close to the object."""

from __future__ import annotations

from experiments.arms import QUICK_SKILL, Distances, Training
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import OF_SKILLS, PROMPT, Experiment
from experiments.ver_fig6 import NEAR

# The recipe pays for the way along the floor: driving would be taught
UNTAUGHT = ("until=alone", *NEAR["pick"], "task.way_scale=0")
EARLY = (*UNTAUGHT, "trainer.total_steps=300000")
LATE = (*UNTAUGHT, "trainer.total_steps=2000000")
DISTANCES = (1.0, 2.0, 4.0, 6.0)  # along the floor [m]; it is trained within 0.85 m


def arms(quick: bool) -> list[Distances]:
    """A policy early in training, the same one later, and untrained weights."""
    early, late = ((*each, *QUICK_SKILL) if quick else each for each in (EARLY, LATE))
    first, second = Training("early", "pick", early), Training("late", "pick", late)
    distances = DISTANCES[::2] if quick else DISTANCES
    judge = ("--episodes", "2", "--homes", "classic") if quick else ("--episodes", "100")
    return [
        Distances("early", (first,), distances, judge),
        Distances("late", (first, second), distances, judge),
        Distances("untrained", (), distances, judge),
    ]


EXPERIMENT = Experiment(
    name="ver_emergent",
    paper="VER",
    artefact="Section 6.2: emergent navigation of Pick",
    arms=arms,
    figures={f"success_at_{each:g}": f"success from {each:g} m" for each in DISTANCES},
    claims=(
        Claim(
            "Pick succeeds from farther away than it ever began",
            *("success_at_4", "late", "untrained", DIFFERENCE),
            least=0.0,
        ),
        Claim(
            "Driving is not forgotten as training goes on (the paper's hypothesis)",
            # From 4 m an early policy may not succeed at all: what it never had it cannot forget
            *("success_at_1", "late", "early", DIFFERENCE),
            least=-0.05,
        ),
    ),
    departures=(
        *OF_SKILLS,
        PROMPT,
        "2.3 million steps instead of 500. The early policy had 0.3 million of them; the late one went on from "
        "it with a learning rate of its own.",
        "The early policy is no snapshot: its learning rate and spread had fallen to their ends.",
        "The first stage of our recipe, but within 0.85 m of the object in a straight line, without recorded "
        "starts and detours, and without pay for the way along the floor.",
        "Episodes of Pick from given distances along the floor, up to 500 steps. The paper plays Tidy House "
        "without Navigate: figure 6.",
    ),
    not_measured=(
        "Place.",
        "How often an early policy moves away and comes back.",
    ),
    timed=False,
)
