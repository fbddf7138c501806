"""OpenCab, CloseCab, OpenFridge, CloseFridge: move one drawer or one door, the fridge's, and stop at rest.

Reference: habitat-lab v0.3.4's articulated-object tasks with the VER paper's changes (base motion in
every skill, contact suction, start-relative GPS+Compass).

Observation (besides head_depth): joint [7], ee_pos [3] in the base frame, is_holding [1],
relative_resting_position [3] in the base frame, gps_compass [4]. The handle is only seen in the depth image.
Action [11]: seven joint deltas, grip, forward, turn, stop. The close skills ignore the grip: they push.
Start: an object in the drawer or the fridge, clutter elsewhere. The robot stands in a rectangle before handle
or fridge, and roughly faces it. The handle is not beyond the arm's workspace.
Success: the joint is within its threshold of the wanted value (or opened further), and the hand within 0.15 m
of its resting place. Nothing is held, and stop is called. Stop ends the episode, right or wrong. `stop_zone`
ignores it until the hand has been away, or held something, and is back, empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.episodes import Episode, Target
from rearrange.errors import UserError
from rearrange.robot import RobotSpec
from rearrange.robot.actions import LET_GO, grip_of, stop_of
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.settings import check_order, group, setting
from rearrange.sim.base import NOTHING, SimState
from rearrange.tasks.base import ActionConfig, ForceConfig, Task, each_world, feel_force, keep_base
from rearrange.tasks.sampling import Scene, empty_scene, no_room, sample_arm
from rearrange.tasks.sensors import PER_JOINT, copy_into, from_rest, gps_compass, is_holding
from rearrange.tasks.starts import Pose, pose_near, standing_before
from rearrange.tasks.targets import add_shut_in, one_of

SCENE_ATTEMPTS = 50  # apartments that are tried until the robot finds room
ARRIVED_DISTANCE = 1.5  # Navigate's goal [m]
ARRIVED_YAW_NOISE = 0.13  # standard deviation: half of what that allows [rad]

FORCE = partial(ForceConfig, accumulated_limit=20_000.0, end_penalty=10.0)  # of all four
HAB_FORCE = {"penalty": 0.0, "end_penalty": 10.0}


@dataclass
class OpenCabConfig:
    """Numbers of OpenCab. `hab`: habitat-lab v0.3.4's."""

    action: ActionConfig = group(ActionConfig)
    force: ForceConfig = group(FORCE, **HAB_FORCE, accumulated_limit=-1.0)
    max_steps: int = setting(200, low=1, hab=200, about="then the episode is truncated")
    joint_scale: float = setting(
        10.0, hab=10.0, about="per metre or radian of the joint, until it is there once"
    )
    handle_scale: float = setting(
        1.0, hab=1.0, about="per metre of the hand nearer to the handle, until held or there"
    )
    rest_scale: float = setting(
        10.0, hab=10.0, about="per metre of the hand nearer to its resting place, after that"
    )
    grasp_bonus: float = setting(5.0, hab=5.0, about="once on taking the right handle")
    state_bonus: float = setting(5.0, hab=5.0, about="once on reaching the wanted joint value")
    wrong_penalty: float = setting(
        5.0, hab=5.0, about="on taking another handle or an object; ends the episode"
    )
    hold_penalty: float = setting(1.0, hab=1.0, about="when the grasp breaks; ends the episode")
    success_bonus: float = setting(10.0, hab=10.0, about="when it ends in success")
    slack: float = setting(0.0, hab=0.0, about="taken off every step")
    joint_goal: float = setting(0.45, hab=0.45, about="m, or rad of the fridge's door")
    joint_threshold: float = setting(0.05, hab=0.05, about="m or rad short of it")
    rest_threshold: float = setting(0.15, hab=0.15, about="hand to resting place [m]")
    stop_zone: float = setting(
        0.2,
        hab=0.0,
        note="0.3 where a plan's skill is deployed",
        hides="a stop that is called too early",
        about=(
            "stop is ignored until the hand has been farther than this from its resting "
            "place, or held something, and is back, empty [m]. A random policy stops in its "
            "first steps. 0 ignores none"
        ),
    )
    wrong_stop_ends: bool = setting(
        True,
        hab=True,
        about=(
            "False is for training only. A wrong stop just costs then, and every step "
            "teaches when to stop. One that ends the episode teaches once. A policy is "
            "judged with True"
        ),
    )
    wrong_stop_penalty: float = setting(0.0, hab=0.0, about="on a stop where success is not")
    linger_penalty: float = setting(
        0.0, hab=0.0, about="for each step in which stop would be success, and is not called"
    )
    start_joint_low: float = setting(0.0, hab=0.0, about="of the joint at the start [m or rad]")
    start_joint_high: float = setting(0.0, hab=0.0, about="likewise, at most")
    start_x_low: float = setting(
        0.80, hab=0.8, about="of the base before the handle (drawer) or the fridge's centre [m]"
    )
    start_x_high: float = setting(0.95, hab=0.95, about="likewise, at most [m]")
    start_y: float = setting(0.35, hab=0.35, about="to both sides [m]")
    start_scale: float = setting(
        0.2, hab=0.2, about="share of the rectangle, about its centre, that is used"
    )
    start_yaw_noise: float = setting(0.5236, hab=0.5236, about="standard deviation [rad]")
    start_arm_noise: float = setting(0.1, hab=0.1, about="standard deviation per joint [rad]")
    arrived_share: float = setting(
        0.0,
        high=1.0,
        hab=0.0,
        about=(
            "of the episodes start where Navigate may have ended: as far as 1.5 m away, facing what is inside. "
            "In chains it ends 0.4 to 1.5 m from the handle, and seldom in the rectangle"
        ),
    )
    base_motion: bool = setting(True, hab=True, about="False keeps the base where it is")


