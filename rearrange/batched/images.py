"""Depth images of homes, drawn on the device that simulates them, where they stay as torch tensors.

Only what moves is taken from the physics; what stands still, and what is only seen, has the poses of the bank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
import warp as wp  # pyright: ignore[reportMissingImports]
from torch import Tensor

from rearrange.batched.bank import Bank, seen_poses
from rearrange.batched.physics import BatchedPhysics
from rearrange.errors import UserError
from rearrange.render import Camera, look_at
from rearrange.render.camera import FAR
from rearrange.render.device import CPU, DepthDrawer, check_device
from rearrange.render.projection import SPHERE
from rearrange.robot import RobotSpec

UNSEEN = 1e6  # [m], from every camera: there geoms are that fill up a home's rows


class HomeImages:
    """Draws what the head cameras of N worlds see.

    A world's geoms are so many rows as the home with the most has.
    """

    def __init__(self, physics: BatchedPhysics, bank: Bank, robot: RobotSpec) -> None:
        """Copy the bank's geoms to the device; no world is in a home yet.

        Raises:
            UserError: A home shows meshes, or nothing can be drawn on the device.
        """
        if any(world.geoms.meshes is not None for world in bank.worlds):
            raise UserError("homes with meshes cannot be drawn on a device")
        self._physics, self._robot = physics, robot
        self._device = torch.device(wp.device_to_torch(physics.device))
        check_device(self._device.type, "device")
        self._homes = {name: self._new(rows) for name, rows in _rows_of(bank).items()}
        most = self._homes["kinds"].shape[1]
        self._starts = most * np.arange(physics.count + 1)
        self._rows = {
            name: torch.zeros((physics.count, *homes.shape[1:]), dtype=homes.dtype, device=self._device)
            for name, homes in self._homes.items()
        }  # fmt: skip
        self._loaded = torch.zeros(physics.count, dtype=torch.bool, device=self._device)
        self._scenes = self._new(np.arange(physics.count))
        self._drawers: dict[tuple[int, float], DepthDrawer] = {}
        camera = robot.camera
        self._offset = self._new(np.array(camera.position, np.float64))
        self._mount = self._new(look_at(camera.position, camera.target))  # base from camera

    def _new(self, values: np.ndarray) -> Tensor:
        return torch.tensor(values, device=self._device)

    def reset(self, worlds: Sequence[int], homes: Sequence[int] | np.ndarray) -> None:
        """Put worlds into rows of the bank."""
        here, of = self._new(np.asarray(worlds)), self._new(np.asarray(homes, np.int64))
        for name, rows in self._rows.items():
            rows[here] = self._homes[name][of]
        self._loaded[here] = True

    def draw(
        self, size: int, unit: float = 1.0, ids: Sequence[int] | np.ndarray | None = None
    ) -> Tensor:
        """Depth along the optical axis [N, H, W, 1] float32, on the device; zeros where no world is loaded.

        Args:
            size: Of the images, pixels.
            unit: In which depth is told [m].
            ids: Of these worlds alone; None: of all.
        """
        with self._in_turn():
            self._follow()
            drawer = self._drawer(size, unit)
            images = drawer.new_images().zero_()
            which = self._scenes if ids is None else self._new(np.asarray(ids, np.int64))
            loaded = which[self._loaded[which]]
            drawer.draw(images, self._views(), self._scenes, self._homes["kinds"].shape[1], loaded)
        return images if ids is None else images[which]

    @contextmanager
    def _in_turn(self) -> Iterator[None]:
        """Torch waits for what Warp was asked to do before, and Warp for what is done here."""
        if self._device.type == CPU:
            yield
            return
        with torch.cuda.device(self._device):
            theirs = wp.get_stream(self._physics.device)
            own = wp.stream_from_torch(torch.cuda.current_stream(self._device))
            own.wait_stream(theirs)
            yield
            theirs.wait_stream(own)

    def _drawer(self, size: int, unit: float) -> DepthDrawer:
        """The drawer of images of a size, which is kept."""
        if (size, unit) not in self._drawers:
            camera = Camera(size, size, self._robot.camera.field_of_view)
            drawer = DepthDrawer(self._device.type, self._physics.count, camera, FAR, unit)
            names = "kinds", "sizes", "positions", "rotations"
            drawer.take(self._starts, [self._rows[name].flatten(0, 1) for name in names])
            self._drawers[size, unit] = drawer
        return self._drawers[size, unit]

    def _follow(self) -> None:
        """Take the poses of what moves."""
        positions, rotations = self._physics.geom_poses()
        for name, live in (("positions", positions), ("rotations", rotations.flatten(2))):
            which = self._rows["ids"][..., None].expand(-1, -1, live.shape[-1])
            rows = self._rows[name]
            found = live.gather(1, which).to(rows.dtype)
            rows.copy_(torch.where(self._rows["moves"][..., None], found, rows))

    def views(self) -> Tensor:
        """Eye and world-from-camera rotation of every head camera [N, VIEW], m."""
        with self._in_turn():
            return self._views()

    def _views(self) -> Tensor:
        """Eye and world-from-camera rotation of every head camera [N, VIEW]; see sim.kernels.place_camera."""
        x, y, yaw = self._physics.records.tensor("base_pose").unbind(1)
        cos, sin, zero = yaw.cos(), yaw.sin(), torch.zeros_like(yaw)
        turn = torch.stack([cos, -sin, zero, sin, cos, zero, zero, zero, zero + 1.0], 1)
        turn = turn.unflatten(1, (3, 3))  # world from base
        eye = turn @ self._offset + torch.stack([x, y, zero], 1)
        return torch.cat([eye, (turn @ self._mount).flatten(1)], 1)


def _rows_of(bank: Bank) -> dict[str, np.ndarray]:
    """What is drawn of each of A homes, of which the largest has M geoms.

    Returns:
        Geom `ids`, `kinds` and whether one `moves` [A, M], `sizes` [A, M, 4], and, while nothing has moved,
        `positions` [A, M, 3] and `rotations` [A, M, 9].
    """
    tables = [world.geoms for world in bank.worlds]
    shape = len(tables), max(len(table.ids) for table in tables)
    rows: dict[str, Any] = {
        "ids": np.zeros(shape, np.int64),
        "kinds": np.full(shape, SPHERE),
        "moves": np.zeros(shape, bool),
        "sizes": np.zeros((*shape, 4)),
        "positions": np.full((*shape, 3), UNSEEN),
        "rotations": np.tile(np.eye(3).ravel(), (*shape, 1)),
    }
    for home, table in enumerate(tables):
        own, (positions, rotations) = slice(len(table.ids)), seen_poses(bank.worlds[home])
        rows["ids"][home, own] = table.ids
        rows["kinds"][home, own] = table.kinds
        rows["moves"][home, own] = bank.moves[table.ids]
        rows["sizes"][home, own] = table.sizes
        rows["positions"][home, own] = positions[table.ids]
        rows["rotations"][home, own] = rotations[table.ids]
    return rows
