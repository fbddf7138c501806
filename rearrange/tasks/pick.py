"""Pick: drive to an object, take it with the suction cup, bring the hand back to its resting place.

Reference: habitat-lab v0.3.4's RearrangePickTask with the VER paper's changes (base motion in the skill,
contact suction, start-relative GPS+Compass).

Observation (besides head_depth): obj_start_sensor [3] the object's START position in the end-effector
frame, joint [7], is_holding [1], relative_resting_position [3] in the base frame, gps_compass [4]. `glimpse`
adds a second image, see rearrange.tasks.glimpse.
Action [10]: seven joint deltas, grip, forward, turn.
Start: the robot within 2 m of the object, not cut off from it by a wall, and roughly facing it. Objects
stand on open receptacles, some in the open fridge or drawer.
Success: the right object is held and the hand is within 0.15 m of its resting place. It ends the episode.
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
from rearrange.robot.actions import HOLD, grip_of
from rearrange.settings import group, setting
from rearrange.sim.base import SimState
from rearrange.tasks.base import ActionConfig, ForceConfig, each_world, feel_force, keep_base
from rearrange.tasks.floor import FloorTask
from rearrange.tasks.sampling import Scene, cluttered_scene, empty_scene, no_room, sample_arm
from rearrange.tasks.sensors import (
    PER_JOINT,
    copy_into,
    from_rest,
    gps_compass,
    in_hand,
    is_holding,
)
from rearrange.tasks.starts import pose_near
from rearrange.tasks.targets import add_laid_open

# Objects that are drawn for a start: where the robot fits near two of thirty (start_distance 0.45), all
# fail once in 10^30 times.
START_ATTEMPTS = 1000
DETOUR_ATTEMPTS = 5  # objects: round some of them nothing leads
EMPTY_ATTEMPTS = 200  # scenes that are tried until one holds something to pick
SCENE_ATTEMPTS = 3  # apartments: a single object inside may be beyond a short start_distance


@dataclass
class PickConfig:
    """Numbers of Pick. `hab`: habitat-lab v0.3.4's."""

    action: ActionConfig = group(ActionConfig)
    force: ForceConfig = group(ForceConfig)
    max_steps: int = setting(300, low=1, hab=300, about="then the episode is truncated")
    distance_scale: float = setting(10.0, hab=2.0, about="per metre closer; not varied here")
    way_scale: float = setting(
        0.0,
        hab=0.0,
        about=(
            "per metre that the empty-handed robot comes closer, along the floor, to where "
            "the arm reaches the object. A straight line may end behind a wall, a table or "
            "the fridge's door"
        ),
    )
    pick_bonus: float = setting(2.0, hab=2.0, about="on taking the right object")
    wrong_penalty: float = setting(0.5, hab=0.5, about="on taking a wrong object; ends the episode")
    drop_penalty: float = setting(0.5, hab=0.5, about="on losing the object; ends the episode")
    success_bonus: float = setting(10.0, hab=10.0, about="on success; ends the episode")
    slack: float = setting(0.005, hab=0.005, about="taken off every step")
    early_grip_penalty: float = setting(
        0.0,
        hab=0.0,
        about=(
            "for each step in which the suction is on and the empty hand farther than "
            "early_grip_distance from the object. Suction that is always on takes whatever "
            "it touches on its way"
        ),
    )
    early_grip_distance: float = setting(
        0.1, hab=None, about="from the suction tip to the object's centre [m]"
    )
    rest_threshold: float = setting(0.15, hab=0.15, about="[m]")
    start_distance: float = setting(2.0, hab=2.0, about="base to object, horizontal, at most [m]")
    start_yaw_noise: float = setting(0.5236, hab=0.5236, about="standard deviation [rad]")
    start_arm_noise: float = setting(0.1, hab=0.1, about="standard deviation per joint [rad]")
    open_share: float = setting(
        0.1, high=1.0, hab=None, about="of the objects are in the open fridge or drawer"
    )
    detour_share: float = setting(
        0.0,
        high=1.0,
        hab=None,
        about=(
            "of the starts have a way that leads around something, if there are any: behind the sofa, beside "
            "the fridge's open door"
        ),
    )
    glimpse: bool = setting(
        False,
        hab=False,
        about=(
            "a second image shows the window of the camera's image around where the object stood, finely. "
            "There neighbours are told apart; without it the policies hardly looked"
        ),
    )
    base_motion: bool = setting(True, hab=True, about="False keeps the base where it is")


@cached_njit
def _distance(world: Any, memory: Any, holding: bool) -> float:
    """Hand to object until it is held, then hand to its resting place [m]."""
    if holding:
        return geometry.norm(from_rest(world))
    return geometry.distance(world.object_position[memory.slot], world.end_effector_position)


@cached_njit
def _begin(world: Any, memory: Any, config: Any) -> None:
    memory.was_holding = world.held_object == memory.slot
    memory.previous_distance = _distance(world, memory, memory.was_holding)


@cached_njit
def _mask(world: Any, memory: Any, config: Any, physical: Any) -> None:
    """Ignore letting go of what is held, as habitat-lab does: it could never be right."""
    if is_holding(world):
        physical[grip_of(world)] = HOLD
    if not config.base_motion:
        keep_base(physical)


