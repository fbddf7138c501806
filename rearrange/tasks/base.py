"""What every task is made of: actions, force accounting, reward terms and outcomes.

A task's logic is written once, as plain arithmetic on the record of one world (`world_state` in
rearrange.sim.base) and on what the task remembers of that world, and compiled. Over arrays, NumPy's
calls took half the time of a whole step with physics and image.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from gymnasium import spaces
from numpy.lib.recfunctions import structured_to_unstructured

from rearrange.caching import cached_njit, one_dtype
from rearrange.episodes.episode import Episode, Target
from rearrange.errors import UserError
from rearrange.gym_ids import LARGEST
from rearrange.robot import RobotSpec, find_robot
from rearrange.robot.actions import ActionLayout
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.settings import check_config, check_ranges, setting
from rearrange.sim.base import SimState, Simulator
from rearrange.tasks.sampling import Scene
from rearrange.tasks.sensors import PER_JOINT, SENSOR_PARTS
from rearrange.threads import ALONE

DEPTH_RANGE = 10.0  # [m], depth is clipped here and divided by it (habitat-lab)


@dataclass
class ActionConfig:
    """What an action of 1 means. `hab`: habitat-lab v0.3.4's."""

    arm_step: float = setting(
        0.0375,
        hab=0.0125,
        high=math.pi,
        hides="an arm that is too slow for the step limit",
        about="change of a joint target per step [rad]; 1.1 rad/s, within Fetch's 1.25",
    )
    # What is beyond a metre or half a turn is a slip; the way is looked at centimetre by centimetre
    forward_step: float = setting(0.0833, hab=0.0833, high=1.0, about="base motion per step [m]")
    turn_step: float = setting(
        0.0833, hab=0.0833, high=math.pi, about="base rotation per step [rad]"
    )
    repeat: int = setting(
        1,
        low=1,
        high=300,
        hab=1,
        about="steps of 1/30 s that a policy's action lasts, and between its images",
    )
    delay: int = setting(
        0,
        high=300,
        hab=1,
        about="steps of 1/30 s by which all that a policy sees is late",
        note="as in the VER paper",
    )

    def scale(self, layout: ActionLayout) -> np.ndarray:
        """What an action of 1 is in the simulator's units: rad, grip, m, rad [J + 3]."""
        return layout.physical(self.arm_step * layout.units, 1.0, self.forward_step, self.turn_step)


@dataclass
class ForceConfig:
    """Penalty and limits on contact force. `hab`: habitat-lab v0.3.4's."""

    penalty: float = setting(1e-4, hab=0.0001, about="per newton of added force")
    largest_penalty: float = setting(0.01, hab=0.01, about="per step")
    accumulated_limit: float = setting(
        10_000.0, low=-1.0, hab=10_000.0, about="episode ends beyond; below 0: off [N]"
    )
    instant_limit: float = setting(
        10_000.0, low=-1.0, hab=10_000.0, about="episode ends beyond; below 0: off [N]"
    )
    end_penalty: float = setting(1.0, hab=1.0, about="when a limit ends the episode")
    noise_floor: float = setting(20.0, hab=20.0, about="smaller increases are not added up [N]")


class Outcome:
    """What a step meant, for N worlds. Arrays are reused: copy what must outlive a step.

    Attributes:
        worlds: All of it, one record per world, for compiled tasks [N].
        terms: Reward terms, already scaled [N, T]; their sum is the reward.
        rewards: The same by name [N] each.
        terminated: The episode is over for a reason within the task [N] bool.
        success: The task's success rule holds now [N] bool.
        failures: Named reasons of failure that hold now [N] bool each.
    """

    def __init__(self, count: int, rewards: Sequence[str], failures: Sequence[str]) -> None:
        """Of `count` worlds, with these names of reward terms and failures."""
        kind = one_dtype(
            [
                ("rewards", [(name, "f8") for name in rewards]),
                ("terminated", "?"),
                ("success", "?"),
                ("failures", [(name, "?") for name in failures]),
            ]
        )
        worlds = self.worlds = np.zeros(count, kind)
        self.terms = structured_to_unstructured(worlds["rewards"], copy=False)
        self.rewards = MappingProxyType({name: worlds["rewards"][name] for name in rewards})
        self.terminated: np.ndarray = worlds["terminated"]
        self.success: np.ndarray = worlds["success"]
        self.failures = MappingProxyType({name: worlds["failures"][name] for name in failures})
        self._bytes = worlds.view(np.uint8)

    def clear(self) -> None:
        """Set all to zero and False."""
        self._bytes.fill(0)


class Compiled(NamedTuple):
    """A task's logic, compiled: functions over the records of N worlds.

    Attributes:
        begin: (states, memories, settings): remember what the first step is compared with.
        mask: (states, memories, settings, physical): change the simulator's actions.
        evaluate: (states, memories, settings, actions, outcomes): write outcomes, and remember.
        observe: (states, memories, seen): write vector observations.
    """

    begin: Any
    mask: Any
    evaluate: Any
    observe: Any


