"""The Simulator contract on homes that are simulated on a device: tasks and environments take it as any other.

State and images come to the host: for tests, for policies to be judged, and for what exists of tasks. On a GPU
images are drawn there, if numba-cuda is installed; else the painter draws on the CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from rearrange.batched import check_installed
from rearrange.batched.bank import Bank, seen_poses
from rearrange.batched.starts import Starts, check_config, make_starts
from rearrange.episodes import Episode
from rearrange.render import Camera, look_at
from rearrange.robot import find_robot
from rearrange.sim.base import NOTHING, SimState
from rearrange.sim.config import SimulatorConfig
from rearrange.sim.kernels import place_camera
from rearrange.sim.mujoco import MujocoSimulator
from rearrange.sim.scratch import Scratch
from rearrange.threads import Threads


class DeviceSimulator:
    """N homes of a bank on one device; see rearrange.sim.base for the contract.

    Attributes:
        images: Draws on the device; None: the painter draws on the CPU.
    """

    def __init__(
        self,
        world_count: int,
        bank: Bank,
        config: SimulatorConfig | None = None,
        device: str = "cuda",
        threads: int = 1,
    ) -> None:
        """Allocate worlds, none of which has been reset.

        Args:
            world_count: N.
            bank: The homes that episodes may take place in.
            config: Settings; with the robot and the contacts that the bank was made with.
            device: "cuda" or "cpu".
            threads: Of the CPU, which draw.

        Raises:
            UserError: Warp or mujoco-warp is missing, there is no such device, or it has not a setting.
        """
        check_installed()
        from rearrange.batched.physics import BatchedPhysics

        self.config = config or SimulatorConfig()
        check_config(self.config, bank.first.scene)
        robot = self._robot = find_robot(self.config.robot)
        self.world_count, self.scene, self.bank = world_count, bank.first.scene, bank
        self.state = SimState(world_count, robot, self.scene)
        self._starter = MujocoSimulator(1, self.config, self.scene)
        self.physics = BatchedPhysics(bank, world_count, self.config, robot, device)
        self.images: Any = None
        if self.physics.device.is_cuda and find_spec("numba_cuda") is not None:
            self.draw_on_device()
        self._homes = np.full(world_count, NOTHING)
        self._pool: Any = None
        self._held: Starts | None = None
        self._begun: dict[int, int] = {}  # world -> start state that it is to be put into
        self._threads = Threads(threads)
        self._scratch = [Scratch() for _ in range(self._threads.count)]
        self._lenses: dict[int, np.ndarray] = {}
        self._mount = look_at(robot.camera.position, robot.camera.target)  # base from camera
        self._still: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # poses of a home, nothing moved

    def draw_on_device(self) -> None:
        """Draw there from now on; before the first reset. Raises a UserError where a home shows meshes."""
        from rearrange.batched.images import HomeImages

        self.images = HomeImages(self.physics, self.bank, self._robot)

    def reset(self, world_ids: Sequence[int], episodes: Sequence[Episode]) -> None:
        """Load the episodes into the worlds; see the contract.

        Raises:
            UserError: An episode takes place in a home that the bank has not.
        """
        if len(world_ids) != len(episodes):
            raise ValueError(f"{len(world_ids)} worlds and {len(episodes)} episodes")
        if not len(world_ids):
            return
        self.put_begun()
        starts, rows = make_starts(self._starter, self.bank, episodes), list(world_ids)
        self.physics.reset(rows, self.physics.upload(starts), range(len(starts)))
        self._homes[rows] = starts.homes
        self.state.worlds[rows] = starts.records
        if self.images is not None:
            self.images.reset(rows, starts.homes)

    def hold(self, starts: Starts) -> None:
        """Copy start states to the device, from which worlds `begin`."""
        self._held, self._pool = starts, self.physics.upload(starts)

    def begin(self, i: int, row: int) -> None:
        """Put world i into one of the start states that are held; on the device with all others that begin."""
        assert self._held is not None
        self._homes[i], self._begun[i] = self._held.homes[row], row
        self.state.worlds[i] = self._held.records[row]

    def put_begun(self) -> None:
        """Put the worlds that have begun into their start states, on the device."""
        if not self._begun:
            return
        worlds, rows = list(self._begun), list(self._begun.values())
        self.physics.reset(worlds, self._pool, rows)
        if self.images is not None:
            self.images.reset(worlds, self._homes[worlds])
        self._begun.clear()

    def step(self, action: np.ndarray) -> None:
        """Advance all worlds by one action [N, J + 3]; see the contract.

        Raises:
            UserError: A world needed more room than there is.
        """
        if (self._homes == NOTHING).any():
            i = int(np.argmin(self._homes))
            raise RuntimeError(f"world {i} was never reset: call reset([{i}], [episode]) first")
        self.put_begun()
        self.physics.step(np.ascontiguousarray(action, np.float64))
        self.state.worlds[:] = self.physics.records.numpy()
        self.physics.check()

    def render_depth(
        self,
        size: int | None = None,
        unit: float = 1.0,
        ids: Sequence[int] | np.ndarray | None = None,
    ) -> np.ndarray:
        """Head camera depth [N, H, W], zeros where no world is loaded; see the contract."""
        self.put_begun()
        size = size or self.config.camera_size
        if self.images is not None:
            return self.images.draw(size, unit, ids)[..., 0].cpu().numpy()
        which = range(self.world_count) if ids is None else ids
        if size not in self._lenses:
            self._lenses[size] = Camera(size, size, self._robot.camera.field_of_view).lens()
        depth = np.zeros((len(which), size, size), np.float32)
        positions, rotations = self.physics.poses()

        def draw(k: int, thread: int) -> None:
            i = which[k]
            if self._homes[i] != NOTHING:
                self._draw(i, positions[i], rotations[i], self._scratch[thread], depth[k], unit)

        for home in set(self._homes.tolist()) - {NOTHING}:
            self._poses_of(home)
        self._threads.each(draw, len(which))
        return depth

    def _draw(
        self, i: int, moved: np.ndarray, turned: np.ndarray, scratch: Scratch, depth: np.ndarray,
        unit: float,
    ) -> None:  # fmt: skip
        """Draw what the camera of world i sees [H, W], given poses of what moves [G, 3], [G, 3, 3]."""
        home, size = int(self._homes[i]), len(depth)
        position, rotation = (poses.copy() for poses in self._poses_of(home))
        moves = self.bank.moves
        position[moves], rotation[moves] = moved[moves], turned[moves].reshape(-1, 9)
        offset = self._robot.camera.position
        place_camera(self.state.base_pose[i], offset, self._mount, scratch.eye, scratch.turn)
        self.bank.worlds[home].geoms.cast(
            position, rotation, scratch.eye, scratch.turn, self._lenses[size], scratch.work,
            scratch.image(size), None, depth, size, unit,
        )  # fmt: skip

    def _poses_of(self, home: int) -> tuple[np.ndarray, np.ndarray]:
        """Positions [G, 3] and rotations [G, 9] of a home's geoms with nothing moved; not to be written to."""
        if home not in self._still:
            self._still[home] = seen_poses(self.bank.worlds[home])
        return self._still[home]

    def camera_pose(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """Head camera of world i: position [3] and world-from-camera rotation [3, 3]."""
        position, rotation = np.empty(3), np.empty((3, 3))
        offset = self._robot.camera.position
        place_camera(self.state.base_pose[i], offset, self._mount, position, rotation)
        return position, rotation

    def close(self) -> None:
        """Stop the threads."""
        self._threads.close()
        self._starter.close()
