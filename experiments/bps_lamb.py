"""BPS, figure A3: Lamb against Adam on PointNav."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_NAVIGATION, Training
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import BATCHES, CURVES, OF_BPS, SMALL_NETWORK, Experiment

SETTINGS = (  # BPS's update: appendix B
    # By 2 million steps of rollouts four times as long, 488 updates, Lamb had hardly left its first weights
    "trainer.total_steps=10000000",
    "trainer.collect.rollout_length=32",
    "trainer.ppo.learning_rate=2.5e-4",
    "trainer.ppo.schedule=to_base",
    "trainer.ppo.epochs=1",
    "trainer.ppo.mini_batches=2",
)
OPTIMISERS = {
    "Lamb": ("trainer.ppo.optimizer=lamb", "trainer.ppo.scale_learning_rate=true"),
    "Adam": ("trainer.ppo.optimizer=adam",),
    "Adam, scaled rate": ("trainer.ppo.optimizer=adam", "trainer.ppo.scale_learning_rate=true"),
}


def arms(quick: bool) -> list[Training]:
    """The optimisers."""
    settings = (*SETTINGS, *QUICK_NAVIGATION) if quick else SETTINGS
    judge = QUICK_JUDGE if quick else FULL_JUDGE
    return [
        Training(name, "pointnav", (*settings, *changes), judge)
        for name, changes in OPTIMISERS.items()
    ]


EXPERIMENT = Experiment(
    name="bps_lamb",
    paper="BPS",
    artefact="Figure A3: Lamb against Adam on PointNav",
    arms=arms,
    figures={"spl": "SPL", "success": "success", "mean_spl": "mean training SPL"},
    claims=(
        Claim(
            "Lamb leads in SPL while it trains: the mean over the same steps",
            *("mean_spl", "Lamb", "Adam", DIFFERENCE),
            least=0.0,
        ),
        Claim(
            "Lamb ends with more SPL",
            *("spl", "Lamb", "Adam", DIFFERENCE),
            least=0.0,
            reference="bps_lamb.spl_more",
        ),
        Claim(
            "Adam does worse where the learning rate is scaled: the paper's diverges",
            *("mean_spl", "Adam, scaled rate", "Adam", DIFFERENCE),
            most=0.0,
        ),
    ),
    departures=(
        *OF_BPS,
        SMALL_NETWORK,
        CURVES,
        "10 million steps instead of 2,500 million, 64 agents instead of 1,024.",
        BATCHES,
    ),
    not_measured=("RGB.",),
    timed=False,
    curves=("success", "spl"),
)
