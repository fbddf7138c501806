"""Place: put the held object down at its goal and bring the hand back to its resting place.

Reference: habitat-lab v0.3.4's RearrangePlaceTask with the VER paper's changes (base motion in the
skill, start-relative GPS+Compass). Bracketed numbers are the reference's.

Observation (besides head_depth): obj_goal_sensor [3] the goal in the end-effector frame, joint [7],
is_holding [1], relative_resting_position [3] in the base frame, gps_compass [4].
Action [10]: seven joint deltas, grip, forward, turn. Letting go is ignored far from the goal;
once the object has been let go, nothing is taken again.
Start: the object in the hand, the robot within 2 m of the goal and roughly facing it. Goals lie on open
receptacles, some in the open fridge.
Success: nothing is held, the object is within 0.15 m of its goal and the hand within 0.15 m of its resting
place; ends the episode.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import array_api_compat.numpy as numpy_api
import numpy as np
from gymnasium import spaces

from rearrange import geometry
from rearrange.episodes import Episode, cluttered_scene, sample_arm
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
from rearrange.tasks.starts import pose_near, random_goal

SCENE_ATTEMPTS = 200  # scenes that are tried until one has room for a goal


@dataclass
class PlaceConfig:
    """Numbers of Place. In brackets: habitat-lab v0.3.4."""

    action: ActionConfig = field(default_factory=ActionConfig)
    # [largest_penalty: 0]: there a penalty is configured, but capped at 0
    force: ForceConfig = field(default_factory=ForceConfig)
    max_steps: int = 300  # [300] then the episode is truncated
    distance_scale: float = 10.0  # [2] per metre closer; as in Pick
    place_bonus: float = 5.0  # [5] on letting go at the goal
    drop_penalty: float = 0.0  # [0] on losing the object elsewhere; ends the episode
    success_bonus: float = 10.0  # [10] when it ends in success
    slack: float = 0.005  # [0.005] taken off every step
    goal_threshold: float = 0.15  # [0.15] object to goal [m]
    rest_threshold: float = 0.15  # [0.15] hand to resting place [m]
    # [inf] letting go is ignored while the hand is farther than this from the goal [m]: a random policy of
    # standard deviation 1 lets go in its first steps, which ends the episode
    release_distance: float = 0.3
    start_distance: float = 2.0  # [2.0] base to goal, horizontal, at most [m]
    start_yaw_noise: float = 0.5236  # [0.5236] standard deviation [rad]
    start_arm_noise: float = 0.1  # [0.1] standard deviation per joint [rad]
    fridge_share: float = 0.1  # [not stated] of the goals are in the open fridge
    base_motion: bool = True  # [True] False keeps the base where it is


class Place:
    """The Place task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "place"
    action_size = 10
    action_slice = slice(0, 10)

    def __init__(
        self, config: PlaceConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        self.config = config or PlaceConfig()
        self.action, self.max_steps, self.xp = self.config.action, self.config.max_steps, xp
        self.force = ForceMeter(self.config.force, world_count, xp)
        self.worlds = xp.arange(world_count)
        self.slot = xp.zeros(world_count, dtype=xp.int64)  # of the object to place
        self.goal = xp.zeros((world_count, 3))
        self.base_start = xp.zeros((world_count, 3))
        self.was_holding = xp.zeros(world_count, dtype=xp.bool)
        self.previous_distance = xp.zeros(world_count)
        self.slack = xp.full(world_count, -self.config.slack)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one world."""
        return {
            "obj_goal_sensor": box(3),
            "joint": box(7),
            "is_holding": box(1),
            "relative_resting_position": box(3),
            "gps_compass": box(4),
        }

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A cluttered apartment, one of its objects in the hand, the robot near the object's goal."""
        config = self.config
        for _ in range(SCENE_ATTEMPTS):
            scene = cluttered_scene(split, rng)
            target = random_goal(scene, config.fridge_share, rng)
            if target is not None:
                scene.held_slot = target.slot
                pose = pose_near(
                    scene, target.goal, config.start_distance, config.start_yaw_noise, rng
                )
                return scene.episode((target,), pose, sample_arm(rng, config.start_arm_noise), rng)
        raise RuntimeError(f"place: no room for a goal in {SCENE_ATTEMPTS} scenes")

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        for i, episode in zip(world_ids, episodes, strict=True):
            self.set_target(i, episode.targets[0].slot, episode.targets[0].goal)
            self.base_start[i] = self.xp.asarray(state.base_pose[i], copy=True)
        self.force.reset(world_ids)
        holding = state.held_object == self.slot
        distance = self._distance(state, holding, self._to_goal(state))
        for i in world_ids:
            self.was_holding[i] = holding[i]
            self.previous_distance[i] = distance[i]

    def set_target(self, world: int, slot: int, goal: Sequence[float]) -> None:
        """Name the object to place in a world and where its centre shall be [m]."""
        self.slot[world] = slot
        self.goal[world] = self.xp.asarray(goal)

    def mask(self, state: SimState, physical: Array) -> Array:
        """Ignore taking anything up again, as habitat-lab does, and letting go far from the goal."""
        xp = self.xp
        offset = self.goal - state.end_effector_position
        far = xp.linalg.vecdot(offset, offset) - self.config.release_distance**2
        # A grip from 0 on is taken as holding, and so are slots; NOTHING is negative and lets go.
        grip = xp.maximum(physical[:, GRIP], far)
        physical[:, GRIP] = xp.minimum(grip, state.held_object)
        if not self.config.base_motion:
            physical[:, BASE] = 0.0
        return physical

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step; see PlaceConfig for the terms."""
        config = self.config
        holding = state.held_object == self.slot
        released = self.was_holding & ~holding
        to_goal = self._to_goal(state)
        at_goal = to_goal < config.goal_threshold
        distance = self._distance(state, holding, to_goal)
        # Carrying the object about near its goal is not rewarded, and letting go changes what is measured.
        counts = ~(released | (holding & at_goal))
        force_reward, exceeded = self.force.update(state.contact_force)
        placed, lost = released & at_goal, released & ~at_goal
        success = ~holding & at_goal & (distance < config.rest_threshold)
        rewards = {
            "distance": config.distance_scale * (self.previous_distance - distance) * counts,
            "place": config.place_bonus * placed,
            "drop": -config.drop_penalty * lost,
            "force": force_reward,
            "success": config.success_bonus * success,
            "slack": self.slack,
        }
        self.previous_distance, self.was_holding = distance, holding
        failures = {
            "dropped": lost,
            "displaced": ~(holding | at_goal | released),
            "force_limit": exceeded,
        }
        return Outcome(rewards, success | lost | exceeded, success, failures)

    def observe(self, state: SimState) -> dict[str, Array]:
        """Vector observations; see the module's docstring."""
        return {
            "obj_goal_sensor": geometry.to_end_effector_frame(
                state.end_effector_position, state.end_effector_rotation, self.goal
            ),
            "joint": state.arm_joints,
            "is_holding": is_holding(self.xp, state),
            "relative_resting_position": from_rest(self.xp, state),
            "gps_compass": gps_compass(self.xp, self.base_start, state.base_pose),
        }

    def _to_goal(self, state: SimState) -> Array:
        """Distance of the object from its goal [N], m."""
        objects = geometry.rows_at(state.object_position, self.worlds, self.slot)
        return geometry.distance(self.xp, objects, self.goal)

    def _distance(self, state: SimState, holding: Array, to_goal: Array) -> Array:
        """Object to goal while it is held, then hand to its resting place [N], m."""
        return self.xp.where(holding, to_goal, geometry.norm(self.xp, from_rest(self.xp, state)))
