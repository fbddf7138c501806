"""Scenes that agents are in, packed for the kernels: one comes or goes, and the others stay where they are."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from nav.scene import Geoms, Scene

ROOMS = 4  # at first
LARGER = 2  # times the scene that did not fit: rooms that are not written to take no memory


class SceneBank:
    """Scenes in rooms of packed arrays; a scene that nobody is in leaves its room to the next.

    For a kernel, scene s lies from `starts[s]` to `starts[s + 1]`. Scenes have even numbers here. An odd number
    is the rest of the room before it, in which nobody is.

    Attributes:
        scenes: Number -> scene.
        frames: Grid origin x, y and cell size [S, 3], m.
        shapes: Cells along x and y [S, 2].
        cell_starts: Where each scene's cells begin [S].
        clearance: Packed, float32, m.
        geom_starts: Where each scene's geoms begin [S].
        geoms: Packed.
        rooms_made: How many times all rooms were made anew.
        written: Numbers of the scenes that were written since somebody emptied this set.
    """

    geoms: Geoms

    def __init__(self) -> None:
        """Begin without scenes."""
        self.scenes: dict[int, Scene] = {}
        self._numbers: dict[Scene, int] = {}
        self._agents: dict[int, int] = {}  # in each scene
        self._free: list[int] = []
        self.rooms_made = 0
        self.written: set[int] = set()
        self._rooms, self._cells, self._geom_count = 0, 0, 0

    def enter(self, scene: Scene) -> int:
        """Number of a scene that one more agent is in."""
        if scene not in self._numbers:
            self._add(scene)
        number = self._numbers[scene]
        self._agents[number] += 1
        return number

    def leave(self, number: int) -> None:
        """Count an agent out; its room is free if it was the last one."""
        self._agents[number] -= 1
        if self._agents[number] == 0:
            del self._numbers[self.scenes.pop(number)]
            self._free.append(number)

    def _add(self, scene: Scene) -> None:
        cells, geoms = scene.grid.clearance.size, self._count(scene)
        if not self._free or cells > self._cells or geoms > self._geom_count:
            self._rooms = self._rooms if self._free else max(ROOMS, 2 * self._rooms)
            self._cells = self._cells if cells <= self._cells else LARGER * cells
            self._geom_count = self._geom_count if geoms <= self._geom_count else LARGER * geoms
            self._allocate(scene)
            self.rooms_made += 1
            self._free = [n for n in range(2 * self._rooms - 2, -1, -2) if n not in self.scenes]
            for number, each in self.scenes.items():
                self._write(number, each)
        number = self._free.pop()
        self.scenes[number], self._numbers[scene], self._agents[number] = scene, number, 0
        self.written.add(number)
        self._write(number, scene)

    def _allocate(self, scene: Scene) -> None:
        """Make all rooms; the kinds of its arrays are those of a scene."""
        self._allocate_grids()
        self.geom_starts = np.zeros(2 * self._rooms, np.int64)
        columns = (getattr(scene.geoms, each.name) for each in fields(Geoms))
        self.geoms = Geoms(*(self._room_for(each, self._geom_count) for each in columns))

    def _allocate_grids(self) -> None:
        self.frames = np.zeros((2 * self._rooms, 3))
        self.shapes = np.zeros((2 * self._rooms, 2), np.int64)
        self.cell_starts = np.zeros(2 * self._rooms, np.int64)
        self.clearance = np.empty(self._rooms * self._cells, np.float32)

    def _room_for(self, rows: np.ndarray, count: int) -> np.ndarray:
        return np.empty((self._rooms * count, *rows.shape[1:]), rows.dtype)

    def _count(self, scene: Scene) -> int:
        return len(scene.geoms.kinds)

    def rows_of(self, number: int) -> slice:
        """The geoms of a scene among the packed ones."""
        return slice(int(self.geom_starts[number]), int(self.geom_starts[number + 1]))

    def most_geoms(self) -> int:
        """Geoms of the largest scene."""
        return max(self._count(scene) for scene in self.scenes.values())

    def _write(self, number: int, scene: Scene) -> None:
        self._write_grid(number, scene)
        begin = number // 2 * self._geom_count
        end = begin + self._count(scene)
        self.geom_starts[number : number + 2] = begin, end
        for each in fields(Geoms):
            getattr(self.geoms, each.name)[begin:end] = getattr(scene.geoms, each.name)

    def _write_grid(self, number: int, scene: Scene) -> None:
        grid = scene.grid
        self.frames[number], self.shapes[number] = (*grid.origin, grid.cell), grid.clearance.shape
        self._write_cells(number, grid.clearance, self.clearance)

    def _write_cells(self, number: int, values: np.ndarray, packed: np.ndarray) -> None:
        begin = number // 2 * self._cells
        self.cell_starts[number : number + 2] = begin, begin + values.size
        packed[begin : begin + values.size] = values.ravel()


class FloorBank(SceneBank):
    """Floors of scans, which have no geoms.

    Attributes:
        heights: Of the floors, packed like clearance, float32, m.
    """

    def _count(self, scene: Scene) -> int:
        del scene
        return 0

    def _allocate(self, scene: Scene) -> None:
        del scene
        self._allocate_grids()
        self.heights = np.empty_like(self.clearance)

    def _write(self, number: int, scene: Any) -> None:
        self._write_grid(number, scene)
        self._write_cells(number, scene.heights, self.heights)
