"""VER, figure 4: PointNav by VER and DD-PPO, success and SPL against steps and time."""

from __future__ import annotations

from experiments.arms import FULL_JUDGE, QUICK_JUDGE, QUICK_NAVIGATION, Training
from experiments.claims import DIFFERENCE, Claim
from experiments.experiment import CURVES, OF_NAVIGATION, TWO_PROCESSES, Experiment

# Environments in processes, as the systems need them; the config's own system steps all at once
SETTINGS = (
    "trainer.collect.num_environments=64",
    "trainer.collect.environments_per_worker=32",
    "trainer.total_steps=4000000",
)


def arms(quick: bool) -> list[Training]:
    """The two systems."""
    settings = (*SETTINGS, *QUICK_NAVIGATION) if quick else SETTINGS
    judge = QUICK_JUDGE if quick else FULL_JUDGE
    return [
        Training(name, "pointnav", (*settings, f"trainer.system={name}"), judge)
        for name in ("ver", "ddppo")
    ]


EXPERIMENT = Experiment(
    name="ver_fig4",
    paper="VER",
    artefact="Figure 4: PointNav, success against steps and time",
    arms=arms,
    figures={
        "success": "success",
        "spl": "SPL",
        "mean_success": "mean training success",
        "steps_per_s": "steps/s",
        "seconds_to_half": "seconds to half success",
    },
    claims=(
        Claim(
            "VER is faster than DD-PPO",
            *("steps_per_s", "ver", "ddppo"),
            least=1.0,
            reference="ver_navigation.over_ddppo",
        ),
        Claim(
            "VER is as sample-efficient: mean success over the same steps",
            *("mean_success", "ver", "ddppo", DIFFERENCE),
            least=-0.05,
            most=0.05,
        ),
        Claim(
            "VER ends with the same success",
            *("success", "ver", "ddppo", DIFFERENCE),
            least=-0.03,
            most=0.03,
        ),
        Claim(
            "DD-PPO needs more time for the same success",
            *("seconds_to_half", "ddppo", "ver"),
            least=1.0,
            reference="ver_navigation.compute_of_ddppo",
        ),
    ),
    departures=(
        *OF_NAVIGATION,
        "64x64 depth and a small convolutional network, where the paper has RGB and a ResNet18.",
        "One layer of an LSTM instead of two, no CPC|A.",
        TWO_PROCESSES,
        CURVES,
        "4 million steps instead of 1,850 million.",
        "The paper's curves are of validation episodes, and its 1.6 is of eight GPUs.",
        "The paper says 60 % faster; its 3,065 and 5,325 steps/s make 1.74.",
        "Time is told for half of success; the paper's is for the most that DD-PPO reaches.",
    ),
    not_measured=("ObjectNav.",),
    curves=("success", "spl"),
)