def each_world(begin: Any, mask: Any, evaluate: Any, observe: Any) -> Compiled:
    """A task's logic over N worlds, made of compiled functions that a task writes for one world.

    Args:
        begin: (world, memory, config): remember what the first step is compared with.
        mask: (world, memory, config, physical): change the simulator's action [J + 3].
        evaluate: (world, memory, config, action, outcome): write the outcome, and remember.
        observe: (world, memory, seen): write vector observations.
    """

    @cached_njit
    def begin_all(states: Any, memories: Any, settings: Any) -> None:
        for i in range(len(states)):
            begin(states[i], memories[i], settings[0])

    @cached_njit
    def mask_all(states: Any, memories: Any, settings: Any, physical: Any) -> None:
        for i in range(len(states)):
            mask(states[i], memories[i], settings[0], physical[i])

    @cached_njit
    def evaluate_all(
        states: Any, memories: Any, settings: Any, actions: Any, outcomes: Any
    ) -> None:
        for i in range(len(states)):
            evaluate(states[i], memories[i], settings[0], actions[i], outcomes[i])

    @cached_njit
    def observe_all(states: Any, memories: Any, seen: Any) -> None:
        for i in range(len(states)):
            observe(states[i], memories[i], seen[i])

    return Compiled(begin_all, mask_all, evaluate_all, observe_all)


class Task:
    """A task over N worlds. All about it stands in one file, which tells sizes with Fetch's seven joints.

    Attributes:
        name: How users call it.
        config_type: Its numbers.
        ACTIONS: Parts of its action, see ActionLayout.part.
        OBSERVATION: Vector observations by name, and their sizes or PER_JOINT (the env adds the camera).
        PARTS: Names of their numbers, for configs; they begin anew for each further target.
        REWARDS: Names of the reward terms.
        FAILURES: Names of the reasons of failure.
        MEMORY: What is remembered of an episode beyond what all tasks remember: fields of a dtype.
        PART_MEMORY: Names of further fields, each with a number for every part of the home that opens.
        compiled: Its logic, see `each_world`.
        robot: Who acts.
        scene: The kind of home in which it takes place.
        action_slice: Where its action stands in a robot's full one; `action_size` is its length.
        memory: One record per world [N].
        threads: That share its work on many worlds; whoever has more than one sets it.
        settings: The config as a record [1], for compiled code.
    """

    name: ClassVar[str]
    config_type: ClassVar[type]
    ACTIONS: ClassVar[tuple[str, ...]]
    OBSERVATION: ClassVar[dict[str, int]]
    PARTS: ClassVar[dict[str, tuple[str, ...]]] = SENSOR_PARTS
    REWARDS: ClassVar[tuple[str, ...]]
    FAILURES: ClassVar[tuple[str, ...]]
    MEMORY: ClassVar[list[tuple[Any, ...]]]
    PART_MEMORY: ClassVar[tuple[str, ...]] = ()
    compiled: ClassVar[Compiled]

    def __init__(
        self,
        config: Any = None,
        world_count: int = 1,
        robot: RobotSpec | None = None,
        scene: SceneSpec = APARTMENT,
    ) -> None:
        """Allocate what has to be remembered between steps; None takes the defaults."""
        self.robot, self.scene = robot or find_robot(), scene
        self.action_slice = self.robot.actions.part(self.ACTIONS)
        self.action_size = self.action_slice.stop - self.action_slice.start
        self.config = config or self.config_type()
        check_config(self.name, self.config, self.config_type)
        check_ranges(self.config, "task")
        self.action: ActionConfig = self.config.action
        self.max_steps: int = self.config.max_steps
        self.settings = as_record(self.config)
        shared = [("base_start", "f8", 3), ("force", "f8"), ("accumulated_force", "f8")]
        of_parts = [(name, "f8", (len(scene.parts),)) for name in self.PART_MEMORY]
        self.memory = np.zeros(world_count, one_dtype([*shared, *self.MEMORY, *of_parts]))
        self.threads = ALONE
        self.outcome = Outcome(world_count, self.REWARDS, self.FAILURES)
        sizes = self.observation_sizes(self.robot)
        fields = [(key, "f4", (size,)) for key, size in sizes.items()]
        self._seen = one_dtype(fields, align=False)

    @classmethod
    def action_names(cls, robot: RobotSpec) -> tuple[str, ...]:
        """Names of the numbers of the task's action [action_size]."""
        return robot.actions.names[robot.actions.part(cls.ACTIONS)]

    @classmethod
    def observation_sizes(cls, robot: RobotSpec) -> dict[str, int]:
        """How many numbers each vector observation has."""
        count = len(robot.joints)
        return {k: count if size == PER_JOINT else size for k, size in cls.OBSERVATION.items()}

    @classmethod
    def observation_parts(cls, robot: RobotSpec) -> dict[str, tuple[str, ...]]:
        """PARTS, and the robot's joints."""
        return {**cls.PARTS, "joint": robot.joint_names}

    def observation_spaces(self) -> dict[str, spaces.Box]:
        """Spaces of the task's vector observations in one world (the camera is added by the env)."""
        return {
            key: spaces.Box(-LARGEST, LARGEST, (size,), np.float32)
            for key, size in self.observation_sizes(self.robot).items()
        }

    def gathered_spaces(self, size: int) -> dict[str, spaces.Box]:
        """Spaces of what the task gathers from depth images of so many pixels in one world."""
        del size
        return {}

    def gather(
        self, simulator: Simulator, depths: np.ndarray, remember: np.ndarray, ids: np.ndarray
    ) -> dict[str, np.ndarray]:
        """What the task gathers from depth images of K worlds, over an episode [K, ...]; fresh arrays.

        Args:
            simulator: Of the worlds.
            depths: [K, H, W, 1], in units of DEPTH_RANGE.
            remember: Where this is what a policy acts by, not a look in passing [N] bool.
            ids: Of the K worlds.
        """
        del simulator, depths, remember, ids
        return {}

    def sample_episode(self, split: str, rng: np.random.Generator) -> Episode:
        """A start state; it may still touch something, then the env asks again."""
        raise NotImplementedError

    def begin_in(
        self, scene: Scene, targets: Sequence[Target], rng: np.random.Generator
    ) -> Episode | None:
        """A start state of the task in a scene, with one of these targets; None if the robot fits nowhere.

        Raises:
            UserError: The task needs more than objects and a floor.
        """
        raise UserError(
            f"{self.name} knows our own apartments only: leave dataset= out, or take a skill"
        )

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes in these worlds: `state` is already that of the start.

        Raises:
            ValueError: The worlds are of another robot than the task.
        """
        if state.robot is not self.robot:
            raise ValueError(f"a task of {self.robot.name} in worlds of {state.robot.name}")
        for i, episode in zip(world_ids, episodes, strict=True):
            self.memory[i] = np.zeros((), self.memory.dtype)
            self.memory["base_start"][i] = state.base_pose[i]
            self.aim(self.memory[i], episode)
            self.compiled.begin(state.worlds[i : i + 1], self.memory[i : i + 1], self.settings)

    def aim(self, memory: Any, episode: Episode) -> None:
        """Write what the episode asks for into a world's record."""
        raise NotImplementedError

    def subject(self, state: SimState, i: int) -> np.ndarray:
        """The place [3] of what the task is about in world i: an object, a goal, a handle; world frame, m."""
        raise NotImplementedError

    def mask(self, state: SimState, physical: np.ndarray) -> np.ndarray:
        """The simulator's action [N, J + 3] that the task makes of the policy's, which is changed."""
        self.compiled.mask(state.worlds, self.memory, self.settings, physical)
        return physical

    def evaluate(self, state: SimState, action: np.ndarray) -> Outcome:
        """Reward, success and termination after a step with this full action [N, J + 4].

        What the task's logic does not write is zero or False, not what it was in the step before.
        """
        self.outcome.clear()
        self.compiled.evaluate(
            state.worlds, self.memory, self.settings, action, self.outcome.worlds
        )
        return self.outcome

    def observe(self, state: SimState) -> dict[str, np.ndarray]:
        """Vector observations [N, ...], single precision; fresh arrays."""
        seen = np.empty(len(state.worlds), self._seen)
        self.compiled.observe(state.worlds, self.memory, seen)
        return {key: seen[key] for key in self.OBSERVATION}


