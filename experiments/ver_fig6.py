"""VER, figure 6: household scenarios, by skills with and without base motion, without Navigate, and others."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_SKILL, Training
from experiments.chains import Chain
from experiments.claims import DIFFERENCE, VALUE, Claim
from experiments.experiment import OF_SKILLS, PROMPT, Experiment

MOVES, ARM_ONLY, NO_NAV = "base moves", "arm only", "without Navigate"
ALONE, SPA = "monolithic", "sense-plan-act"
KINDS, QUICK_KINDS = (MOVES, ARM_ONLY, NO_NAV, ALONE, SPA), (MOVES, NO_NAV)
TIDY, GROCERIES, TABLE = "Tidy House", "Prepare Groceries", "Set Table"
NEEDED = {  # skills of a scenario's plans besides Navigate, which is the shipped one
    TIDY: ("pick", "place"),
    GROCERIES: ("pick", "place"),
    TABLE: ("open_cab", "open_fridge", "pick", "place"),
}
# Nobody has to drive: the robot begins within the arm's reach, with nothing in its way, and never where
# Navigate may have ended. Place from a little farther where nothing is free
NEAR = {
    "pick": ("task.start_distance=0.85", "task.detour_share=0", "starts.share=0"),
    "place": ("task.start_distance=0.85", "task.detour_share=0", "starts.share=0"),
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


def claim(
    what: str,
    figure: str,
    kinds: tuple[str, str],
    scenario: str,
    more: float | None,
    reference: str = "",
) -> Claim:
    """A claim that one kind of agent succeeds more often than another in a scenario.

    Args:
        what: It says.
        figure: Of the rows.
        kinds: Who does better, and than whom.
        scenario: Where.
        more: How far from each other they may be; None: the first is only better.
        reference: The paper's figure.
    """
    least, most = (0.0, None) if more is None else (-more, more)
    arm, other = (f"{scenario}, {kind}" for kind in kinds)
    return Claim(what, figure, arm, other, DIFFERENCE, least, most, reference)


def without(what: str, figure: str, scenario: str, reference: str) -> Claim:
    """A claim that skills get that far at all without Navigate."""
    arm = f"{scenario}, {NO_NAV}"
    return Claim(f"{WITHOUT} {what}", figure, arm, by=VALUE, least=0.0, reference=reference)


def rarer(what: str, scenario: str, reference: str) -> Claim:
    """A claim that without Navigate the first interaction succeeds less often than in Tidy House."""
    arm, other = f"{scenario}, {NO_NAV}", f"{TIDY}, {NO_NAV}"
    text = f"{WITHOUT} {what} is rarer than Tidy House's first pick"
    return Claim(text, "after_1", arm, other, DIFFERENCE, most=0.0, reference=reference)


WITHOUT = "Without Navigate:"
MOTION = MOVES, ARM_ONLY
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
            claim(
                f"{scenario}: base motion in skills helps the whole",
                "success",
                MOTION,
                scenario,
                None,
                f"ver_fig6.{key}",
            )
            for scenario, key in ((TIDY, "tidy_more"), (GROCERIES, "groceries_more"))
        ),
        claim(
            "Set Table: base motion helps until the first object is placed",
            "after_3",
            MOTION,
            TABLE,
            None,
            "ver_fig6.table_more",
        ),
        claim(
            "Base motion does not change Pick's success in its own task",
            "pick_alone",
            MOTION,
            TIDY,
            0.05,
            "ver_fig6.pick_alone",
        ),
        without(
            "the first pick of Tidy House succeeds at times",
            "after_1",
            TIDY,
            "ver_no_nav.first_pick",
        ),
        without("its first placing does, too", "after_2", TIDY, "ver_fig6.no_nav_place"),
        claim(
            f"{WITHOUT} that placing is as frequent as sense-plan-act's",
            "after_2",
            (NO_NAV, SPA),
            TIDY,
            0.05,
        ),
        claim(
            f"{WITHOUT} it is more frequent than one policy's for all",
            "after_2",
            (NO_NAV, ALONE),
            TIDY,
            None,
        ),
        rarer("the first pick of Prepare Groceries", GROCERIES, "ver_fig6.no_nav_groceries_less"),
        rarer("Set Table's opened drawer", TABLE, "ver_fig6.no_nav_table_less"),
        without(
            "the first pick of Prepare Groceries succeeds at times",
            "after_1",
            GROCERIES,
            "ver_fig6.no_nav_groceries",
        ),
        without(
            "the drawer of Set Table is opened at times", "after_1", TABLE, "ver_fig6.no_nav_table"
        ),
    ),
    departures=(
        *OF_SKILLS,
        PROMPT,
        "Skills have 2.4 to 3.9 million steps, those of our recipes, instead of 500. One policy for all has "
        "15 million; its critic is told nothing besides.",
        "Both kinds of skills begin where nobody has to drive: Pick and Place within 0.85 m, and none where "
        "Navigate may have ended. Place begins a little farther away where nothing is free. They keep the rest "
        "of our recipes.",
        "Our reward of Pick and Place pays for the way along the floor, 15 a metre, which the paper's does "
        "not.",
        "Navigate is the shipped one, the same everywhere; so are plans. A seed has episodes of its own.",
        "The paper compares with MonolithicRL and sense-plan-act of Szot et al. Ours are our own.",
        "Interactions count once they have succeeded, the whole scenario at its end.",
    ),
    timed=False,
)
