"""Turns sampled episodes into settled ones: physics at rest, robot free, everything within reach.

Not imported by `rearrange.episodes`, since tasks and simulators import that.
"""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import mujoco
import numpy as np

from rearrange.episodes.episode import Episode, Target
from rearrange.episodes.fields import FieldChecker
from rearrange.episodes.generation import check_split, load_layout
from rearrange.episodes.schema import (
    JOINT_RANGES,
    ApartmentRecord,
    decode_episode,
    encode_episode,
    record_of,
)
from rearrange.navigation.occupancy import ROBOT_RADIUS
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.scenes.compile import TIMESTEP
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.sim.base import OBJECT_SLOT_COUNT
from rearrange.sim.mujoco import MujocoSimulator, SimulatorConfig
from rearrange.tasks import make_task

SETTLING_TIME = 2.0  # [s], at most; ends when everything has fallen asleep
LARGEST_MOTION = 0.05  # of an object while it settles [m]
LARGEST_TILT = 0.2  # of an object against upright [rad]
LARGEST_JOINT_MOTION = 0.05  # of doors and drawers while they settle [rad] or [m]
REACH = (0.45, 0.95)  # horizontal distance from the base at which the arm can work [m]
MOST_ATTEMPTS = 1000  # samples per episode
_WAKING_FORCE = 1e-9  # [N]; MuJoCo wakes what a force acts on
_GAP = 1e-3  # by which rounding may bring the base nearer to obstacles [m]

Point = tuple[float, float, float]


class EpisodeFactory:
    """Makes the settled episodes of one task and split; owns one world."""

    def __init__(self, task: str, split: str, seed: int) -> None:
        """Build task and simulator; UserError for an unknown task or split."""
        self.split = check_split(split)
        self.seed = seed
        self._task = make_task(task)
        self._key = zlib.crc32(f"{task}/{split}".encode())
        self._simulator = MujocoSimulator(1, SimulatorConfig(camera_size=8))

    def make(self, index: int) -> tuple[Episode, Counter[str]]:
        """Episode number `index` of the file, and why samples before it were rejected.

        Depends on task, split, seed and index alone: not on who makes which episodes.

        Raises:
            RuntimeError: No sample was fit.
        """
        rng = np.random.default_rng([self.seed, self._key, index])
        rejected: Counter[str] = Counter()
        for _ in range(MOST_ATTEMPTS):
            sample = self._task.sample_episode(self.split, rng)
            found = self._settle(replace(sample, episode_id=f"{self.split}/{index}"))
            if isinstance(found, Episode):
                return found, rejected
            rejected[found] += 1
        reasons = ", ".join(f"{reason} {count}" for reason, count in rejected.most_common())
        raise RuntimeError(
            f"{self._task.name}: none of {MOST_ATTEMPTS} samples was fit for episode {index}: {reasons}"
        )

    def _settle(self, sample: Episode) -> Episode | str:
        """The episode at rest and rounded as files are, or why it is rejected."""
        self._simulator.reset([0], [sample])
        if self._simulator.state.contact_force[0] != 0.0:
            return "robot touches something"
        world, data = self._simulator.worlds[0], self._simulator.data[0]
        assert world is not None
        assert data is not None
        run_to_rest(world, data, sample.held_slot)
        first = world.object_qpos
        settled = data.qpos[first : first + 7 * OBJECT_SLOT_COUNT].reshape(-1, 7)
        joints = data.qpos[world.joint_qpos]
        reason = _fault(sample, settled, joints)
        if reason is not None:
            return reason
        episode = _rounded(_at_rest(sample, settled, joints), self.split)
        self._simulator.reset([0], [episode])
        state = self._simulator.state
        if state.contact_force[0] != 0.0:
            return "robot touches something"
        return _out_of_reach(episode, state.handle_position[0]) or episode


def run_to_rest(world: ApartmentModel, data: mujoco.MjData, held_slot: int | None) -> None:
    """Wake everything that can move and run physics until it sleeps again, 2 s at most.

    The arm holds its pose; what it holds never sleeps and is not waited for.
    """
    model = world.model
    trees = world.resting_trees
    bodies = np.flatnonzero(np.isin(model.body_treeid, trees))
    data.xfrc_applied[bodies, 2] = _WAKING_FORCE
    mujoco.mj_step(model, data)
    data.xfrc_applied[bodies, 2] = 0.0
    if held_slot is not None:
        trees = trees[trees != model.body_treeid[world.first_object_body + held_slot]]
    for _ in range(round(SETTLING_TIME / TIMESTEP) - 1):
        mujoco.mj_step(model, data)
        if (data.tree_asleep[trees] >= 0).all():
            return