@dataclass
class CloseCabConfig(OpenCabConfig):
    """Numbers of CloseCab. `hab`: habitat-lab v0.3.4's."""

    force: ForceConfig = group(FORCE, **HAB_FORCE, accumulated_limit=-1.0, instant_limit=-1.0)
    rest_scale: float = setting(
        1.0, hab=1.0, about="per metre of the hand nearer to its resting place, after that"
    )
    grasp_bonus: float = setting(0.0, hab=0.0, about="nothing can be taken")
    wrong_penalty: float = setting(0.0, hab=0.0, about="nothing can be taken")
    hold_penalty: float = setting(10.0, hab=10.0, about="when a grasp breaks, which cannot happen")
    joint_goal: float = setting(0.0, hab=0.0, about="m")
    start_joint_low: float = setting(0.40, hab=0.4, about="m")
    start_joint_high: float = setting(0.45, hab=0.5, about="m", kept="our drawers end at 0.45 m")
    start_x_high: float = setting(0.85, hab=0.85, about="[m]")


@dataclass
class OpenFridgeConfig(OpenCabConfig):
    """Numbers of OpenFridge. `hab`: habitat-lab v0.3.4's."""

    force: ForceConfig = group(FORCE, **HAB_FORCE, accumulated_limit=20_000.0)
    rest_scale: float = setting(
        1.0, hab=1.0, about="per metre of the hand nearer to its resting place, after that"
    )
    joint_goal: float = setting(1.2208, hab=1.2208, about="rad")
    start_x_low: float = setting(0.833, hab=0.833, about="of the rectangle [m]")
    start_x_high: float = setting(1.25, hab=1.25, about="[m]")
    start_y: float = setting(0.6, hab=0.6, about="to both sides [m]")


@dataclass
class CloseFridgeConfig(OpenFridgeConfig):
    """Numbers of CloseFridge. `hab`: habitat-lab v0.3.4's."""

    force: ForceConfig = group(FORCE, **HAB_FORCE, accumulated_limit=-1.0, instant_limit=-1.0)
    grasp_bonus: float = setting(0.0, hab=0.0, about="nothing can be taken")
    wrong_penalty: float = setting(0.0, hab=0.0, about="nothing can be taken")
    hold_penalty: float = setting(10.0, hab=10.0, about="when a grasp breaks, which cannot happen")
    joint_goal: float = setting(0.0, hab=0.0, about="rad")
    start_joint_low: float = setting(math.pi / 4, hab=0.7854, about="pi / 4 rad")
    start_joint_high: float = setting(2 * math.pi / 3, hab=2.0944, about="2 pi / 3 rad")


@cached_njit
def _measure(world: Any, memory: Any, config: Any) -> tuple[float, float, float]:
    """Joint motion left (m or rad), hand to handle and hand to resting place (m)."""
    left = config.joint_goal - world.articulated_joints[memory.index]
    handle = world.handle_position[memory.index]
    return (
        left if memory.opens else -left,
        geometry.distance(handle, world.end_effector_position),
        geometry.norm(from_rest(world)),
    )


