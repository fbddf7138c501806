"""Players of navigation tasks: a policy, an agent that knows the floor, or one that has learned nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from nav.agent import STOP
from nav.baselines import BASELINES
from nav.env import NavEnv
from nav.episode_files import EpisodeSource
from nav.flee import Flee, farthest_place
from nav.follower import Follower, MeshFollower
from nav.mesh_worlds import MeshWorlds
from nav.pointnav import PointNav
from nav.scan_worlds import ScanWorlds
from nav.table import find_task
from rearrange.errors import UserError
from skills.learned import check_metadata
from skills.players import UNSEEN, PolicyPlayer
from skills.registry import shipped_policy
from skills.settings import CHECKPOINTS, ORACLE
from ver import read_metadata

FOLLOWED = PointNav, Flee  # navigation tasks that have an oracle, and those made of them
STOP_SHARE = 0.95  # of the success distance, within which the oracle stops

Observe = Callable[[NavEnv], None]  # called after every step


class FollowerPlayer:
    """Plays a navigation task knowing the whole floor: to the goal, or for Flee to the farthest place."""

    def __init__(
        self, task: str, split: str, homes: str, files: EpisodeSource | None = None
    ) -> None:
        """Make the task's environment with its defaults; `files`: in scenes of files.

        Raises:
            UserError: The task has no oracle.
        """
        check_nav_player(task, ORACLE)
        agent = replace(find_task(task).agent_config(), camera_size=UNSEEN)
        self.environment = NavEnv(task, None, split, homes, agent, files=files)

    def play(
        self, seed: int, options: dict[str, Any] | None, observe: Observe | None = None
    ) -> dict[str, Any]:
        """Play one episode; `seed` and `options` are those of `reset`. Returns its metrics."""
        env = self.environment
        env.reset(seed=seed, options=options)
        env.after_step = observe
        worlds, episode = env.worlds, env.episode
        near = 0.0
        if isinstance(env.task, PointNav):
            near = STOP_SHARE * env.task.config.success_distance
            goal = env.task.origin(episode)
            if isinstance(worlds, ScanWorlds):
                goal = worlds.on_floor(0, goal) or goal
        else:
            goal = farthest_place(worlds.scene(0), episode.start[:2])[0]
        if isinstance(worlds, MeshWorlds):
            follower = MeshFollower(worlds)
        else:
            follower = Follower(worlds.scene(0), goal, worlds.config)
        info: dict[str, Any] = {}
        while "metrics" not in info:
            arrived = worlds.distances[0] < near
            action = STOP if arrived else follower.act(worlds.poses[0])
            _, _, _, _, info = env.step(action)
        return info["metrics"]


class BaselinePlayer:
    """Plays a navigation task with an agent that has learned nothing, see `nav.baselines`."""

    def __init__(self, task: str, split: str, homes: str, who: str) -> None:
        """Make the task's environment with its defaults.

        Raises:
            UserError: There is no such baseline for the task.
        """
        check_nav_player(task, who)
        self.environment = NavEnv(task, None, split, homes)
        self._who = who

    def play(
        self, seed: int, options: dict[str, Any] | None, observe: Observe | None = None
    ) -> dict[str, Any]:
        """Play one episode; `seed` and `options` are those of `reset`. Returns its metrics."""
        env = self.environment
        observation, info = env.reset(seed=seed, options=options)
        env.after_step = observe
        agent = BASELINES[self._who](env, seed)
        while "metrics" not in info:
            observation, _, _, _, info = env.step(agent.act(observation))
        return info["metrics"]


def check_nav_player(task: str, who: str) -> None:
    """Raise a UserError where a task has no such oracle or baseline."""
    if who == ORACLE:
        there = issubclass(find_task(task), FOLLOWED)
    else:
        there = who in BASELINES and (who != "frontier" or task == "objectnav")
    if not there:
        raise UserError(f"there is no {who} player for {task}: take its policy, or random")


def nav_player(
    task: str, who: str, split: str, homes: str, policy: Path | None = None
) -> PolicyPlayer | FollowerPlayer | BaselinePlayer:
    """Make a player of a navigation task.

    Args:
        task: Its name.
        who: "policy", whose actions are the mean ones, "oracle", or one of `nav.baselines.BASELINES`.
        split: Of the buildings.
        homes: Collection of them.
        policy: Checkpoint; None: the shipped one.

    Raises:
        UserError: They cannot play it, or there is no such checkpoint.
    """
    if who == ORACLE:
        return FollowerPlayer(task, split, homes)
    if who != "policy":
        return BaselinePlayer(task, split, homes, who)
    path = policy or shipped_policy(task, CHECKPOINTS)
    if not path.is_file():
        raise UserError(f"no policy {path}: train it with scripts/train_skill.sh {task}")
    check_metadata(path, read_metadata(path), task)
    return PolicyPlayer(str(path), True, split, place={"homes": homes})
