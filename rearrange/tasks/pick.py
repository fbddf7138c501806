"""Pick: drive to an object, take it with the suction cup, bring the hand back to its resting place.

Reference: habitat-lab v0.3.4's RearrangePickTask with the VER paper's changes (base motion in the skill,
contact suction, start-relative GPS+Compass). Bracketed numbers are the reference's.

Observation (besides head_depth): obj_start_sensor [3] the object's START position in the end-effector
frame, joint [7], is_holding [1], relative_resting_position [3] in the base frame, gps_compass [4].
Action [10]: seven joint deltas, grip, forward, turn.
Success: the right object is held and the hand is within 0.15 m of its resting place; ends the episode.
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
from rearrange.sim.base import Array, SimState
from rearrange.tasks.base import (
    BASE,
    GRIP,
    ActionConfig,
    ForceConfig,
    ForceMeter,
    Outcome,
    box,
    gps_compass,
)
from rearrange.tasks.sensors import from_rest, is_holding


@dataclass
class PickConfig:
    """Numbers of Pick. In brackets: habitat-lab v0.3.4."""

    action: ActionConfig = field(default_factory=ActionConfig)
    force: ForceConfig = field(default_factory=ForceConfig)
    max_steps: int = 300  # [300]
    distance_scale: float = 10.0  # [2] per metre closer; not varied here (docs/training.md)
    pick_bonus: float = 2.0  # [2] on taking the right object
    wrong_penalty: float = 0.5  # [0.5] on taking a wrong object; ends the episode
    drop_penalty: float = 0.5  # [0.5] on losing the object; ends the episode
    success_bonus: float = 10.0  # [10]
    slack: float = 0.005  # [0.005] taken off every step
    rest_threshold: float = 0.15  # [0.15] [m]
    start_distance: float = 2.0  # [2.0] base to object, horizontal, at most [m]
    start_yaw_noise: float = 0.5236  # [0.5236] standard deviation [rad]
    start_arm_noise: float = 0.1  # [0.1] standard deviation per joint [rad]
    base_motion: bool = True  # [True] False keeps the base where it is


class Pick:
    """The Pick task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "pick"
    action_size = 10
    action_slice = slice(0, 10)

    def __init__(
        self, config: PickConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        self.config = config or PickConfig()
        self.action, self.max_steps, self.xp = self.config.action, self.config.max_steps, xp
        self.force = ForceMeter(self.config.force, world_count, xp)
        self.worlds = xp.arange(world_count)
        self.slot = xp.zeros(world_count, dtype=xp.int64)  # of the object to pick
        self.object_start = xp.zeros((world_count, 3))
        self.base_start = xp.zeros((world_count, 3))
        self.was_holding = xp.zeros(world_count, dtype=xp.bool)
        self.previous_distance = xp.zeros(world_count)
        self.slack = xp.full(world_count, -self.config.slack)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one world."""
        return {
            "obj_start_sensor": box(3),
            "joint": box(7),
            "is_holding": box(1),
            "relative_resting_position": box(3),
            "gps_compass": box(4),
        }

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A random object in a cluttered apartment, the robot near it and roughly facing it."""
        config = self.config
        scene = cluttered_scene(split, rng)
        while True:
            slot = int(rng.choice(list(scene.objects)))
            start = scene.position(slot)
            pose = scene.grid.sample_pose_near(
                rng, start[:2], config.start_distance, config.start_yaw_noise
            )
            if pose is not None:
                break
        target = Target(slot, start, start, scene.receptacle_of[slot], scene.receptacle_of[slot])
        return scene.episode((target,), pose, sample_arm(rng, config.start_arm_noise), rng)

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        for i, episode in zip(world_ids, episodes, strict=True):
            self.set_target(i, episode.targets[0].slot, episode.targets[0].start)
            self.base_start[i] = self.xp.asarray(state.base_pose[i], copy=True)
        self.was_holding = state.held_object == self.slot
        self.force.reset(world_ids)
        distances = self._distances(state, self.was_holding)
        for i in world_ids:
            self.previous_distance[i] = distances[i]

    def set_target(self, world: int, slot: int, position: Sequence[float]) -> None:
        """Name the object to pick in a world and where it stood at the start [m]."""
        self.slot[world] = slot
        self.object_start[world] = self.xp.asarray(position)

    def mask(self, state: SimState, physical: Array) -> Array:
        """Ignore letting go of what is held, as habitat-lab does: it could never be right."""
        # A grip from 0 on is taken as holding, and so are slots; NOTHING changes no grip.
        physical[:, GRIP] = self.xp.maximum(physical[:, GRIP], state.held_object)
        if not self.config.base_motion:
            physical[:, BASE] = 0.0
        return physical

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step; see PickConfig for the terms."""
        config = self.config
        holding = state.held_object == self.slot
        lost = ~holding
        wrong = (state.held_object >= 0) & lost
        picked, dropped = holding & ~self.was_holding, self.was_holding & lost
        distances = self._distances(state, holding)
        # Taking or losing the object changes what is measured, so such a step brings no progress.
        progress = (self.previous_distance - distances) * (holding == self.was_holding)
        force_reward, exceeded = self.force.update(state.contact_force)
        success = holding & (distances < config.rest_threshold)
        rewards = {
            "distance": config.distance_scale * progress,
            "pick": config.pick_bonus * picked,
            "wrong_object": -config.wrong_penalty * wrong,
            "drop": -config.drop_penalty * dropped,
            "force": force_reward,
            "success": config.success_bonus * success,
            "slack": self.slack,
        }
        self.previous_distance, self.was_holding = distances, holding
        failures = {"wrong_object": wrong, "dropped": dropped, "force_limit": exceeded}
        return Outcome(rewards, success | wrong | dropped | exceeded, success, failures)

    def observe(self, state: SimState) -> dict[str, Array]:
        """Vector observations; see the module's docstring."""
        xp = self.xp
        return {
            "obj_start_sensor": geometry.to_end_effector_frame(
                state.end_effector_position, state.end_effector_rotation, self.object_start
            ),
            "joint": state.arm_joints,
            "is_holding": is_holding(self.xp, state),
            "relative_resting_position": from_rest(xp, state),
            "gps_compass": gps_compass(xp, self.base_start, state.base_pose),
        }

    def _distances(self, state: SimState, holding: Array) -> Array:
        """Hand to object until it is held, then hand to its resting place [N], m."""
        xp = self.xp
        objects = geometry.rows_at(state.object_position, self.worlds, self.slot)
        to_rest, to_object = from_rest(xp, state), objects - state.end_effector_position
        return geometry.norm(xp, xp.where(holding[:, None], to_rest, to_object))