def as_record(config: Any) -> np.ndarray:
    """The numbers of a config dataclass as a record [1]; groups in it are records too."""

    def kind(part: Any) -> list[tuple[str, Any]]:
        return [
            (name, kind(value) if is_group(value) else type_of(value))
            for name, value in items(part)
        ]

    def is_group(value: Any) -> bool:
        return dataclasses.is_dataclass(value)

    def type_of(value: Any) -> str:
        return "?" if isinstance(value, bool) else "f8"  # a float may be set to 1

    def items(part: Any) -> list[tuple[str, Any]]:
        return [(field.name, getattr(part, field.name)) for field in dataclasses.fields(part)]

    def values(part: Any) -> tuple[Any, ...]:
        return tuple(values(value) if is_group(value) else value for _, value in items(part))

    return np.array([values(config)], one_dtype(kind(config)))


@cached_njit
def keep_base(physical: Any) -> None:
    """Take the base's motion, the last two numbers, out of the simulator's action [J + 3]."""
    physical[-2], physical[-1] = 0.0, 0.0


@cached_njit
def feel_force(force: float, memory: Any, config: Any) -> tuple[float, bool]:
    """Accumulate contact force as habitat-lab does: only increases above a noise floor count.

    Args:
        force: In this step [N].
        memory: The task's record of the world.
        config: ForceConfig as a record.

    Returns:
        The reward (zero or negative, end penalty included), and whether a limit was exceeded.
    """
    added = force - memory.force
    if added <= config.noise_floor:
        added = 0.0
    memory.force = force
    memory.accumulated_force += added
    accumulated, instant = config.accumulated_limit, config.instant_limit
    exceeded = (0.0 <= accumulated < memory.accumulated_force) or (0.0 <= instant < force)
    penalty = min(config.penalty * added, config.largest_penalty)
    return -(penalty + config.end_penalty * exceeded), exceeded
