"""Place: put the held object down at its goal and bring the hand back to its resting place.

Reference: habitat-lab v0.3.4's RearrangePlaceTask with the VER paper's changes (base motion in the
skill, start-relative GPS+Compass).

Observation (besides head_depth): obj_goal_sensor [3] the goal in the end-effector frame, joint [7],
is_holding [1], relative_resting_position [3] in the base frame, gps_compass [4]. `glimpse` adds a second
image, see rearrange.tasks.glimpse.
Action [10]: seven joint deltas, grip, forward, turn. Letting go is ignored far from the goal;
once the object has been let go, nothing is taken again.
Start: the object in the hand. The robot is within 2 m of the goal, not cut off from it by a wall, and roughly
faces it. Goals lie on open receptacles, some in the open fridge.
Success: nothing is held, the object lies still within 0.15 m of its goal, the hand is within 0.15 m of its
resting place. It ends the episode.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.episodes import Episode, Target
from rearrange.robot.actions import HOLD, LET_GO, grip_of
from rearrange.settings import group, setting
from rearrange.sim.base import SimState
from rearrange.tasks.base import (
    ActionConfig,
    ForceConfig,
    each_world,
    feel_force,
    keep_base,
)
from rearrange.tasks.floor import FloorTask
from rearrange.tasks.sampling import Scene, cluttered_scene, no_room, sample_arm
from rearrange.tasks.sensors import (
    PER_JOINT,
    copy_into,
    from_rest,
    gps_compass,
    in_hand,
    is_holding,
)
from rearrange.tasks.starts import pose_near, pose_nearby
from rearrange.tasks.targets import random_goal

SCENE_ATTEMPTS = 200  # scenes that are tried until one has room for a goal


@dataclass
class PlaceConfig:
    """Numbers of Place. `hab`: habitat-lab v0.3.4's."""

    action: ActionConfig = group(ActionConfig)
    # HAB configures a penalty, but caps it at 0
    force: ForceConfig = group(ForceConfig, largest_penalty=0.0)
    max_steps: int = setting(300, low=1, hab=300, about="then the episode is truncated")
    distance_scale: float = setting(10.0, hab=2.0, about="per metre closer; as in Pick")
    way_scale: float = setting(
        0.0,
        hab=0.0,
        about=(
            "per metre that the robot carries the object closer, along the floor, to where "
            "the arm reaches the goal. A straight line may end behind a wall, a table or "
            "the fridge's door"
        ),
    )
    arrival_distance: float = setting(
        0.15,
        hab=0.15,
        about=(
            "carrying the object about within this distance of its goal pays nothing [m]. "
            "What is let go 0.15 m above a table falls over and rolls"
        ),
    )
    place_bonus: float = setting(5.0, hab=5.0, about="on letting go at the goal")
    settle_scale: float = setting(
        0.0,
        hab=0.0,
        about=(
            "per metre that the object moves once it has been let go. It tips over, rolls, "
            "or the hand drags it"
        ),
    )
    drop_penalty: float = setting(
        0.0, hab=0.0, about="on losing the object elsewhere; ends the episode"
    )
    displaced_ends: bool = setting(
        False,
        hab=False,
        about=(
            "an object that has come to rest outside its goal ends the episode, as nothing "
            "is taken up again. Otherwise one failure in training takes as many steps as "
            "six successes"
        ),
    )
    success_bonus: float = setting(10.0, hab=10.0, about="when it ends in success")
    slack: float = setting(0.005, hab=0.005, about="taken off every step")
    goal_threshold: float = setting(0.15, hab=0.15, about="object to goal [m]")
    rest_threshold: float = setting(0.15, hab=0.15, about="hand to resting place [m]")
    still_threshold: float = setting(
        0.001,
        hab=math.inf,
        about=(
            "the object's motion in a step, less than this at success [m]. One that moved "
            "more often ended outside its goal after the skill had succeeded, up to a metre "
            "away"
        ),
    )
    release_distance: float = setting(
        0.2,
        hab=math.inf,
        hides="an object that is let go too early, which ends the episode",
        about=(
            "letting go is ignored while the hand is farther than this from the goal [m]. A "
            "random policy lets go in its first steps, which ends the episode"
        ),
    )
    release_pause: int = setting(
        3,
        hab=0,
        hides="an object that is let go on the move, and rolls off",
        about=(
            "steps for which arm and base keep still before the object is let go, and as "
            "many after. What is let go on the move slides or tips over. A hand that leaves "
            "at once drags it along"
        ),
    )
    start_distance: float = setting(2.0, hab=2.0, about="base to goal, horizontal, at most [m]")
    start_yaw_noise: float = setting(0.5236, hab=0.5236, about="standard deviation [rad]")
    start_arm_noise: float = setting(0.1, hab=0.1, about="standard deviation per joint [rad]")
    detour_share: float = setting(
        0.0,
        high=1.0,
        hab=None,
        about="of the starts have a way that leads around something, if there are any: see Pick",
    )
    fridge_share: float = setting(
        0.1, high=1.0, hab=None, about="of the goals are in the open fridge"
    )
    glimpse: bool = setting(
        False,
        hab=False,
        about=(
            "a second image shows the window of the camera's image around the goal, finely. There "
            "neighbours are told apart; without it the policies hardly looked"
        ),
    )
    base_motion: bool = setting(True, hab=True, about="False keeps the base where it is")


