"""BPS, figure 5 and table A2: where the time of a frame goes, by encoder and by N."""

from __future__ import annotations

from experiments.arms import Breakdown
from experiments.bps_table import breakdown
from experiments.claims import VALUE, Claim
from experiments.experiment import HOMES, MACHINE, Experiment

ENCODERS = {"small network": "small_cnn", "SE-ResNet9": "se_resnet9", "ResNet18": "resnet18"}
SMALL, MIDDLE, LARGE = ENCODERS
FEW, MANY = 64, 256  # N


def arms(quick: bool) -> list[Breakdown]:
    """Each encoder, and one with more agents; quick: the first two."""
    encoders = [
        breakdown(f"{name}, N = {FEW}", FEW, encoder, quick)
        for name, encoder in list(ENCODERS.items())[: 2 if quick else None]
    ]
    if quick:
        return encoders
    return [*encoders, breakdown(f"{MIDDLE}, N = {MANY}", MANY, ENCODERS[MIDDLE], quick)]


def share(text: str, figure: str, name: str, least: float, reference: str) -> Claim:
    """A claim on a share of an encoder's time."""
    return Claim(text, figure, f"{name}, N = {FEW}", by=VALUE, least=least, reference=reference)


EXPERIMENT = Experiment(
    name="bps_breakdown",
    paper="BPS",
    artefact="Figure 5 and table A2: runtime breakdown and encoder",
    arms=arms,
    figures={
        "steps_per_s": "frames/s",
        "simulation_us": "simulation [µs per frame]",
        "inference_us": "inference [µs per frame]",
        "learning_us": "learning [µs per frame]",
        "network_share": "share of the network",
    },
    claims=(
        share(
            "With SE-ResNet9 most of the time goes into the network",
            *("network_share", MIDDLE, 0.5, "bps_speed.network_share"),
        ),
        share(
            "With the large encoder nearly all of the time does",
            *("network_share", LARGE, 0.9, "bps_speed.network_share_large"),
        ),
        share(
            "With the large encoder most of the time goes into learning",
            *("learning_share", LARGE, 0.5, "bps_breakdown.learning_share_large"),
        ),
        Claim(
            "SE-ResNet9 is faster than the large encoder",
            *("steps_per_s", *(f"{name}, N = {FEW}" for name in (MIDDLE, LARGE))),
            least=1.0,
            reference="bps_speed.bps_fps / bps_speed.bps_r50_fps;.1f",
        ),
        Claim(
            "Larger batches take the network less time per frame",
            *("network_us", *(f"{MIDDLE}, N = {count}" for count in (FEW, MANY))),
            least=1.0,
            reference="bps_breakdown.n256_over_n1024",
        ),
    ),
    departures=(
        HOMES,
        MACHINE,
        "The simulator draws on the processor, which acts and learns, too. The paper's processor simulates "
        "and its GPU does the rest.",
        "The large encoder is ResNet18 at half width and 64x64, the paper's ResNet50 at 128x128.",
        "64 and 256 agents instead of 256 and 1,024; the paper's figure for these is of RGB and depth, which "
        "differ by more than N.",
        "Of a training from random weights; the paper's begin with a trained network.",
    ),
    not_measured=("GPUs.", "RGB.", "Simulation and rendering apart, as the paper has them."),
)
