"""Agents in PointNav, ObjectNav, Flee and Explore."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from live.episodes import Asked
from live.page import Show
from live.steering import UNLIMITED, Pad
from nav.agent import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, STOP
from nav.baselines import BASELINES
from nav.env import NavEnv
from nav.flee import farthest_place
from nav.follower import Follower
from nav.pointnav import PointNav
from nav.table import default_config
from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES
from skills.learned import PolicyRunner, check_metadata
from skills.players import STOP_SHARE, has_oracle
from skills.settings import CHECKPOINTS, environments_of
from skills.sight import AgentEye

STEP_TIME = 0.2  # [s] that a step takes on the page: the agent has no clock
KEYS = {
    "forward": ("arrowup", FORWARD),
    "left": ("arrowleft", LEFT),
    "right": ("arrowright", RIGHT),
    "look up": ("pageup", LOOK_UP),
    "look down": ("pagedown", LOOK_DOWN),
    "stop: I am there": ("enter", STOP),
}

Act = Callable[[Mapping[str, np.ndarray]], int | None]  # an observation to an action; None: wait
Begin = Callable[[NavEnv, int], Act]  # of an episode with that seed


class NavAgent:
    """Plays a navigation task.

    Args:
        env: In our buildings.
        begin: Gives who acts in an episode.
        page: Whose pace is set; None: there is none.
        asked: Seed and options for `reset` of an episode by number.
    """

    def __init__(self, env: NavEnv, begin: Begin, page: Any, asked: Asked) -> None:
        self._env, self._begin, self._eye, self._asked = env, begin, AgentEye(env), asked
        if page is not None:
            page.pace.step_time = STEP_TIME

    def play(self, number: int, show: Show) -> str:
        """See `live.agents.Agent`."""
        seed, options = self._asked(number)
        torch.manual_seed(seed)
        observation, _ = self._env.reset(seed=seed, options=options)
        act = self._begin(self._env, seed)
        info: dict[str, Any] = {}
        while "metrics" not in info:
            show(self._eye.look, "")
            action = act(observation)
            if action is None:
                continue
            observation, _, _, _, info = self._env.step(action)
        show(self._eye.look, "")
        return told(info["metrics"])


def told(metrics: Mapping[str, float]) -> str:
    """The end of an episode in a few words."""
    if "success" not in metrics:
        return f"{metrics['length']:.0f} steps, score {metrics.get('score', 0.0):.2f}"
    end = "success" if metrics["success"] else "failed"
    return f"{end}, {metrics['length']:.0f} steps, SPL {metrics['spl']:.2f}"


def make_nav_agent(
    name: str,
    task: str,
    split: str,
    page: Any,
    policy: Path | None,
    asked: Asked = lambda number: (number, None),
    mean: bool = True,
    place: Mapping[str, str] | None = None,
) -> NavAgent:
    """An agent of a navigation task.

    Args:
        name: Who acts.
        task: Which.
        split: Whose buildings.
        page: See `live.agents.make_agent`.
        policy: Likewise.
        asked: Seed and options of an episode.
        mean: Take the policy's mean actions.
        place: Where it takes place, see `skills.players.PolicyPlayer`.

    Raises:
        UserError: It cannot do the task.
    """
    place = dict(place or {})
    if name == "policy":
        path = policy or CHECKPOINTS / f"{task}.safetensors"
        if not path.is_file():
            raise UserError(
                f"there is no policy {path}: give one with --policy, or another --agent"
            )
        runner = PolicyRunner(path, mean)
        check_metadata(path, runner.policy.metadata, task)
        env: Any = replace(environments_of(runner.policy.metadata, split), **place)(0, 0)
        return NavAgent(env, _policy(path, runner), page, asked)
    config = replace(default_config(task), max_steps=UNLIMITED) if name == "drive" else None
    env = NavEnv(task, config, split, place.get("homes", DEFAULT_HOMES))
    if name == "drive":
        return NavAgent(env, Keys(page), page, asked)
    if name == "oracle" and has_oracle(task):
        return NavAgent(env, follow_path, page, asked)
    if name == "random" or (name == "frontier" and task == "objectnav"):
        return NavAgent(env, _baseline(name), page, asked)
    raise UserError(f"--agent {name} cannot do {task}: take policy, random or drive")


def _baseline(name: str) -> Begin:
    def begin(env: NavEnv, seed: int) -> Act:
        agent = BASELINES[name](env, seed)
        return lambda observation: agent.act(dict(observation))

    return begin


def _policy(path: Path, runner: PolicyRunner) -> Begin:
    read = path.stat().st_mtime_ns

    def begin(env: NavEnv, seed: int) -> Act:
        nonlocal read, runner
        del env, seed
        changed = path.stat().st_mtime_ns
        if changed != read:
            read, runner = changed, PolicyRunner(path, runner.deterministic)
        runner.restart()
        return lambda observation: int(runner.act(dict(observation)))

    return begin


def follow_path(env: NavEnv, seed: int) -> Act:
    """The oracle: knows the whole floor, and stops where the task is done."""
    del seed
    episode, near = env.episode, 0.0
    scene = env.worlds.scene(0)
    if isinstance(env.task, PointNav):
        near = STOP_SHARE * env.task.config.success_distance
        goal = env.task.origin(episode)
    else:
        goal = farthest_place(scene, episode.start[:2])[0]
    follower = Follower(scene, goal, env.worlds.config)

    def act(observation: Mapping[str, np.ndarray]) -> int:
        del observation
        return STOP if env.worlds.distances[0] < near else follower.act(env.worlds.poses[0])

    return act


class Keys:
    """Steers by hand: a step for each press of a key or a button."""

    def __init__(self, page: Any) -> None:
        """Put the buttons on the page."""
        self._asked: deque[int] = deque(maxlen=2)
        pad = {name: (key, self._ask(action)) for name, (key, action) in KEYS.items()}
        Pad(page, pad)

    def _ask(self, action: int) -> Callable[[], None]:
        return lambda: self._asked.append(action)

    def __call__(self, env: NavEnv, seed: int) -> Act:
        """Begin an episode."""
        del seed
        self._asked.clear()
        space: Any = env.action_space
        there = range(int(space.start), int(space.start + space.n))

        def act(observation: Mapping[str, np.ndarray]) -> int | None:
            del observation
            action = self._asked.popleft() if self._asked else None
            return action if action in there else None

        return act
