"""Claims of whole experiments, judged by planted results: as the paper found them, and the other way round."""

import pytest

from experiments.claims import FAILS, HOLDS, UNMEASURED
from experiments.registry import EXPERIMENTS

SEEDS = range(1, 6)
Rows = dict[str, dict[str, float]]  # arm -> figure -> value


def table(figures: str, **arms: tuple[float, ...]) -> Rows:
    """Values of arms, in the order of the figures' names."""
    names = figures.split()
    return {arm: dict(zip(names, values, strict=True)) for arm, values in arms.items()}


def scenario(name: str, **kinds: tuple[float, ...]) -> Rows:
    """After one, two and three interactions, the whole, and Pick alone, by the kind of agent."""
    told = table("after_1 after_2 after_3 success pick_alone", **kinds)
    return {f"{name}, {kind.replace('_', ' ')}": each for kind, each in told.items()}


def systems(**told: tuple[float, float]) -> Rows:
    """Mean and fastest steps per second of systems, the same on all tasks and simulators."""
    return {
        arm.name: {"mean_sps": mean, "max_sps": most, "mean_of_max": mean / most}
        for arm in EXPERIMENTS["ver_table1"].arms(False)
        for mean, most in [told[arm.system]]
    }


def speeds(part: float, other: float) -> Rows:
    """Shares of pure simulation, of Sample Factory's system and of one that waits, the same everywhere."""
    return {
        arm.name: {"share_of_limit": part if arm.system == "appo" else other}
        for arm in EXPERIMENTS["sf_throughput"].arms(False)
    }


