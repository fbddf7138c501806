"""Agents that act on the live page, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from planner.evaluation import EpisodeRunner, EvaluationSettings, episode_seed
from planner.record import Moment
from rearrange.env import RearrangeEnv
from rearrange.robot import RobotSpec
from rearrange.robot.actions import HOLD, LET_GO
from rearrange.tasks import household_names
from skills.players import OraclePlayer, PolicyPlayer, RandomPlayer
from skills.registry import shipped_policy
from skills.settings import CHECKPOINTS

Show = Callable[[RearrangeEnv, str], None]


class Agent(Protocol):
    """Plays episodes in a world of its own."""

    def play(self, number: int, show: Show) -> None:
        """Play an episode, the same one whoever acts; `show` is called after every 1/30 s."""
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
    if name == "zero":
        return Driver(RearrangeEnv(task, split=split), stand)
    if name == "sliders":
        world = RearrangeEnv(task, split=split)
        return Driver(world, Sliders(page, world.robot))
    if name == "random":
        return Player(RandomPlayer(task, split))
    if task in household_names():
        return Planner(task, split, {"oracle": "oracle", "policy": "learned"}[name])
    if name == "oracle":
        return Player(OraclePlayer(task, split))
    return Player(PolicyPlayer(str(shipped_policy(task, CHECKPOINTS)), True, split))


def seed_of(task: str, number: int) -> int:
    """Return the seed of an episode; in a scenario that of `planner.eval`."""
    return episode_seed(0, number) if task in household_names() else number


class Player:
    """One of `skills.players`, which evaluations have, too."""

    def __init__(self, player: Any) -> None:
        """Take the player."""
        self._player = player

    def play(self, number: int, show: Show) -> None:
        """See Agent."""
        seed = seed_of(self._player.environment.task.name, number)
        self._player.play(seed, None, lambda world: show(world, ""))


class Driver:
    """Acts by a function of nothing but the world's action space."""

    def __init__(self, world: RearrangeEnv, act: Callable[[RearrangeEnv], np.ndarray]) -> None:
        """Take the world and what acts in it, in the simulator's units [J + 3]."""
        self.world, self.act = world, act

    def play(self, number: int, show: Show) -> None:
        """See Agent."""
        self.world.reset(seed=seed_of(self.world.task.name, number))
        show(self.world, "")
        over = False
        while not over:
            _, terminated, truncated, _ = self.world.step_physical(self.act(self.world))
            over = terminated or truncated
            show(self.world, "")


def stand(world: RearrangeEnv) -> np.ndarray:
    """The action that changes nothing."""
    return world.robot.actions.physical(grip=HOLD)


class Planner:
    """A chore by plan and skills."""

    def __init__(self, task: str, split: str, skills: str) -> None:
        """Make the world and its skills."""
        self.runner = EpisodeRunner(EvaluationSettings(task, split=split, skills=skills))

    def play(self, number: int, show: Show) -> None:
        """See Agent."""
        self.runner.play(number, observers=[lambda world, moment: show(world, plan_of(moment))])


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

    def __init__(self, page: Any, robot: RobotSpec) -> None:
        """Put the sliders on the page."""
        self._layout = layout = robot.actions
        gui = page.server.gui
        page.folder.visible = True
        with page.folder:
            self._sliders = {
                name: gui.add_slider(name.replace("_", " "), -1.0, 1.0, 0.05, 0.0)
                for name in (*layout.names[layout.base], *layout.names[layout.arm])
            }
            self._grip = gui.add_checkbox("suction", False)
            still = gui.add_button("stand still")

        @still.on_click
        def _(event: Any) -> None:
            for slider in self._sliders.values():
                slider.value = 0.0

    def __call__(self, world: RearrangeEnv) -> np.ndarray:
        """The action that the sliders ask for."""
        layout = self._layout
        action = layout.physical()
        for name, slider in self._sliders.items():
            action[layout.names.index(name)] = slider.value
        action *= world.task.action.scale(layout)
        action[layout.grip] = HOLD if self._grip.value else LET_GO
        return action
