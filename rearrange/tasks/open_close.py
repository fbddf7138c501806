"""OpenCab, CloseCab, OpenFridge, CloseFridge: move one drawer or the fridge's door, and stop at rest.

Reference: habitat-lab v0.3.4's articulated-object tasks with the VER paper's changes (base motion in
every skill, contact suction, start-relative GPS+Compass). Bracketed numbers are the reference's.

Observation (besides head_depth): joint [7], ee_pos [3] in the base frame, is_holding [1],
relative_resting_position [3] in the base frame, gps_compass [4]. The handle is only seen in the depth image.
Action [11]: seven joint deltas, grip, forward, turn, stop. The close skills ignore the grip: they push.
Start: an object in the drawer or the fridge, clutter elsewhere; the robot before it, uniform in a rectangle in
the frame of the handle (drawer) or of the fridge, roughly facing the handle (drawer) or the fridge, with the
handle not beyond the arm's workspace.
Success: the joint is within its threshold of the wanted value (or opened further), the hand within 0.15 m of
its resting place, nothing held, and stop called; stop ends the episode, right or wrong, but
is ignored until the joint has been there or the hand away from its resting place, and the hand is back, empty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import array_api_compat.numpy as numpy_api
import numpy as np
from gymnasium import spaces

from rearrange import geometry
from rearrange.episodes import Episode, Scene, empty_scene, sample_arm
from rearrange.scenes.apartment import ARTICULATED_JOINTS
from rearrange.sim.base import NOTHING, Array, SimState
from rearrange.tasks.base import (
    BASE,
    GRIP,
    STOP,
    ActionConfig,
    ForceConfig,
    ForceMeter,
    Outcome,
    box,
    gps_compass,
)
from rearrange.tasks.sensors import from_rest, is_holding
from rearrange.tasks.starts import DRAWER, FRIDGE, add_shut_in, standing_before

SCENE_ATTEMPTS = 50  # apartments that are tried until the robot finds room


@dataclass
class OpenCabConfig:
    """Numbers of OpenCab. In brackets: habitat-lab v0.3.4."""

    action: ActionConfig = field(default_factory=ActionConfig)
    # [penalty: 0, accumulated_limit: off, end_penalty: 10]
    force: ForceConfig = field(
        default_factory=lambda: ForceConfig(accumulated_limit=20_000.0, end_penalty=10.0)
    )
    max_steps: int = 200  # [200] then the episode is truncated
    joint_scale: float = 10.0  # [10] per metre or radian of the joint, until it is there once
    handle_scale: float = 1.0  # [1] per metre of the hand nearer to the handle, until held or there
    rest_scale: float = 10.0  # [10] per metre of the hand nearer to its resting place, after that
    grasp_bonus: float = 5.0  # [5] once on taking the right handle
    state_bonus: float = 5.0  # [5] once on reaching the wanted joint value
    wrong_penalty: float = 5.0  # [5] on taking another handle or an object; ends the episode
    hold_penalty: float = 1.0  # [1] when the grasp breaks; ends the episode
    success_bonus: float = 10.0  # [10] when it ends in success
    slack: float = 0.0  # [0] taken off every step
    joint_goal: float = 0.45  # [0.45] m, or rad of the fridge's door
    joint_threshold: float = 0.05  # [0.05] m or rad short of it
    rest_threshold: float = 0.15  # [0.15] hand to resting place [m]
    # [0, and 0.3 where the skill is deployed] stop is ignored until the hand has been farther than this from
    # its resting place, or the joint there, and the hand is back, empty [m]: a random policy stops in its
    # first steps; 0 ignores none
    stop_zone: float = 0.3
    start_joint_low: float = 0.0  # [0] of the joint at the start [m or rad]
    start_joint_high: float = 0.0  # [0] likewise, at most
    start_x_low: float = (
        0.80  # [0.80] of the base before the handle (drawer) or the fridge's centre [m]
    )
    start_x_high: float = 0.95  # [0.95] likewise, at most [m]
    start_y: float = 0.35  # [0.35] to both sides [m]
    start_scale: float = 0.2  # [0.2] share of the rectangle, about its centre, that is used
    start_yaw_noise: float = 0.5236  # [0.5236] standard deviation [rad]
    start_arm_noise: float = 0.1  # [0.1] standard deviation per joint [rad]
    base_motion: bool = True  # [True] False keeps the base where it is


@dataclass
class CloseCabConfig(OpenCabConfig):
    """Numbers of CloseCab. In brackets: habitat-lab v0.3.4."""

    # [penalty: 0, accumulated_limit: off, instant_limit: off, end_penalty: 10]
    force: ForceConfig = field(
        default_factory=lambda: ForceConfig(accumulated_limit=20_000.0, end_penalty=10.0)
    )
    rest_scale: float = 1.0  # [1] per metre of the hand nearer to its resting place, after that
    grasp_bonus: float = 0.0  # [0] nothing can be taken
    wrong_penalty: float = 0.0  # [0] nothing can be taken
    hold_penalty: float = 10.0  # [10] when a grasp breaks, which cannot happen
    joint_goal: float = 0.0  # [0] m
    start_joint_low: float = 0.40  # [0.4] m
    start_joint_high: float = 0.45  # [0.5] m; our drawers end at 0.45
    start_x_high: float = 0.85  # [0.85] [m]


@dataclass
class OpenFridgeConfig(OpenCabConfig):
    """Numbers of OpenFridge. In brackets: habitat-lab v0.3.4."""

    # [penalty: 0, accumulated_limit: 20000, end_penalty: 10]
    force: ForceConfig = field(
        default_factory=lambda: ForceConfig(accumulated_limit=20_000.0, end_penalty=10.0)
    )
    rest_scale: float = 1.0  # [1] per metre of the hand nearer to its resting place, after that
    joint_goal: float = 1.2208  # [1.2208] rad
    start_x_low: float = 0.833  # [0.833] of the rectangle [m]
    start_x_high: float = 1.25  # [1.25] [m]
    start_y: float = 0.6  # [0.6] to both sides [m]


@dataclass
class CloseFridgeConfig(OpenFridgeConfig):
    """Numbers of CloseFridge. In brackets: habitat-lab v0.3.4."""

    # [penalty: 0, accumulated_limit: off, instant_limit: off, end_penalty: 10]
    force: ForceConfig = field(
        default_factory=lambda: ForceConfig(accumulated_limit=20_000.0, end_penalty=10.0)
    )
    grasp_bonus: float = 0.0  # [0] nothing can be taken
    wrong_penalty: float = 0.0  # [0] nothing can be taken
    hold_penalty: float = 10.0  # [10] when a grasp breaks, which cannot happen
    joint_goal: float = 0.0  # [0] rad
    start_joint_low: float = math.pi / 4  # [0.7854] pi / 4 rad
    start_joint_high: float = 2 * math.pi / 3  # [2.0944] 2 pi / 3 rad


class OpenClose:
    """The four articulated tasks over N worlds; see the module's docstring.

    Attributes:
        joint: The joint that sampled episodes ask for.
        receptacle: What it opens.
        opens: Whether it shall be opened or closed.
    """

    name: ClassVar[str]
    config_type: ClassVar[type[OpenCabConfig]]
    joint: ClassVar[str]
    receptacle: ClassVar[str]
    opens: ClassVar[bool]
    action_size = 11
    action_slice = slice(0, 11)

    def __init__(
        self, config: OpenCabConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        self.config = config or self.config_type()
        self.action, self.max_steps, self.xp = self.config.action, self.config.max_steps, xp
        self.force = ForceMeter(self.config.force, world_count, xp)
        self.worlds = xp.arange(world_count)
        self.index = xp.zeros(world_count, dtype=xp.int64)  # of the joint and its handle
        self.base_start = xp.zeros((world_count, 3))
        self.grasped = xp.zeros(world_count, dtype=xp.bool)  # at any time of the episode
        self.reached = xp.zeros(world_count, dtype=xp.bool)  # likewise
        self.acted = xp.zeros(world_count, dtype=xp.bool)  # likewise: away from rest, or reached
        self.previous_remaining = xp.zeros(world_count)
        self.previous_to_handle = xp.zeros(world_count)
        self.previous_to_rest = xp.zeros(world_count)
        self.slack = xp.full(world_count, -self.config.slack)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one world."""
        return {
            "joint": box(7),
            "ee_pos": box(3),
            "is_holding": box(1),
            "relative_resting_position": box(3),
            "gps_compass": box(4),
        }

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A cluttered apartment and the robot before the drawers or the fridge."""
        config = self.config
        for _ in range(SCENE_ATTEMPTS):
            scene = empty_scene(split, rng)
            low, high = config.start_joint_low, config.start_joint_high
            scene.joints = {self.joint: float(rng.uniform(low, high))}
            pose = self._sample_pose(scene, rng)
            if pose is not None:
                target = add_shut_in(scene, self.receptacle, rng)
                arm = sample_arm(rng, config.start_arm_noise)
                return scene.episode((target,), pose, arm, rng, target_joint=self.joint)
        raise RuntimeError(f"{self.name}: no room for the robot in {SCENE_ATTEMPTS} apartments")

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        for i, episode in zip(world_ids, episodes, strict=True):
            self.set_joint(i, episode.target_joint or self.joint)
            self.base_start[i] = self.xp.asarray(state.base_pose[i], copy=True)
            self.grasped[i] = False
            self.reached[i] = False
            self.acted[i] = False
        self.force.reset(world_ids)
        remaining, to_handle, to_rest = self._measure(state)
        for i in world_ids:
            self.previous_remaining[i] = remaining[i]
            self.previous_to_handle[i] = to_handle[i]
            self.previous_to_rest[i] = to_rest[i]

    def set_joint(self, world: int, joint: str) -> None:
        """Name the joint to open or close in a world, one of ARTICULATED_JOINTS."""
        self.index[world] = ARTICULATED_JOINTS.index(joint)

    def mask(self, state: SimState, physical: Array) -> Array:
        """The close skills take nothing: they push."""
        if not self.opens:
            physical[:, GRIP] = -1.0
        if not self.config.base_motion:
            physical[:, BASE] = 0.0
        return physical

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step; see OpenCabConfig for the terms."""
        config = self.config
        remaining, to_handle, to_rest = self._measure(state)
        there = remaining < config.joint_threshold
        held = state.held_handle
        grasps, carries = held != NOTHING, state.held_object != NOTHING
        wrong_handle = grasps & (held != self.index)
        wrong = wrong_handle | carries
        first_grasp = grasps & ~(wrong_handle | self.grasped)
        before = ~self.reached
        force_reward, exceeded = self.force.update(state.contact_force)
        self.acted = self.acted | there | (to_rest > config.stop_zone)
        back = (to_rest < config.rest_threshold) & ~(grasps | carries)
        stop = action[:, STOP] > 0
        if config.stop_zone > 0:
            stop = stop & self.acted & back
        success = there & back & stop
        rewards = {
            "joint": config.joint_scale * (self.previous_remaining - remaining) * before,
            "handle": config.handle_scale
            * (self.previous_to_handle - to_handle)
            * (before & ~grasps),
            "rest": config.rest_scale * (self.previous_to_rest - to_rest) * self.reached,
            "grasp": config.grasp_bonus * first_grasp,
            "state": config.state_bonus * (there & before),
            "wrong_grasp": -config.wrong_penalty * wrong,
            "hold": -config.hold_penalty * state.hold_violated,
            "force": force_reward,
            "success": config.success_bonus * success,
            "slack": self.slack,
        }
        self.grasped, self.reached = self.grasped | first_grasp, self.reached | there
        self.previous_remaining, self.previous_to_handle = remaining, to_handle
        self.previous_to_rest = to_rest
        failures = {
            "stopped_early": stop & ~success,
            "wrong_handle": wrong_handle,
            "wrong_object": carries,
            "hold_violated": state.hold_violated,
            "force_limit": exceeded,
        }
        return Outcome(rewards, stop | wrong | state.hold_violated | exceeded, success, failures)

    def observe(self, state: SimState) -> dict[str, Array]:
        """Vector observations; see the module's docstring."""
        xp = self.xp
        return {
            "joint": state.arm_joints,
            "ee_pos": state.end_effector_in_base,
            "is_holding": is_holding(self.xp, state),
            "relative_resting_position": from_rest(self.xp, state),
            "gps_compass": gps_compass(xp, self.base_start, state.base_pose),
        }

    def _measure(self, state: SimState) -> tuple[Array, Array, Array]:
        """Joint motion left (m or rad), hand to handle and hand to resting place (m) [N] each."""
        xp = self.xp
        value = geometry.rows_at(state.articulated_joints, self.worlds, self.index)
        handle = geometry.rows_at(state.handle_position, self.worlds, self.index)
        left = self.config.joint_goal - value if self.opens else value - self.config.joint_goal
        to_handle = geometry.distance(xp, handle, state.end_effector_position)
        return left, to_handle, geometry.norm(xp, from_rest(xp, state))

    def _sample_pose(
        self, scene: Scene, rng: np.random.Generator
    ) -> tuple[float, float, float] | None:
        """A free pose in the start rectangle, or None."""
        config = self.config
        middle = 0.5 * (config.start_x_low + config.start_x_high)
        half = (0.5 * (config.start_x_high - config.start_x_low), config.start_y)
        return standing_before(
            scene, self.joint, middle, half, config.start_scale, config.start_yaw_noise, rng
        )


class OpenCab(OpenClose):
    """Open a drawer of the cabinet."""

    name = "open_cab"
    config_type = OpenCabConfig
    joint, receptacle, opens = "drawer_right_top", DRAWER, True


class CloseCab(OpenClose):
    """Close a drawer of the cabinet."""

    name = "close_cab"
    config_type = CloseCabConfig
    joint, receptacle, opens = "drawer_right_top", DRAWER, False


class OpenFridge(OpenClose):
    """Open the fridge."""

    name = "open_fridge"
    config_type = OpenFridgeConfig
    joint, receptacle, opens = "fridge_door", FRIDGE, True


class CloseFridge(OpenClose):
    """Close the fridge."""

    name = "close_fridge"
    config_type = CloseFridgeConfig
    joint, receptacle, opens = "fridge_door", FRIDGE, False
