"""VER, section 2.3: several processes that learn together from Open Fridge, and rollouts that end early."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_SKILL, Training
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import CURVES, LEARNER, OF_FRIDGE, OF_SKILLS, PROMPT, Experiment

SETTINGS = ("until=masked", "trainer.total_steps=1000000")
ENVIRONMENTS = 32  # in all
PROCESSES, QUICK_PROCESSES = 4, 2
ONE = "one process"
RULES = {  # when rollouts end although a process has not filled its own
    "several, all wait": "none",
    "several, fixed share": "fixed",
    "several, optimal": "optimal",
}


def arms(quick: bool) -> list[Training]:
    """One process, and several by each rule with as many environments together; quick: by two rules."""
    settings = (*SETTINGS, *QUICK_SKILL) if quick else SETTINGS
    judge = QUICK_JUDGE if quick else FULL_JUDGE

    def training(name: str, processes: int, rule: str) -> Training:
        each = ENVIRONMENTS // processes
        shared = (
            f"trainer.collect.num_environments={each}",
            f"trainer.collect.environments_per_worker={min(16, each)}",
            f"trainer.distributed.preemption={rule}",
        )
        return Training(name, "open_fridge", (*settings, *shared), judge, processes)

    if quick:
        return [training(name, QUICK_PROCESSES, RULES[name]) for name in list(RULES)[::2]]
    several = (training(name, PROCESSES, rule) for name, rule in RULES.items())
    return [training(ONE, 1, "none"), *several]


EXPERIMENT = Experiment(
    name="ver_processes",
    paper="VER",
    artefact="Section 2.3: several processes, stragglers and preemption on Open Fridge",
    arms=arms,
    figures={
        "steps_per_s": "steps/s",
        "stale_share": "stale steps",
        "mean_success": "mean training success",
        "success": "success",
        "seconds_to_half": "seconds to half success",
    },
    claims=(
        Claim(
            "Not to wait for the slowest makes it faster",
            *("steps_per_s", "several, optimal", "several, all wait"),
            least=1.0,
        ),
        Claim(
            "The optimal end is no slower than DD-PPO's fixed share",
            *("steps_per_s", "several, optimal", "several, fixed share"),
            least=0.95,
        ),
        Claim(
            "Rollouts filled up with stale steps cost no sample efficiency",
            *("mean_success", "several, optimal", "several, all wait", DIFFERENCE),
            least=-0.05,
        ),
        Claim(
            "Several processes learn as one does from the same steps",
            *("mean_success", "several, all wait", ONE, DIFFERENCE),
            least=-0.05,
            most=0.05,
        ),
    ),
    departures=(
        *OF_SKILLS,
        PROMPT,
        CURVES,
        LEARNER,
        OF_FRIDGE,
        "The paper says why rollouts end early, and compares no rules: what they do to speed and sample "
        "efficiency is our reading of section 2.3.",
        "The paper says that filling improves on DD-PPO, which does not fill; ours fills by every rule, so "
        "that is not tested.",
        "Four processes share the processor cores and 32 environments. The paper has a GPU and 16 environments "
        "for each. So ours are also slow since others take the core, and four are no faster than one.",
        "Each learning process has its eight environments in one other: so the slowest one counts for less "
        "than in the paper.",
        "Stragglers are Open Fridge's own: nothing sleeps.",
        "1 million steps of our recipe's first stage, with its mask; half of the episodes begin where Navigate "
        "may have ended.",
    ),
    not_measured=("Two, four and eight GPUs, and the speed-up from one to eight.",),
    curves=("success",),
)