@cached_njit
def _distance(world: Any, to_goal: float, holding: bool) -> float:
    """Object to goal while it is held, then hand to its resting place [m]."""
    return to_goal if holding else geometry.norm(from_rest(world))


@cached_njit
def _begin(world: Any, memory: Any, config: Any) -> None:
    memory.was_holding = world.held_object == memory.slot
    memory.pause = 0
    to_goal = geometry.distance(world.object_position[memory.slot], memory.goal)
    memory.previous_distance = _distance(world, to_goal, memory.was_holding)
    memory.previous_position[:] = world.object_position[memory.slot]


@cached_njit
def _evaluate(world: Any, memory: Any, config: Any, action: Any, outcome: Any) -> None:
    holding = world.held_object == memory.slot
    released = memory.was_holding and not holding
    position = world.object_position[memory.slot]
    to_goal = geometry.distance(position, memory.goal)
    moved = geometry.distance(position, memory.previous_position)
    still = moved < config.still_threshold
    at_goal = to_goal < config.goal_threshold
    distance = _distance(world, to_goal, holding)
    # Letting go changes what is measured.
    arrived = holding and to_goal < config.arrival_distance
    counts = not (released or arrived)
    progress = memory.previous_distance - distance if counts else 0.0
    force_reward, exceeded = feel_force(world.contact_force, memory, config.force)
    placed, lost = released and at_goal, released and not at_goal
    success = not holding and at_goal and still and distance < config.rest_threshold
    memory.previous_distance, memory.was_holding = distance, holding
    memory.previous_position[:] = position

    rewards, failures = outcome.rewards, outcome.failures
    rewards.distance = config.distance_scale * progress
    rewards.way = config.way_scale * (memory.previous_way_left - memory.way_left) * holding
    memory.previous_way_left = memory.way_left
    rewards.place = config.place_bonus * placed
    rewards.settle = -config.settle_scale * moved * (not holding)
    rewards.drop = -config.drop_penalty * lost
    rewards.force = force_reward
    rewards.success = config.success_bonus * success
    rewards.slack = -config.slack
    failures.dropped = lost
    failures.displaced = displaced = not (holding or at_goal or released)
    failures.force_limit = exceeded
    outcome.success = success
    over = displaced and still and config.displaced_ends
    outcome.terminated = success or lost or exceeded or over


