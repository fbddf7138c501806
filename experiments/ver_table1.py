"""VER, table 1: steps per second of the systems, with our simulator as it is and with one that waits."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.arms import Throughput
from experiments.claims import Claim
from experiments.experiment import OF_SKILLS, Experiment

TASKS = {
    "Open Fridge": "open_fridge",
    "Open Cabinet": "open_cab",
    "Pick": "pick",
    "Place": "place",
    "PointNav": "pointnav",
}
SYSTEMS = ("ver", "nover", "ddppo", "htsrl", "appo")
# A step of Open Fridge then takes about as long as Habitat's: 16 x 128 steps in some 3 s
SIMULATORS = {"as it is": 0.0, "waiting": 125.0}
SECONDS, QUICK_SECONDS = 60.0, 5.0


def arms(quick: bool) -> list[Throughput]:
    """Every task, system and simulator; quick: the two systems that differ most, on two tasks."""
    if quick:
        return throughputs(("Open Fridge", "PointNav"), ("ver", "ddppo"), quick)
    return throughputs(tuple(TASKS), SYSTEMS, quick)


def throughputs(tasks: Sequence[str], systems: Sequence[str], quick: bool) -> list[Throughput]:
    """Speeds on each task with each simulator by each system, measured for a moment only if quick."""
    seconds = QUICK_SECONDS if quick else SECONDS
    return [
        Throughput(f"{task}, {system}, {simulator}", TASKS[task], system, seconds, waits)
        for task in tasks
        for simulator, waits in SIMULATORS.items()
        for system in systems
    ]


def claims() -> list[Claim]:
    """Claims of each simulator."""
    found = []
    for simulator in SIMULATORS:
        for task in TASKS:
            over = "ver_navigation" if task == "PointNav" else "ver_speed"
            found.append(
                Claim(
                    f"{task}, simulator {simulator}: VER is faster than DD-PPO",
                    "mean_sps",
                    f"{task}, ver, {simulator}",
                    f"{task}, ddppo, {simulator}",
                    least=1.0,
                    reference=f"{over}.over_ddppo",
                )
            )
        fridge = f"Open Fridge, simulator {simulator}"
        ver, nover, htsrl, appo = (
            f"Open Fridge, {system}, {simulator}" for system in ("ver", "nover", "htsrl", "appo")
        )
        found += [
            Claim(
                f"{fridge}: VER is faster than NoVER",
                *("mean_sps", ver, nover),
                least=1.0,
                reference="ver_speed.over_nover",
            ),
            Claim(
                f"{fridge}: VER is as fast as Sample Factory",
                *("mean_sps", ver, appo),
                least=0.9,
                most=1.1,
                reference="ver_table1.ver / ver_table1.sample_factory;.2f",
            ),
            Claim(
                f"{fridge}: to learn while collecting (HTS-RL) makes NoVER no faster",
                *("mean_sps", htsrl, nover),
                least=0.9,
                most=1.1,
                reference="ver_htsrl.htsrl_recurrent / ver_htsrl.nover_recurrent;.2f",
            ),
        ]
    return found


EXPERIMENT = Experiment(
    name="ver_table1",
    paper="VER",
    artefact="Table 1: throughput of the systems on one GPU",
    arms=arms,
    figures={
        "mean_sps": "mean steps/s",
        "max_sps": "max steps/s",
        "share_of_limit": "of pure simulation",
    },
    claims=claims(),
    departures=(
        *OF_SKILLS,
        "The waiting simulator is synthetic: after each step a process sleeps for 125 times the processor time "
        "that the step took, half a second at most. Stragglers are the real ones, the wait is not a GPU's.",
        "Homes are the 21 hand-drawn ones.",
        "The paper's table is of Open Fridge alone; its abstract has the same figure for the other skills. Its "
        "figure for PointNav is of eight GPUs, with RGB.",
        "Sample Factory and HTS-RL are our own `appo` and `htsrl`.",
        "A minute of each, where the paper has 20 million steps.",
    ),
    not_measured=("Two, four and eight GPUs.",),
)
