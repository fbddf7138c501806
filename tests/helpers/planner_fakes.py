"""A world without physics and skills without brains: what the executive can be tested with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from planner.interactions import bind
from planner.problem import build_problem
from planner.record import Moment
from planner.search import find_plan
from rearrange.episodes.episode import Episode, Target
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING, SimState

FIRST_SLOT = 3  # targets do not start at slot 0, so that slots and indices cannot be confused
OPENERS = ("open_cab", "close_cab", "open_fridge", "close_fridge")
WIDE_OPEN = {"drawer_right_top": 0.45, "fridge_door": 1.5}


def make_episode(count: int = 5, **changes) -> Episode:
    receptacles = ["table_01", "sofa", "sink", "counter_left", "chair_01"]
    targets = tuple(
        Target(
            slot=FIRST_SLOT + k,
            start=(1.0 + k, 0.0, 0.8),
            goal=(1.0 + k, 4.0, 0.5),
            start_receptacle=receptacles[k % 5],
            goal_receptacle=receptacles[(k + 1) % 5],
        )
        for k in range(count)
    )
    fields = {
        "episode_id": "val/0",
        "layout": 3,
        "variation": 7,
        "objects": {t.slot: (*t.start, 1.0, 0.0, 0.0, 0.0) for t in targets},
        "targets": targets,
        "base_pose": (0.0, 0.0, 0.0),
        "arm_joints": (0.0,) * 7,
    }
    return Episode(**{**fields, **changes})


def with_receptacles(episode: Episode, pairs: Sequence[tuple[str, str]], **changes) -> Episode:
    targets = tuple(
        replace(t, start_receptacle=start, goal_receptacle=goal)
        for t, (start, goal) in zip(episode.targets, pairs, strict=True)
    )
    return replace(episode, targets=targets, **changes)


def make_groceries_episode() -> Episode:
    pairs = [
        ("fridge_middle", "counter_left"),
        ("fridge_middle", "counter_right"),
        ("counter_left", "fridge_middle"),
    ]
    return with_receptacles(make_episode(3), pairs, articulated={"fridge_door": 1.5})


def make_table_episode() -> Episode:
    pairs = [("drawer_right_top", "table_01"), ("fridge_middle", "table_01")]
    return with_receptacles(make_episode(2), pairs)


@dataclass
class FakeWorld:
    """Holds what the gripper holds while the grip is >= 0; the base drives, and nothing else ever moves.

    Drawers come out along x and carry their handle along.

    Attributes:
        room_behind: How far the base may still drive back [m].
    """

    episode: Episode = field(default_factory=make_episode)
    force_limit_at: int | None = None
    room_behind: float = 1000.0
    actions: list[np.ndarray] = field(default_factory=list)
    closed: bool = False
    seeds: list[int] = field(default_factory=list)
    asked: list[Episode | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.load(self.episode)

    def reset(self, *, seed: int, options: dict | None = None) -> None:
        self.seeds.append(seed)
        self.asked.append((options or {}).get("episode"))
        self.load(self.episode)

    def load(self, episode: Episode) -> None:
        self.episode = episode
        self.elapsed_steps = 0
        self.actions = []
        self.robot = FETCH
        self.state = SimState(1, FETCH)
        self.state.base_pose[0] = episode.base_pose
        self.state.object_position[:] = 100.0
        for slot, pose in episode.objects.items():
            self.state.object_position[0, slot] = pose[:3]
        for joint, value in episode.articulated.items():
            self.state.articulated_joints[0, APARTMENT.joints.index(joint)] = value

    def move_joint(self, joint: str, value: float) -> None:
        index = APARTMENT.joints.index(joint)
        travel = value - self.state.articulated_joints[0, index]
        self.state.articulated_joints[0, index] = value
        self.state.handle_position[0, index, 0] += travel

    def step_physical(self, action: np.ndarray, stop: bool = False):
        self.actions.append(np.array(action))
        self.elapsed_steps += 1
        if action[7] < 0:
            self.state.held_object[0] = NOTHING
            self.state.held_handle[0] = NOTHING
        self._drive(float(action[8]))
        exceeded = self.force_limit_at is not None and self.elapsed_steps >= self.force_limit_at
        info = {"metrics": {"failure/force_limit": 1.0}} if exceeded else {}
        return 0.0, exceeded, False, info

    def _drive(self, forward: float) -> None:
        gone = max(forward, -self.room_behind)
        self.room_behind += gone if gone < 0 else 0.0
        yaw = self.state.base_pose[0, 2]
        self.state.base_pose[0, :2] += gone * np.cos(yaw), gone * np.sin(yaw)

    def close(self) -> None:
        self.closed = True


@dataclass
class FakeSkill:
    """Brings about its effect in its third step, then says that it is done.

    Attributes:
        misses: For these target indices the effect is `wrong` instead.
        wrong: A function of (world, argument), or None for no effect at all.
        never_done: For these target indices it never ends by itself.
    """

    name: str
    source: str = "fake"
    timeout: int = 10
    grip: float = 0.0
    misses: tuple[int, ...] = ()
    wrong: object = None
    never_done: tuple[int, ...] = ()
    resets: list = field(default_factory=list)
    hidden: int = 0
    entered_at: list[int] = field(default_factory=list)

    def reset(self, world, argument) -> None:
        self.resets.append(argument)
        self.entered_at.append(world.elapsed_steps)
        self.hidden = 0
        self.argument = argument

    def act(self, world) -> np.ndarray:
        self.hidden += 1
        if self.hidden == 3:
            if self.argument.target_index in self.misses:
                if self.wrong is not None:
                    self.wrong(world, self.argument)
            else:
                self.effect(world, self.argument)
        action = np.zeros(10)
        action[7] = self.grip
        return action

    def effect(self, world, argument) -> None:
        if self.name == "navigate":
            world.state.base_pose[0] = (argument.position[0] - 0.6, argument.position[1], 0.0)
        elif self.name == "pick":
            world.state.held_object[0] = argument.slot
        elif self.name == "place":
            held = world.state.held_object[0]
            if held != NOTHING:  # whatever that is
                world.state.object_position[0, held] = argument.position
            world.state.held_object[0] = NOTHING
        elif self.name.startswith("open"):
            world.move_joint(argument.joint, WIDE_OPEN[argument.joint])
        elif self.name.startswith("close"):
            world.move_joint(argument.joint, 0.0)

    def done(self, world) -> bool:
        return self.hidden >= 3 and self.argument.target_index not in self.never_done


def make_skills() -> dict[str, FakeSkill]:
    # The grips are those that would break everything without the executive's masks.
    return {
        "navigate": FakeSkill("navigate", grip=-1.0),
        "pick": FakeSkill("pick", grip=-1.0),
        "place": FakeSkill("place", grip=1.0),
        **{name: FakeSkill(name, grip=-1.0) for name in OPENERS},
        "reset_arm": FakeSkill("reset_arm", "scripted", timeout=5, grip=-1.0),
    }


@cache
def planned(close: bool = False):
    """Set Table's problem and its plan; `close` asks for closing, too."""
    task = build_problem(make_table_episode(), close)
    return task, find_plan(task.problem)


def moment_of(step: int, skill: str | None = None) -> Moment:
    """A moment of Set Table, in this step of its plan, which may be another skill's."""
    task, plan = planned(close=True)
    calls = tuple(bind(s, task.arguments, APARTMENT) for s in plan.steps)
    return Moment(calls, step, skill or calls[step].skill, calls[step].argument, 1)
