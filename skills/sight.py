"""A world at one moment, as far as it is shown: plain data that other processes can read."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from nav.agent import ACTION_NAMES, CPU
from nav.env import NavEnv, NavVectorEnv
from nav.episode import NavEpisode
from nav.worlds import AgentWorlds
from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.errors import UserError
from rearrange.render.overlay import colour_depth
from rearrange.sim.base import NOTHING
from rearrange.sim.mujoco import MujocoSimulator

FARTHEST = 5.0  # [m] in the colours of depth
ROOM, FLOOR = "rearrange", "nav"  # kinds of worlds: with physics, and without
GOAL_HEIGHT = 0.3  # [m], where the mark of a goal on the floor floats

Point = tuple[float, float, float]


@dataclass(frozen=True)
class Sight:
    """A world at one moment.

    Attributes:
        kind: ROOM or FLOOR.
        task: Its name.
        home: Layout and variation; of FLOOR the name of a building.
        episode: Identifies the episode.
        step: Of the episode.
        max_steps: After which it ends.
        told: What else there is to say, in a few words.
        base: x, y, yaw of the robot [m, m, rad].
        robot: Its name; "": the agent of a navigation task.
        slots: Objects that are there, the others are parked.
        goals: Where something shall get to [G, 3], m.
        rewards: Terms of the step before.
        action: Of the step before, each in [-1, 1].
        poses: Positions [m] and quaternions wxyz of all bodies [B, 7] float32.
        picture: From the head's camera [H, W, 3] uint8; None: nobody asked for it.
    """

    kind: str
    task: str
    home: str
    episode: str
    step: int
    max_steps: int
    told: str
    base: Point
    robot: str = ""
    slots: tuple[int, ...] = ()
    goals: tuple[Point, ...] = ()
    rewards: dict[str, float] = field(default_factory=dict)
    action: dict[str, float] = field(default_factory=dict)
    poses: np.ndarray = field(default_factory=lambda: np.zeros((0, 7), np.float32))
    picture: np.ndarray | None = None

    @property
    def scene(self) -> tuple[Any, ...]:
        """Changes with what has to be drawn anew."""
        return self.kind, self.robot, self.home, self.episode, self.slots, self.goals

    def to_bytes(self) -> bytes:
        """All of it; `from_bytes` reads it."""
        plain = asdict(replace(self, poses=np.zeros(0), picture=None))
        size = None if self.picture is None else self.picture.shape[:2]
        plain |= {"poses": len(self.poses), "picture": size}
        head = json.dumps(plain).encode() + b"\n"
        picture = b"" if self.picture is None else self.picture.tobytes()
        return head + self.poses.astype(np.float32).tobytes() + picture

    @classmethod
    def from_bytes(cls, data: bytes) -> Sight:
        """Read what `to_bytes` has written."""
        head, _, rest = data.partition(b"\n")
        plain = json.loads(head)
        end, size = 4 * 7 * plain["poses"], plain["picture"]
        plain["poses"] = np.frombuffer(rest[:end], np.float32).reshape(-1, 7)
        if size is not None:
            plain["picture"] = np.frombuffer(rest[end:], np.uint8).reshape(*size, 3)
        for name in ("base", "slots"):
            plain[name] = tuple(plain[name])
        plain["goals"] = tuple(map(tuple, plain["goals"]))
        return cls(**plain)


class Eye(Protocol):
    """Looks at worlds that somebody else steps."""

    def look(self, size: int | None = None, i: int = 0) -> Sight:
        """World i now.

        Args:
            size: Of the picture [pixels]; None: none, 0: as the policy's.
            i: Which, where there are many side by side.
        """
        ...


class WorldEye:
    """Looks at worlds of a skill or a scenario, on the MuJoCo simulator."""

    def __init__(self, env: RearrangeEnv | RearrangeVectorEnv) -> None:
        """Take the worlds, and note from now on which actions their simulator carries out.

        Raises:
            UserError: They are on another simulator.
        """
        self._worlds = env._worlds  # all of it: an onlooker decides nothing
        simulator = self._worlds.simulator
        if not isinstance(simulator, MujocoSimulator):
            raise UserError("only worlds of sim=mujoco can be watched")
        self._simulator, self._robot = simulator, simulator.state.robot
        shape = simulator.world_count, self._robot.actions.physical_size
        self._taken = np.full(shape, np.nan)  # nothing noted yet
        self._step = simulator.step
        simulator.step = self._noted_step

    def _noted_step(self, action: np.ndarray) -> None:
        """The simulator's own step, whoever acts."""
        self._taken[:] = action
        self._step(action)

    def look(self, size: int | None = None, i: int = 0) -> Sight:
        """See Eye."""
        worlds, simulator = self._worlds, self._simulator
        episode, state, data = worlds.episodes[i], worlds.state, simulator.data[i]
        assert data is not None
        assert episode is not None
        picture = None
        if size is not None:
            picture = colour_depth(simulator.render_depth(size or None, ids=[i])[0], 0.0, FARTHEST)
        x, y, yaw = state.base_pose[i].tolist()
        return Sight(
            kind=ROOM,
            task=worlds.task.name,
            home=f"{episode.layout}/{episode.variation}",
            episode=f"{episode.episode_id} {episode.seed} {episode.base_pose}",
            step=int(worlds.steps[i]),
            max_steps=int(worlds.task.max_steps),
            told=f"{self._in_hand(i)} in the hand, force {state.contact_force[i]:.0f} N",
            base=(x, y, yaw),
            robot=self._robot.name,
            slots=tuple(sorted(episode.objects)),
            goals=tuple(map(_point, (target.goal for target in episode.targets))),
            rewards=self._rewards(i),
            action=self._action(i),
            poses=np.hstack([data.xpos, data.xquat]).astype(np.float32),
            picture=picture,
        )

    def _in_hand(self, i: int) -> str:
        state = self._worlds.state
        held, handle = int(state.held_object[i]), int(state.held_handle[i])
        if held != NOTHING:
            return f"object {held}"
        return "nothing" if handle == NOTHING else f"handle of {state.scene.joints[handle]}"

    def _rewards(self, i: int) -> dict[str, float]:
        """Terms of the last step; none before the first."""
        if not self._worlds.steps[i]:
            return {}
        terms = self._worlds.task.outcome.rewards
        return {name: float(value[i]) for name, value in terms.items()}

    def _action(self, i: int) -> dict[str, float]:
        """The last action in units of the largest; none before the first that was noted."""
        taken = self._taken[i]
        if not self._worlds.steps[i] or np.isnan(taken).any():
            return {}
        layout = self._robot.actions
        scale = self._worlds.task.action.scale(layout)
        action = np.clip(taken / np.where(scale > 0.0, scale, 1.0), -1.0, 1.0)
        action[layout.grip] = np.sign(taken[layout.grip])
        return dict(zip(layout.names, action.tolist(), strict=False))  # all but the stop


