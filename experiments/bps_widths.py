"""BPS, section 3.3: what narrower encoders cost in SPL, and what they gain in speed."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_NAVIGATION, Training
from experiments.bps_lamb import OPTIMISERS, SETTINGS
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import (
    BATCHES,
    CURVES,
    NO_LARGE_ENCODER,
    OF_BPS,
    Experiment,
)

ENCODERS = {
    "SE-ResNet9, quarter width": "se_resnet9_quarter",
    "SE-ResNet9, half width": "se_resnet9_half",
    "SE-ResNet9": "se_resnet9",
    "ResNet18": "resnet18",
}
NARROW, _, FULL, _ = ENCODERS


def arms(quick: bool) -> list[Training]:
    """Each encoder; quick: the two narrow ones."""
    quickly, judge = (QUICK_NAVIGATION, QUICK_JUDGE) if quick else ((), FULL_JUDGE)
    settings = (*SETTINGS, *OPTIMISERS["Lamb"], *quickly)
    return [
        Training(name, "pointnav", (*settings, f"trainer.network.encoder={encoder}"), judge)
        for name, encoder in list(ENCODERS.items())[: 2 if quick else None]
    ]


EXPERIMENT = Experiment(
    name="bps_widths",
    paper="BPS",
    artefact="Section 3.3: encoders, SPL and speed",
    arms=arms,
    figures={
        "spl": "SPL",
        "success": "success",
        "mean_spl": "mean training SPL",
        "steps_per_s": "frames/s",
    },
    claims=(
        Claim(
            "At a quarter of its width SE-ResNet9 is faster",
            *("steps_per_s", NARROW, FULL),
            least=1.0,
        ),
        Claim(
            "At a quarter of its width it ends with hardly less SPL",
            *("spl", NARROW, FULL, DIFFERENCE),
            least=-0.03,
        ),
    ),
    departures=(
        *OF_BPS,
        CURVES,
        NO_LARGE_ENCODER,
        "The paper leaves the width open and compares none: 64, 32 and 16 channels in the first stage, "
        "and what is claimed of them, are ours.",
        "10 million steps instead of 2,500 million, 64 agents instead of 1,024.",
        BATCHES,
    ),
    not_measured=(
        "RGB.",
        "The test split.",
        "What the paper's large encoder costs, and what it gains in SPL (table 2).",
    ),
    curves=("success", "spl"),
)
