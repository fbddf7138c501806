"""Sights: what a policy is shown beside its depth image, each where the setting of that name asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium import spaces

from rearrange.robot import RobotSpec
from rearrange.sim.base import Simulator
from rearrange.tasks.base import DEPTH_RANGE
from rearrange.tasks.floor_map import FLOOR_MAP, FloorMap
from rearrange.tasks.glimpse import GLIMPSE, glimpse_space, glimpses
from rearrange.tasks.map_way import MAP_WAY, MapWay
from rearrange.threads import ALONE, Threads

SIGHTS = (FLOOR_MAP, MAP_WAY, GLIMPSE)  # keys of observations, and names of settings


class Sights:
    """What the policies of N worlds are shown beside their depth images."""

    def __init__(self, config: Any, robot: RobotSpec, world_count: int) -> None:
        """Of a task's numbers, in worlds in which nothing was seen; a task need not have all settings."""
        self.shown = [key for key in SIGHTS if getattr(config, key, False)]
        maps = {FLOOR_MAP, MAP_WAY} & set(self.shown)
        self._map = FloorMap(robot, world_count) if maps else None
        self._way = MapWay(world_count) if MAP_WAY in self.shown else None
        self._driven = np.zeros(world_count)  # ahead, in the last step [m]

    def begin(self, world_ids: Iterable[int]) -> None:
        """Forget what was seen in some worlds."""
        for i in world_ids:
            self._driven[i] = 0.0
            if self._map is not None:
                self._map.begin(i)
            if self._way is not None:
                self._way.begin(i)

    def drive(self, ahead: np.ndarray) -> None:
        """Remember how far the bases are driven in this step [N], m."""
        self._driven[:] = ahead

    def spaces(self, size: int) -> dict[str, spaces.Box]:
        """Spaces of what is shown in one world, of depth images of so many pixels along each side."""
        made = {
            FLOOR_MAP: FloorMap.space(size),
            MAP_WAY: MapWay.space(),
            GLIMPSE: glimpse_space(size),
        }
        return {key: made[key] for key in self.shown}

    def look(
        self,
        simulator: Simulator,
        depths: np.ndarray,
        remember: np.ndarray,
        starts: np.ndarray,
        places: np.ndarray,
        ids: np.ndarray,
        threads: Threads = ALONE,
    ) -> dict[str, np.ndarray]:
        """What is shown now in K worlds [K, ...]; fresh arrays.

        Args:
            simulator: Of the worlds.
            depths: [K, H, W, 1], in units of DEPTH_RANGE.
            remember: Where this is what a policy acts by, not a look in passing [N] bool.
            starts: Base poses at the beginnings of the episodes [N, 3].
            places: Which the robots are told, world frame [N, 3], m.
            ids: Of the K worlds.
            threads: That share the work.
        """
        found: dict[str, np.ndarray] = {}
        state, size = simulator.state, depths.shape[1]
        if self._map is not None:
            pushes = np.sign(self._driven) * state.base_blocked
            self._map.add(ids, remember, state, starts, pushes, depths, DEPTH_RANGE, threads)
            if FLOOR_MAP in self.shown:
                found[FLOOR_MAP] = self._map.show(ids, state, starts, places, size, threads)
            if self._way is not None:
                told = self._map.grids, state, starts, pushes, places, threads
                found[MAP_WAY] = self._way.look(ids, remember, *told)
        if GLIMPSE in self.shown:
            found[GLIMPSE] = glimpses(simulator, places, size, ids, threads)
        return found
