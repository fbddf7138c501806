"""What the household scenarios share: bring K objects to their goals and stop, with one dense reward.

Tidy House, Prepare Groceries and Set Table differ in their episodes; each has its file. This reward makes
them the tasks of MonolithicRL, which learns a scenario without skills.
Reference: habitat-lab v0.3.4's rearrange PDDL tasks.

Observation (besides head_depth): for each of the K targets in order obj_start_sensor and
obj_goal_sensor [3 K] in the end-effector frame, obj_start_gps_compass and obj_goal_gps_compass [2 K] polar
(distance, -bearing) in the base frame; joint [7], is_holding [1], relative_resting_position [3],
ee_pos [3] in the base frame, gps_compass [4].
Action [11]: seven joint deltas, grip, forward, turn, stop.
Success: every target within 0.30 m of its goal, no object held, and stop called. Stop ends the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.episodes import Episode, Target
from rearrange.errors import UserError
from rearrange.robot.actions import stop_of
from rearrange.settings import group, setting
from rearrange.sim.base import NOTHING
from rearrange.tasks.base import (
    ActionConfig,
    ForceConfig,
    Task,
    each_world,
    feel_force,
    keep_base,
)
from rearrange.tasks.sampling import GOAL_GAP, Scene, no_room, sample_arm
from rearrange.tasks.sensors import (
    PER_JOINT,
    copy_into,
    from_rest,
    gps_compass,
    in_hand,
    is_holding,
    polar,
)

SCENE_ATTEMPTS = 200  # scenes that are tried until one has room for every target


@dataclass
class HouseholdConfig:
    """Numbers of a household scenario. `hab`: habitat-lab v0.3.4's."""

    action: ActionConfig = group(ActionConfig)
    force: ForceConfig = group(
        lambda: ForceConfig(
            penalty=0.0, accumulated_limit=100_000.0, instant_limit=10_000.0, end_penalty=0.0
        ),
        penalty=0.0,
        accumulated_limit=100_000.0,
        end_penalty=None,
    )
    max_steps: int = setting(3000, low=1, hab=3000, about="then the episode is truncated")
    progress_scale: float = setting(
        1.0, hab=1.0, about="per metre: hand to object, then object to goal"
    )
    pick_bonus: float = setting(1.0, hab=1.0, about="once per object")
    place_bonus: float = setting(1.0, hab=1.0, about="once per object")
    place_threshold: float = setting(0.15, hab=0.15, about="of the place bonus [m]")
    success_bonus: float = setting(100.0, hab=100.0, about="when it ends in success")
    slack: float = setting(0.01, hab=0.01, about="taken off every step")
    goal_threshold: float = setting(0.30, hab=0.3, about="of the goal predicate object_at [m]")
    start_arm_noise: float = setting(0.1, hab=0.1, about="standard deviation per joint [rad]")
    base_motion: bool = setting(True, hab=True, about="False keeps the base where it is")


def observation_of(target_count: int) -> dict[str, int]:
    """Sizes of the vector observations of a scenario with so many targets."""
    return {
        "obj_start_sensor": 3 * target_count,
        "obj_goal_sensor": 3 * target_count,
        "obj_start_gps_compass": 2 * target_count,
        "obj_goal_gps_compass": 2 * target_count,
        "joint": PER_JOINT,
        "is_holding": 1,
        "relative_resting_position": 3,
        "ee_pos": 3,
        "gps_compass": 4,
    }


def memory_of(target_count: int) -> list[tuple[Any, ...]]:
    """What a scenario with so many targets remembers."""
    return [
        ("slots", "i8", (target_count,)),
        ("start", "f8", (target_count, 3)),
        ("goal", "f8", (target_count, 3)),
        (
            "picked",
            "u1",
            (target_count,),
        ),  # at any time of the episode; numba knows no array of "?"
        ("placed", "u1", (target_count,)),  # likewise
        ("previous_distance", "f8"),
        ("previous_held", "i8"),
    ]


@cached_njit
def _to_goal(world: Any, memory: Any, k: int) -> float:
    """Distance of target k from its goal [m]."""
    return geometry.distance(world.object_position[memory.slots[k]], memory.goal[k])


@cached_njit
def _distance(world: Any, memory: Any) -> float:
    """What has to shrink next: hand to the first object that is not in place, then it to its goal [m]."""
    for k in range(len(memory.slots)):
        if not memory.placed[k]:
            if world.held_object == memory.slots[k]:
                return _to_goal(world, memory, k)
            where = world.object_position[memory.slots[k]]
            return geometry.distance(where, world.end_effector_position)
    return 0.0


@cached_njit
def _begin(world: Any, memory: Any, config: Any) -> None:
    memory.previous_distance = _distance(world, memory)
    memory.previous_held = world.held_object


@cached_njit
def _mask(world: Any, memory: Any, config: Any, physical: Any) -> None:
    """Everything is allowed; the base may be asked to stand still."""
    if not config.base_motion:
        keep_base(physical)


