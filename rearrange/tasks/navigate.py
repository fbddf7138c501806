"""Navigate: drive to within 1.5 m of an object or of a goal, face it, and stop.

Reference: habitat-lab v0.3.4's NavToObjTask with the VER paper's changes (an action of its own to stop, a
force penalty that applies, start-relative GPS+Compass).

Observation (besides head_depth): goal_to_agent_gps_compass [2] polar (distance, -bearing) of the
goal in the base frame, joint [7], gps_compass [4]; with `floor_map` also floor_map [H, W, 3], with `map_way`
also map_way [5], see rearrange.tasks.sights.
Action [3]: forward, turn, stop. The arm keeps its posture and the hand what it holds.
Start: anywhere at more than 3 m from the goal (nearer if training asks for it). The goal is an object on
an open receptacle, or in the closed drawer or fridge (open with `goals_open`). Or target 0 is held, and the
goal is where it belongs, in the open fridge at times. `open_share` leaves open what is not asked for, too.
Success: base within 1.5 m of the goal (horizontal), facing it within 15 degrees, and stop called. Stop ends
the episode, right or wrong. Farther from the goal than `stop_distance` it is ignored: 2 m in plans and here,
never in our recipe. `goal_way` narrows success to a region from where the goal is in reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rearrange.caching import cached_njit
from rearrange.episodes import Episode, Target
from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.robot.actions import HOLD, LET_GO, grip_of, stop_of
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.settings import group, setting
from rearrange.sim.base import NOTHING, SimState
from rearrange.tasks.base import ActionConfig, ForceConfig, each_world, feel_force
from rearrange.tasks.floor import FloorTask
from rearrange.tasks.sampling import Scene, cluttered_scene, empty_scene, no_room, sample_arm
from rearrange.tasks.sensors import PER_JOINT, copy_into, gps_compass, is_holding, polar
from rearrange.tasks.starts import (
    pose_away_from,
    pose_within,
)
from rearrange.tasks.targets import (
    add_laid_open,
    add_shut_in,
    in_its_place,
    leave_open,
    random_goal,
)

SCENE_ATTEMPTS = 200  # scenes that are tried until one has room for a goal


@dataclass
class NavigateConfig:
    """Numbers of Navigate. `hab`: habitat-lab v0.3.4's."""

    action: ActionConfig = group(ActionConfig)
    # v0.3.4 configures these numbers, Pick's, but its reward overwrites what they give; the VER paper adds the
    # penalty to Navigate's training
    force: ForceConfig = group(ForceConfig)
    max_steps: int = setting(400, low=1, hab=400, about="then the episode is truncated")
    distance_scale: float = setting(1.0, hab=1.0, about="per metre closer to the goal")
    geodesic: bool = setting(
        False,
        hab=False,
        about=(
            "closer along the floor, to the nearest place from where the arm reaches the "
            "goal. That is before the fridge or drawer, around its open door. A straight "
            "line runs through walls"
        ),
    )
    distance_floor: float = setting(
        0.0,
        hab=0.0,
        about=(
            "nearer than this pays nothing [m]. A policy that is paid for every centimetre "
            "drives on until it leans on the furniture. There the next skill has no room "
            "for the arm, a drawer or a door"
        ),
    )
    turn_scale: float = setting(1.0, hab=1.0, about="per radian turned towards the goal when near")
    turn_distance: float = setting(3.0, hab=3.0, about="near is less than this [m]")
    drop_penalty: float = setting(1.0, hab=0.0, about="on losing what is held")
    drop_ends: bool = setting(
        True, hab=False, about="losing what is held ends the episode, and is no success later on"
    )
    success_bonus: float = setting(10.0, hab=10.0, about="when it ends in success")
    slack: float = setting(0.005, hab=0.005, about="taken off every step")
    wrong_stop_ends: bool = setting(
        True,
        hab=True,
        about=(
            "False is for training only. A wrong stop just costs then, and every step near "
            "the goal teaches when to stop. One that ends the episode teaches once. A "
            "policy is judged with True"
        ),
    )
    wrong_stop_penalty: float = setting(0.0, hab=0.0, about="on a stop where success is not")
    linger_penalty: float = setting(
        0.0,
        hab=0.0,
        about=(
            "on every step where a stop would be success and is not called. Else stopping "
            "now is hardly better than a little later, and the mean action never stops"
        ),
    )
    shut_penalty: float = setting(
        0.0,
        hab=0.0,
        about=(
            "per radian or metre that doors and drawers are pushed shut. A light door does "
            "not hold the base up. Then the next skill cannot reach what is behind it"
        ),
    )
    goal_distance: float = setting(1.5, hab=1.5, about="base to goal at success, less than [m]")
    stop_distance: float = setting(
        2.0,
        hab=math.inf,
        note="2 where the VER paper judges",
        hides="a stop that is called too early, in training, too",
        about=(
            "stop is ignored while the goal is farther than this [m]: a random policy "
            "stops in its first steps"
        ),
    )
    goal_angle: float = setting(
        0.2618, hab=0.2618, about="heading error at success, less than [rad]"
    )
    goal_way: float = setting(
        math.inf,
        hab=math.inf,
        about=(
            "a region as the goal: the way left (see geodesic) at success, less than this, "
            "too [m]. 1.5 m may be behind a wall, a table or the fridge's door, where the "
            "next skill reaches nothing"
        ),
    )
    start_distance: float = setting(3.0, hab=3.0, about="base to goal at the start, more than [m]")
    near_share: float = setting(
        0.0,
        high=1.0,
        hab=0.0,
        about=(
            "of the episodes start within that distance instead: there a skill learns "
            "to face the goal and stop"
        ),
    )
    holding_share: float = setting(
        0.167, high=1.0, hab=0.167, about="of the episodes start with target 0 in the hand"
    )
    closed_share: float = setting(
        0.2, high=1.0, hab=None, about="of the goals are in the drawer or fridge (open if holding)"
    )
    goals_open: bool = setting(
        False,
        hab=True,
        about="a drawer or fridge with the goal in it is open also where nothing is held",
    )
    open_share: float = setting(
        0.0,
        high=1.0,
        hab=0.0,
        about=(
            "of the episodes have an open drawer or fridge, where the goal is inside or anywhere else: "
            "chores leave them open"
        ),
    )
    floor_map: bool = setting(
        False,
        hab=False,
        about=(
            "a second image shows from above what depth images and odometry have told of the "
            "floor so far, and the goal"
        ),
    )
    map_way: bool = setting(
        False,
        hab=False,
        about=(
            "what depth images and odometry have told of the floor so far is searched for a way "
            "to the goal, and where it leads is observed"
        ),
    )
    start_arm_noise: float = setting(0.1, hab=0.1, about="standard deviation per joint [rad]")


