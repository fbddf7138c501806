"""Sample Factory, table 1: throughput as a share of pure simulation."""

from __future__ import annotations

from experiments.arms import Throughput
from experiments.claims import VALUE, Claim
from experiments.experiment import OF_SAMPLE_FACTORY, Experiment
from experiments.ver_table1 import SIMULATORS, throughputs

TASKS, SYSTEMS = ("Open Fridge", "Pick", "PointNav"), ("appo", "nover")


def arms(quick: bool) -> list[Throughput]:
    """Sample Factory's system and rlpyt's, on three tasks; quick: on one."""
    return throughputs(TASKS[-1:] if quick else TASKS, SYSTEMS, quick)


def claims() -> list[Claim]:
    """Claims of each task and simulator."""
    found = []
    for task in TASKS:
        for simulator in SIMULATORS:
            where = f"{task}, simulator {simulator}"
            appo, nover = (f"{task}, {system}, {simulator}" for system in SYSTEMS)
            found += [
                Claim(
                    f"{where}: Sample Factory has a good part of pure simulation's throughput",
                    *("share_of_limit", appo),
                    by=VALUE,
                    least=0.454,
                    reference="sf_table1.least_to_most",
                ),
                Claim(
                    f"{where}: it comes closer to it than rlpyt, whose learner waits for all workers",
                    *("share_of_limit", appo, nover),
                    least=1.0,
                    reference="sf_table1.over_rlpyt",
                ),
            ]
    return found


EXPERIMENT = Experiment(
    name="sf_throughput",
    paper="Sample Factory",
    artefact="Table 1: throughput beside pure simulation",
    arms=arms,
    figures={
        "share_of_limit": "of pure simulation",
        "limit_sps": "pure simulation, steps/s",
        "mean_sps": "mean steps/s",
        "max_sps": "max steps/s",
    },
    claims=claims(),
    departures=(
        *OF_SAMPLE_FACTORY,
        "The range begins at what Sample Factory has at least in the paper, on VizDoom. Ours skip no frames.",
        "Our own `appo` for Sample Factory. Our `nover` for rlpyt's PPO: it samples asynchronously, and its "
        "learner waits for all workers to finish their rollouts, too.",
        "16 environments in two processes, or each in its own where the simulator waits; a mean over half a "
        "minute. The paper takes the number of environments that was fastest, and five minutes.",
        "Pure simulation is one environment, by random actions as spread as an untrained policy's, times two "
        "cores. Where these end episodes sooner, which means more resets, a training may be faster than that.",
        "The waiting simulator is synthetic, see table 1 of VER. There pure simulation is what 16 that wait "
        "could do.",
    ),
    beside="ver_table1",
    not_measured=(
        "Atari, VizDoom, DMLab.",
        "Figure 3 and table A.2: more environments, and other systems.",
        "Sample Factory's own code; `python -m benchmarks.sample_factory` runs it.",
    ),
)
