"""BPS, figure 4: frames per second against N, and against the scenes that all share."""

from __future__ import annotations

from experiments.arms import Breakdown
from experiments.claims import Claim
from experiments.experiment import EIGHT_GPUS, OF_BPS, SMALL_NETWORK, Experiment

COUNTS = (16, 64, 256, 1024)  # N, environments
SHARED = {256: 8}  # N -> K, scenes that all share: 32 in each, the most that BPS allows
UPDATE = (  # BPS's: appendix B
    "trainer.collect.rollout_length=32",
    "trainer.ppo.epochs=1",
    "trainer.ppo.mini_batches=2",
)
SECONDS, QUICK_SECONDS = 60.0, 3.0


def breakdown(name: str, count: int, encoder: str, quick: bool, *more: str) -> Breakdown:
    """PointNav by BPS's update.

    Args:
        name: Of the arm.
        count: N, environments.
        encoder: Of the network.
        quick: Measure for a moment only.
        more: Settings besides.
    """
    changes = (
        f"trainer.collect.num_environments={count}",
        f"trainer.network.encoder={encoder}",
    )
    return Breakdown(name, (*UPDATE, *changes, *more), QUICK_SECONDS if quick else SECONDS)


def arms(quick: bool) -> list[Breakdown]:
    """Each N with the small network; quick: the first two."""
    counts = COUNTS[:2] if quick else COUNTS
    held = [breakdown(f"N = {count}", count, "small_cnn", quick) for count in counts]
    shared = [
        breakdown(f"N = {count}, K = {k}", count, "small_cnn", quick, f"sharing.scenes={k}")
        for count, k in SHARED.items()
        if count in counts
    ]
    return [*held, *shared]


EXPERIMENT = Experiment(
    name="bps_table",
    paper="BPS",
    artefact="Figure 4 and section 3.2: frames/s against N and K",
    arms=arms,
    figures={
        "steps_per_s": "frames/s",
        "simulation_per_s": "simulation alone, one core [frames/s]",
    },
    claims=(
        Claim(
            "N = 1024 is faster than N = 256",
            *("steps_per_s", "N = 1024", "N = 256"),
            least=1.0,
            reference="bps_speed.n1024_over_n256",
        ),
        Claim(
            "Scenes that are shared and replaced meanwhile cost no speed",
            *("steps_per_s", "N = 256, K = 8", "N = 256"),
            least=0.9,
        ),
    ),
    departures=(
        *OF_BPS,
        SMALL_NETWORK,
        "The simulator draws on the processor, in hand-drawn and not in scanned buildings.",
        EIGHT_GPUS,
        "Frames/s of a training from random weights; the paper's begin with a trained network.",
        "Simulation alone is without stops; in the training a policy that knows nothing stops soon, and new "
        "episodes are much of its simulation.",
        "All of our buildings fit into memory; the paper's scans do not, and so it shares K of them. "
        "It does not compare with holding all: that sharing costs nothing is our reading.",
    ),
    not_measured=("GPUs.", "RGB.", "Sharing by 1,024 agents: 32 scenes are more than there are."),
)
