"""VER, section 4: a policy that sees the state of a step before, a_t ~ pi(s_{t-1})."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_SKILL, Training
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import CURVES, OF_SKILLS, ORACLES, Experiment

SETTINGS = ("until=alone", "trainer.total_steps=1000000")
DELAYS = {"no delay": 0, "delay": 1}  # steps of 1/30 s


def arms(quick: bool) -> list[Training]:
    """Pick with and without."""
    settings = (*SETTINGS, *QUICK_SKILL) if quick else SETTINGS
    judge = QUICK_JUDGE if quick else FULL_JUDGE
    return [
        Training(name, "pick", (*settings, f"task.action.delay={steps}"), judge)
        for name, steps in DELAYS.items()
    ]


EXPERIMENT = Experiment(
    name="ver_delay",
    paper="VER",
    artefact="Section 4: observations that are one step late",
    arms=arms,
    figures={"success": "success", "mean_success": "mean training success"},
    claims=(
        Claim(
            "Skills are learned although observations are a step late",
            *("success", "delay", "no delay", DIFFERENCE),
            least=-0.05,
        ),
    ),
    departures=(
        *OF_SKILLS,
        CURVES,
        "The paper trains all skills with the delay, and tells of none without. That it costs no more than "
        "five points is our reading.",
        "Pick alone, the first stage of its recipe: 1 million steps instead of 500.",
        ORACLES,
    ),
    not_measured=(
        "The other skills.",
        "How much faster it makes physics and rendering that overlap.",
    ),
    timed=False,
    curves=("success",),
)
