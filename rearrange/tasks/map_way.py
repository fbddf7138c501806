"""Way over the floor map: where to drive next, by what was seen so far, as a vector observation.

Depth images and odometry alone fill the map (rearrange.tasks.floor_map). Over it the cheapest way to the goal
is searched, as a planner would: what is unknown counts as free, and nothing as impassable, because the map errs
and goals lie on furniture. It is a compass that knows of walls; how to drive and when to stop is the policy's,
as in Active Neural SLAM (Chaplot et al. 2020).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces

from rearrange import geometry
from rearrange.caching import cached_njit
from rearrange.gym_ids import LARGEST
from rearrange.sim.base import SimState
from rearrange.tasks.floor_map import CELL, CELLS, OBSTACLE, UNKNOWN
from rearrange.tasks.sensors import gps_compass
from rearrange.threads import ALONE, Threads

MAP_WAY = "map_way"  # key of the observation
ABOUT = (
    "what depth images and odometry have told of the floor so far is searched for a way to the goal, and where "
    "it leads is observed"
)
MERGED = 2  # cells of the map along each side of one of the search
SIDE, COUNT = MERGED * CELL, CELLS // MERGED  # of its cells [m], and how many along each side
# What a metre costs whose middle has an obstacle no farther away than this [m]
PRICES = ((0.2, 20.0), (0.33, 5.0), (0.45, 1.5))
LOOK_AHEAD = (0.6, 1.8)  # [m] along the way, to the two places that are told
FARTHEST = 20.0  # that the cost is told to be
MOVED, TURNED = 0.25, 0.5  # [m], [rad], after which it is searched anew
BORDER = 1.5  # [m] around what is known, the robot and the goal, where the search ends
BEYOND = 2.0  # cost by which the search goes on behind the robot, which moves before the next one
SIZE = 1 + 2 * len(LOOK_AHEAD)
# Cells wait in buckets by cost. No step costs less than a bucket is wide, so none in it leads to another in it
BUCKET = 0.95 * SIDE
BUCKETS = int(math.sqrt(2.0) * SIDE * PRICES[0][1] / BUCKET) + 2  # no step leads farther ahead


@cached_njit
def _stamp(grid: Any, bounds: tuple[int, int, int, int], away: Any) -> None:
    """Squared distances from the middles of cells to the nearest obstacle, as far as these cost something.

    Args:
        grid: [CELLS, CELLS].
        bounds: See `_bounds`; all that is known lies within.
        away: Lowered where an obstacle is near [COUNT, COUNT], in cells of the grid.
    """
    reach = int((PRICES[-1][0] / CELL + (MERGED - 1) / 2) / MERGED)  # to middles near enough
    for i in range(MERGED * bounds[0], MERGED * (bounds[1] + 1)):
        for j in range(MERGED * bounds[2], MERGED * (bounds[3] + 1)):
            if grid[i, j] != OBSTACLE:
                continue
            middle_i, middle_j = i // MERGED, j // MERGED
            for ci in range(max(middle_i - reach, 0), min(middle_i + reach + 1, COUNT)):
                for cj in range(max(middle_j - reach, 0), min(middle_j + reach + 1, COUNT)):
                    x, y = i + 0.5 - MERGED * (ci + 0.5), j + 0.5 - MERGED * (cj + 0.5)
                    away[ci, cj] = min(away[ci, cj], x * x + y * y)


@cached_njit
def _price(away: Any) -> float:
    """What a metre costs in a cell with the nearest obstacle so far away, squared and in cells of the grid."""
    for least, price in PRICES:
        if away < (least / CELL) ** 2:
            return price
    return 1.0


@cached_njit
def _cell(x: float, y: float) -> tuple[int, int]:
    """The cell of a place [m], frame of the start; at the edge if it is outside."""
    i = int(np.floor(x / SIDE)) + COUNT // 2
    j = int(np.floor(y / SIDE)) + COUNT // 2
    return min(max(i, 0), COUNT - 1), min(max(j, 0), COUNT - 1)


@cached_njit
def _bounds(grid: Any, goal: tuple[int, int], robot: tuple[int, int]) -> tuple[int, int, int, int]:
    """First and last row, first and last column of the cells that are searched."""
    first_i, last_i = min(goal[0], robot[0]), max(goal[0], robot[0])
    first_j, last_j = min(goal[1], robot[1]), max(goal[1], robot[1])
    for i in range(CELLS):
        known = UNKNOWN
        for j in range(CELLS):  # without branches, so that it vectorises: most rows are unknown
            known |= grid[i, j]
        if known == UNKNOWN:
            continue
        first_i, last_i = min(first_i, i // MERGED), max(last_i, i // MERGED)
        left, right = 0, CELLS - 1
        while grid[i, left] == UNKNOWN:
            left += 1
        while grid[i, right] == UNKNOWN:
            right -= 1
        first_j, last_j = min(first_j, left // MERGED), max(last_j, right // MERGED)
    border = int(BORDER / SIDE)
    return (
        max(first_i - border, 0),
        min(last_i + border, COUNT - 1),
        max(first_j - border, 0),
        min(last_j + border, COUNT - 1),
    )


@cached_njit
def _search(grid: Any, goal: Any, robot: Any, cost: Any) -> None:
    """Costs of the cheapest ways to a goal (Dijkstra, by Dial's buckets), as far as the robot and beyond.

    Args:
        grid: What is known [CELLS, CELLS].
        goal: Frame of the start [2+], m.
        robot: Likewise.
        cost: Written [COUNT, COUNT]; infinite where it is farther.
    """
    goal_cell, robot_cell = _cell(goal[0], goal[1]), _cell(robot[0], robot[1])
    bounds = _bounds(grid, goal_cell, robot_cell)
    first_i, last_i, first_j, last_j = bounds
    prices = np.full((COUNT, COUNT), math.inf)
    _stamp(grid, bounds, prices)
    for i in range(first_i, last_i + 1):
        for j in range(first_j, last_j + 1):
            prices[i, j] = _price(prices[i, j])
    done = np.zeros((COUNT, COUNT), np.bool_)
    cells = np.empty(8 * COUNT * COUNT, np.int64)  # that wait, or have
    after = np.empty(8 * COUNT * COUNT, np.int64)  # which is the next in its bucket
    firsts = np.full(BUCKETS, -1)  # of each bucket
    cost[:] = math.inf
    cost[goal_cell] = 0.0
    cells[0], after[0], firsts[0] = goal_cell[0] * COUNT + goal_cell[1], -1, 0
    waiting, entries, bucket, farthest = 1, 1, 0, math.inf
    while waiting > 0 and bucket * BUCKET <= farthest:
        entry = firsts[bucket % BUCKETS]
        if entry < 0:
            bucket += 1
            continue
        firsts[bucket % BUCKETS] = after[entry]
        waiting -= 1
        i, j = cells[entry] // COUNT, cells[entry] % COUNT
        here = cost[i, j]
        if done[i, j] or here > farthest:
            continue
        done[i, j] = True
        if (i, j) == robot_cell:
            farthest = here + BEYOND
        for di in range(-1, 2):
            for dj in range(-1, 2):
                ni, nj = i + di, j + dj
                if not (first_i <= ni <= last_i and first_j <= nj <= last_j) or done[ni, nj]:
                    continue
                length = SIDE * math.sqrt(di * di + dj * dj)
                arrival = here + length * (prices[i, j] + prices[ni, nj]) / 2
                if arrival < cost[ni, nj]:
                    cost[ni, nj] = arrival
                    into = int(arrival / BUCKET) % BUCKETS
                    cells[entries], after[entries] = ni * COUNT + nj, firsts[into]
                    firsts[into] = entries
                    entries += 1
                    waiting += 1
    for i in range(COUNT):
        for j in range(COUNT):
            if not done[i, j]:  # it may be less yet
                cost[i, j] = math.inf


@cached_njit
def _lead(cost: Any, pose: Any, goal: Any, out: Any) -> None:
    """Tell the cost of the way, and two places along it.

    Args:
        cost: See `_search`.
        pose: Of the base, see gps_compass [4].
        goal: Frame of the start [2+], m.
        out: Written [SIZE]: the cost, and the places in the base frame: ahead, left [m].
    """
    i, j = _cell(pose[0], pose[1])
    out[0] = min(cost[i, j], FARTHEST)
    passed = 0.0
    for told in range(len(LOOK_AHEAD)):
        x, y = goal[0], goal[1]
        while passed < LOOK_AHEAD[told] and 0.0 < cost[i, j] < math.inf:
            best_i, best_j, best = i, j, cost[i, j]
            for di in range(-1, 2):
                for dj in range(-1, 2):
                    ni, nj = i + di, j + dj
                    if 0 <= ni < COUNT and 0 <= nj < COUNT and cost[ni, nj] < best:
                        best_i, best_j, best = ni, nj, cost[ni, nj]
            passed += SIDE * math.sqrt((best_i - i) ** 2 + (best_j - j) ** 2)
            i, j = best_i, best_j
        if passed > 0.0 and cost[i, j] > 0.0:
            x, y = (i + 0.5 - COUNT // 2) * SIDE, (j + 0.5 - COUNT // 2) * SIDE
        x, y = x - pose[0], y - pose[1]
        out[1 + 2 * told] = pose[2] * x + pose[3] * y
        out[2 + 2 * told] = -pose[3] * x + pose[2] * y


@cached_njit(nogil=True)
def _lead_all(
    ids: Any, remember: Any, grids: Any, costs: Any, last: Any,
    starts: Any, poses: Any, pushes: Any, goals: Any, out: Any,
) -> None:  # fmt: skip
    """Tell the ways of K worlds, searched anew where a base has moved since `last` [N, 3] or met something."""
    for k in range(len(ids)):
        n = ids[k]
        pose = gps_compass(starts[n], poses[n])
        goal = geometry.to_base_frame(starts[n], goals[n])
        moved = math.hypot(poses[n, 0] - last[n, 0], poses[n, 1] - last[n, 1])
        turned = abs((poses[n, 2] - last[n, 2] + math.pi) % (2.0 * math.pi) - math.pi)
        there = moved < MOVED and turned < TURNED and pushes[n] == 0.0
        if remember[n] and not there:
            _search(grids[n], goal, pose, costs[n])
            last[n] = poses[n]
        _lead(costs[n], pose, goal, out[k])


class MapWay:
    """Ways over the floor maps of N worlds."""

    def __init__(self, world_count: int) -> None:
        """Nothing was searched yet."""
        self._costs = np.full((world_count, COUNT, COUNT), math.inf)
        self._last = np.full((world_count, 3), np.nan)  # base poses at the last search

    @staticmethod
    def space() -> spaces.Box:
        """The space of what is told."""
        return spaces.Box(-LARGEST, LARGEST, (SIZE,), np.float32)

    def begin(self, i: int) -> None:
        """Forget the way in world i."""
        self._last[i] = np.nan

    def look(
        self,
        ids: np.ndarray,
        remember: np.ndarray,
        grids: np.ndarray,
        state: SimState,
        starts: np.ndarray,
        pushes: np.ndarray,
        goals: np.ndarray,
        threads: Threads = ALONE,
    ) -> np.ndarray:
        """Tell the ways of K worlds [K, SIZE] float32; the same again tells the same.

        Args:
            ids: They.
            remember: Where a policy acts by it [N] bool.
            grids: What is known of the floors [N, CELLS, CELLS].
            state: Of the worlds.
            starts: Base poses at the beginnings of the episodes [N, 3].
            pushes: Not 0 where a base was driven and did not go [N].
            goals: World frame [N, 3], m.
            threads: That share the work.
        """
        out = np.empty((len(ids), SIZE), np.float32)

        def lead(some: slice) -> None:
            _lead_all(
                ids[some], remember, grids, self._costs, self._last,
                starts, state.base_pose, pushes, goals, out[some],
            )  # fmt: skip

        threads.rows(lead, len(ids))
        return out
