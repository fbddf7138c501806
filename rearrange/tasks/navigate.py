"""Navigate: drive to within 1.5 m of an object or of a goal, face it, and stop.

Reference: habitat-lab v0.3.4's NavToObjTask with the VER paper's changes (an action of its own to stop, a
force penalty that applies, start-relative GPS+Compass). Bracketed numbers are the reference's.

Observation (besides head_depth): goal_to_agent_gps_compass [2] polar (distance, -bearing) of the
goal in the base frame, joint [7], gps_compass [4].
Action [3]: forward, turn, stop. The arm keeps its posture and the hand what it holds.
Start: anywhere at more than 3 m from the goal. The goal is an object on an open receptacle or in the closed
drawer or fridge; or target 0 is held and the goal is where it belongs, in the open fridge at times.
Success: base within 1.5 m of the goal (horizontal), facing it within 15 degrees, and stop called; stop ends
the episode, right or wrong, but is ignored far from the goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import array_api_compat.numpy as numpy_api
import numpy as np
from gymnasium import spaces

from rearrange.episodes import (
    Episode,
    Scene,
    Target,
    cluttered_scene,
    empty_scene,
    sample_arm,
)
from rearrange.scenes.apartment import CLOSED_RECEPTACLES
from rearrange.sim.base import NOTHING, Array, SimState
from rearrange.tasks.base import (
    GRIP,
    STOP,
    ActionConfig,
    ForceConfig,
    ForceMeter,
    Outcome,
    box,
    gps_compass,
)
from rearrange.tasks.sensors import polar, polar_sensor
from rearrange.tasks.starts import add_shut_in, pose_away_from, random_goal

POSE_ATTEMPTS = 50  # start poses that are tried for one goal (habitat-lab: 50)
SCENE_ATTEMPTS = 200  # scenes that are tried until one has room for a goal


@dataclass
class NavigateConfig:
    """Numbers of Navigate. In brackets: habitat-lab v0.3.4."""

    action: ActionConfig = field(default_factory=ActionConfig)
    # [penalty: 0, accumulated_limit: off, instant_limit: off, end_penalty: 0]: there Pick's numbers are
    # configured, but the task's reward overwrites what they give
    force: ForceConfig = field(default_factory=ForceConfig)
    max_steps: int = 400  # [400] then the episode is truncated
    distance_scale: float = 1.0  # [1] per metre closer to the goal
    turn_scale: float = 1.0  # [1] per radian turned towards the goal when near
    turn_distance: float = 3.0  # [3.0] near is less than this [m]
    drop_penalty: float = 1.0  # [0] on losing what is held; ends the episode
    success_bonus: float = 10.0  # [10] when it ends in success
    slack: float = 0.005  # [0.005] taken off every step
    goal_distance: float = 1.5  # [1.5] base to goal at success, less than [m]
    # [inf, and 2.0 in the VER paper's evaluation] stop is ignored while the goal is farther than this [m]: a
    # random policy stops in its first steps
    stop_distance: float = 2.0
    goal_angle: float = 0.2618  # [0.2618] heading error at success, less than [rad]
    start_distance: float = 3.0  # [3.0] base to goal at the start, more than [m]
    holding_share: float = 0.167  # [0.167] of the episodes start with target 0 in the hand
    closed_share: float = (
        0.2  # [not stated] of the goals are in the drawer or fridge (open if holding)
    )
    start_arm_noise: float = 0.1  # [0.1] standard deviation per joint [rad]


class Navigate:
    """The Navigate task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "navigate"
    action_size = 3
    action_slice = slice(8, 11)

    def __init__(
        self, config: NavigateConfig | None = None, world_count: int = 1, xp: Any = numpy_api
    ) -> None:
        """Allocate what has to be remembered between steps."""
        self.config = config or NavigateConfig()
        self.action, self.max_steps, self.xp = self.config.action, self.config.max_steps, xp
        self.force = ForceMeter(self.config.force, world_count, xp)
        self.goal = xp.zeros((world_count, 3))
        self.base_start = xp.zeros((world_count, 3))
        self.held = xp.full(world_count, NOTHING)  # slot that is to be kept in the hand
        self.previous_distance = xp.zeros(world_count)
        self.previous_angle = xp.zeros(world_count)
        self.slack = xp.full(world_count, -self.config.slack)

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Vector observations of one world."""
        return {"goal_to_agent_gps_compass": box(2), "joint": box(7), "gps_compass": box(4)}

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A cluttered apartment, a goal in it and the robot far from that."""
        config = self.config
        scene, target = self._sample_target(split, rng)
        goal = target.start if scene.held_slot is None else target.goal
        pose = pose_away_from(scene, goal, config.start_distance, rng, POSE_ATTEMPTS)
        return scene.episode((target,), pose, sample_arm(rng, config.start_arm_noise), rng)

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds."""
        xp = self.xp
        for i, episode in zip(world_ids, episodes, strict=True):
            target, held = episode.targets[0], episode.held_slot
            self.goal[i] = xp.asarray(target.start if held is None else target.goal)
            self.held[i] = NOTHING if held is None else held
            self.base_start[i] = xp.asarray(state.base_pose[i], copy=True)
        self.force.reset(world_ids)
        distance, bearing = polar(xp, state.base_pose, self.goal)
        for i in world_ids:
            self.previous_distance[i] = distance[i]
            self.previous_angle[i] = xp.abs(bearing[i])

    def set_goal(self, world: int, position: Sequence[float]) -> None:
        """Name the place to go to in a world [m]."""
        self.goal[world] = self.xp.asarray(position)

    def mask(self, state: SimState, physical: Array) -> Array:
        """The hand keeps what it holds and takes nothing."""
        physical[:, GRIP] = (
            state.held_object
        )  # 0 and more: hold; NOTHING, which is negative: let go
        return physical

    def evaluate(self, state: SimState, action: Array) -> Outcome:
        """Reward, success and termination after a step; see NavigateConfig for the terms."""
        xp, config = self.xp, self.config
        distance, bearing = polar(xp, state.base_pose, self.goal)
        angle = xp.abs(bearing)
        near = distance < config.turn_distance
        force_reward, exceeded = self.force.update(state.contact_force)
        stop = (action[:, STOP] > 0) & (distance <= config.stop_distance)
        there = (distance < config.goal_distance) & (angle < config.goal_angle)
        dropped = state.held_object != self.held
        success = there & stop & ~dropped
        rewards = {
            "distance": config.distance_scale * (self.previous_distance - distance),
            "turn": config.turn_scale * (self.previous_angle - angle) * near,
            "drop": -config.drop_penalty * dropped,
            "force": force_reward,
            "success": config.success_bonus * success,
            "slack": self.slack,
        }
        self.previous_distance, self.previous_angle = distance, angle
        failures = {"stopped_early": stop & ~there, "dropped": dropped, "force_limit": exceeded}
        return Outcome(rewards, stop | dropped | exceeded, success, failures)

    def observe(self, state: SimState) -> dict[str, Array]:
        """Vector observations; see the module's docstring."""
        return {
            "goal_to_agent_gps_compass": polar_sensor(self.xp, state.base_pose, self.goal),
            "joint": state.arm_joints,
            "gps_compass": gps_compass(self.xp, self.base_start, state.base_pose),
        }

    def _sample_target(self, split: str, rng: np.random.Generator) -> tuple[Scene, Target]:
        """A scene and the object to go to, or the one that is held and whose goal is to be reached."""
        holding = rng.random() < self.config.holding_share
        shut_in = rng.random() < self.config.closed_share
        if shut_in and not holding:
            scene = empty_scene(split, rng)
            return scene, add_shut_in(scene, str(rng.choice(CLOSED_RECEPTACLES)), rng)
        for _ in range(SCENE_ATTEMPTS):
            scene = cluttered_scene(split, rng)
            target = random_goal(scene, float(shut_in), rng)
            if target is not None:
                scene.held_slot = target.slot if holding else None
                return scene, target
        raise RuntimeError(f"navigate: no room for a goal in {SCENE_ATTEMPTS} scenes")
