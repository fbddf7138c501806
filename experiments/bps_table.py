"""BPS, figures 4 and 5 and table A2: frames per second against N, where time goes, and the encoder."""

from __future__ import annotations

from experiments.arms import Breakdown
from experiments.claims import VALUE, Claim
from experiments.experiment import HOMES, MACHINE, Experiment

COUNTS = (16, 64, 256, 1024)  # N, environments
ENCODERS = {"SE-ResNet9": "se_resnet9", "ResNet18": "resnet18"}
UPDATE = (  # BPS's: appendix B
    "trainer.collect.rollout_length=32",
    "trainer.ppo.epochs=1",
    "trainer.ppo.mini_batches=2",
)
ENCODERS_AT = 64  # N
SECONDS, QUICK_SECONDS = 60.0, 3.0


def arms(quick: bool) -> list[Breakdown]:
    """Each N with the small network, and each encoder."""
    counts, seconds = (COUNTS[:2], QUICK_SECONDS) if quick else (COUNTS, SECONDS)

    def arm(name: str, count: int, encoder: str) -> Breakdown:
        changes = (
            f"trainer.collect.num_environments={count}",
            f"trainer.network.encoder={encoder}",
        )
        return Breakdown(name, (*UPDATE, *changes), seconds)

    return [
        *(arm(f"small network, N = {count}", count, "small_cnn") for count in counts),
        *(
            arm(f"{name}, N = {ENCODERS_AT}", ENCODERS_AT, encoder)
            for name, encoder in list(ENCODERS.items())[: 1 if quick else None]
        ),
    ]


EXPERIMENT = Experiment(
    name="bps_table",
    paper="BPS",
    artefact="Figures 4 and 5, table A2: frames/s against N, runtime breakdown, encoder",
    arms=arms,
    figures={
        "steps_per_s": "frames/s",
        "simulation_per_s": "simulation alone, one core [frames/s]",
        "simulation_share": "simulation",
        "inference_share": "inference",
        "learning_share": "learning",
    },
    claims=(
        Claim(
            "N = 1024 is faster than N = 256",
            *("steps_per_s", "small network, N = 1024", "small network, N = 256"),
            least=1.0,
            reference="bps_speed.n1024_over_n256",
        ),
        Claim(
            "With SE-ResNet9 most of the time goes into the network",
            *("network_share", f"SE-ResNet9, N = {ENCODERS_AT}"),
            by=VALUE,
            least=0.5,
            reference="bps_speed.network_share",
        ),
        Claim(
            "With the large encoder nearly all of it does",
            *("network_share", f"ResNet18, N = {ENCODERS_AT}"),
            by=VALUE,
            least=0.9,
            reference="bps_speed.network_share_large",
        ),
        Claim(
            "SE-ResNet9 is faster than the large encoder",
            *("steps_per_s", *(f"{name}, N = {ENCODERS_AT}" for name in ENCODERS)),
            least=1.0,
            reference="bps_speed.bps_fps / bps_speed.bps_r50_fps;.1f",
        ),
    ),
    departures=(
        HOMES,
        MACHINE,
        "The simulator draws on the processor, in hand-drawn and not in scanned buildings.",
        "The large encoder is ResNet18 at half width and 64x64, the paper's ResNet50 at 128x128.",
        "Frames/s of a training from random weights; the paper's begin with a trained network.",
    ),
    not_measured=(
        "GPUs.",
        "RGB.",
        "K, the scenes that are held at once: ours are all held. To be measured once scenes are replaced.",
    ),
)