AS_THE_PAPER: dict[str, Rows] = {
    "ver_table1": systems(
        ver=(428, 534), nover=(327, 428), ddppo=(174, 442), htsrl=(319, 417), appo=(427, 517)
    ),
    "ver_fig6": {
        **scenario(
            "Tidy House", base_moves=(0.9, 0.8, 0.7, 0.32, 0.9), arm_only=(0.8, 0.5, 0.3, 0.02, 0.9)
        ),
        **scenario(
            "Tidy House",
            without_Navigate=(0.5, 0.2, 0.1, 0.0, 0.9),
            monolithic=(0.1, 0.0, 0.0, 0.0, 0.0),
        ),
        "Tidy House, sense-plan-act": {"after_2": 0.21},
        **scenario(
            "Prepare Groceries",
            base_moves=(0.6, 0.4, 0.2, 0.05, 0.9),
            arm_only=(0.5, 0.2, 0.1, 0.0, 0.9),
        ),
        **scenario("Prepare Groceries", without_Navigate=(0.15, 0.0, 0.0, 0.0, 0.9)),
        **scenario(
            "Set Table", base_moves=(0.5, 0.2, 0.075, 0.0, 0.9), arm_only=(0.4, 0.1, 0.0, 0.0, 0.9)
        ),
        **scenario("Set Table", without_Navigate=(0.04, 0.0, 0.0, 0.0, 0.9)),
    },
    "ver_processes": {
        "one process": {"mean_success": 0.5},
        "several, all wait": {"mean_success": 0.51, "steps_per_s": 800},
        "several, fixed share": {"steps_per_s": 900},
        "several, optimal": {"mean_success": 0.52, "steps_per_s": 1000},
    },
    "sf_throughput": speeds(0.748, 0.379),
    "sf_pbt": {
        "population": {"success": 0.9, "mean_success": 0.6},
        "population that does not evolve": {"success": 0.8, "mean_success": 0.5},
    },
    "bps_batch_size": {
        "N = 32": {"spl": 0.93, "mean_spl": 0.7, "steps_per_s": 1000},
        "N = 128": {"spl": 0.93, "mean_spl": 0.68, "steps_per_s": 2000},
        "N = 512": {"spl": 0.92, "mean_spl": 0.6, "steps_per_s": 2400},
    },
    "bps_widths": {
        "SE-ResNet9, quarter width": {"spl": 0.92, "steps_per_s": 4000},
        "SE-ResNet9": {"spl": 0.93, "steps_per_s": 1990},
    },
    "bps_breakdown": {
        "SE-ResNet9, N = 64": {"network_share": 0.6, "network_us": 60},
        "SE-ResNet9, N = 256": {"network_us": 30},
    },
    "bps_table": {
        "N = 256": {"steps_per_s": 1000},
        "N = 1024": {"steps_per_s": 2000},
        "N = 256, K = 8": {"steps_per_s": 1000},
    },
}
OTHERWISE: dict[str, Rows] = {
    "ver_table1": systems(
        ver=(100, 400), nover=(200, 300), ddppo=(220, 300), htsrl=(300, 400), appo=(300, 400)
    ),
    "ver_fig6": {
        **scenario(
            "Tidy House", base_moves=(0.5, 0.3, 0.2, 0.1, 0.7), arm_only=(0.8, 0.7, 0.6, 0.4, 0.9)
        ),
        **scenario(
            "Tidy House",
            without_Navigate=(-0.1, -0.1, 0.0, 0.0, 0.7),
            monolithic=(0.6, 0.5, 0.3, 0.2, 0.0),
        ),
        "Tidy House, sense-plan-act": {"after_2": 0.8},
        **scenario(
            "Prepare Groceries",
            base_moves=(0.5, 0.3, 0.2, 0.1, 0.7),
            arm_only=(0.8, 0.7, 0.6, 0.4, 0.9),
        ),
        **scenario("Prepare Groceries", without_Navigate=(-0.01, 0.0, 0.0, 0.0, 0.7)),
        **scenario(
            "Set Table", base_moves=(0.5, 0.3, 0.2, 0.1, 0.7), arm_only=(0.8, 0.7, 0.6, 0.4, 0.9)
        ),
        **scenario("Set Table", without_Navigate=(-0.01, 0.0, 0.0, 0.0, 0.7)),
    },
    "ver_processes": {
        "one process": {"mean_success": 0.8},
        "several, all wait": {"mean_success": 0.6, "steps_per_s": 1000},
        "several, fixed share": {"steps_per_s": 1000},
        "several, optimal": {"mean_success": 0.4, "steps_per_s": 800},
    },
    "sf_throughput": speeds(0.3, 0.4),
    "sf_pbt": {
        "population": {"success": 0.7, "mean_success": 0.4},
        "population that does not evolve": {"success": 0.8, "mean_success": 0.5},
    },
    "bps_batch_size": {
        "N = 32": {"spl": 0.8, "mean_spl": 0.5, "steps_per_s": 3000},
        "N = 128": {"spl": 0.9, "mean_spl": 0.6, "steps_per_s": 2000},
        "N = 512": {"spl": 0.93, "mean_spl": 0.6, "steps_per_s": 1800},
    },
    "bps_widths": {
        "SE-ResNet9, quarter width": {"spl": 0.7, "steps_per_s": 1000},
        "SE-ResNet9": {"spl": 0.8, "steps_per_s": 1990},
    },
    "bps_breakdown": {
        "SE-ResNet9, N = 64": {"network_share": 0.4, "network_us": 30},
        "SE-ResNet9, N = 256": {"network_us": 60},
    },
    "bps_table": {
        "N = 256": {"steps_per_s": 2000},
        "N = 1024": {"steps_per_s": 1000},
        "N = 256, K = 8": {"steps_per_s": 1000},
    },
}


def verdicts(name: str, planted: Rows) -> set[str]:
    """Verdicts on all claims of an experiment, of seeds that hardly differ."""
    rows = [
        {"arm": arm, "seed": seed, **{key: value * (1 + seed / 1e5) for key, value in told.items()}}
        for arm, told in planted.items()
        for seed in SEEDS
    ]
    return {claim.judge(rows)["verdict"] for claim in EXPERIMENTS[name].claims}


@pytest.mark.parametrize("name", AS_THE_PAPER)
def test_what_the_paper_found_holds_and_its_opposite_does_not(name):
    assert verdicts(name, AS_THE_PAPER[name]) == {HOLDS}
    assert verdicts(name, OTHERWISE[name]) == {FAILS}
    assert verdicts(name, {}) == {UNMEASURED}


@pytest.mark.parametrize("name", AS_THE_PAPER)
def test_planted_arms_are_those_that_run(name):
    arms = {arm.name for arm in EXPERIMENTS[name].arms(False)}
    assert AS_THE_PAPER[name].keys() | OTHERWISE[name].keys() <= arms
