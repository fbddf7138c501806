"""Sample Factory, appendix A.3.1: population-based training of Pick against the same steps without it."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_SKILL, Population, Training
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import CURVES, OF_SAMPLE_FACTORY, ORACLES, Experiment

EVOLVES, STILL, ONE = "population", "population that does not evolve", "one long training"
MEMBERS = 4
ROUNDS = {"interval": 100_000, "rounds": 10}  # steps of each member between changes, and how often
QUICK_MEMBERS, QUICK_ROUNDS = 2, {"interval": 4096, "rounds": 2}


def arms(quick: bool) -> list[Training]:
    """With and without evolution, and one training of all members' steps."""
    members, rounds = (QUICK_MEMBERS, QUICK_ROUNDS) if quick else (MEMBERS, ROUNDS)
    settings, judge = (QUICK_SKILL, QUICK_JUDGE) if quick else ((), FULL_JUDGE)
    own = rounds["interval"] * rounds["rounds"]

    def words(steps: int) -> tuple[str, ...]:
        return ("until=alone", "trainer.system=appo", *settings, f"trainer.total_steps={steps}")

    return [
        *(
            Population(
                *(name, "pick", words(own), judge), members=members, evolves=evolves, **rounds
            )
            for name, evolves in ((EVOLVES, True), (STILL, False))
        ),
        Training(ONE, "pick", words(members * own), judge),
    ]


EXPERIMENT = Experiment(
    name="sf_pbt",
    paper="Sample Factory",
    artefact="Appendix A.3.1: population-based training",
    arms=arms,
    figures={
        "success": "success",
        "mean_success": "mean training success",
        "steps_to_half": "steps to half success",
    },
    claims=(
        Claim(
            "A population that evolves ends with more success than the best of one that does not",
            *("success", EVOLVES, STILL, DIFFERENCE),
            least=0.0,
        ),
        Claim(
            "It also does better while it trains",
            *("mean_success", EVOLVES, STILL, DIFFERENCE),
            least=0.0,
        ),
    ),
    departures=(
        *OF_SAMPLE_FACTORY,
        CURVES,
        "The paper shows no population without evolution: that it helps is our reading.",
        "Four members in turn instead of eight at once; an interval of 0.1 million steps instead of 5 million "
        "frames, ten of them. The curve is of the member that is best at the end, over the steps of all.",
        f"Our own `appo`, on Pick, the first stage of its recipe. {ORACLES}",
        "Success in training decides; the paper's is kills or wins.",
        "Learning rate and reward scales mutate, not entropy and Adam's beta. Rates and odds are the paper's.",
        "One long training of as many steps stands beside them; its schedules go over all of these. "
        "The paper has none.",
    ),
    not_measured=(
        "Throughput of larger populations (appendix, table A.3).",
        "Self-play, and matches between populations.",
    ),
    timed=False,
    curves=("success",),
)
