"""BPS, figure 5 and table A2: where the time of a frame goes, by encoder and by N."""

from __future__ import annotations

from experiments.arms import Breakdown
from experiments.bps_table import breakdown
from experiments.claims import VALUE, Claim
from experiments.experiment import NO_LARGE_ENCODER, OF_BPS, Experiment

SE_RESNET9 = "SE-ResNet9"
ENCODERS = {"small network": "small_cnn", SE_RESNET9: "se_resnet9", "ResNet18": "resnet18"}
FEW, MANY = 64, 256  # N


def arms(quick: bool) -> list[Breakdown]:
    """Each encoder, and one with more agents; quick: the first two."""
    encoders = [
        breakdown(f"{name}, N = {FEW}", FEW, encoder, quick)
        for name, encoder in list(ENCODERS.items())[: 2 if quick else None]
    ]
    if quick:
        return encoders
    return [*encoders, breakdown(f"{SE_RESNET9}, N = {MANY}", MANY, ENCODERS[SE_RESNET9], quick)]


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
        Claim(
            "With SE-ResNet9 most of the time goes into the network",
            *("network_share", f"{SE_RESNET9}, N = {FEW}"),
            by=VALUE,
            least=0.5,
            reference="bps_speed.network_share",
        ),
        Claim(
            "Larger batches take the network less time per frame",
            *("network_us", *(f"{SE_RESNET9}, N = {count}" for count in (FEW, MANY))),
            least=1.0,
            reference="bps_breakdown.n256_over_n1024",
        ),
    ),
    departures=(
        *OF_BPS,
        "Buildings are the hand-drawn ones.",
        "The simulator draws on the processor, which acts and learns, too. The paper's processor simulates "
        "and its GPU does the rest.",
        "With SE-ResNet9 on a processor nearly all goes into convolutions: these shares say nothing of the "
        "simulator, which is the paper's point.",
        NO_LARGE_ENCODER,
        "64 and 256 agents instead of 256 and 1,024; the paper's figure for these is of RGB and depth, which "
        "differ by more than N.",
        "Of a training from random weights; the paper's begin with a trained network. A policy that knows "
        "nothing stops soon, and new episodes are much of the simulation.",
        "What is left of a frame is the trainer's own.",
    ),
    not_measured=(
        "GPUs.",
        "RGB.",
        "Simulation and rendering apart, as the paper has them.",
        "What the paper's large encoder costs.",
    ),
)