@cached_njit
def _begin(world: Any, memory: Any, config: Any) -> None:
    left, to_handle, to_rest = _measure(world, memory, config)
    memory.previous_left, memory.previous_to_handle = left, to_handle
    memory.previous_to_rest = to_rest


@cached_njit
def _mask(world: Any, memory: Any, config: Any, physical: Any) -> None:
    """The close skills take nothing: they push."""
    if not memory.opens:
        physical[grip_of(world)] = LET_GO
    if not config.base_motion:
        keep_base(physical)


@cached_njit
def _evaluate(world: Any, memory: Any, config: Any, action: Any, outcome: Any) -> None:
    left, to_handle, to_rest = _measure(world, memory, config)
    there = left < config.joint_threshold
    grasps, carries = world.held_handle != NOTHING, world.held_object != NOTHING
    wrong_handle = grasps and world.held_handle != memory.index
    wrong = wrong_handle or carries
    first_grasp = grasps and not wrong_handle and not memory.grasped
    before = not memory.reached
    force_reward, exceeded = feel_force(world.contact_force, memory, config.force)
    memory.acted = memory.acted or grasps or carries or to_rest > config.stop_zone
    back = to_rest < config.rest_threshold and not grasps and not carries
    stop = action[stop_of(world)] > 0.0
    if config.stop_zone > 0.0:
        stop = stop and memory.acted and back
    success = there and back and stop
    nearer = memory.previous_to_handle - to_handle
    returned = memory.previous_to_rest - to_rest

    rewards, failures = outcome.rewards, outcome.failures
    rewards.joint = config.joint_scale * (memory.previous_left - left) * before
    rewards.handle = config.handle_scale * nearer * (before and not grasps)
    rewards.rest = config.rest_scale * returned * memory.reached
    rewards.grasp = config.grasp_bonus * first_grasp
    rewards.state = config.state_bonus * (there and before)
    rewards.wrong_grasp = -config.wrong_penalty * wrong
    rewards.hold = -config.hold_penalty * world.hold_violated
    rewards.force = force_reward
    rewards.success = config.success_bonus * success
    rewards.stop = -config.wrong_stop_penalty * (stop and not success)
    rewards.linger = -config.linger_penalty * (there and back and not stop)
    rewards.slack = -config.slack
    failures.stopped_early = stop and not success
    failures.wrong_handle, failures.wrong_object = wrong_handle, carries
    failures.hold_violated, failures.force_limit = world.hold_violated, exceeded
    outcome.success = success
    ends = stop and (success or config.wrong_stop_ends)
    outcome.terminated = ends or wrong or world.hold_violated or exceeded
    memory.grasped = memory.grasped or first_grasp
    memory.reached = memory.reached or there
    memory.previous_left, memory.previous_to_handle = left, to_handle
    memory.previous_to_rest = to_rest


@cached_njit
def _observe(world: Any, memory: Any, seen: Any) -> None:
    copy_into(seen.joint, world.arm_joints)
    copy_into(seen.ee_pos, world.end_effector_in_base)
    seen.is_holding[0] = is_holding(world)
    copy_into(seen.relative_resting_position, from_rest(world))
    copy_into(seen.gps_compass, gps_compass(memory.base_start, world.base_pose))


