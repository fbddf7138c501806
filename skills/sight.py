"""A world at one moment, as far as it is shown: plain data that other processes can read."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from nav.env import NavEnv
from nav.worlds import AgentWorlds
from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.render.overlay import colour_depth
from rearrange.sim.base import NOTHING
from rearrange.sim.mujoco import MujocoSimulator

FARTHEST = 5.0  # [m] in the colours of depth
ROOM, FLOOR = "rearrange", "nav"  # kinds of worlds: with physics, and without
GOAL_HEIGHT = 0.3  # [m], where the mark of a goal on the floor floats
NAV_ACTIONS = ("stop", "forward", "left", "right", "look up", "look down")

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


class WorldEye:
    """Looks at a world of a skill or a scenario, on the MuJoCo simulator."""

    def __init__(self, world: RearrangeEnv) -> None:
        """Take the world, and note from now on which actions its simulator carries out.

        Raises:
            UserError: It is on another simulator.
        """
        if not isinstance(world.simulator, MujocoSimulator):
            raise UserError("only worlds of sim=mujoco can be watched")
        self.world, self._simulator = world, world.simulator
        self._taken = np.full(world.robot.actions.physical_size, np.nan)  # nothing noted yet
        self._step = self._simulator.step
        self._simulator.step = self._noted_step

    def _noted_step(self, action: np.ndarray) -> None:
        """The simulator's own step, whoever acts."""
        self._taken[:] = action[0]
        self._step(action)

    def look(self, size: int | None = None) -> Sight:
        """The world now.

        Args:
            size: Of the picture [pixels]; None: none, 0: as the policy's.
        """
        world, simulator = self.world, self._simulator
        episode, state, data = world.episode, world.state, simulator.data[0]
        assert data is not None
        picture = None
        if size is not None:
            picture = colour_depth(simulator.render_depth(size or None)[0], 0.0, FARTHEST)
        x, y, yaw = state.base_pose[0].tolist()
        return Sight(
            kind=ROOM,
            task=world.task.name,
            home=f"{episode.layout}/{episode.variation}",
            episode=f"{episode.episode_id} {episode.seed} {episode.base_pose}",
            step=world.elapsed_steps,
            max_steps=int(world.task.max_steps),
            told=f"{self._in_hand()} in the hand, force {state.contact_force[0]:.0f} N",
            base=(x, y, yaw),
            robot=world.robot.name,
            slots=tuple(sorted(episode.objects)),
            goals=tuple(map(_point, (target.goal for target in episode.targets))),
            rewards=self._rewards(),
            action=self._action(),
            poses=np.hstack([data.xpos, data.xquat]).astype(np.float32),
            picture=picture,
        )

    def _in_hand(self) -> str:
        state = self.world.state
        held, handle = int(state.held_object[0]), int(state.held_handle[0])
        if held != NOTHING:
            return f"object {held}"
        return "nothing" if handle == NOTHING else f"handle of {state.scene.joints[handle]}"

    def _rewards(self) -> dict[str, float]:
        """Terms of the last step; none before the first."""
        if not self.world.elapsed_steps:
            return {}
        terms = self.world.task.outcome.rewards
        return {name: float(value[0]) for name, value in terms.items()}

    def _action(self) -> dict[str, float]:
        """The last action in units of the largest; none before the first that was noted."""
        if not self.world.elapsed_steps or np.isnan(self._taken).any():
            return {}
        layout = self.world.robot.actions
        scale = self.world.task.action.scale(layout)
        action = np.clip(self._taken / np.where(scale > 0.0, scale, 1.0), -1.0, 1.0)
        action[layout.grip] = np.sign(self._taken[layout.grip])
        return dict(zip(layout.names, action.tolist(), strict=False))  # all but the stop


class AgentEye:
    """Looks at an agent of a navigation task in our buildings; the agent is body 1."""

    def __init__(self, env: NavEnv) -> None:
        """Take the environment.

        Raises:
            UserError: It is in one of Habitat's scenes.
        """
        if not isinstance(env.worlds, AgentWorlds):
            raise UserError("only agents in our own buildings can be watched: leave dataset= out")
        self.env, self._cameras = env, dict[int, AgentWorlds]()

    def look(self, size: int | None = None) -> Sight:
        """See WorldEye."""
        env, episode = self.env, self.env.episode
        x, y, yaw = env.worlds.poses[0].tolist()
        distance = float(env.worlds.distances[0])
        told = [] if episode.category is None else [f"looks for: {episode.category}"]
        told += [] if math.isnan(distance) else [f"{distance:.1f} m to go"]
        pose = (x, y, 0.0, math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
        return Sight(
            kind=FLOOR,
            task=env.task.name,
            home=episode.building,
            episode=f"{episode.episode_id} {episode.start}",
            step=env.elapsed_steps,
            max_steps=int(env.task.max_steps),
            told=", ".join(told),
            base=(x, y, yaw),
            goals=self._goals(),
            rewards={} if env.action is None else {"reward": env.reward},
            action={name: float(env.action == k) for k, name in enumerate(NAV_ACTIONS)},
            poses=np.array([(0, 0, 0, 1, 0, 0, 0), pose], np.float32),
            picture=None if size is None else self._picture(size),
        )

    def _goals(self) -> tuple[Point, ...]:
        """The goal, or the middles of all that is looked for."""
        episode = self.env.episode
        if episode.goal is not None:
            return ((*episode.goal, GOAL_HEIGHT),)
        things = self.env.worlds.scene(0).objects
        return tuple(each.position for each in things if each.category == episode.category)

    def _picture(self, size: int) -> np.ndarray:
        """Depth in colours, and beside it the colours that the agent sees, if it sees any."""
        worlds, config = self.env.worlds, self.env.worlds.config
        size = size or config.camera_size
        if size not in self._cameras:
            changed = replace(config, camera_size=size, goal_mask=False)
            self._cameras[size] = AgentWorlds(1, changed)
        camera = self._cameras[size]
        x, y, yaw = worlds.poses[0].tolist()
        camera.place(0, self.env.episode.building, (x, y, yaw))
        camera.tilts[0] = worlds.tilts[0]
        images = camera.new_images()
        camera.draw(images)
        depth = colour_depth(images["depth"][0, ..., 0] * config.depth_range, 0.0, FARTHEST)
        return np.hstack([depth, images["rgb"][0]]) if "rgb" in images else depth


def eye_of(env: Any) -> WorldEye | AgentEye:
    """The eye for an environment; UserError where its world cannot be seen."""
    return AgentEye(env) if isinstance(env, NavEnv) else WorldEye(env)


def _point(place: Any) -> Point:
    x, y, z = (float(value) for value in place)
    return x, y, z
