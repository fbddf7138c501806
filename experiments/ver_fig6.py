"""VER, figure 6: household scenarios, by skills with and without base motion, without Navigate, and others."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_SKILL, Training
from experiments.chains import Chain
from experiments.claims import DIFFERENCE, VALUE, Claim
from experiments.experiment import OF_SKILLS, Experiment

MOVES, ARM_ONLY, NO_NAV = "base moves", "arm only", "without Navigate"
ALONE, SPA = "monolithic", "sense-plan-act"
KINDS, QUICK_KINDS = (MOVES, ARM_ONLY, NO_NAV, ALONE, SPA), (MOVES, NO_NAV)
TIDY, GROCERIES, TABLE = "Tidy House", "Prepare Groceries", "Set Table"
NEEDED = {  # skills of a scenario's plans besides Navigate, which is the shipped one
    TIDY: ("pick", "place"),
    GROCERIES: ("pick", "place"),
    TABLE: ("open_cab", "open_fridge", "pick", "place"),
}
# Nobody has to drive: the robot begins within the arm's reach, and never where Navigate may have ended
NEAR = {
    "pick": ("task.start_distance=0.85", "starts.share=0"),
    "place": ("task.start_distance=0.85", "starts.share=0"),
    "open_cab": ("task.arrived_share=0",),
    "open_fridge": ("task.arrived_share=0",),
}
# Decisions of three steps: 15 million steps, where the four skills have 13.8 million together
ALONE_BUDGET = "trainer.total_steps=5000000"
QUICK = (*QUICK_SKILL, "trainer.total_steps=4096")


def arms(quick: bool) -> list[Chain]:
    """Each scenario by each kind of agent; quick: Tidy House by two of them."""
    scenarios, kinds = ((TIDY,), QUICK_KINDS) if quick else (tuple(NEEDED), KINDS)
    return [chain(scenario, kind, quick) for scenario in scenarios for kind in kinds]


def chain(scenario: str, kind: str, quick: bool) -> Chain:
    """A scenario by one kind of agent."""
    changes, judge = (QUICK, QUICK_JUDGE) if quick else ((), FULL_JUDGE)
    options = ("--episodes", "1", "--homes", "classic") if quick else ("--episodes", "100")
    name, task = f"{scenario}, {kind}", scenario.lower().replace(" ", "_")
    if kind == SPA:
        return Chain(name, task, "spa", (), options)
    if kind == ALONE:
        whole = Training(f"{scenario} whole", task, (ALONE_BUDGET, *changes), judge)
        return Chain(name, task, "monolithic", (whole,), options)
    motion, still = (ARM_ONLY, ("task.base_motion=false",)) if kind == ARM_ONLY else (MOVES, ())
    skills = tuple(
        Training(f"{skill}, {motion}", skill, (*NEAR[skill], *still, *changes), judge)
        for skill in NEEDED[scenario]
    )
    return Chain(
        name, task, "learned", skills, (*options, "--no-nav") if kind == NO_NAV else options
    )


def better(text: str, figure: str, scenario: str, others: tuple[str, str], reference: str) -> Claim:
    """A claim that one kind of agent does better than another in a scenario."""
    arm, other = (f"{scenario}, {kind}" for kind in others)
    return Claim(text, figure, arm, other, DIFFERENCE, least=0.0, reference=reference)


def no_nav(text: str, figure: str, scenario: str, reference: str) -> Claim:
    """A claim that skills get somewhere at all without Navigate."""
    arm = f"{scenario}, {NO_NAV}"
    return Claim(text, figure, arm, by=VALUE, least=0.0, reference=reference)


def worse(scenario: str, reference: str) -> Claim:
    """A claim that the first interaction without Navigate succeeds less often than in Tidy House."""
    text = f"Without Navigate the first interaction of {scenario} succeeds less often than Tidy House's"
    arm, other = f"{scenario}, {NO_NAV}", f"{TIDY}, {NO_NAV}"
    return Claim(text, "after_1", arm, other, DIFFERENCE, most=0.0, reference=reference)


EXPERIMENT = Experiment(
    name="ver_fig6",
    paper="VER",
    artefact="Figure 6: household scenarios",
    arms=arms,
    figures={
        "after_1": "after 1 interaction",
        "after_2": "after 2",
        "after_3": "after 3",
        "success": "whole scenario",
        "pick_alone": "Pick in its own task",
    },
    claims=(
        *(
            better(f"{scenario}: {what}", figure, scenario, (MOVES, ARM_ONLY), f"ver_fig6.{key}")
            for scenario, what, figure, key in (
                (TIDY, "base motion in skills helps the whole", "success", "tidy_more"),
                (GROCERIES, "base motion in skills helps the whole", "success", "groceries_more"),
                (
                    TABLE,
                    "base motion helps until the first object is placed",
                    "after_3",
                    "table_more",
                ),
            )
        ),
        Claim(
            "Base motion does not change Pick's success in its own task",
            *("pick_alone", f"{TIDY}, {MOVES}", f"{TIDY}, {ARM_ONLY}", DIFFERENCE),
            *(-0.05, 0.05, "ver_fig6.pick_alone"),
        ),
        no_nav(
            "Without Navigate Tidy House's first pick succeeds at times",
            "after_1",
            TIDY,
            "ver_no_nav.first_pick",
        ),
        no_nav("And its first placing", "after_2", TIDY, "ver_fig6.no_nav_place"),
        Claim(
            "Then it is on par with sense-plan-act",
            *("after_2", f"{TIDY}, {NO_NAV}", f"{TIDY}, {SPA}", DIFFERENCE),
            *(-0.05, 0.05),
        ),
        better("And better than one policy for all", "after_2", TIDY, (NO_NAV, ALONE), ""),
        worse(GROCERIES, "ver_fig6.no_nav_groceries_less"),
        worse(TABLE, "ver_fig6.no_nav_table_less"),
        no_nav(
            "Prepare Groceries' first pick succeeds at times",
            "after_1",
            GROCERIES,
            "ver_fig6.no_nav_groceries",
        ),
        no_nav("Set Table's drawer is opened at times", "after_1", TABLE, "ver_fig6.no_nav_table"),
    ),
    departures=(
        *OF_SKILLS,
        "Skills have 2.4 to 3.9 million steps, those of our recipes, instead of 500. One policy for all has "
        "15 million.",
        "Both kinds of skills begin where nobody has to drive: Pick and Place within 0.85 m, and none where "
        "Navigate may have ended. They keep the rest of our recipes.",
        "Navigate is the shipped one, the same everywhere; so are plans. A seed has episodes of its own.",
        "Navigate's stop is no point, but a region around the target.",
        "The paper compares with MonolithicRL and sense-plan-act of Szot et al. Ours are our own.",
        "Interactions count once they have succeeded, the whole scenario at its end.",
    ),
    timed=False,
)
