"""What the household scenarios share: bring K objects to their goals and stop, with one dense reward.

Tidy House, Prepare Groceries and Set Table differ in their episodes; each has its file. This reward makes
them the tasks of MonolithicRL, which learns a scenario without skills.
Reference: habitat-lab v0.3.4's rearrange PDDL tasks. Bracketed numbers are the reference's.

Observation (besides head_depth): for each of the K targets in order obj_start_sensor and
obj_goal_sensor [3 K] in the end-effector frame, obj_start_gps_compass and obj_goal_gps_compass [2 K] polar
(distance, -bearing) in the base frame; joint [7], is_holding [1], relative_resting_position [3],
ee_pos [3] in the base frame, gps_compass [4].
Action [11]: seven joint deltas, grip, forward, turn, stop.
Success: every target within 0.30 m of its goal, nothing held, and stop called; stop ends the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import array_api_compat.numpy as numpy_api
import numpy as np
from gymnasium import spaces

from rearrange import geometry
from rearrange.episodes import Episode, Scene, Target, sample_arm
from rearrange.sim.base import NOTHING, Array, SimState
from rearrange.tasks.base import (
    BASE,
    STOP,
    ActionConfig,
    ForceConfig,
    ForceMeter,
    Outcome,
    box,
    gps_compass,
)
from rearrange.tasks.sensors import from_rest, is_holding, polar_sensor

SCENE_ATTEMPTS = 200  # scenes that are tried until one has room for every target


@dataclass
class HouseholdConfig:
    """Numbers of a household scenario. In brackets: habitat-lab v0.3.4."""

    action: ActionConfig = field(default_factory=ActionConfig)
    # [penalty: 0, accumulated_limit: 100000, end_penalty: not stated]
    force: ForceConfig = field(
        default_factory=lambda: ForceConfig(
            penalty=0.0, accumulated_limit=100_000.0, instant_limit=10_000.0, end_penalty=0.0
        )
    )
    max_steps: int = 3000  # [3000] then the episode is truncated
    progress_scale: float = 1.0  # [1] per metre: hand to object, then object to goal
    pick_bonus: float = 1.0  # [1] once per object
    place_bonus: float = 1.0  # [1] once per object
    place_threshold: float = 0.15  # [0.15] of the place bonus [m]
    success_bonus: float = 100.0  # [100] when it ends in success
    slack: float = 0.01  # [0.01] taken off every step
    goal_threshold: float = 0.30  # [0.30] of the goal predicate object_at [m]
    start_arm_noise: float = 0.1  # [0.1] standard deviation per joint [rad]
    base_motion: bool = True  # [True] False keeps the base where it is


class Household:
    """A household scenario over N worlds; see the module's docstring."""

    name: ClassVar[str]
    target_count: ClassVar[int]
    config_type: ClassVar[type[HouseholdConfig]]
    action_size = 11
    action_slice = slice(0, 11)

    def __init__(
        self, config: HouseholdConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        self.config = config or self.config_type()
        self.action, self.max_steps, self.xp = self.config.action, self.config.max_steps, xp
        self.force = ForceMeter(self.config.force, world_count, xp)
        shape = (world_count, self.target_count)
        self.worlds = xp.arange(world_count)
        self.slots = xp.zeros(shape, dtype=xp.int64)
        self.points = xp.zeros((world_count, 2 * self.target_count, 3))  # K starts, then K goals
        self.goal = self.points[:, self.target_count :]
        self.base_start = xp.zeros((world_count, 3))
        self.picked = xp.zeros(shape, dtype=xp.bool)
        self.placed = xp.zeros(shape, dtype=xp.bool)
        self.previous_distance = xp.zeros(world_count)
        self.previous_held = xp.full(world_count, NOTHING)
        self.slack = xp.full(world_count, -self.config.slack)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one world."""
        return {
            "obj_start_sensor": box(3 * self.target_count),
            "obj_goal_sensor": box(3 * self.target_count),
            "obj_start_gps_compass": box(2 * self.target_count),
            "obj_goal_gps_compass": box(2 * self.target_count),
            "joint": box(7),
            "is_holding": box(1),
            "relative_resting_position": box(3),
            "ee_pos": box(3),
            "gps_compass": box(4),
        }

    def sample_scene(
        self, split: str, rng: np.random.Generator
    ) -> tuple[Scene, tuple[Target, ...]] | None:
        """A scene and what is to be moved in it, or None where there is no room; per scenario."""
        raise NotImplementedError

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A scene of this scenario with the robot anywhere on its floor."""
        for _ in range(SCENE_ATTEMPTS):
            sampled = self.sample_scene(split, rng)
            if sampled is not None:
                scene, targets = sampled
                pose = scene.grid.sample_pose(rng)
                arm = sample_arm(rng, self.config.start_arm_noise)
                return scene.episode(targets, pose, arm, rng)
        raise RuntimeError(f"{self.name}: no room for the targets in {SCENE_ATTEMPTS} scenes")

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        xp = self.xp
        for i, episode in zip(world_ids, episodes, strict=True):
            self.slots[i] = xp.asarray([target.slot for target in episode.targets])
            starts = [target.start for target in episode.targets]
            self.points[i] = xp.asarray([*starts, *(target.goal for target in episode.targets)])
            self.base_start[i] = xp.asarray(state.base_pose[i], copy=True)
            self.picked[i] = False
            self.placed[i] = False
        self.force.reset(world_ids)
        distance = self._distance(state, self.goal_distances(state))
        for i in world_ids:
            self.previous_distance[i] = distance[i]
            self.previous_held[i] = state.held_object[i]

    def goal_distances(self, state: SimState) -> Array:
        """Distance of every target from its goal [N, K], m."""
        objects = state.object_position[self.worlds[:, None], self.slots]
        return geometry.distance(self.xp, objects, self.goal)

    def mask(self, state: SimState, physical: Array) -> Array:
        """Everything is allowed; the base may be asked to stand still."""
        if not self.config.base_motion:
            physical[:, BASE] = 0.0
        return physical

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step; see HouseholdConfig for the terms."""
        xp, config = self.xp, self.config
        to_goal = self.goal_distances(state)
        holding = state.held_object[:, None] == self.slots
        picked = holding & ~self.picked
        placed = (to_goal < config.place_threshold) & ~holding & self.picked & ~self.placed
        self.picked, self.placed = self.picked | picked, self.placed | placed
        distance = self._distance(state, to_goal)
        # Taking, dropping or placing changes what is measured, so such a step brings no progress.
        changed = xp.any(placed, axis=-1) | (state.held_object != self.previous_held)
        progress = (self.previous_distance - distance) * ~changed
        self.previous_distance = distance
        self.previous_held[:] = state.held_object
        force_reward, exceeded = self.force.update(state.contact_force)
        stop = action[:, STOP] > 0
        done = xp.all(to_goal < config.goal_threshold, axis=-1) & (state.held_object < 0)
        success = done & stop
        rewards = {
            "progress": config.progress_scale * progress,
            "pick": config.pick_bonus * xp.sum(picked, axis=-1),
            "place": config.place_bonus * xp.sum(placed, axis=-1),
            "force": force_reward,
            "success": config.success_bonus * success,
            "slack": self.slack,
        }
        failures = {"stopped_early": stop & ~done, "force_limit": exceeded}
        return Outcome(rewards, stop | exceeded, success, failures)

    def observe(self, state: SimState) -> dict[str, Array]:
        """Vector observations; see the module's docstring."""
        xp, split = self.xp, self.target_count
        in_hand = self.points - state.end_effector_position[:, None, :]
        in_hand = in_hand @ state.end_effector_rotation
        in_base = polar_sensor(xp, state.base_pose, self.points)
        rows = (state.base_pose.shape[0], -1)
        return {
            "obj_start_sensor": xp.reshape(in_hand[:, :split], rows),
            "obj_goal_sensor": xp.reshape(in_hand[:, split:], rows),
            "obj_start_gps_compass": xp.reshape(in_base[:, :split], rows),
            "obj_goal_gps_compass": xp.reshape(in_base[:, split:], rows),
            "joint": state.arm_joints,
            "is_holding": is_holding(self.xp, state),
            "relative_resting_position": from_rest(self.xp, state),
            "ee_pos": state.end_effector_in_base,
            "gps_compass": gps_compass(xp, self.base_start, state.base_pose),
        }

    def _distance(self, state: SimState, to_goal: Array) -> Array:
        """What has to shrink next: hand to the first object that is not in place, then it to its goal [N]."""
        xp = self.xp
        current = xp.argmin(xp.astype(self.placed, xp.int8), axis=-1)
        slot = self.slots[self.worlds, current]
        objects = geometry.rows_at(state.object_position, self.worlds, slot)
        to_object = geometry.distance(xp, objects, state.end_effector_position)
        held = state.held_object == slot
        remaining = xp.where(held, to_goal[self.worlds, current], to_object)
        return xp.where(xp.all(self.placed, axis=-1), 0.0 * remaining, remaining)
