"""Tidy House: bring five of thirty objects from open receptacles to where they belong.

Reference: habitat-lab v0.3.4's tidy_house (facts: HAB section B). Bracketed numbers are the reference's.

Observation (besides head_depth): for each of the five targets in order obj_start_sensor and
obj_goal_sensor [15] in the end-effector frame, obj_start_gps_compass and obj_goal_gps_compass [10] polar
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
from rearrange.episodes import Episode, Target, cluttered_scene, sample_arm
from rearrange.episodes.generation import GOAL_GAP, Scene
from rearrange.scenes.apartment import OPEN_RECEPTACLES
from rearrange.sim.base import NOTHING, Array, SimState
from rearrange.tasks.base import (
    STOP,
    ActionConfig,
    ForceConfig,
    ForceMeter,
    Outcome,
    box,
    gps_compass,
    resting_offset,
)

TARGET_COUNT = 5


@dataclass
class TidyHouseConfig:
    """Numbers of Tidy House. In brackets: habitat-lab v0.3.4."""

    action: ActionConfig = field(default_factory=ActionConfig)
    # [limits 100 000 / 10 000, no penalty per step]
    force: ForceConfig = field(
        default_factory=lambda: ForceConfig(
            penalty=0.0, accumulated_limit=100_000.0, instant_limit=10_000.0, end_penalty=0.0
        )
    )
    max_steps: int = 3000  # [3000]
    progress_scale: float = 1.0  # [1] per metre: hand to object, then object to goal
    pick_bonus: float = 1.0  # [1] once per object
    place_bonus: float = 1.0  # [1] once per object
    place_threshold: float = 0.15  # [0.15] of the place bonus [m]
    success_bonus: float = 100.0  # [100]
    slack: float = 0.01  # [0.01] taken off every step
    goal_threshold: float = 0.30  # [0.30] of the goal predicate object_at [m]
    start_arm_noise: float = 0.1  # [0.1] standard deviation per joint [rad]


class TidyHouse:
    """The Tidy House task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "tidy_house"
    action_size = 11

    def __init__(
        self, config: TidyHouseConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        self.config = config or TidyHouseConfig()
        self.action, self.max_steps, self.xp = self.config.action, self.config.max_steps, xp
        self.force = ForceMeter(self.config.force, world_count, xp)
        self.worlds = xp.arange(world_count)
        self.slots = xp.zeros((world_count, TARGET_COUNT), dtype=xp.int64)
        self.object_start = xp.zeros((world_count, TARGET_COUNT, 3))
        self.goal = xp.zeros((world_count, TARGET_COUNT, 3))
        self.base_start = xp.zeros((world_count, 3))
        self.picked = xp.zeros((world_count, TARGET_COUNT), dtype=xp.bool)
        self.placed = xp.zeros((world_count, TARGET_COUNT), dtype=xp.bool)
        self.previous_distance = xp.zeros(world_count)
        self.previous_held = xp.full(world_count, NOTHING)
        self.slack = xp.full(world_count, -self.config.slack)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one world."""
        return {
            "obj_start_sensor": box(3 * TARGET_COUNT),
            "obj_goal_sensor": box(3 * TARGET_COUNT),
            "obj_start_gps_compass": box(2 * TARGET_COUNT),
            "obj_goal_gps_compass": box(2 * TARGET_COUNT),
            "joint": box(7),
            "is_holding": box(1),
            "relative_resting_position": box(3),
            "ee_pos": box(3),
            "gps_compass": box(4),
        }

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """Five random objects with goals on other receptacles; the robot anywhere."""
        while True:
            scene = cluttered_scene(split, rng)
            targets = _sample_targets(scene, rng)
            if targets is not None:
                break
        pose = scene.grid.sample_pose(rng)
        return scene.episode(targets, pose, sample_arm(rng, self.config.start_arm_noise), rng)

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        xp = self.xp
        for i, episode in zip(world_ids, episodes, strict=True):
            self.slots[i] = xp.asarray([target.slot for target in episode.targets])
            self.object_start[i] = xp.asarray([target.start for target in episode.targets])
            self.goal[i] = xp.asarray([target.goal for target in episode.targets])
            self.base_start[i] = xp.asarray(state.base_pose[i], copy=True)
            self.picked[i] = False
            self.placed[i] = False
        self.force.reset(world_ids)
        distance = self._distance(state, self.goal_distances(state))
        for i in world_ids:
            self.previous_distance[i] = distance[i]
            self.previous_held[i] = state.held_object[i]

    def goal_distances(self, state: SimState) -> Array:
        """Distance of every target from its goal [N, 5], m."""
        objects = state.object_position[self.worlds[:, None], self.slots]
        return geometry.distance(self.xp, objects, self.goal)

    def mask(self, state: SimState, physical: Array) -> Array:
        """Everything is allowed."""
        return physical

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step; see TidyHouseConfig for the terms."""
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
        xp = self.xp
        count = state.base_pose.shape[0]
        tip, rotation = state.end_effector_position[:, None, :], state.end_effector_rotation
        return {
            "obj_start_sensor": xp.reshape((self.object_start - tip) @ rotation, (count, -1)),
            "obj_goal_sensor": xp.reshape((self.goal - tip) @ rotation, (count, -1)),
            "obj_start_gps_compass": self._polar(state, self.object_start),
            "obj_goal_gps_compass": self._polar(state, self.goal),
            "joint": state.arm_joints,
            "is_holding": ((state.held_object >= 0) | (state.held_handle >= 0))[:, None],
            "relative_resting_position": resting_offset(xp, state),
            "ee_pos": geometry.to_base_frame(xp, state.base_pose, state.end_effector_position),
            "gps_compass": gps_compass(xp, self.base_start, state.base_pose),
        }

    def _polar(self, state: SimState, points: Array) -> Array:
        """Distance [m] and minus bearing [rad] of points [N, 5, 3] in the base frame [N, 10]."""
        xp = self.xp
        offset = points[..., :2] - state.base_pose[:, None, :2]
        bearing = xp.atan2(offset[..., 1], offset[..., 0]) - state.base_pose[:, None, 2]
        wrapped = xp.atan2(xp.sin(bearing), xp.cos(bearing))
        distance = xp.sqrt(xp.sum(offset * offset, axis=-1))
        return xp.reshape(xp.stack([distance, -wrapped], axis=-1), (points.shape[0], -1))

    def _distance(self, state: SimState, to_goal: Array) -> Array:
        """What has to shrink next: hand to the first object that is not in place, then it to its goal [N]."""
        xp = self.xp
        current = xp.argmax(xp.astype(~self.placed, xp.int8), axis=-1)
        slot = self.slots[self.worlds, current]
        objects = state.object_position[self.worlds, slot]
        to_object = geometry.distance(xp, state.end_effector_position, objects)
        held = state.held_object == slot
        remaining = xp.where(held, to_goal[self.worlds, current], to_object)
        return xp.where(xp.all(self.placed, axis=-1), 0.0 * remaining, remaining)


def _sample_targets(scene: Scene, rng: np.random.Generator) -> tuple[Target, ...] | None:
    """Five objects and a free goal for each on another receptacle, or None where there is no room."""
    targets: list[Target] = []
    for slot in rng.permutation(list(scene.objects)).tolist():
        start = scene.receptacle_of[slot]
        others = [name for name in OPEN_RECEPTACLES if name != start]
        for name in rng.permutation(others).tolist():
            goal = scene.find_place(slot, name, GOAL_GAP, rng)
            if goal is not None:
                targets.append(Target(slot, scene.position(slot), goal, start, name))
                break
        if len(targets) == TARGET_COUNT:
            return tuple(targets)
    return None