@cached_njit
def _evaluate(world: Any, memory: Any, config: Any, action: Any, outcome: Any) -> None:
    picked_count, placed_count, all_there = 0, 0, True
    for k in range(len(memory.slots)):
        to_goal = _to_goal(world, memory, k)
        holding = world.held_object == memory.slots[k]
        all_there = all_there and to_goal < config.goal_threshold
        if holding and not memory.picked[k]:
            memory.picked[k] = True
            picked_count += 1
        near = to_goal < config.place_threshold
        if near and not holding and memory.picked[k] and not memory.placed[k]:
            memory.placed[k] = True
            placed_count += 1
    distance = _distance(world, memory)
    # Taking, dropping or placing changes what is measured, so such a step brings no progress.
    changed = placed_count > 0 or world.held_object != memory.previous_held
    progress = 0.0 if changed else memory.previous_distance - distance
    force_reward, exceeded = feel_force(world.contact_force, memory, config.force)
    stop = action[stop_of(world)] > 0.0
    done = all_there and world.held_object == NOTHING
    success = done and stop
    memory.previous_distance, memory.previous_held = distance, world.held_object

    rewards, failures = outcome.rewards, outcome.failures
    rewards.progress = config.progress_scale * progress
    rewards.pick = config.pick_bonus * picked_count
    rewards.place = config.place_bonus * placed_count
    rewards.force = force_reward
    rewards.success = config.success_bonus * success
    rewards.slack = -config.slack
    failures.stopped_early = stop and not done
    failures.force_limit = exceeded
    outcome.success = success
    outcome.terminated = stop or exceeded


@cached_njit
def _observe_points(world: Any, points: Any, sensor: Any, compass: Any) -> None:
    """Write points [K, 3] in the end-effector frame [3 K] and as GPS+Compass [2 K]."""
    for k in range(len(points)):
        copy_into(sensor[3 * k : 3 * k + 3], in_hand(world, points[k]))
        distance, bearing = polar(world.base_pose, points[k])
        compass[2 * k], compass[2 * k + 1] = distance, -bearing


@cached_njit
def _observe(world: Any, memory: Any, seen: Any) -> None:
    _observe_points(world, memory.start, seen.obj_start_sensor, seen.obj_start_gps_compass)
    _observe_points(world, memory.goal, seen.obj_goal_sensor, seen.obj_goal_gps_compass)
    copy_into(seen.joint, world.arm_joints)
    seen.is_holding[0] = is_holding(world)
    copy_into(seen.relative_resting_position, from_rest(world))
    copy_into(seen.ee_pos, world.end_effector_in_base)
    copy_into(seen.gps_compass, gps_compass(memory.base_start, world.base_pose))


class Household(Task):
    """A household scenario over N worlds; see the module's docstring.

    Attributes:
        title: Its name for people.
        target_count: Objects that have to be moved; the sizes of what is observed and remembered follow.
    """

    title: ClassVar[str]
    target_count: ClassVar[int]
    ACTIONS = ("arm", "grip", "base", "stop")
    REWARDS = ("progress", "pick", "place", "force", "success", "slack")
    FAILURES = ("stopped_early", "force_limit")
    compiled = each_world(_begin, _mask, _evaluate, _observe)

    def __init_subclass__(cls) -> None:
        """Size observation and memory, unless the scenario has its own."""
        super().__init_subclass__()
        count = cls.target_count
        cls.OBSERVATION = vars(cls).get("OBSERVATION", observation_of(count))
        cls.MEMORY = vars(cls).get("MEMORY", memory_of(count))

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """A scene and what is to be moved in it, or None where there is no room; per scenario."""
        raise NotImplementedError

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A scene of this scenario with the robot anywhere on its floor.

        Raises:
            UserError: The homes have too few objects, or too little room for them.
        """
        there, needed = len(self.scene.objects), self.target_count
        if there < needed:
            raise UserError(
                f"{self.name}: {needed} objects are moved, and there are {there} in {self.scene.where}: name "
                "more (objects:)"
            )
        for _ in range(SCENE_ATTEMPTS):
            sampled = self.sample_scene(split, rng)
            if sampled is not None:
                scene, targets = sampled
                pose = scene.grid.sample_pose(rng)
                arm = sample_arm(self.robot, rng, self.config.start_arm_noise)
                return scene.episode(targets, pose, arm, rng)
        raise no_room(self.name, "the targets", self.scene, SCENE_ATTEMPTS)

    def aim(self, memory: Any, episode: Episode) -> None:
        """The targets, where they started and where they belong."""
        memory["slots"] = [target.slot for target in episode.targets]
        memory["start"] = [target.start for target in episode.targets]
        memory["goal"] = [target.goal for target in episode.targets]


def with_goals(
    scene: Scene, wanted: Sequence[tuple[int, str, str]], rng: np.random.Generator
) -> tuple[Scene, tuple[Target, ...]] | None:
    """A scene with a free goal for each of its objects so far, and all others as clutter; None without room.

    Args:
        scene: What is to be moved is in it.
        wanted: Slot, receptacle at the start and receptacle of the goal of each.
        rng: Source of randomness.
    """
    targets: list[Target] = []
    for slot, start, name in wanted:
        goal = scene.find_place(slot, name, GOAL_GAP, rng, attempts=50)
        if goal is None:
            return None
        targets.append(Target(slot, scene.position(slot), goal, start, name))
    # The goals are taken before the clutter, which finds its place around them.
    moved = [target.slot for target in targets]
    clutter = [slot for slot in range(len(scene.spec.objects)) if slot not in moved]
    scene.add_clutter(clutter, rng, GOAL_GAP)
    return scene, tuple(targets)
