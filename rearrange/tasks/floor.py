"""Tasks that measure how far it still is along the floor, around walls, tables and open doors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces

from rearrange.episodes import Episode, floor_of
from rearrange.navigation import DistanceField, load_layout
from rearrange.robot import RobotSpec
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.base import SimState, Simulator
from rearrange.tasks.base import Outcome, Task
from rearrange.tasks.sights import Sights
from rearrange.tasks.starts import FARTHEST_WAY, straight_way, way_to_stand

UNKNOWN_WAY = 1000.0  # [m]: far from any goal, and finite, so that differences are


class FloorTask(Task):
    """A task whose reward may ask for the way left to where the arm reaches the first target.

    That is the target's goal when the robot carries something at the start, and else its start.

    Its policy may be shown more than the depth image, see rearrange.tasks.sights.

    Attributes:
        TOLD: In its MEMORY: the place that the robot is told, world frame [3], m.
        FLOOR_MEMORY: What its MEMORY has to hold, too [m].
        FARTHEST_WAY: Way that is measured at most [m]. From within two metres of a thing, not behind a wall, it
            is less.
    """

    TOLD: ClassVar[str]
    FARTHEST_WAY: ClassVar[float] = FARTHEST_WAY

    FLOOR_MEMORY: ClassVar[list[tuple[Any, ...]]] = [
        ("way_left", "f8"),
        ("previous_way_left", "f8"),
    ]

    def __init__(
        self,
        config: Any = None,
        world_count: int = 1,
        robot: RobotSpec | None = None,
        scene: SceneSpec = APARTMENT,
    ) -> None:
        """See Task."""
        super().__init__(config, world_count, robot, scene)
        self._floors: list[DistanceField | None] = [None] * world_count
        self._kept: dict[int, DistanceField | None] | None = None
        self._knows_way = np.zeros(world_count, bool)  # from where there is one, in this episode
        self._sights = Sights(self.config, self.robot, world_count)

    def asks_for_way(self) -> bool:
        """Whether its numbers need the way left; measuring it costs time."""
        raise NotImplementedError

    def start(self, world_ids: Sequence[int], episodes: Sequence[Episode], state: SimState) -> None:
        """Begin episodes; measures the floor from the goal if that is asked for."""
        super().start(world_ids, episodes, state)
        self._sights.begin(world_ids)
        if not self.asks_for_way():
            return
        for i, episode in zip(world_ids, episodes, strict=True):
            self._floors[i] = self._way_once(episode)
            self._knows_way[i] = False
            self.memory["way_left"][i] = self.memory["previous_way_left"][i] = UNKNOWN_WAY
        self._measure(state, world_ids)

    def keep_ways(self) -> None:
        """Measure the floor of an episode once, where the same ones begin again and again and live on."""
        self._kept = {}

    def _way_once(self, episode: Episode) -> DistanceField | None:
        if self._kept is None:
            return self.way(episode)
        if id(episode) not in self._kept:
            self._kept[id(episode)] = self.way(episode)
        return self._kept[id(episode)]

    def mask(self, state: SimState, physical: np.ndarray) -> np.ndarray:
        """See Task; remembers where the base is driven."""
        self._sights.drive(physical[:, self.robot.actions.forward])
        return super().mask(state, physical)

    def gathered_spaces(self, size: int) -> dict[str, spaces.Box]:
        """The sights'; see Task."""
        return self._sights.spaces(size)

    def gather(
        self, simulator: Simulator, depths: np.ndarray, remember: np.ndarray, ids: np.ndarray
    ) -> dict[str, np.ndarray]:
        """The sights; see Task."""
        starts, places = self.memory["base_start"], self.memory[self.TOLD]
        return self._sights.look(simulator, depths, remember, starts, places, ids, self.threads)

    def way(self, episode: Episode) -> DistanceField | None:
        """The way left from everywhere near in an episode [m]; None where there is none."""
        apartment = None
        if episode.scene is None:
            apartment = load_layout(episode.layout, episode.variation)[0]
        return way_to_stand(
            self.robot,
            apartment,
            floor_of(episode),
            self.receptacle(episode),
            self._place(episode)[:2],
            episode.articulated,
            self.FARTHEST_WAY,
        )

    def receptacle(self, episode: Episode) -> str:
        """On or in what the place is that the robot goes to first."""
        target = episode.targets[0]
        return target.start_receptacle if episode.held_slot is None else target.goal_receptacle

    def _place(self, episode: Episode) -> tuple[float, float, float]:
        """The place that the robot goes to first, world frame [m]."""
        target = episode.targets[0]
        return target.start if episode.held_slot is None else target.goal

    def extra_way(self, episode: Episode, x: float, y: float) -> float:
        """How much longer than straight the way is along the floor, to where the arm reaches, from (x, y) [m].

        Infinite where none is known.
        """
        way = self.way(episode)
        if way is None:
            return math.inf
        return way.at(x, y) - straight_way(self.robot, self._place(episode), x, y)

    def way_in(self, i: int, episode: Episode) -> DistanceField | None:
        """`way` of the episode that world i has begun; measured once where the reward asks for it, too."""
        return self._floors[i] if self.asks_for_way() else self.way(episode)

    def evaluate(self, state: SimState, action: np.ndarray) -> Outcome:
        """See Task."""
        if self.asks_for_way():
            self._measure(state, range(len(state.worlds)))
        return super().evaluate(state, action)

    def _measure(self, state: SimState, world_ids: Iterable[int]) -> None:
        """Write the way left; where the robot has none, far away or pushed among furniture, it stays."""
        for i in world_ids:
            floor = self._floors[i]
            if floor is None:
                continue
            way = floor.at(float(state.base_pose[i, 0]), float(state.base_pose[i, 1]))
            if math.isfinite(way):
                self.memory["way_left"][i] = way
                if not self._knows_way[i]:  # until now none was gone
                    self._knows_way[i] = True
                    self.memory["previous_way_left"][i] = way