def apartment_record(layout: int, variation: int) -> ApartmentRecord:
    """What a file remembers of an apartment."""
    return record_of(load_layout(layout, variation)[0])


def can_stand_near(layout: int, variation: int, point: tuple[float, float]) -> bool:
    """Whether the base fits somewhere within the arm's reach of a point, connected to the main floor."""
    offsets = _floor(layout, variation) - np.asarray(point)
    distances = np.hypot(offsets[:, 0], offsets[:, 1])
    return bool(((distances >= REACH[0]) & (distances <= REACH[1])).any())


@lru_cache(maxsize=256)
def _floor(layout: int, variation: int) -> np.ndarray:
    """Centres of the connected cells where the robot fits [K, 2], m."""
    grid = load_layout(layout, variation)[1]
    return grid.center_of(np.argwhere(grid.island))


def _fault(sample: Episode, settled: np.ndarray, joints: np.ndarray) -> str | None:
    """What went wrong while poses [30, 7] and joints [5] settled, or None."""
    for slot, start in sample.objects.items():
        if slot == sample.held_slot:
            continue
        x, y, z, _, qx, qy, _ = settled[slot].tolist()
        if not math.dist((x, y, z), start[:3]) <= LARGEST_MOTION:
            return "object moved"
        # The angle between the object's z axis and the world's.
        if not 2.0 * math.asin(min(1.0, math.hypot(qx, qy))) <= LARGEST_TILT:
            return "object tilted"
    for name, value in zip(ARTICULATED_JOINTS, joints.tolist(), strict=True):
        if not abs(value - sample.articulated.get(name, 0.0)) <= LARGEST_JOINT_MOTION:
            return "door or drawer moved"
    return None


def _at_rest(sample: Episode, settled: np.ndarray, joints: np.ndarray) -> Episode:
    """The sample with the poses [30, 7] and joints [5] that physics found."""
    objects = {
        slot: start if slot == sample.held_slot else tuple(_upright_sign(settled[slot]).tolist())
        for slot, start in sample.objects.items()
    }
    # A joint that rests on its stop gives a little.
    values = {
        name: min(max(value, JOINT_RANGES[name][0]), JOINT_RANGES[name][1])
        for name, value in zip(ARTICULATED_JOINTS, joints.tolist(), strict=True)
    }
    return replace(
        sample,
        objects=objects,
        targets=tuple(_follow(target, objects, sample.held_slot) for target in sample.targets),
        articulated={name: values[name] for name in sample.articulated},
    )


def _follow(target: Target, objects: dict[int, tuple[float, ...]], held_slot: int | None) -> Target:
    """The target starting where its object came to rest; so does a goal that is its start (Pick)."""
    if target.slot == held_slot or target.slot not in objects:
        return target
    x, y, z = objects[target.slot][:3]
    goal = (x, y, z) if target.goal == target.start else target.goal
    return replace(target, start=(x, y, z), goal=goal)


def _upright_sign(pose: np.ndarray) -> np.ndarray:
    """The pose with the quaternion of its two whose w is not negative."""
    return np.concatenate([pose[:3], -pose[3:]]) if pose[3] < 0.0 else pose


def _rounded(episode: Episode, split: str) -> Episode:
    """The episode as it comes back from a file; this also checks every field."""
    key = episode.layout, episode.variation
    sizes = {key: apartment_record(*key).size}
    return decode_episode(encode_episode(episode), FieldChecker("generated"), split, sizes)


def _out_of_reach(episode: Episode, handles: np.ndarray) -> str | None:
    """What the robot cannot get near to, or None; handles [5, 3], m."""
    key = episode.layout, episode.variation
    grid = load_layout(*key)[1]
    x, y, _ = episode.base_pose
    if not grid.is_free(x, y, ROBOT_RADIUS - _GAP) or not grid.island[grid.cell_of(x, y)]:
        return "robot off the connected floor"
    for what, point in _work_points(episode, handles):
        if not can_stand_near(*key, point[:2]):
            return f"{what} out of reach"
    return None


def _work_points(episode: Episode, handles: np.ndarray) -> Iterator[tuple[str, Point]]:
    """Where the hand has to get to."""
    for target in episode.targets:
        if target.slot != episode.held_slot:
            yield "object", target.start
        yield "goal", target.goal
    if episode.target_joint is not None:
        x, y, z = handles[ARTICULATED_JOINTS.index(episode.target_joint)].tolist()
        yield "handle", (x, y, z)
