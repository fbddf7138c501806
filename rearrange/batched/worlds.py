"""Worlds of a task on a device: episodes begin from a pool, and images stay where they are drawn.

The task's logic runs on the CPU, for all worlds in one compiled loop; of the simulation it is told as much as a
policy's numbers and rewards need.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rearrange.batched.pool import Pool
from rearrange.batched.simulator import DeviceSimulator
from rearrange.episodes import Episode
from rearrange.errors import UserError
from rearrange.render import Camera
from rearrange.shell import Observation
from rearrange.tasks.base import DEPTH_RANGE
from rearrange.tasks.floor import FloorTask
from rearrange.tasks.glimpse import FINE, GLIMPSE
from rearrange.worlds import DEPTH_KEY, Worlds


class PooledWorlds(Worlds):
    """N worlds on a device; see Worlds.

    Attributes:
        pool: Where all episodes come from.
    """

    simulator: DeviceSimulator

    def __init__(
        self,
        task: str,
        config: Any,
        split: str,
        simulator: DeviceSimulator,
        pool: Pool,
        homes: str,
        sensors: str,
    ) -> None:
        """Take the simulator of worlds in the pool's homes.

        Raises:
            UserError: The task shows what is not made on a device, or late.
        """
        super().__init__(
            task, config, split, simulator, simulator.world_count, None, None, homes, sensors
        )
        self.pool = pool
        self._size = simulator.config.camera_size
        check_shown(task, self.task)
        simulator.hold(pool.starts)
        if isinstance(self.task, FloorTask):
            self.task.keep_ways()

    def reset(
        self, i: int, rng: np.random.Generator, seed: int | None = None, number: int | None = None
    ) -> None:
        """Put world i into an episode of the pool; the generator alone decides which."""
        del seed, number
        row = int(rng.integers(len(self.pool.episodes)))
        self.simulator.begin(i, row)
        self._begin(i, self.pool.episodes[row])

    def put(self, i: int, episode: Episode) -> None:
        """Refuse: no other episodes are on the device."""
        raise UserError("worlds on a device begin in episodes of their pool alone")

    def _images(self, ids: np.ndarray) -> Observation:
        """Depth images of some worlds, and what is made of them [K, ...]: tensors where the device draws."""
        images = self.simulator.images
        if images is None or not self.sees:
            return super()._images(ids)
        self.simulator.put_begun()
        found = {DEPTH_KEY: images.draw(self._size, DEPTH_RANGE, ids)}
        if GLIMPSE in self.observation_space.spaces:
            found[GLIMPSE] = self._glimpses(ids)
        return found

    def _glimpses(self, ids: np.ndarray) -> Any:
        """Of some worlds, around what the robots are told [K, H, W, 1]."""
        import torch

        from rearrange.batched.glimpse import glimpses

        images = self.simulator.images
        fine = images.draw(FINE, 1.0, ids)
        told: Any = self.task
        points = torch.from_numpy(told.memory[told.TOLD][ids]).to(fine.device)
        views = images.views()[torch.from_numpy(ids).to(fine.device)]
        camera = Camera(FINE, FINE, self.state.robot.camera.field_of_view)
        return glimpses(fine, camera.half_width, views, points, self._size)


def check_shown(name: str, task: Any) -> None:
    """Raise a UserError where a task shows its policy what is not made on a device."""
    if task.action.delay:
        raise UserError(
            f"task.action.delay={task.action.delay:g} is not there for homes on a device"
        )
    for key in set(task.gathered_spaces(1)) - {GLIMPSE}:
        raise UserError(f"task.{key} of {name} is not there for homes on a device: set it to false")
