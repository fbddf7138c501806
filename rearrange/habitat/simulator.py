"""The Habitat simulator: habitat-sim with Bullet, an engine process for each world.

The same apartments, objects and robot as in MuJoCo, rebuilt in the engine from primitives
(`scene.py`), so the same episodes and tasks run in both. What differs is physics (Bullet) and
the picture (rasterised by the engine). habitat-sim is imported by the engines' processes only.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rearrange.episodes.episode import Episode, floor_of
from rearrange.errors import UserError
from rearrange.habitat.frames import (
    from_habitat_position,
    from_habitat_rotation,
    quaternion_of,
    rotation_matrix,
    to_habitat_pose,
    to_habitat_position,
)
from rearrange.habitat.orders import base_poses, engine_scene, engine_settings, handles_of
from rearrange.habitat.process import EngineError, EngineProcess, check_installed
from rearrange.navigation.footprints import HIGHEST
from rearrange.render import look_at
from rearrange.render.camera import FAR
from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.kernels import LET_GO, TAKE, begin_step, place_camera


@dataclass
class _World:
    """One world as this process knows it."""

    engine: EngineProcess
    episode: Episode
    floor: np.ndarray  # clearance of the floor's cells
    floor_frame: np.ndarray
    slots: list[int]
    handles: list[
        int
    ]  # places in `scene.parts` of those whose handles the engine tells, in its order


class HabitatSimulator:
    """N apartments in habitat-sim; see rearrange.sim.base for the contract.

    An engine that dies raises a UserError with its last words; resetting its world starts another.
    """

    def __init__(
        self,
        world_count: int = 1,
        config: SimulatorConfig | None = None,
        scene: SceneSpec = APARTMENT,
        threads: int = 1,
    ) -> None:
        """Allocate the state; engines, each a process, start when their worlds are first reset.

        Raises:
            UserError: habitat-sim is not installed, or the settings ask for what it cannot do.
        """
        del threads
        self.config = config or SimulatorConfig()
        self.config.randomise.check()
        if self.config.randomise.draw(0) is not None:
            raise UserError(
                "sim=habitat cannot randomise: set randomise.* to 0, or take sim=mujoco"
            )
        if self.config.robot != FETCH.name:
            raise UserError(f"sim=habitat has the robot {FETCH.name} only, not {self.config.robot}")
        # The engine gets boxes and cylinders, and takes what is not seen for nothing
        if scene.file:
            raise UserError(
                f"{scene.file}: sim=habitat has our own homes and objects only: take sim=mujoco"
            )
        check_installed()
        self.world_count = world_count
        self.state = SimState(world_count, FETCH, scene)
        self._worlds: list[_World | None] = [None] * world_count
        self._arm_targets = np.zeros((world_count, len(FETCH.joints)))
        self._control = np.empty(len(FETCH.joints))
        self._mount = look_at(FETCH.camera.position, FETCH.camera.target)  # base from camera
        self._parked = np.array([scene.parked_position(slot) for slot in range(len(scene.objects))])

    # --- contract -----------------------------------------------------------------------------------

    def reset(self, world_ids: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Load the episodes into the worlds; see the contract."""
        pairs = list(zip(world_ids, episodes, strict=True))
        for i, episode in pairs:
            self._begin_reset(i, episode)
        for i, episode in pairs:
            self._end_reset(i, episode)

    def step(self, action: np.ndarray) -> None:
        """Advance all worlds by one action [N, 10], at the same time; see the contract."""
        for i in range(self.world_count):
            self._begin_step(i, action)
        for i in range(self.world_count):
            world = self._world(i)
            slipped = self._read(i, world, world.engine.answer())
            if slipped:
                self._let_go(i, world)

    def render_depth(
        self,
        size: int | None = None,
        unit: float = 1.0,
        ids: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Head camera depth [N, H, W], zeros where no world is loaded; see the contract."""
        size = size or self.config.camera_size
        which = range(self.world_count) if ids is None else ids
        depth = np.zeros((len(which), size, size), np.float32)
        for k, picture in self._pictures("depth", size, list(which)):
            seen = np.frombuffer(picture, np.float32).reshape(size, size)
            # The engine writes 0 where there is nothing.
            depth[k] = np.where(seen > 0.0, np.minimum(seen, np.float32(FAR)), np.float32(FAR))
            if unit != 1.0:
                depth[k] /= np.float32(unit)
        return depth

    def _pictures(self, kind: str, size: int, which: Sequence[int]) -> list[tuple[int, bytes]]:
        """What the head cameras of some worlds see, and where in `which` each is; of the loaded ones."""
        worlds = [(k, i, self._worlds[i]) for k, i in enumerate(which)]
        loaded = [(k, i, world) for k, i, world in worlds if world is not None]
        for _, i, world in loaded:
            position, rotation = self.camera_pose(i)
            pose = to_habitat_pose(position, quaternion_of(rotation))
            world.engine.ask("render", *pose, size, kind)
        return [(k, world.engine.answer()) for k, _, world in loaded]

    def camera_pose(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Head camera of world i: position [3] and world-from-camera rotation [3, 3]."""
        position, rotation = np.empty(3), np.empty((3, 3))
        base = self.state.base_pose[i]
        place_camera(base, FETCH.camera.position, self._mount, position, rotation)
        return position, rotation

    def close(self) -> None:
        """End the engines."""
        for world in self._worlds:
            if world is not None:
                world.engine.close()
        self._worlds = [None] * self.world_count

    # --- beyond the contract ------------------------------------------------------------------------

    def render_rgb(self, size: int | None = None) -> np.ndarray:
        """Plain colours that the head camera sees [N, H, W, 3] uint8, zeros where no world is loaded."""
        size = size or self.config.camera_size
        colours = np.zeros((self.world_count, size, size, 3), np.uint8)
        for i, picture in self._pictures("rgb", size, range(self.world_count)):
            colours[i] = np.frombuffer(picture, np.uint8).reshape(size, size, 4)[..., :3]
        return colours

    def geodesics(self, i: int, starts: np.ndarray, goal: Any, radius: float) -> np.ndarray:
        """Distances over the engine's navmesh of world i, its doors and objects left out [N], m.

        Tasks take those of our grid (`rearrange.navigation`); these are worked out anew at each call.

        Args:
            i: Which world.
            starts: x, y of places [N, 2], m.
            goal: x, y of another [2], m.
            radius: Of a disc that shall get through [m].
        """
        places = to_habitat_position(np.column_stack([starts, np.zeros(len(starts))]))
        end = to_habitat_position((*goal, 0.0))
        engine = self._world(i).engine
        engine.ask("geodesics", places, end, radius, HIGHEST)
        return np.array(engine.answer())

    def engine_ids(self) -> list[int]:
        """Process ids of the running engines."""
        return [world.engine.pid for world in self._worlds if world and world.engine.alive]

    # --- one world ----------------------------------------------------------------------------------

    def _world(self, i: int) -> _World:
        world = self._worlds[i]
        if world is None:
            raise RuntimeError(f"world {i} was never reset: call reset([{i}], [episode]) first")
        return world

    def _begin_reset(self, i: int, episode: Episode) -> None:
        """Start the engine, if none is running, and let it load the episode."""
        world = self._worlds[i]
        engine = world.engine if world is not None and world.engine.alive else self._start(i)
        grid = floor_of(episode)
        frame = np.array([*grid.origin, grid.cell], dtype=float)
        slots, handles = sorted(episode.objects), handles_of(episode)
        world = _World(engine, episode, grid.clearance, frame, slots, handles)
        self._worlds[i] = world
        engine.ask("reset", engine_scene(episode))

    def _start(self, i: int) -> EngineProcess:
        return EngineProcess(engine_settings(), f"world {i}")

    def _end_reset(self, i: int, episode: Episode) -> None:
        world, state = self._world(i), self.state
        self._arm_targets[i] = episode.arm_joints
        state.base_pose[i] = episode.base_pose
        state.base_blocked[i] = False
        state.held_object[i] = NOTHING if episode.held_slot is None else episode.held_slot
        state.held_handle[i] = NOTHING
        state.articulated_joints[i], state.handle_position[i] = 0.0, self._parked[0]
        state.object_position[i] = self._parked
        state.object_rotation[i] = (1.0, 0.0, 0.0, 0.0)
        self._read(i, world, world.engine.answer())
        state.hold_violated[i] = False

    def _begin_step(self, i: int, action: np.ndarray) -> None:
        """Send the action of world i to its engine."""
        world, state = self._world(i), self.state
        motion = np.empty(6)
        change = begin_step(
            state.worlds, i, np.asarray(action, float), self._arm_targets, state.arm_joints[i].copy(),
            self._control, self.config.target_lead * FETCH.units, FETCH.limits, world.floor, world.floor_frame,
            FETCH.base.radius, self.config.slide, motion,
        )  # fmt: skip
        grip = ("keep", NOTHING)
        if change == LET_GO:
            state.held_object[i] = state.held_handle[i] = NOTHING
            grip = ("release", NOTHING)
        elif change == TAKE and state.touched_object[i] != NOTHING:
            state.held_object[i] = state.touched_object[i]
            grip = ("object", int(state.held_object[i]))
        elif change == TAKE:
            state.held_handle[i] = state.touched_handle[i]
            grip = ("handle", world.handles.index(int(state.held_handle[i])))
        world.engine.ask("step", self._control.tolist(), base_poses(motion), grip)

    def _let_go(self, i: int, world: _World) -> None:
        """The grasp broke: what is held has slipped too far (HAB's hold violation)."""
        world.engine.ask("release")
        world.engine.answer()
        self.state.held_object[i] = self.state.held_handle[i] = NOTHING
        self.state.hold_violated[i] = True

    def _read(self, i: int, world: _World, told: bytes) -> bool:
        """Write what the engine told into the state; whether the grasp breaks.

        Args:
            i: World.
            world: It.
            told: See `engine.Engine.read`.
        """
        count, doors = len(FETCH.joints), len(world.handles)
        values = np.frombuffer(told)
        if not np.isfinite(values).all():
            raise EngineError(f"the Habitat engine of world {i} told of what is not finite")
        sizes = np.cumsum([count, count, 7, doors, 3 * doors, 3])
        arm, velocities, tip, joints, handles, touch, objects = np.split(values, sizes)
        state, record = self.state, self.state.worlds[i]
        state.arm_joints[i], state.arm_velocities[i] = arm, velocities
        position = from_habitat_position(tip[:3])
        state.end_effector_position[i] = position
        state.end_effector_rotation[i] = rotation_matrix(from_habitat_rotation(tip[3:]))
        x, y, yaw = record["base_pose"]
        c, s = math.cos(yaw), math.sin(yaw)
        dx, dy = position[0] - x, position[1] - y
        state.end_effector_in_base[i] = (c * dx + s * dy, c * dy - s * dx, position[2])
        state.articulated_joints[i, world.handles] = joints
        state.handle_position[i, world.handles] = from_habitat_position(handles.reshape(-1, 3))
        poses = objects.reshape(-1, 7)
        state.object_position[i, world.slots] = from_habitat_position(poses[:, :3])
        state.object_rotation[i, world.slots] = from_habitat_rotation(poses[:, 3:])
        state.touched_object[i] = int(touch[0])
        state.touched_handle[i] = NOTHING if touch[1] == NOTHING else world.handles[int(touch[1])]
        state.contact_force[i] = touch[2]
        state.hold_violated[i] = False
        held, handle = int(state.held_object[i]), int(state.held_handle[i])
        if held != NOTHING:
            slip = np.linalg.norm(state.object_position[i, held] - position)
        elif handle != NOTHING:
            slip = np.linalg.norm(state.handle_position[i, handle] - position)
        else:
            return False
        return bool(slip >= self.config.hold_threshold)