@cached_njit
def _evaluate(world: Any, memory: Any, config: Any, action: Any, outcome: Any) -> None:
    holding, was_holding = world.held_object == memory.slot, memory.was_holding
    wrong = world.held_object >= 0 and not holding
    dropped = was_holding and not holding
    distance = _distance(world, memory, holding)
    # Taking or losing the object changes what is measured, so such a step brings no progress.
    progress = memory.previous_distance - distance if holding == was_holding else 0.0
    force_reward, exceeded = feel_force(world.contact_force, memory, config.force)
    success = holding and distance < config.rest_threshold
    grips = action[grip_of(world)] > 0.0
    early = grips and not holding and distance > config.early_grip_distance
    memory.previous_distance, memory.was_holding = distance, holding

    rewards, failures = outcome.rewards, outcome.failures
    rewards.distance = config.distance_scale * progress
    rewards.way = config.way_scale * (memory.previous_way_left - memory.way_left)
    rewards.way *= not (holding or was_holding)
    memory.previous_way_left = memory.way_left
    rewards.pick = config.pick_bonus * (holding and not was_holding)
    rewards.wrong_object = -config.wrong_penalty * wrong
    rewards.drop = -config.drop_penalty * dropped
    rewards.early_grip = -config.early_grip_penalty * early
    rewards.force = force_reward
    rewards.success = config.success_bonus * success
    rewards.slack = -config.slack
    failures.wrong_object, failures.dropped = wrong, dropped
    failures.force_limit = exceeded
    outcome.success = success
    outcome.terminated = success or wrong or dropped or exceeded


@cached_njit
def _observe(world: Any, memory: Any, seen: Any) -> None:
    copy_into(seen.obj_start_sensor, in_hand(world, memory.object_start))
    copy_into(seen.joint, world.arm_joints)
    seen.is_holding[0] = is_holding(world)
    copy_into(seen.relative_resting_position, from_rest(world))
    copy_into(seen.gps_compass, gps_compass(memory.base_start, world.base_pose))


class Pick(FloorTask):
    """The Pick task over N worlds; see the module's docstring."""

    name: ClassVar[str] = "pick"
    config_type = PickConfig
    ACTIONS = ("arm", "grip", "base")
    OBSERVATION: ClassVar[dict[str, int]] = {
        "obj_start_sensor": 3,
        "joint": PER_JOINT,
        "is_holding": 1,
        "relative_resting_position": 3,
        "gps_compass": 4,
    }
    REWARDS = (
        "distance", "way", "pick", "wrong_object", "drop", "early_grip", "force", "success", "slack",
    )  # fmt: skip
    FAILURES = ("wrong_object", "dropped", "force_limit")
    MEMORY: ClassVar[list[tuple[Any, ...]]] = [
        ("slot", "i8"),  # of the object to pick
        ("object_start", "f8", 3),
        ("was_holding", "?"),
        ("previous_distance", "f8"),
        *FloorTask.FLOOR_MEMORY,
    ]
    TOLD = "object_start"
    compiled = each_world(_begin, _mask, _evaluate, _observe)

    def asks_for_way(self) -> bool:
        """See FloorTask."""
        return self.config.way_scale != 0.0

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A random object in a cluttered apartment, the robot near it and roughly facing it.

        Raises:
            UserError: The robot fits nowhere that near to the objects that were tried, or there are none.
        """
        config, tried = self.config, 0
        inside = rng.random() < config.open_share
        for _ in range(EMPTY_ATTEMPTS):
            scene, targets = self._sample_scene(split, inside, rng)
            if not targets:
                continue
            episode = self.begin_in(scene, targets, rng)
            if episode is not None:
                return episode
            tried += 1
            if tried == SCENE_ATTEMPTS:
                raise UserError(
                    f"task.start_distance={config.start_distance:g} m is too near for the robot to stand by "
                    "any object: set it to 0.5 or more"
                )
        raise no_room(self.name, "anything that the hand can hold", self.scene, EMPTY_ATTEMPTS)

    def begin_in(
        self, scene: Scene, targets: Sequence[Target], rng: np.random.Generator
    ) -> Episode | None:
        """The robot near one of the targets and roughly facing it; see Task."""
        config = self.config
        detour = config.detour_share > 0.0 and rng.random() < config.detour_share
        for attempt in range(START_ATTEMPTS):
            target = targets[int(rng.integers(len(targets)))]
            pose = pose_near(
                self.robot, scene, target.start_receptacle, target.start,
                config.start_distance, config.start_yaw_noise, rng,
                detour=detour and attempt < DETOUR_ATTEMPTS,
            )  # fmt: skip
            if pose is not None:
                arm = sample_arm(self.robot, rng, config.start_arm_noise)
                return scene.episode((target,), pose, arm, rng)
        return None

    def _sample_scene(
        self, split: str, inside: bool, rng: np.random.Generator
    ) -> tuple[Scene, list[Target]]:
        """A cluttered apartment and what may be picked there: all that lies open, or what is inside.

        Fingers pick what they go around.
        """
        if inside and self.scene.closed_receptacles:
            scene = empty_scene(split, rng)
            receptacle = str(rng.choice(scene.spec.closed_receptacles))
            target = add_laid_open(scene, receptacle, rng, self.robot)
            return scene, [target]
        scene = cluttered_scene(split, rng)
        slots = [s for s in scene.objects if self.robot.can_hold(scene.spec.objects[s])]
        places = [(slot, scene.position(slot), scene.receptacle_of[slot]) for slot in slots]
        return scene, [Target(slot, start, start, place, place) for slot, start, place in places]

    def subject(self, state: SimState, i: int) -> np.ndarray:
        """The object to pick; see Task."""
        return state.object_position[i, self.memory["slot"][i]]

    def aim(self, memory: Any, episode: Episode) -> None:
        """The object to pick, and where it stood at the start."""
        target = episode.targets[0]
        memory["slot"], memory["object_start"] = target.slot, target.start