class AgentEye:
    """Looks at agents of a navigation task in our buildings; each is body 1."""

    def __init__(self, env: NavEnv | NavVectorEnv) -> None:
        """Take the agents.

        Raises:
            UserError: They are in one of Habitat's scenes.
        """
        if env._worlds.files is not None:
            raise UserError("only agents in our own buildings can be watched: leave sim= out")
        self._runs, self._cameras = env._worlds, dict[int, AgentWorlds]()

    def look(self, size: int | None = None, i: int = 0) -> Sight:
        """See Eye."""
        runs, episode = self._runs, self._runs.episodes[i]
        assert episode is not None
        x, y, yaw = runs.worlds.poses[i].tolist()
        distance, step = float(runs.worlds.distances[i]), int(runs.steps[i])
        told = [] if episode.category is None else [f"looks for: {episode.category}"]
        told += [] if math.isnan(distance) else [f"{distance:.1f} m to go"]
        pose = (x, y, 0.0, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        action = int(runs.actions[i]) if step else -1
        return Sight(
            kind=FLOOR,
            task=runs.task.name,
            home=episode.building,
            episode=f"{episode.episode_id} {episode.start}",
            step=step,
            max_steps=int(runs.task.max_steps),
            told=", ".join(told),
            base=(x, y, yaw),
            goals=self._goals(i, episode),
            rewards={"reward": float(runs.rewards[i])} if step else {},
            action={name: float(action == k) for k, name in enumerate(ACTION_NAMES)},
            poses=np.array([(0, 0, 0, 1, 0, 0, 0), pose], np.float32),
            picture=None if size is None else self._picture(size, i, episode),
        )

    def _goals(self, i: int, episode: NavEpisode) -> tuple[Point, ...]:
        """The goal, or the middles of all that is looked for."""
        if episode.goal is not None:
            return ((*episode.goal, GOAL_HEIGHT),)
        things = self._runs.worlds.scene(i).objects
        return tuple(each.position for each in things if each.category == episode.category)

    def _picture(self, size: int, i: int, episode: NavEpisode) -> np.ndarray:
        """Depth in colours, and beside it the colours that the agent sees, if it sees any."""
        worlds, config = self._runs.worlds, self._runs.worlds.config
        size = size or config.camera_size
        if size not in self._cameras:
            changed = replace(config, camera_size=size, goal_mask=False, segmenter="", draw_on=CPU)
            self._cameras[size] = AgentWorlds(1, changed)
        camera = self._cameras[size]
        x, y, yaw = worlds.poses[i].tolist()
        camera.place(0, episode.building, (x, y, yaw))
        camera.tilts[0] = worlds.tilts[i]
        images = camera.new_images()
        camera.draw(images)
        depth = colour_depth(images["depth"][0, ..., 0] * config.depth_range, 0.0, FARTHEST)
        return np.hstack([depth, images["rgb"][0]]) if "rgb" in images else depth


def eye_of(env: Any) -> Eye | None:
    """An eye for an environment of ours; None for others."""
    if isinstance(env, NavEnv | NavVectorEnv):
        return AgentEye(env)
    return WorldEye(env) if isinstance(env, RearrangeEnv | RearrangeVectorEnv) else None


def _point(place: Any) -> Point:
    x, y, z = (float(value) for value in place)
    return x, y, z
