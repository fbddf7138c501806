"""Depth images of agents on a device: the scenes of the bank are copied there when they change."""

from __future__ import annotations

from typing import Any

import numpy as np

from nav.agent import TENSORS, AgentConfig
from nav.bank import SceneBank
from nav.kernels import place_cameras
from rearrange.render.camera import Camera
from rearrange.render.device import CPU, CUDA, DepthDrawer, check_device
from rearrange.render.pixels import VIEW


class DeviceImages:
    """Draws what N agents see, see `DepthDrawer`."""

    def __init__(self, count: int, config: AgentConfig) -> None:
        """Allocate what N agents need; raises UserError where there is no such device."""
        device = CPU if config.draw_on == TENSORS else CUDA
        check_device(device, "agent.draw_on")
        size, unit = config.camera_size, config.depth_range
        camera = Camera(size, size, config.field_of_view)
        self._drawer = DepthDrawer(device, count, camera, unit, unit)
        self._height = config.camera_height
        self._views = np.zeros((count, VIEW))
        self._rooms_made, self._most = 0, 0

    def new_images(self) -> Any:
        """Uninitialised images of all agents: a tensor [N, H, W, 1] float32."""
        return self._drawer.new_images()

    def draw(
        self,
        images: Any,
        bank: SceneBank,
        scenes: np.ndarray,
        poses: np.ndarray,
        tilts: np.ndarray,
        ids: np.ndarray | None,
    ) -> None:
        """Draw what all agents see, or those of some ids; depth in units of the depth range.

        Args:
            images: Written, see `new_images`.
            bank: Of scenes; nobody else may draw from it on a device.
            scenes: Number of each agent's [N].
            poses: x, y, yaw [N, 3].
            tilts: Of the cameras, positive upwards [N], rad.
            ids: Which; None: all.
        """
        if bank.written:
            self._take(bank)
        place_cameras(poses, tilts, self._height, self._views)
        self._drawer.draw(images, self._views, scenes, self._most, ids)

    def _take(self, bank: SceneBank) -> None:
        """Copy what was written since the last time."""
        own = bank.geoms
        geoms = own.kinds, own.sizes, own.positions, own.rotations
        if self._rooms_made != bank.rooms_made:
            self._drawer.load(bank.geom_starts, geoms)
        else:
            rows = [bank.rows_of(number) for number in bank.written]
            self._drawer.load(bank.geom_starts, geoms, rows)
        self._rooms_made, self._most = bank.rooms_made, bank.most_geoms()
        bank.written.clear()
