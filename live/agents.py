"""Who acts on the page, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from planner.evaluation import EpisodeRunner, EvaluationSettings
from planner.record import Moment
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.robot.actions import (
    ACTION_NAMES,
    FORWARD,
    GRIP,
    HOLD,
    LET_GO,
    PHYSICAL_ACTION_SIZE,
    TURN,
)
from rearrange.robot.kinematics import JOINT_COUNT
from rearrange.tasks import HOUSEHOLD_NAMES
from skills.learned import load_policy
from skills.oracle.skill import begin_oracle
from skills.players import argument_of

Show = Callable[[RearrangeEnv, str], None]


class Agent(Protocol):
    """Plays episodes in a world of its own."""

    def play(self, seed: int, show: Show) -> None:
        """Play one episode; `show` is called after every 1/30 s."""
        ...


def make_agent(name: str, task: str, split: str, page: Any) -> Agent:
    """An agent in a task.

    Args:
        name: One of `live.__main__.AGENTS`.
        task: A skill or a household scenario.
        split: Which homes.
        page: Where "sliders" puts its sliders, see `live.page.Page`.

    Raises:
        UserError: It cannot do the task.
    """
    if task in HOUSEHOLD_NAMES and name in ("oracle", "policy"):
        return Planner(task, split, {"oracle": "oracle", "policy": "learned"}[name])
    if name == "policy":
        return Policy(task, split)
    world = RearrangeEnv(task, split=split)
    if name == "oracle":
        return Oracle(world)
    return Driver(world, Sliders(page) if name == "sliders" else _ACTIONS[name])


class Driver:
    """Acts by a function of nothing but the world's action space."""

    def __init__(self, world: RearrangeEnv, act: Callable[[RearrangeEnv], np.ndarray]) -> None:
        """Take the world and what acts in it, in the simulator's units [10]."""
        self.world, self.act = world, act

    def play(self, seed: int, show: Show) -> None:
        """See Agent."""
        self.world.reset(seed=seed)
        self.world.action_space.seed(seed)
        show(self.world, "")
        over = False
        while not over:
            _, terminated, truncated, _ = self.world.step_physical(self.act(self.world))
            over = terminated or truncated
            show(self.world, "")


def stand(world: RearrangeEnv) -> np.ndarray:
    """The action that changes nothing."""
    del world
    action = np.zeros(PHYSICAL_ACTION_SIZE)
    action[GRIP] = HOLD
    return action


def at_random(world: RearrangeEnv) -> np.ndarray:
    """An action that is uniform in the task's range."""
    action = np.zeros(PHYSICAL_ACTION_SIZE + 1)
    action[world.task.action_slice] = world.action_space.sample()
    return action[:PHYSICAL_ACTION_SIZE] * world.task.action.scale()


_ACTIONS = {"zero": stand, "random": at_random}


class Oracle:
    """A skill's oracle."""

    def __init__(self, world: RearrangeEnv) -> None:
        """Take the world of the skill."""
        self.world = world

    def play(self, seed: int, show: Show) -> None:
        """See Agent."""
        world = self.world
        world.reset(seed=seed)
        name = world.task.name
        show(world, "")
        oracle = begin_oracle(name, world, argument_of(name, world.episode))
        over = False
        while not over:
            action, stop = oracle.act(world.state, 0), oracle.done(world.state, 0)
            _, terminated, truncated, _ = world.step_physical(action, stop)
            over = terminated or truncated
            show(world, "oracle")


class Policy:
    """A shipped policy, or one's own by its path."""

    def __init__(self, name: str, split: str) -> None:
        """Load it and make the environment that it knows."""
        self.policy = load_policy(name)
        self.world = self.policy.make_env(split)
        if not isinstance(self.world, RearrangeEnv):
            raise UserError(f"{name} has no world in 3D: take a skill or a household scenario")

    def play(self, seed: int, show: Show) -> None:
        """See Agent."""
        observation, _ = self.world.reset(seed=seed)
        self.policy.restart()
        show(self.world, "")
        self.world.after_step = lambda world: show(world, "policy")
        over = False
        while not over:
            observation, _, terminated, truncated, _ = self.world.step(self.policy.act(observation))
            over = terminated or truncated


class Planner:
    """A chore by plan and skills."""

    def __init__(self, task: str, split: str, skills: str) -> None:
        """Make the world and its skills."""
        self.runner = EpisodeRunner(EvaluationSettings(task, split=split, skills=skills))

    def play(self, seed: int, show: Show) -> None:
        """See Agent."""
        self.runner.play(seed, observers=[lambda world, moment: show(world, plan_of(moment))])


def plan_of(moment: Moment) -> str:
    """The plan in Markdown: done, now, still to be done."""
    lines = []
    for index, call in enumerate(moment.calls):
        mark = "✓" if index < moment.plan_index else "▶" if index == moment.plan_index else "·"
        if index in moment.missed:
            mark = "✗"
        text = f"{mark} {call.step}"
        lines.append(f"- **{text}**" if index == moment.plan_index else f"- {text}")
    return "\n".join([f"{moment.skill}, step {moment.skill_step}", "", *lines])


class Sliders:
    """Steers by hand: a slider for every joint and motion."""

    def __init__(self, page: Any) -> None:
        """Put the sliders on the page."""
        gui = page.server.gui
        page.folder.visible = True
        with page.folder:
            self._sliders = {
                name: gui.add_slider(name.replace("_", " "), -1.0, 1.0, 0.05, 0.0)
                for name in (*ACTION_NAMES[FORWARD : TURN + 1], *ACTION_NAMES[:JOINT_COUNT])
            }
            self._grip = gui.add_checkbox("suction", False)
            still = gui.add_button("stand still")

        @still.on_click
        def _(event: Any) -> None:
            for slider in self._sliders.values():
                slider.value = 0.0

    def __call__(self, world: RearrangeEnv) -> np.ndarray:
        """The action that the sliders ask for."""
        action = np.zeros(PHYSICAL_ACTION_SIZE)
        for name, slider in self._sliders.items():
            action[ACTION_NAMES.index(name)] = slider.value
        action *= world.task.action.scale()
        action[GRIP] = HOLD if self._grip.value else LET_GO
        return action