@cached_njit
def gone_shut(before: Any, now: Any) -> float:
    """How far doors and drawers have gone towards where they are closed, in all [rad, m]."""
    shut = 0.0
    for k in range(len(now)):
        shut += max(before[k] - now[k], 0.0)
    return shut


@cached_njit
def _begin(world: Any, memory: Any, config: Any) -> None:
    distance, bearing = polar(world.base_pose, memory.goal)
    if not config.geodesic:
        memory.way_left = distance
    memory.previous_way_left = memory.way_left
    memory.previous_angle = abs(bearing)
    copy_into(memory.previous_joints, world.articulated_joints)


@cached_njit
def _mask(world: Any, memory: Any, config: Any, physical: Any) -> None:
    """The hand keeps what it holds and takes nothing."""
    physical[grip_of(world)] = HOLD if is_holding(world) else LET_GO


@cached_njit
def _evaluate(world: Any, memory: Any, config: Any, action: Any, outcome: Any) -> None:
    distance, bearing = polar(world.base_pose, memory.goal)
    angle = abs(bearing)
    if not config.geodesic:
        memory.way_left = distance
    near = memory.way_left < config.turn_distance
    force_reward, exceeded = feel_force(world.contact_force, memory, config.force)
    stop = action[stop_of(world)] > 0.0 and distance <= config.stop_distance
    there = distance < config.goal_distance and angle < config.goal_angle
    there = there and memory.way_left < config.goal_way
    dropped = world.held_object != memory.held and config.drop_ends
    success = there and stop and not dropped
    wrong_stop = stop and not there

    rewards, failures = outcome.rewards, outcome.failures
    nearer = max(memory.previous_way_left, config.distance_floor)
    nearer -= max(memory.way_left, config.distance_floor)
    rewards.distance = config.distance_scale * nearer
    rewards.turn = config.turn_scale * (memory.previous_angle - angle) * near
    rewards.drop = -config.drop_penalty * dropped
    rewards.stop = -config.wrong_stop_penalty * wrong_stop
    rewards.linger = -config.linger_penalty * (there and not stop)
    shut = gone_shut(memory.previous_joints, world.articulated_joints)
    rewards.shut = -config.shut_penalty * shut
    rewards.force = force_reward
    rewards.success = config.success_bonus * success
    rewards.slack = -config.slack
    failures.stopped_early = wrong_stop
    failures.dropped, failures.force_limit = dropped, exceeded
    outcome.success = success
    ends = stop and (there or config.wrong_stop_ends)
    outcome.terminated = ends or dropped or exceeded
    memory.previous_way_left, memory.previous_angle = memory.way_left, angle
    copy_into(memory.previous_joints, world.articulated_joints)


