"""`python -m skills.failures SKILL --checkpoint FILE --out DIR`: starts from which a policy fails.

It plays episodes as it was trained in, with mean actions, and writes those that it fails to
`DIR/<skill>/failures_train.json.gz`: `starts.paths=[DIR]` mixes them into a training. The
hardest start in ten decides how good a skill is in the end, and is met in one episode of ten.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch

from rearrange.command_line import OneLineParser, check_counts, output_folder
from rearrange.episodes import Episode, EpisodeSet
from rearrange.errors import UserError
from rearrange.robot import DEFAULT_ROBOT
from skills.command import run_command
from skills.learned import PolicyRunner, check_metadata
from skills.registry import skill_names
from skills.settings import SkillEnvironments
from skills.workers import play_in_workers
from ver import load_policy
from ver.collect.processes import cores

SPLIT = "train"
STRIDE = 1_000_003  # between the seeds of two runs
NAME = "failures"  # of the files


class Played(NamedTuple):
    """An episode by its number, and whether it was a success."""

    number: int
    episode: Episode
    success: bool


class Trainee:
    """Plays a policy in the environment in which it was trained, from starts that the task samples.

    Args:
        checkpoint: The policy.
        seed: Of the episodes.
    """

    def __init__(self, checkpoint: str, seed: int) -> None:
        """Load the policy and make its environment."""
        self._runner = PolicyRunner(checkpoint, deterministic=True)
        self._world = environments(self._runner.policy.metadata)(0, seed)
        self._seed = seed

    def play(self, number: int) -> Played:
        """Play an episode; its number and the seed decide all of it."""
        seed = self._seed * STRIDE + number
        torch.manual_seed(seed)
        seen, _ = self._world.reset(seed=seed)
        self._runner.restart()
        ended, info = False, {}
        while not ended:
            seen, _, terminated, truncated, info = self._world.step(self._runner.act(seen))
            ended = terminated or truncated
        name = f"{NAME}/{number}"
        return Played(number, replace(self._world.episode, episode_id=name), info["is_success"])


def environments(metadata: dict[str, Any]) -> SkillEnvironments:
    """The environments in which a policy was trained, without recorded starts."""
    known = {field.name for field in fields(SkillEnvironments)}
    kept = {key: value for key, value in metadata.items() if key in known}
    return replace(SkillEnvironments(**kept), starts={}, split=SPLIT)


def parse(arguments: Sequence[str]) -> Any:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="skills.failures", description=__doc__)
    parser.add_argument("skill", choices=skill_names())
    parser.add_argument("--checkpoint", type=Path, required=True, help="policy file")
    parser.add_argument(
        "--out", type=output_folder, required=True, metavar="DIR", help="folder of starts"
    )
    parser.add_argument("--episodes", type=int, default=2000, metavar="N", help="to play (2000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    parser.add_argument("--workers", type=int, default=cores(), metavar="N", help="processes")
    options = parser.parse_args(arguments)
    check_counts(options, "episodes", "workers")
    check_counts(options, "seed", least=0)
    check_metadata(options.checkpoint, load_policy(options.checkpoint).metadata, options.skill)
    return options


def main(arguments: Sequence[str]) -> int:
    """Play and write."""
    options = parse(arguments)
    played: list[Played] = []
    cases = [(number,) for number in range(options.episodes)]
    player = partial(Trainee, str(options.checkpoint), options.seed)
    for each in play_in_workers(player, cases, options.workers):
        played.append(each)
        if len(played) % max(1, options.episodes // 10) == 0:
            failed = sum(not one.success for one in played)
            print(f"{failed} of {len(played)} episodes failed", file=sys.stderr, flush=True)
    played.sort(key=lambda each: each.number)
    failed = [each.episode for each in played if not each.success]
    if not failed:
        raise UserError(f"{options.checkpoint} failed none of {len(played)} episodes: play more")
    command = f"python -m skills.failures {' '.join(arguments)}"
    path = options.out / options.skill / f"{NAME}_{SPLIT}.json.gz"
    robot = load_policy(options.checkpoint).metadata.get("robot", DEFAULT_ROBOT)
    EpisodeSet.of(options.skill, SPLIT, options.seed, command, failed, robot).save(path)
    print(f"{len(failed)} of {len(played)} episodes failed; written to {path}")
    return 0


if __name__ == "__main__":
    run_command(main)
