"""Hand-offs between skills, recorded while plans are followed: start states for training.

A skill that was trained from starts that a task samples meets others in a plan: the load hangs askew,
the arm is not quite at rest, the base stands where the last skill has left it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from planner.labels import REARM
from planner.record import Moment
from rearrange.env import RearrangeEnv
from rearrange.episodes import Episode, EpisodeSet
from rearrange.robot import DEFAULT_ROBOT
from rearrange.scenes.registry import DEFAULT_HOMES, spec_of_homes
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.sim.rest import drift
from skills.base import SkillArgument, as_episode
from skills.command import short_path
from skills.registry import effect_of

Start = tuple[str, Episode]  # a skill, and the state in which it began
MOST_DRIFT = 0.01  # of an object in a start that is at rest [m]


class HandOffRecorder:
    """An observer of an execution that keeps the state in which every skill begins.

    Attributes:
        starts: In the order of the plan, but those that no skill could do anything with: nothing to
            place in the hand, for example.
    """

    def __init__(self, name: str) -> None:
        """`name` begins the ids of what is recorded, e.g. "val/3"."""
        self.starts: list[Start] = []
        self._name = name
        self._times: Counter[int] = (
            Counter()
        )  # that a step of the plan was begun: drives are driven anew

    def observe(self, world: RearrangeEnv, moment: Moment) -> None:
        """Look at the world after a step: the first of a skill, a thirtieth of a second in, counts."""
        argument = moment.argument
        if moment.skill_step != 1 or moment.skill == REARM or argument is None:
            return
        if _makes_sense(moment.skill, argument, world.state):
            name, again = f"{self._name}/{moment.plan_index}", self._times[moment.plan_index]
            self._times[moment.plan_index] += 1
            name += f"_{again}" if again else ""
            self.starts.append((moment.skill, snapshot(world, argument, name)))


def _makes_sense(skill: str, argument: SkillArgument, state: SimState) -> bool:
    effect = effect_of(skill)
    carries = effect == "places" or (effect == "arrives" and argument.kind == "goal")
    expected = argument.slot if carries else NOTHING
    return int(state.held_object[0]) == expected and int(state.held_handle[0]) == NOTHING


def snapshot(world: RearrangeEnv, argument: SkillArgument, episode_id: str) -> Episode:
    """The present state of a world as an episode of the skill that is told `argument`.

    Speeds are lost: everything begins at rest.
    """
    state = world.state
    held = int(state.held_object[0])
    joints = zip(state.scene.joints, state.articulated_joints[0].tolist(), strict=True)
    x, y, yaw = state.base_pose[0].tolist()
    return replace(
        as_episode(world.episode, argument, holding=held != NOTHING),
        episode_id=episode_id,
        objects={slot: object_pose(state, slot) for slot in world.episode.objects},
        base_pose=(x, y, yaw),
        arm_joints=tuple(np.clip(state.arm_joints[0], *world.robot.limits).tolist()),
        articulated={
            name: float(np.clip(value, *state.scene.part(name).range)) for name, value in joints
        },
        grasp=None if held == NOTHING else grasp_of(state, held),
    )


def object_pose(state: SimState, slot: int) -> tuple[float, ...]:
    """Pose of an object of world 0, world frame: x, y, z [m], qw, qx, qy, qz."""
    x, y, z = state.object_position[0, slot].tolist()
    return (x, y, max(z, 0.0), *_unit(state.object_rotation[0, slot]))


def grasp_of(state: SimState, slot: int) -> tuple[float, ...]:
    """Pose of an object of world 0 in the end effector's frame: x, y, z [m], qw, qx, qy, qz."""
    hand = Rotation.from_matrix(state.end_effector_rotation[0])
    turn = Rotation.from_quat(state.object_rotation[0, slot], scalar_first=True)
    offset = state.object_position[0, slot] - state.end_effector_position[0]
    rotation = (hand.inv() * turn).as_quat(scalar_first=True)
    return (*hand.inv().apply(offset).tolist(), *_unit(rotation))


def _unit(quaternion: np.ndarray) -> list[float]:
    """Unit quaternion with w >= 0."""
    norm = float(np.linalg.norm(quaternion))
    return (quaternion / (norm if quaternion[0] >= 0.0 else -norm)).tolist()


def save_starts(
    starts: Iterable[Start],
    directory: Path,
    task: str,
    split: str,
    seed: int,
    generator: str,
    robot: str = DEFAULT_ROBOT,
    skills: Sequence[str] = ("*",),
) -> list[Path]:
    """Write `directory/<skill>/<task>_<split>.json.gz`, an episode file of each skill.

    They take the place of all that was recorded there before of this task and split, also of skills that
    do not begin any more.

    Args:
        starts: What was recorded.
        directory: Where the files go.
        task: Household task in which it was recorded.
        split: Whose apartments.
        seed: Seed of the evaluation.
        generator: Command that makes the files again.
        robot: Name of the robot that acted.
        skills: Of which something might have been recorded: files of others stay.

    Returns:
        The files.
    """
    of_skill: dict[str, list[Episode]] = {}
    for skill, episode in starts:
        of_skill.setdefault(skill, []).append(episode)
    paths = []
    for skill, episodes in sorted(of_skill.items()):
        found = EpisodeSet.of(skill, split, seed, generator, episodes, robot)
        paths.append(directory / skill / f"{task}_{split}.json.gz")
        found.save(paths[-1])
    for skill in skills:
        for former in directory.glob(f"{skill}/{task}_{split}.json.gz"):
            if former not in paths:
                former.unlink()
    return paths


def keep_resting(path: Path) -> int:
    """Leave out of a file of starts those in which something topples once it is woken.

    It fell asleep leaning or on an edge. The rounded numbers of the file are judged. A file of which nothing
    is left is removed: no training takes an empty one.

    Args:
        path: The file.

    Returns:
        How many were left out.
    """
    recorded = EpisodeSet.load(path)
    config = SimulatorConfig(robot=recorded.robot, camera_size=1)
    simulator = MujocoSimulator(1, config, spec_of_homes(recorded.homes or DEFAULT_HOMES))
    at_rest = tuple(each for each in recorded if drift(simulator, each) < MOST_DRIFT)
    simulator.close()
    if not at_rest:
        path.unlink()
    elif len(at_rest) < len(recorded):
        replace(recorded, episodes=at_rest).save(path)
    return len(recorded) - len(at_rest)


def write_starts(starts: Iterable[Start], *where: Any) -> list[str]:
    """Write starts that are at rest, as `save_starts` and `keep_resting`; tell of each file in a line.

    Args:
        starts: What was recorded.
        where: The other arguments of `save_starts`.
    """
    lines = []
    for path in save_starts(starts, *where):
        toppling = keep_resting(path)
        left_out = f" ({toppling} left out: something would topple)" if toppling else ""
        lines.append(f"start states: {short_path(path) if path.exists() else 'none'}{left_out}")
    return lines
