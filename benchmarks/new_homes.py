"""`python -m benchmarks.new_homes`: what it costs a training that its worlds meet new homes.

Trains a skill with 32 environments in generated homes, in turn as always, where a world moves to a new
home after some episodes, and so that every world stays in its first home. The ratio of their steps per second
is what homes without end cost. Both go on from the shipped policy: a trained one has short episodes, and so
moves often. Recorded starts are left out, as they name their homes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from multiprocessing import parent_process
from typing import Any

import numpy as np

from benchmarks.systems import skill_case, train
from rearrange import worlds
from rearrange.command_line import OneLineParser, output_file
from rearrange.tasks import default_config, sampling
from rearrange.tasks.sights import SIGHTS
from rearrange.tasks.true_state import DEPTH
from skills.command import run_command
from skills.provenance import made, write_result
from skills.registry import skill_names
from skills.settings import CHECKPOINTS, SkillEnvironments
from ver.checkpoint import load_policy

ENVIRONMENTS = 32
NEW, SAME = "new homes", "the same homes"
NEVER = 10**9  # episodes
IN_TRAIN = ("split=train", "starts.paths=[]")


class AtHome:
    """Makes environments that stay in their first home; picklable."""

    def __init__(self, environments: SkillEnvironments) -> None:
        """Take what makes them."""
        self._environments = environments

    def __call__(self, index: int, seed: int) -> Any:
        """Make one; in a worker process, and there alone, worlds stay."""
        if parent_process() is not None:
            worlds.EPISODES_PER_HOME, sampling.AWAY_SHARE = NEVER, 0.0
        return self._environments(index, seed)


def rate(skill: str, kind: str, seed: int, seconds: float) -> float:
    """Steps per second of a training after its first rollout."""
    changes = (f"collect.num_environments={ENVIRONMENTS}",)
    changes += (f"collect.environments_per_worker={ENVIRONMENTS // 2}",)
    shipped = CHECKPOINTS / f"{skill}.safetensors"
    policy = load_policy(shipped)  # not always that of the recipe as it is now
    network, task = policy.network_config, policy.metadata["task"]
    changes += (
        f"start_from={shipped}",
        f"network.memory={network.memory}",
        f"network.layers={network.layers}",
        f"network.separate_images={network.separate_images}",
    )
    known = vars(default_config(skill))
    seen = tuple(f"task.{key}={task.get(key, False)}" for key in SIGHTS if key in known)
    seen += (f"sensors={policy.metadata.get('sensors', DEPTH)}",)
    config, environments = skill_case("ver", seed, skill, changes, (*IN_TRAIN, *seen))
    assert isinstance(environments, SkillEnvironments)
    make = AtHome(environments) if kind == SAME else environments
    return train((config, make), seconds)["mean_sps"]


def main(arguments: Sequence[str]) -> int:
    """Measure in turn and report."""
    parser = OneLineParser(prog="benchmarks.new_homes", description=__doc__)
    parser.add_argument("--skill", default="pick", help="which skill (pick)")
    parser.add_argument("--seconds", type=float, default=60.0, help="least length of each run (60)")
    parser.add_argument("--pairs", type=int, default=5, help="of runs (5)")
    parser.add_argument("--seed", type=int, default=1, help="of the first pair")
    parser.add_argument("--json", type=output_file, help="also write the figures to this file")
    options = parser.parse_args(arguments)
    if options.skill not in skill_names():
        parser.error(f"unknown skill '{options.skill}': choose one of {', '.join(skill_names())}")
    if options.seconds <= 0 or options.pairs < 1:
        parser.error("--seconds and --pairs must be above zero")
    what = f"{options.skill}: training in new homes and in the same"
    origin = made("benchmarks.new_homes", arguments, what=what, seed=options.seed)
    pairs = []
    for k in range(options.pairs):
        order = (NEW, SAME) if k % 2 == 0 else (SAME, NEW)
        pairs.append(
            {kind: rate(options.skill, kind, options.seed + k, options.seconds) for kind in order}
        )
        print(json.dumps(pairs[-1]), file=sys.stderr, flush=True)
    ratios = [pair[NEW] / pair[SAME] for pair in pairs]
    found = {"median": float(np.median(ratios)), "low": min(ratios), "high": max(ratios)}
    print(
        f"new homes train at {found['median']:.3f} of the speed ({found['low']:.3f} to {found['high']:.3f})"
    )
    if options.json:
        write_result(options.json, {"made": origin, "pairs": pairs, "ratio": found})
    return 0


if __name__ == "__main__":
    run_command(main)
