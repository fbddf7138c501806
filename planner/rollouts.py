"""`python -m planner.rollouts TASK`: what a robot sees and does, as a LeRobotDataset v3.

TASK is a skill, in its own task, or a household scenario, by plan. `--skills` says who acts. A frame is
1/30 s: the depth image, the numbers of the task's observation by name, the action in radians and metres, and
in words what is being done. LeRobot opens it: LeRobotDataset("rearrange/TASK", root="runs/datasets/TASK").
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from planner.evaluation import EpisodeRunner, EvaluationSettings
from planner.film import only_call
from planner.record import Moment
from planner.video import doing
from rearrange.command_line import INTERRUPTED, OneLineParser, output_folder
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.scenes.registry import HOMES
from rearrange.tasks import household_names
from rearrange.tasks.base import DEPTH_RANGE
from rearrange.worlds import seen_depth
from skills.command import counted, run_command, short_path
from skills.lerobot import DatasetWriter, Feature, grid, image, import_libraries, scalar, vector
from skills.modes import SKILLS_HELP, parse_modes
from skills.names import names_of
from skills.registry import find, skill_names

FPS = 30
IMAGE, BODY, AROUND = (
    "observation.images.head_depth",
    "observation.state",
    "observation.environment_state",
)
# Not below "observation": LeRobot's policies would take it for numbers of the robot's state
DEPTH = "head_depth_mm"
OWN_SENSES = ("joint", "is_holding", "ee_pos", "relative_resting_position", "gps_compass")
SPLITS = ("train", "val")


class Tape:
    """The frames of the episode that a world plays.

    Attributes:
        tasks: What is being done in each frame; `say` changes the last.
    """

    def __init__(self, world: RearrangeEnv, size: int) -> None:
        """Watch a world; `size` is that of the images [pixels]."""
        self._size, self._senses = size, _senses(world)
        self._action_names = world.robot.actions.names
        world.before_step = self._see
        self.begin()

    def begin(self) -> None:
        """Forget the episode before."""
        self.tasks: list[str] = []
        names = (*self._senses, IMAGE, DEPTH)
        self._frames: dict[str, list[np.ndarray]] = {name: [] for name in names}
        self._actions: list[np.ndarray] = []
        self._rewards: list[float] = []

    @property
    def features(self) -> dict[str, Feature]:
        """The parts of a frame."""
        vectors = {name: vector(names) for name, (_, names) in self._senses.items()}
        rest = {"action": vector(self._action_names), "next.reward": scalar("float32")}
        rest |= {"next.done": scalar("bool"), "next.success": scalar("bool")}
        seen = {IMAGE: image(self._size), DEPTH: grid(self._size, "uint16")}
        return {**seen, **vectors, **rest}

    def say(self, task: str) -> None:
        """Tell in words what was being done in the last frame."""
        self.tasks[-1] = task

    def rows(self, world: RearrangeEnv, success: bool) -> dict[str, np.ndarray]:
        """The episode that has ended, a row for each frame."""
        count = len(self._actions)
        ends = np.arange(count) == count - 1
        return {
            **{name: np.stack(frames) for name, frames in self._frames.items()},
            "action": np.stack(self._actions).astype(np.float32),
            "next.reward": np.array([*self._rewards[1:], world.reward], np.float32),
            "next.done": ends,
            "next.success": ends & success,
        }

    def _see(self, world: RearrangeEnv, action: np.ndarray) -> None:
        """Keep what is seen before a step, and what is done."""
        seen = world.task.observe(world.state)
        for name, (keys, _) in self._senses.items():
            parts = [np.ravel(seen[key][0]) for key in keys]
            self._frames[name].append(np.concatenate(parts).astype(np.float32))
        depth = seen_depth(world.simulator, self._size)[0]
        self._frames[IMAGE].append(np.repeat(np.rint(255 * depth).astype(np.uint8), 3, axis=2))
        millimetres = np.rint(1000 * DEPTH_RANGE * depth[..., 0])
        self._frames[DEPTH].append(millimetres.astype(np.uint16))
        action[-1] = 1.0 if action[-1] > 0 else -1.0  # stop
        self._actions.append(action)
        self._rewards.append(world.reward)
        self.tasks.append("")


def _senses(world: RearrangeEnv) -> dict[str, tuple[list[str], list[str]]]:
    """Feature -> the observations that it is made of, and names of its numbers."""
    names = names_of(world.task.name, world.robot.name)
    found: dict[str, tuple[list[str], list[str]]] = {}
    for key, size in names.sizes.items():
        parts = names.parts[key]
        count = size // len(parts)
        keys, numbers = found.setdefault(BODY if key in OWN_SENSES else AROUND, ([], []))
        keys.append(key)
        numbers += [
            f"{key}.{part}" if count == 1 else f"{key}.{k}.{part}"
            for k in range(count)
            for part in parts
        ]
    return found


class Actor(Protocol):
    """Plays episodes in a world of its own."""

    world: RearrangeEnv

    def play(self, index: int, say: Callable[[str], None]) -> bool:
        """Play one; `say` tells after every step what is being done. Returns its success."""
        ...


class SkillActor:
    """A skill in its own task."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Load who plays it."""
        from skills.players import player_of  # brings torch: only where skills run

        asked = options.task, options.skills, options.split, options.homes
        self._player: Any = player_of(*asked)[1]
        self._skill, self._seed = options.task, options.seed
        self.world: RearrangeEnv = self._player.environment

    def play(self, index: int, say: Callable[[str], None]) -> bool:
        """See Actor."""
        from skills.eval import SEED_STRIDE

        told = ""

        def observe(world: RearrangeEnv) -> None:
            nonlocal told
            if not told:
                call = only_call(self._skill, world)
                told = doing(world, Moment((call,), 0, self._skill, call.argument, 1))
            say(told)

        return bool(self._player.play(self._seed * SEED_STRIDE + index, None, observe)["success"])


