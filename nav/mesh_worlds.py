"""N agents side by side in Habitat's scenes: the interface of `AgentWorlds`, on engines of habitat-sim.

Each agent has an engine in a process of its own (`mesh_engine.py`): habitat-sim ends its process on many
mistakes. Motion is the navmesh's, distances are its geodesic ones, images are the engine's. Poses are ours
(z up, yaw 0 along +x); what goes to an engine and comes from it is in Habitat's frame.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from nav.agent import FORWARD, LEFT, LOOK_DOWN, LOOK_UP, RIGHT, AgentConfig, wrap
from nav.episode import NavEpisode
from nav.habitat import to_habitat
from nav.scene import Places, Point
from nav.worlds import AgentWorlds
from rearrange.errors import UserError
from rearrange.habitat.process import EngineProcess, check_installed, render_device

ENGINE = Path(__file__).with_name("mesh_engine.py")
SHORTER = 1e-4  # [m], by which a way is cut off at least where an obstacle stopped it


class MeshWorlds(AgentWorlds):
    """N agents; attributes as of `AgentWorlds`, and `heights`: of the floor under them [N], m."""

    ON_DEVICE = False

    def __init__(self, count: int, config: AgentConfig) -> None:
        """Allocate the state; engines start when their agents begin an episode.

        Raises:
            UserError: habitat-sim is not installed, or the agent asks for what it cannot do.
        """
        check_installed()
        super().__init__(count, config)
        if config.goal_mask:
            raise UserError(
                "agent.goal_mask: Habitat's scenes come without our labels: set agent.goal_mask=false "
                "agent.rgb=true"
            )
        self.heights = np.zeros(count)
        self._engines: list[EngineProcess | None] = [None] * count

    # --- episodes -----------------------------------------------------------------------------------

    def lengths(
        self, i: int, episode: NavEpisode, goal: Point | Places | None
    ) -> tuple[float, float]:
        """See `AgentWorlds`; loads the scene in the engine of agent i."""
        engine = self._load(i, episode)
        goals, start = _goals(goal), _start(episode)
        engine.ask("distance", start, goals)
        return engine.answer(), float(np.linalg.norm(goals - start, axis=1).min())

    def begin(self, i: int, episode: NavEpisode, goal: Point | Places | None) -> None:
        """See `AgentWorlds`."""
        engine = self._load(i, episode)
        engine.ask("begin", _start(episode), _goals(goal))
        self.poses[i, 2], self.tilts[i] = episode.start[2], 0.0
        self._read(i, engine.answer())
        self.travelled[i], self.blocked[i] = 0.0, False

    def _load(self, i: int, episode: NavEpisode) -> EngineProcess:
        """The engine of agent i, in the episode's scene."""
        if episode.mesh is None:
            raise UserError(
                f"episode '{episode.episode_id}' is in {episode.building}, not in a scene of Habitat"
            )
        engine = self._engines[i]
        if engine is None or not engine.alive:
            engine = self._engines[i] = EngineProcess(self._settings(), f"agent {i}", ENGINE)
        engine.ask("load", episode.mesh.file, episode.mesh.dataset)
        engine.answer()
        return engine

    def _settings(self) -> dict[str, float | bool]:
        """Settings for `mesh_engine.Engine`."""
        config = self.config
        return {
            "radius": config.radius,
            "height": config.camera_height,
            "slide": config.slide,
            "size": config.camera_size,
            "field_of_view": config.field_of_view,
            "rgb": config.rgb,
            "device": render_device(),
        }

    def _engine(self, i: int) -> EngineProcess:
        engine = self._engines[i]
        if engine is None:
            raise RuntimeError(f"agent {i} has not begun an episode")
        return engine

    def close(self) -> None:
        """End the engines; safe to call twice."""
        for engine in self._engines:
            if engine is not None:
                engine.close()
        self._engines = [None] * len(self._engines)

    # --- motion -------------------------------------------------------------------------------------

    def step(self, actions: np.ndarray) -> None:
        """Carry out one action of each agent [N], all at the same time; see nav.agent."""
        turn, tilt, limit = np.radians((self.config.turn, self.config.tilt, self.config.tilt_limit))
        self.travelled[:], self.blocked[:] = 0.0, False
        moving = np.flatnonzero(np.asarray(actions) == FORWARD).tolist()
        for i in moving:
            self._engine(i).ask("move", self._ahead(i, 0.0))
        for i, action in enumerate(np.asarray(actions).tolist()):
            if action in (LEFT, RIGHT):
                self.poses[i, 2] = wrap(self.poses[i, 2] + (turn if action == LEFT else -turn))
            elif action in (LOOK_UP, LOOK_DOWN):
                tilted = self.tilts[i] + (tilt if action == LOOK_UP else -tilt)
                self.tilts[i] = np.clip(tilted, -limit, limit)
        for i in moving:
            before = np.array((*self.poses[i, :2], self.heights[i]))
            self._read(i, self._engine(i).answer())
            after = np.array((*self.poses[i, :2], self.heights[i]))
            self.travelled[i] = np.linalg.norm(after - before)
            level = float(np.hypot(*(after - before)[:2]))
            self.blocked[i] = level < self.config.forward - SHORTER

    def outlook(self, i: int, turns: np.ndarray) -> np.ndarray:
        """Geodesic distances [K] (m) of agent i after a step in directions beside its own [K], rad."""
        engine = self._engine(i)
        engine.ask("outlook", [self._ahead(i, turn) for turn in turns.tolist()])
        return np.array(engine.answer())

    def _ahead(self, i: int, turn: float) -> tuple[float, float, float]:
        """A step of agent i in Habitat's frame, turned to the left by an angle [rad]."""
        yaw, step = self.poses[i, 2] + turn, self.config.forward
        return (step * math.cos(yaw), 0.0, -step * math.sin(yaw))

    def _read(self, i: int, told: list[float]) -> None:
        """Take over where an engine says that agent i is."""
        x, height, z, distance = told
        self.poses[i, :2], self.heights[i] = (x, -z), height
        # Where a step ends on the edge of the floor no way may be found.
        if math.isfinite(distance):
            self.distances[i] = distance

    # --- images -------------------------------------------------------------------------------------

    def categories_in_view(self) -> np.ndarray:
        """Unknown here: raises a UserError."""
        raise UserError("Habitat's scenes come without our labels, which the frontier agent needs")

    def draw(self, images: dict[str, np.ndarray], ids: np.ndarray | None = None) -> None:
        """See `AgentWorlds`; where the scene has a hole, depth is the greatest."""
        drawn = range(len(self.poses)) if ids is None else ids.tolist()
        for i in drawn:
            self._engine(i).ask("render", *self._camera(i))
        size = self.config.camera_size
        for i in drawn:
            depth, *colours = self._engine(i).answer()
            seen = np.frombuffer(depth, np.float32).reshape(size, size, 1) / self.config.depth_range
            images["depth"][i] = np.where(seen > 0.0, np.minimum(seen, 1.0), 1.0)
            if colours:
                images["rgb"][i] = np.frombuffer(colours[0], np.uint8).reshape(size, size, 4)[
                    ..., :3
                ]

    def _camera(self, i: int) -> tuple[list[float], tuple[float, ...]]:
        """Position and rotation x, y, z, w of the camera of agent i in Habitat's frame."""
        x, y, yaw = self.poses[i].tolist()
        position, (_, turned, _, ahead) = to_habitat((x, y, yaw))
        position[1] = float(self.heights[i]) + self.config.camera_height
        tilt = float(self.tilts[i]) / 2
        level, up = math.cos(tilt), math.sin(tilt)
        return position, (ahead * up, turned * level, -turned * up, ahead * level)


def _start(episode: NavEpisode) -> np.ndarray:
    """Start position of an episode [3], in Habitat's frame."""
    assert episode.mesh is not None
    x, y, _ = episode.start
    return np.array((x, episode.mesh.start_height, -y))


def _goals(goal: Point | Places | None) -> np.ndarray:
    """Goals [G, 3] in Habitat's frame; of ours they are x, y and the floor's height."""
    assert isinstance(goal, Places)
    x, y, height = goal.points.T
    return np.stack((x, height, -y), axis=1)
