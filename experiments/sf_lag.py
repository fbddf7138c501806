"""Sample Factory, section 3.4: the more mini-batches, the more policy lag; what it costs."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_SKILL, Training
from experiments.claims import DIFFERENCE, VALUE, Claim
from experiments.experiment import CURVES, OF_FRIDGE, OF_SAMPLE_FACTORY, Experiment

SETTINGS = (
    "until=masked",
    "trainer.total_steps=1000000",
    "trainer.system=appo",
    "trainer.ppo.epochs=1",
)
MINI_BATCHES = (2, 8, 32)  # of N_iter steps: the earliest lag by N_iter / N_batch - 1 updates


def arms(quick: bool) -> list[Training]:
    """Open Fridge, with more and more updates for the same steps."""
    settings = (*SETTINGS, *QUICK_SKILL) if quick else SETTINGS
    judge = QUICK_JUDGE if quick else FULL_JUDGE
    return [
        Training(
            f"{count} mini-batches",
            "open_fridge",
            (*settings, f"trainer.ppo.mini_batches={count}"),
            judge,
        )
        for count in MINI_BATCHES[: 2 if quick else None]
    ]


EXPERIMENT = Experiment(
    name="sf_lag",
    paper="Sample Factory",
    artefact="Section 3.4: policy lag and sample efficiency",
    arms=arms,
    figures={
        "policy_lag": "lag [updates]",
        "mean_success": "mean training success",
        "success": "success",
        "steps_per_s": "steps/s",
    },
    claims=(
        Claim(
            "The lag grows with N_iter / N_batch",
            *("policy_lag", "32 mini-batches", "2 mini-batches"),
            least=1.0,
        ),
        Claim(
            "With 8 mini-batches the lag is the paper's usual one [updates]",
            *("policy_lag", "8 mini-batches"),
            by=VALUE,
            least=5.0,
            most=10.0,
            reference="sf_lag.usual",
        ),
        Claim(
            "Training is stable with it",
            *("mean_success", "8 mini-batches", "2 mini-batches", DIFFERENCE),
            least=-0.05,
        ),
        Claim(
            "More lag makes training less sample-efficient (VER, caption of figure 5)",
            *("mean_success", "32 mini-batches", "8 mini-batches", DIFFERENCE),
            most=0.0,
        ),
    ),
    departures=(
        *OF_SAMPLE_FACTORY,
        CURVES,
        "Our own `appo`, on Open Fridge, the first stage of its recipe, with its mask.",
        "1 million steps, one pass over the data. The learning rate also follows the KL divergence.",
        "More mini-batches are smaller, too, and make more updates: lag is not all that differs.",
        "Lag is counted at the first update of a batch.",
        "Eight mini-batches for the paper's usual lag, and success for stability, are our reading.",
        "The entropy coefficient is learned, where the paper fixes 0.003; the learning rate is five times the "
        "paper's; rollouts have 512 steps instead of 32.",
        OF_FRIDGE,
    ),
    not_measured=("VizDoom, DMLab, Atari.",),
    curves=("success",),
)