class OpenClose(Task):
    """The four articulated tasks over N worlds; see the module's docstring.

    Attributes:
        part: Name of the part that sampled episodes ask for; "": any that has the task's name among its
            `tasks`.
        opens: Whether it shall be opened or closed.
        parts: These parts in the task's kind of home.
    """

    part: ClassVar[str] = ""
    opens: ClassVar[bool]
    ACTIONS = ("arm", "grip", "base", "stop")
    OBSERVATION: ClassVar[dict[str, int]] = {
        "joint": PER_JOINT,
        "ee_pos": 3,
        "is_holding": 1,
        "relative_resting_position": 3,
        "gps_compass": 4,
    }
    REWARDS = (
        "joint", "handle", "rest", "grasp", "state", "wrong_grasp", "hold", "force", "success",
        "stop", "linger", "slack",
    )  # fmt: skip
    FAILURES = ("stopped_early", "wrong_handle", "wrong_object", "hold_violated", "force_limit")
    MEMORY: ClassVar[list[tuple[Any, ...]]] = [
        ("index", "i8"),  # of the joint and its handle
        ("opens", "?"),
        ("grasped", "?"),  # at any time of the episode
        ("reached", "?"),  # likewise
        ("acted", "?"),  # likewise: the hand away from rest, or holding
        ("previous_left", "f8"),
        ("previous_to_handle", "f8"),
        ("previous_to_rest", "f8"),
    ]
    compiled = each_world(_begin, _mask, _evaluate, _observe)

    def __init__(
        self,
        config: Any = None,
        world_count: int = 1,
        robot: RobotSpec | None = None,
        scene: SceneSpec = APARTMENT,
    ) -> None:
        """See Task; UserError where the home has no part for it, or a start's least is above its most."""
        super().__init__(config, world_count, robot, scene)
        for what in ("start_joint", "start_x"):
            check_order(self.config, f"{what}_low", f"{what}_high")
        self.parts = (scene.part(self.part),) if self.part else scene.parts_for(self.name)
        for part in (part for part in self.parts if not part.receptacle):
            raise UserError(f"{self.name}: {part.name} shuts no receptacle: name one in its Part")

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A cluttered apartment and the robot before the drawer or the door."""
        share = self.config.arrived_share
        arrived = share > 0.0 and rng.random() < share
        for _ in range(SCENE_ATTEMPTS):
            scene, part = empty_scene(split, rng), one_of(self.parts, rng)
            self._open(scene, part.name, rng)
            if arrived:
                target = add_shut_in(scene, part.receptacle, rng)
                pose = self._arrive(scene, target, rng)
            else:
                pose = self._stand(scene, part.name, rng)
                target = None if pose is None else add_shut_in(scene, part.receptacle, rng)
            if pose is not None and target is not None:
                arm = sample_arm(self.robot, rng, self.config.start_arm_noise)
                return scene.episode((target,), pose, arm, rng, target_joint=part.name)
        raise no_room(self.name, "the robot", self.scene, SCENE_ATTEMPTS, self.parts)

    def begin_in(
        self, scene: Scene, targets: Sequence[Target], rng: np.random.Generator
    ) -> Episode | None:
        """The robot before the part, as far open as the task has it; the targets stay as they are; see Task.

        Raises:
            UserError: The scene has no such part.
        """
        joint = self.parts[0].name
        if joint not in scene.handle_ways:
            there = ", ".join(scene.handle_ways) or "none"
            raise UserError(f"{self.name}: its episode has no marker of {joint}, only {there}")
        self._open(scene, joint, rng)
        pose = self._stand(scene, joint, rng)
        if pose is None:
            return None
        arm = sample_arm(self.robot, rng, self.config.start_arm_noise)
        return scene.episode((targets[0],), pose, arm, rng, target_joint=joint)

    def subject(self, state: SimState, i: int) -> np.ndarray:
        """The handle; see Task."""
        return state.handle_position[i, self.memory["index"][i]]

    def aim(self, memory: Any, episode: Episode) -> None:
        """The joint to open or close."""
        memory["index"] = self.scene.index(episode.target_joint or self.parts[0].name)
        memory["opens"] = self.opens

    def _open(self, scene: Scene, joint: str, rng: np.random.Generator) -> None:
        """Open the part as far as it shall be at the start."""
        low, high = self.config.start_joint_low, self.config.start_joint_high
        scene.joints = {joint: float(rng.uniform(low, high))}

    def _arrive(self, scene: Scene, target: Target, rng: np.random.Generator) -> Pose | None:
        """A free pose where Navigate may have ended, or None."""
        where = target.start_receptacle, target.start
        return pose_near(self.robot, scene, *where, ARRIVED_DISTANCE, ARRIVED_YAW_NOISE, rng)

    def _stand(self, scene: Scene, joint: str, rng: np.random.Generator) -> Pose | None:
        """A free pose in the start rectangle, or None."""
        config = self.config
        low, high = config.start_x_low, config.start_x_high
        middle, half = 0.5 * (low + high), (0.5 * (high - low), config.start_y)
        return standing_before(
            self.robot, scene, joint, middle, half, config.start_scale, config.start_yaw_noise, rng
        )


class OpenCab(OpenClose):
    """Open a drawer, in our apartments one of the cabinet."""

    name = "open_cab"
    config_type = OpenCabConfig
    opens = True


class CloseCab(OpenClose):
    """Close a drawer, in our apartments one of the cabinet."""

    name = "close_cab"
    config_type = CloseCabConfig
    opens = False


class OpenFridge(OpenClose):
    """Open a door, in our apartments the fridge's."""

    name = "open_fridge"
    config_type = OpenFridgeConfig
    opens = True


class CloseFridge(OpenClose):
    """Close a door, in our apartments the fridge's."""

    name = "close_fridge"
    config_type = CloseFridgeConfig
    opens = False