class PlanActor:
    """A household scenario, by plan and skills."""

    def __init__(self, options: argparse.Namespace) -> None:
        """Make the world and its skills."""
        from skills.library import robot_of  # brings torch: only where skills run

        robot = robot_of(options.skills, options.task)
        place = {"split": options.split, "homes": options.homes, "robot": robot}
        settings = EvaluationSettings(
            options.task, seed=options.seed, skills=options.skills, **place
        )
        self._runner = EpisodeRunner(settings)
        self.world = self._runner.world

    def play(self, index: int, say: Callable[[str], None]) -> bool:
        """See Actor."""

        def observe(world: RearrangeEnv, moment: Moment) -> None:
            say(doing(world, moment))

        return self._runner.play(index, observers=[observe]).execution.success_at_end


def record(actor: Actor, tape: Tape, writer: DatasetWriter, episodes: int, failures: bool) -> int:
    """Play episodes and write them; returns how many succeeded.

    Args:
        actor: Who plays.
        tape: Of its world.
        writer: Where they go.
        episodes: How many.
        failures: Also write those that fail.
    """
    won = 0
    for index in range(episodes):
        tape.begin()
        success = actor.play(index, tape.say)
        won += success
        kept = success or failures
        if kept:
            writer.add(tape.rows(actor.world, success), tape.tasks)
        told = "success" if success else "failure"
        left_out = "" if kept else ", left out"
        print(f"episode {index}: {counted(len(tape.tasks), 'frame')}, {told}{left_out}", flush=True)
    return won


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the command line; UserError where it is wrong."""
    parser = OneLineParser(prog="planner.rollouts", description=__doc__)
    parser.add_argument("task", help=f"a skill, or one of {', '.join(household_names())}")
    parser.add_argument("--skills", default="mixed", help=SKILLS_HELP)
    parser.add_argument("--episodes", type=int, default=10, metavar="N", help="played (10)")
    parser.add_argument(
        "--successes", action="store_true", help="leave episodes out that end in failure"
    )
    parser.add_argument("--split", choices=SPLITS, default="train", help="which homes (train)")
    parser.add_argument("--homes", **HOMES)
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="of the episodes (0)")
    parser.add_argument(
        "--camera-size", type=int, default=64, metavar="PIXELS", help="of the images (64)"
    )
    parser.add_argument("--output", type=output_folder, metavar="DIR", help="runs/datasets/TASK")
    options = parser.parse_args(arguments)
    if options.task not in (*household_names(), *skill_names()):
        find(options.task)  # lists what there is
    parse_modes(options.skills)
    for name, low, high in (("episodes", 1, 10**6), ("seed", 0, 2**31), ("camera_size", 8, 1024)):
        if not low <= getattr(options, name) <= high:
            told = name.replace("_", "-")
            raise UserError(
                f"--{told} must be from {low} to {high}, found {getattr(options, name)}"
            )
    options.output = options.output or Path("runs") / "datasets" / options.task
    return options


def main(arguments: Sequence[str]) -> int:
    """Record; what was recorded before an interruption is kept."""
    options = parse(arguments)
    import_libraries()
    import torch

    torch.set_num_threads(1)  # more only wait for each other on so small a network
    actor = (PlanActor if options.task in household_names() else SkillActor)(options)
    tape = Tape(actor.world, options.camera_size)
    writer = DatasetWriter(options.output, tape.features, FPS, actor.world.robot.name)
    interrupted = False
    try:
        record(actor, tape, writer, options.episodes, not options.successes)
    except KeyboardInterrupt:
        interrupted = True
        print("interrupted", file=sys.stderr)
    finally:
        writer.close()
        actor.world.close()
    where = short_path(options.output)
    print(f"{counted(writer.episodes, 'episode')}: {where}" if writer.episodes else "none is kept")
    return INTERRUPTED if interrupted else 0


if __name__ == "__main__":
    run_command(main)