@cached_njit
def _observe(world: Any, memory: Any, seen: Any) -> None:
    copy_into(seen.obj_goal_sensor, in_hand(world, memory.goal))
    copy_into(seen.joint, world.arm_joints)
    seen.is_holding[0] = is_holding(world)
    copy_into(seen.relative_resting_position, from_rest(world))
    copy_into(seen.gps_compass, gps_compass(memory.base_start, world.base_pose))


@cached_njit
def _mask(world: Any, memory: Any, config: Any, physical: Any) -> None:
    """Ignore taking anything up again, as habitat-lab does, and letting go far from the goal; pause for it."""
    grip = grip_of(world)
    if not is_holding(world):
        physical[grip] = LET_GO
    elif geometry.distance(memory.goal, world.end_effector_position) > config.release_distance:
        physical[grip] = HOLD
    elif physical[grip] < 0.0 and memory.pause == 0:
        memory.pause = 2 * config.release_pause
    if memory.pause > 0:
        physical[:] = 0.0
        physical[grip] = HOLD if memory.pause > config.release_pause else LET_GO
        memory.pause -= 1
    if not config.base_motion:
        keep_base(physical)


class Place(FloorTask):
    """The Place task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "place"
    config_type = PlaceConfig
    ACTIONS = ("arm", "grip", "base")
    OBSERVATION: ClassVar[dict[str, int]] = {
        "obj_goal_sensor": 3,
        "joint": PER_JOINT,
        "is_holding": 1,
        "relative_resting_position": 3,
        "gps_compass": 4,
    }
    REWARDS = ("distance", "way", "place", "settle", "drop", "force", "success", "slack")
    FAILURES = ("dropped", "displaced", "force_limit")
    MEMORY: ClassVar[list[tuple[Any, ...]]] = [
        ("slot", "i8"),  # of the object to place
        ("goal", "f8", 3),  # of its centre
        ("was_holding", "?"),
        ("pause", "i8"),  # steps for which arm and base still keep still
        ("previous_distance", "f8"),
        ("previous_position", "f8", 3),  # of the object
        *FloorTask.FLOOR_MEMORY,
    ]
    TOLD = "goal"
    compiled = each_world(_begin, _mask, _evaluate, _observe)

    def asks_for_way(self) -> bool:
        """See FloorTask."""
        return self.config.way_scale != 0.0

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A cluttered apartment, one of its objects in the hand, the robot near the object's goal."""
        config = self.config
        for _ in range(SCENE_ATTEMPTS):
            scene = cluttered_scene(split, rng)
            target = random_goal(scene, config.fridge_share, rng)
            if target is not None:
                return self.begin_in(scene, [target], rng)
        raise no_room(self.name, "a goal", self.scene, SCENE_ATTEMPTS)

    def begin_in(
        self, scene: Scene, targets: Sequence[Target], rng: np.random.Generator
    ) -> Episode:
        """One of the targets in the hand, the robot near its goal and roughly facing that; see Task."""
        config = self.config
        target = targets[int(rng.integers(len(targets)))] if len(targets) > 1 else targets[0]
        scene.held_slot = target.slot
        where = (
            self.robot, scene, target.goal_receptacle, target.goal,
            config.start_distance, config.start_yaw_noise, rng,
        )  # fmt: skip
        pose = None
        if config.detour_share > 0.0 and rng.random() < config.detour_share:
            pose = pose_near(*where, detour=True)
        if pose is None:
            pose = pose_nearby(*where)
        arm = sample_arm(self.robot, rng, config.start_arm_noise)
        return scene.episode((target,), pose, arm, rng)

    def subject(self, state: SimState, i: int) -> np.ndarray:
        """The goal; see Task."""
        del state
        return self.memory["goal"][i]

    def aim(self, memory: Any, episode: Episode) -> None:
        """The object to place and where its centre shall be."""
        target = episode.targets[0]
        memory["slot"], memory["goal"] = target.slot, target.goal