@cached_njit
def _observe(world: Any, memory: Any, seen: Any) -> None:
    distance, bearing = polar(world.base_pose, memory.goal)
    copy_into(seen.goal_to_agent_gps_compass, (distance, -bearing))
    copy_into(seen.joint, world.arm_joints)
    copy_into(seen.gps_compass, gps_compass(memory.base_start, world.base_pose))


class Navigate(FloorTask):
    """The Navigate task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "navigate"
    config_type = NavigateConfig
    FARTHEST_WAY = math.inf
    ACTIONS = ("base", "stop")
    OBSERVATION: ClassVar[dict[str, int]] = {
        "goal_to_agent_gps_compass": 2,
        "joint": PER_JOINT,
        "gps_compass": 4,
    }
    REWARDS = ("distance", "turn", "drop", "stop", "linger", "shut", "force", "success", "slack")
    FAILURES = ("stopped_early", "dropped", "force_limit")
    MEMORY: ClassVar[list[tuple[Any, ...]]] = [
        ("goal", "f8", 3),
        ("held", "i8"),  # slot that is to be kept in the hand
        *FloorTask.FLOOR_MEMORY,  # in a straight line unless along the floor is asked for
        ("previous_angle", "f8"),
    ]
    PART_MEMORY = ("previous_joints",)  # [rad, m]
    TOLD = "goal"
    compiled = each_world(_begin, _mask, _evaluate, _observe)

    def __init__(
        self,
        config: NavigateConfig | None = None,
        world_count: int = 1,
        robot: RobotSpec | None = None,
        scene: SceneSpec = APARTMENT,
    ) -> None:
        """See Task; UserError where the numbers make no sense together."""
        super().__init__(config, world_count, robot, scene)
        if math.isfinite(self.config.goal_way) and not self.config.geodesic:
            raise UserError("task.goal_way is along the floor: set task.geodesic=true, too")

    def asks_for_way(self) -> bool:
        """See FloorTask."""
        return self.config.geodesic

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A cluttered apartment, a goal in it and the robot far from that."""
        scene, target = self._sample_target(split, rng)
        return self._begin_far(scene, target, rng)

    def begin_in(
        self, scene: Scene, targets: Sequence[Target], rng: np.random.Generator
    ) -> Episode:
        """Far from one of the targets, or with it in the hand and far from its goal; see Task."""
        target = targets[int(rng.integers(len(targets)))]
        scene.held_slot = target.slot if rng.random() < self.config.holding_share else None
        return self._begin_far(scene, target, rng)

    def _begin_far(self, scene: Scene, target: Target, rng: np.random.Generator) -> Episode:
        config = self.config
        goal = target.start if scene.held_slot is None else target.goal
        near = config.near_share > 0 and rng.random() < config.near_share
        sample_pose = pose_within if near else pose_away_from
        pose = sample_pose(scene, goal, config.start_distance, rng)
        arm = sample_arm(self.robot, rng, config.start_arm_noise)
        return scene.episode((target,), pose, arm, rng)

    def subject(self, state: SimState, i: int) -> np.ndarray:
        """The goal; see Task."""
        del state
        return self.memory["goal"][i]

    def aim(self, memory: Any, episode: Episode) -> None:
        """The place to go to, and what is to be kept in the hand."""
        target, held = episode.targets[0], episode.held_slot
        memory["goal"] = target.start if held is None else target.goal
        memory["held"] = NOTHING if held is None else held

    def _sample_target(self, split: str, rng: np.random.Generator) -> tuple[Scene, Target]:
        """A scene and the object to go to, or the one that is held and whose goal is to be reached."""
        holding = rng.random() < self.config.holding_share and self._may_hold()
        shut_in = rng.random() < self.config.closed_share
        share = self.config.open_share
        opened = share > 0.0 and rng.random() < share
        if shut_in and not holding and self.scene.closed_receptacles:
            scene = empty_scene(split, rng)
            add = add_laid_open if opened or self.config.goals_open else add_shut_in
            return scene, add(scene, str(rng.choice(scene.spec.closed_receptacles)), rng)
        for _ in range(SCENE_ATTEMPTS):
            scene = cluttered_scene(split, rng)
            if len(self.scene.open_receptacles) > 1:
                target = random_goal(scene, float(shut_in), rng)
            else:
                target = in_its_place(scene, rng)
            if target is not None:
                scene.held_slot = target.slot if holding else None
                if opened and not scene.joints:
                    leave_open(scene, rng)
                return scene, target
        raise no_room(self.name, "a goal", self.scene, SCENE_ATTEMPTS)

    def _may_hold(self) -> bool:
        """Fingers have to take what they hold; and what is held goes to another receptacle."""
        return self.robot.fingers is None and len(self.scene.open_receptacles) > 1
