"""Agents that act on the live page, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from live.episodes import Asked, Episodes, came_of
from live.navigation import Walker
from live.page import Show
from live.plan import beliefs_of, ending_of, lines_of, plan_of
from live.steering import UNLIMITED, Steering
from planner.evaluation import EpisodeRunner, EvaluationSettings
from planner.record import Moment
from planner.replanning import ReplanSettings
from planner.rules import ExecutiveSettings
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.robot import find_robot
from rearrange.robot.actions import HOLD
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.tasks import default_config, household_names
from skills.learned import PolicyRunner
from skills.nav_players import nav_player
from skills.navigation import navigation_names
from skills.players import OraclePlayer, PolicyPlayer, RandomPlayer
from skills.registry import shipped_policy
from skills.settings import CHECKPOINTS
from skills.sight import WorldEye, eye_of


class Agent(Protocol):
    """Plays episodes in a world of its own."""

    def play(self, number: int, show: Show) -> str:
        """Play an episode, the same one whoever acts.

        Args:
            number: Of it.
            show: Called after every step.

        Returns:
            What came of it, in a few words.
        """
        ...


def make_agent(
    name: str,
    episodes: Episodes,
    page: Any,
    policy: Path | None = None,
    new_plans: int = 0,
    redrives: int = 0,
) -> Agent:
    """An agent in a task.

    Args:
        name: One of `live.__main__.AGENTS`.
        episodes: Of the task.
        page: Where "drive" puts what it is steered by, see `live.page.Page`.
        policy: Checkpoint of "policy"; None: the shipped one.
        new_plans: In an episode of a chore, at most.
        redrives: New drives in a row, likewise; see `planner.rules.ExecutiveSettings`.

    Raises:
        UserError: It cannot do the task.
    """
    task, split = episodes.task, episodes.split
    if task in navigation_names():
        if name == "drive":
            return Walker(task, split, page)
        return Player(episodes.asked, nav_player(task, name, split, DEFAULT_HOMES, policy), page)
    if name == "frontier":
        raise UserError("--agent frontier explores in objectnav alone")
    if name == "zero":
        return Driver(episodes, stand)
    if name == "drive":
        return Driver(episodes, Steering(page, find_robot()), UNLIMITED)
    if name == "random":
        return Player(episodes.asked, RandomPlayer(task, split), page)
    if task in household_names() and policy is None:
        skills = {"oracle": "oracle", "policy": "learned"}[name]
        settings = EvaluationSettings(
            task,
            split=split,
            skills=skills,
            dataset=episodes.file,
            executive=ExecutiveSettings(redrives=redrives),
            replanning=ReplanSettings(limit=new_plans),
        )
        return Planner(settings, episodes.count)
    if name == "oracle":
        return Player(episodes.asked, OraclePlayer(task, split), page)
    path = policy or shipped_policy(task, CHECKPOINTS)
    # In whose homes the episodes are
    player = PolicyPlayer(str(path), True, split, place={"homes": DEFAULT_HOMES})
    trained = player.environment
    if not isinstance(trained, RearrangeEnv) or trained.task.name != task:
        raise UserError(f"{path} holds a policy of another task than {task}")
    return Player(episodes.asked, player, page)


class Player:
    """One of `skills.players` or `skills.nav_players`, which evaluations have, too."""

    def __init__(self, asked: Asked, player: Any, page: Any) -> None:
        """Take the player; the page, if there is one, gets the pace of its steps.

        Raises:
            UserError: It plays where nobody can look.
        """
        eye = eye_of(player.environment)
        if eye is None:
            raise UserError("only worlds of sim=mujoco can be watched")
        self._asked, self._player, self._eye = asked, player, eye
        self._file = player.runner.path if isinstance(player, PolicyPlayer) else None
        self._read = self._changed()
        if page is not None:
            page.pace.step_time = 1.0 / type(player.environment).metadata["render_fps"]

    def play(self, number: int, show: Show) -> str:
        """See Agent."""
        words = self._reload()
        seed, options = self._asked(number)
        metrics = self._player.play(seed, options, lambda world: show(self._eye.look, words))
        return came_of(metrics)

    def _changed(self) -> int:
        """The time at which the policy's file was written [ns]; 0: there is none."""
        return 0 if self._file is None else self._file.stat().st_mtime_ns

    def _reload(self) -> str:
        """Take the checkpoint's weights if they are new; says which they are."""
        if self._file is None:
            return ""
        changed = self._changed()
        if changed != self._read:
            self._read = changed
            self._player.runner = PolicyRunner(self._file, self._player.runner.deterministic)
        steps = self._player.runner.policy.metadata.get("steps")
        return "" if steps is None else lines_of([f"policy of step {steps:,}"])


class Driver:
    """Acts by a function of nothing but the world."""

    def __init__(
        self,
        episodes: Episodes,
        act: Callable[[RearrangeEnv], np.ndarray],
        max_steps: int | None = None,
    ) -> None:
        """Take what acts, in the simulator's units [J + 3], and the limit of an episode, if not the task's."""
        self._episodes, self._act = episodes, act
        config = default_config(episodes.task)
        if max_steps is not None:
            config = replace(config, max_steps=max_steps)
        self._world = RearrangeEnv(episodes.task, config, episodes.split)
        self._eye = WorldEye(self._world)

    def play(self, number: int, show: Show) -> str:
        """See Agent."""
        seed, options = self._episodes.asked(number)
        self._world.reset(seed=seed, options=options)
        show(self._eye.look, "")
        info: dict[str, Any] = {}
        while "metrics" not in info:
            _, _, _, info = self._world.step_physical(self._act(self._world))
            show(self._eye.look, "")
        return came_of(info["metrics"])


def stand(world: RearrangeEnv) -> np.ndarray:
    """The action that changes nothing."""
    return world.robot.actions.physical(grip=HOLD)


class Planner:
    """A chore by plan and skills."""

    def __init__(self, settings: EvaluationSettings, count: int) -> None:
        """Make the world and its skills; `count` as of Episodes."""
        self._runner, self._count = EpisodeRunner(settings), count
        self._eye: WorldEye | None = None

    def play(self, number: int, show: Show) -> str:
        """See Agent."""

        def observe(world: RearrangeEnv, moment: Moment) -> None:
            if self._eye is None:
                self._eye = WorldEye(world)
            show(self._eye.look, plan_of(moment), beliefs_of(world, moment))

        number = number % self._count if self._count else number
        return ending_of(self._runner.play(number, observers=[observe]).execution)
