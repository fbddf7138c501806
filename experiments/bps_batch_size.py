"""BPS, figures 4 and A1: PointNav with more and more agents, and so larger batches."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_NAVIGATION, Training
from experiments.bps_lamb import OPTIMISERS, SETTINGS
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import CURVES, EIGHT_GPUS, OF_BPS, SMALL_NETWORK, Experiment

COUNTS = (32, 128, 512)  # N, agents
FEW, SOME, MANY = (f"N = {count}" for count in COUNTS)


def arms(quick: bool) -> list[Training]:
    """Each N; quick: the first two."""
    quickly, judge = (QUICK_NAVIGATION, QUICK_JUDGE) if quick else ((), FULL_JUDGE)
    settings = (*SETTINGS, *OPTIMISERS["Lamb"], *quickly)
    return [
        Training(
            f"N = {count}",
            "pointnav",
            (*settings, f"trainer.collect.num_environments={count}"),
            judge,
        )
        for count in COUNTS[: 2 if quick else None]
    ]


EXPERIMENT = Experiment(
    name="bps_batch_size",
    paper="BPS",
    artefact="Figures 4 and A1: SPL and sample efficiency against batch size",
    arms=arms,
    figures={
        "spl": "SPL",
        "success": "success",
        "mean_spl": "mean training SPL",
        "steps_per_s": "frames/s",
    },
    claims=(
        Claim(
            "Four times as many agents are faster",
            *("steps_per_s", SOME, FEW),
            least=1.0,
            reference="bps_speed.n1024_over_n256",
        ),
        Claim(
            "Four times as many again are faster still",
            *("steps_per_s", MANY, SOME),
            least=1.0,
            reference="bps_batch_size.n4096_over_n1024",
        ),
        Claim(
            "The largest batch ends with slightly less SPL",
            *("spl", MANY, SOME, DIFFERENCE),
            least=-0.03,
            most=0.0,
            reference="bps_batch_size.spl_within",
        ),
        Claim(
            "The smaller batch ends with about the same SPL",
            *("spl", FEW, SOME, DIFFERENCE),
            least=-0.03,
            most=0.03,
            reference="bps_batch_size.spl_within",
        ),
        Claim(
            "The smallest batch is the most sample-efficient: mean SPL over the same steps",
            *("mean_spl", FEW, MANY, DIFFERENCE),
            least=0.0,
        ),
    ),
    departures=(
        *OF_BPS,
        SMALL_NETWORK,
        CURVES,
        "32, 128 and 512 agents on processor cores instead of 256, 1,024 and 4,096 on GPUs.",
        EIGHT_GPUS,
        "10 million steps instead of 2,500 million: 611 rollouts with 512 agents. The paper tells SPL "
        "once training has converged.",
    ),
    not_measured=("RGB.",),
    curves=("success", "spl"),
)
