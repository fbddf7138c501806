"""`python -m planner.blind_drives navigate`: starts of a skill where a robot that drove blindly got stuck.

In a chore nobody frees a robot that has driven into something, and few episodes of training begin there. So
the robot drives ahead from starts that the task samples, whatever is there. Where it is blocked it turns
and pushes on, as a policy does that gets stuck, and the state is kept as the start of an episode.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from planner.hand_offs import snapshot, write_starts
from rearrange.command_line import OneLineParser, check_counts, output_folder
from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode
from rearrange.errors import UserError
from rearrange.robot.actions import HOLD, LET_GO
from rearrange.sim.base import NOTHING
from skills.command import Slowly, run_command
from skills.jobs import processor_ids
from skills.players import UNSEEN, argument_of
from skills.provenance import command_line
from skills.registry import skill_names
from skills.settings import SkillEnvironments
from skills.train import load_stages
from skills.workers import play_in_workers

NAME = "blind_drives"  # of the file
LONGEST = 120  # steps of 1/30 s of a drive
BLOCKED = 20  # steps in a row that something holds the wheels up, after which the robot is stuck
GIVES_WAY = 5  # of them, after which it turns as fast as it can
STANDS = 0.01  # [m], motion in a step below which something does
CURVE = 0.3  # share of the fastest turn, at most, by which a drive bends
ATTEMPTS = 50  # drives until one gets stuck


class BlindDriver:
    """A robot that drives without looking in the starts that its task samples."""

    def __init__(self, environments: SkillEnvironments) -> None:
        """Take the environments of a skill that drives."""
        self._skill = environments.skill
        self._world: RearrangeEnv = environments(0, 0)

    def play(self, number: int, seed: int) -> tuple[int, Episode]:
        """Drive until the robot is stuck, in one home or the next.

        Args:
            number: Of the start; names it.
            seed: Decides all else.

        Returns:
            The number, and the state as an episode.

        Raises:
            UserError: It gets on everywhere.
        """
        rng = np.random.default_rng(seed)
        for _ in range(ATTEMPTS):
            self._world.reset(seed=int(rng.integers(2**31)))
            if self._is_stuck(float(rng.uniform(-1.0, 1.0))):
                argument = argument_of(self._skill, self._world.episode)
                return number, snapshot(self._world, argument, f"{NAME}/{number}")
        raise UserError(f"the robot never got stuck in {ATTEMPTS} drives: nothing is in its way")

    def close(self) -> None:
        """Free the world."""
        self._world.close()

    def _is_stuck(self, side: float) -> bool:
        """Drive ahead, bending to a side in [-1, 1]; False where the robot gets on, or the episode ends."""
        world, count = self._world, 0
        places = world.robot.actions
        fastest = world.task.action.scale(places)
        action = np.zeros(len(fastest))
        action[places.forward] = fastest[places.forward]
        # What is in the hand stays there, and nothing is taken on the way
        action[places.grip] = LET_GO if world.state.held_object[0] == NOTHING else HOLD
        for _ in range(LONGEST):
            turn = CURVE * side if count < GIVES_WAY else np.sign(side)
            action[places.turn] = turn * fastest[places.turn]
            before = world.state.base_pose[0, :2].copy()
            _, terminated, truncated, _ = world.step_physical(action)
            if terminated or truncated:
                return False
            moved = float(np.linalg.norm(world.state.base_pose[0, :2] - before))
            count = count + 1 if world.state.base_blocked[0] or moved < STANDS else 0
            if count == BLOCKED:
                return True
        return False


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; raises UserError where it makes no sense."""
    parser = OneLineParser(prog="planner.blind_drives", description=__doc__)
    parser.add_argument("skill", choices=skill_names(), help="which begins there")
    parser.add_argument("overrides", nargs="*", metavar="key=value", help="as of its training")
    parser.add_argument(
        "--split", choices=("train", "val"), default="train", help="which homes (train)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of all drives (0)")
    parser.add_argument("--episodes", type=int, default=400, metavar="N", help="starts (400)")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (one per processor)")
    parser.add_argument(
        "--output",
        type=output_folder,
        metavar="DIR",
        default=Path("runs") / "hand_offs",
        help=f"where <skill>/{NAME}_<split>.json.gz goes (runs/hand_offs)",
    )
    options = parser.parse_intermixed_args(arguments)
    check_counts(options, "episodes", "workers")
    return options


def environments_of(options: argparse.Namespace) -> SkillEnvironments:
    """The environments of the skill's training, where nobody looks and nothing recorded is mixed in."""
    settings = load_stages(options.skill, [*options.overrides, "starts.paths=[]"])[0]
    environments = SkillEnvironments.from_settings(settings, options.split)
    return replace(environments, camera_size=UNSEEN)


def main(arguments: Sequence[str]) -> None:
    """Drive, and write the starts."""
    options = parse(arguments)
    environments = environments_of(options)
    seeds = np.random.SeedSequence(options.seed).generate_state(options.episodes).tolist()
    workers = options.workers or len(processor_ids())
    found: dict[int, Episode] = {}
    slowly = Slowly(partial(print, flush=True))
    for start in play_in_workers(
        partial(BlindDriver, environments), list(enumerate(seeds)), workers
    ):
        found.update([start])
        slowly(f"{len(found)} of {options.episodes} starts")
    starts = [(options.skill, found[number]) for number in sorted(found)]
    command = command_line("planner.blind_drives", arguments)
    where = (options.output, NAME, options.split, options.seed, command, environments.robot)
    for line in write_starts(starts, *where, (options.skill,)):
        print(line)


if __name__ == "__main__":
    run_command(main)
