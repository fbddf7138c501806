"""BPS, section 3.3 and table 2: what narrower encoders cost in SPL, and what they gain in speed."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_NAVIGATION, Training
from experiments.bps_lamb import OPTIMISERS, SETTINGS
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import CURVES, HOMES, MACHINE, Experiment

ENCODERS = {
    "SE-ResNet9, quarter width": "se_resnet9_quarter",
    "SE-ResNet9, half width": "se_resnet9_half",
    "SE-ResNet9": "se_resnet9",
    "ResNet18": "resnet18",
}
NARROW, HALF, FULL, DEEP = ENCODERS


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
    artefact="Section 3.3 and table 2: encoders, SPL and speed",
    arms=arms,
    figures={
        "spl": "SPL",
        "success": "success",
        "mean_spl": "mean training SPL",
        "steps_per_s": "frames/s",
    },
    claims=(
        Claim(
            "The small encoder is faster than the large one",
            *("steps_per_s", FULL, DEEP),
            least=1.0,
            reference="bps_speed.bps_fps / bps_speed.bps_r50_fps;.1f",
        ),
        Claim(
            "The small encoder ends with hardly less SPL",
            *("spl", FULL, DEEP, DIFFERENCE),
            least=-0.03,
            reference="bps_widths.spl_less",
        ),
        Claim(
            "At a quarter of its width it is faster",
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
        HOMES,
        MACHINE,
        CURVES,
        "The large encoder is ResNet18 at half width and 64x64, the paper's ResNet50 at 128x128.",
        "The paper leaves the width open and compares none: 64, 32 and 16 channels in the first stage, "
        "and what is claimed of them, are ours.",
        "2 million steps instead of 2,500 million, 64 agents instead of 1,024.",
        "Rollouts of 128 steps instead of 32.",
    ),
    not_measured=("RGB.", "The test split."),
    curves=("success", "spl"),
)
