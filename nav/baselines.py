"""Agents that have learned nothing, to compare policies with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import ndimage

from nav.agent import FORWARD, LEFT, LOOK_DOWN, RIGHT, STOP
from nav.env import NavEnv, Observation
from rearrange.navigation import distance_over
from rearrange.render import Camera

STOP_CHANCE = 0.01  # of the random agent in each step: an episode of 100 steps on average


class Baseline(Protocol):
    """Plays one episode."""

    def act(self, observation: Observation) -> int:
        """The next action."""
        ...


class RandomAgent:
    """Stops with a small probability, else takes any other action, all equally likely."""

    def __init__(self, env: NavEnv, seed: int) -> None:
        """Begin an episode."""
        self.rng = np.random.default_rng(seed)
        self.can_stop = env.task.CAN_STOP
        space: Any = env.action_space
        self.moves = range(max(FORWARD, int(space.start)), int(space.start + space.n))

    def act(self, observation: Observation) -> int:
        """See Baseline."""
        del observation
        if self.can_stop and self.rng.random() < STOP_CHANCE:
            return STOP
        return self.moves[int(self.rng.integers(len(self.moves)))]


class FrontierAgent:
    """Frontier exploration (Yamauchi 1997) for ObjectNav on a map of its own.

    The map is built from depth, GPS and compass. The agent drives to the nearest frontier, where floor
    that was seen meets what was not; once it has seen the goal category, to within NEAR of what it saw,
    and stops. It is told the true category of every pixel, which a learned policy is not.

    The map's frame is the start's: x ahead, y to the left, the start in the middle [m].
    """

    SPAN, CELL = 60.0, 0.1  # side of the map and of its cells [m]
    FLOOR, HEAD = 0.1, 1.5  # [m], heights between which a point is an obstacle
    MARGIN = 0.05  # kept from obstacles beside the agent's radius [m]
    NEAR = 0.6  # from the seen points of the goal within which the agent stops [m]
    VISITED = 0.4  # radius around the agent in which the floor counts as known [m]

    def __init__(self, env: NavEnv, seed: int) -> None:
        """Begin an episode; nothing is random."""
        del seed
        self.worlds, self.config = env.worlds, env.worlds.config
        size = self.config.camera_size
        self.rays = Camera(size, size, self.config.field_of_view).rays()
        count = int(self.SPAN / self.CELL)
        self.free, self.blocked, self.goal, self.visited = np.zeros((4, count, count), bool)
        self.place: np.ndarray | None = None  # at the last step, if that was FORWARD
        self.looks_down = False

    def act(self, observation: Observation) -> int:
        """See Baseline."""
        ahead, right = observation["gps"].tolist()
        place, yaw = np.array((ahead, -right)), float(observation["compass"][0])
        heading = np.array((math.cos(yaw), math.sin(yaw)))
        if self.place is not None and math.dist(place, self.place) < 0.8 * self.config.forward:
            contact = place + (self.config.radius + self.CELL) * heading
            self.blocked[tuple(self._cells(contact))] = True
        self.place = None
        self._map(observation, place, heading)
        if not self.looks_down:  # low furniture and the floor at its feet are below a level view
            self.looks_down = True
            return LOOK_DOWN
        action = self._choose(place, yaw)
        self.place = place if action == FORWARD else None
        return action

    def _cells(self, points: np.ndarray) -> np.ndarray:
        """Indices [2, ...] of the cells of points [..., 2], clipped to the map."""
        count = len(self.free)
        cells = np.floor(points / self.CELL).astype(int) + count // 2
        return np.moveaxis(np.clip(cells, 0, count - 1), -1, 0)

    def _map(self, observation: Observation, place: np.ndarray, heading: np.ndarray) -> None:
        """Enter what the camera sees [H, W] into the map."""
        depth = observation["depth"][..., 0].astype(float) * self.config.depth_range
        tilt = float(self.worlds.tilts[0])
        up = self.rays[..., 1] * depth
        ahead = math.cos(tilt) * depth - math.sin(tilt) * up
        height = self.config.camera_height + math.sin(tilt) * depth + math.cos(tilt) * up
        aside = np.array((heading[1], -heading[0]))  # to the right
        points = place + ahead[..., None] * heading + (self.rays[..., 0] * depth)[..., None] * aside
        known = depth < 0.999 * self.config.depth_range
        floor = known & (height < self.FLOOR)
        # Rows of pixels lie apart on far floor: what is between two of them is floor, too.
        both = floor[1:] & floor[:-1]
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            between = share * points[1:][both] + (1.0 - share) * points[:-1][both]
            self.free[tuple(self._cells(between))] = True
        bumps = known & (height > self.FLOOR) & (height < self.HEAD)
        self.blocked[tuple(self._cells(points[bumps]))] = True
        category = 1 + int(observation["objectgoal"].argmax())
        wanted = known & (self.worlds.categories_in_view()[0] == category)
        self.goal[tuple(self._cells(points[wanted]))] = True
        reach = np.arange(-self.VISITED, self.VISITED + 1e-9, self.CELL)
        disc = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
        disc = disc[np.hypot(*disc.T) <= self.VISITED]
        self.visited[tuple(self._cells(place + disc))] = True

    def _choose(self, place: np.ndarray, yaw: float) -> int:
        """The action that brings the agent nearer to the goal or else to a frontier."""
        known = self.free | self.blocked | self.visited
        rows, columns = np.flatnonzero(known.any(axis=1)), np.flatnonzero(known.any(axis=0))
        part = (
            slice(max(rows[0] - 2, 0), rows[-1] + 3),
            slice(max(columns[0] - 2, 0), columns[-1] + 3),
        )
        clearance = self.CELL * _away(self.blocked[part])
        open_ = (self.free | self.visited)[part] & (clearance >= self.config.radius + self.MARGIN)
        corner = np.array((part[0].start, part[1].start))
        here = tuple(self._cells(place) - corner)
        open_[here] = True
        goal = self.goal[part]
        targets = [open_ & np.asarray(ndimage.binary_dilation(~known[part], np.ones((3, 3))), bool)]
        if goal.any():
            near = open_ & (self.CELL * _away(goal) <= self.NEAR)
            if near[here]:
                return STOP
            targets.insert(0, near)
        for target in targets:
            distance = distance_over(open_, target, self.CELL)
            if np.isfinite(distance[here]):
                return self._towards(distance, corner, place, yaw)
        return STOP  # all has been seen that can be reached

    def _towards(
        self, distance: np.ndarray, corner: np.ndarray, place: np.ndarray, yaw: float
    ) -> int:
        """The action that leads down distances [nx, ny] of cells from a corner of the map on."""
        turn = math.radians(self.config.turn)
        count = math.floor(math.pi / turn + 1e-6)
        turns = np.array(sorted(np.arange(1 - count, count + 1) * turn, key=abs))
        steps = np.stack([np.cos(yaw + turns), np.sin(yaw + turns)], axis=1)
        costs = np.zeros(len(turns))
        for share in (0.5, 1.0):  # both must be free, the end counts
            cells = self._cells(place + share * self.config.forward * steps).T - corner
            cells = np.clip(cells, 0, np.array(distance.shape) - 1)
            costs = np.where(np.isinf(costs), np.inf, distance[tuple(cells.T)])
        best = turns[int(costs.argmin())]
        if abs(best) < 1e-6:
            return FORWARD
        return LEFT if best > 0.0 else RIGHT


def _away(mask: np.ndarray) -> np.ndarray:
    """Distances of cells from the nearest that is set [nx, ny], cells; large where none is."""
    if not mask.any():
        return np.full(mask.shape, 1e6)
    return np.asarray(ndimage.distance_transform_edt(~mask))


BASELINES: dict[str, Callable[[NavEnv, int], Baseline]] = {
    "random": RandomAgent,
    "frontier": FrontierAgent,
}
