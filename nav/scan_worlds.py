"""N agents side by side in scans: the interface of `AgentWorlds`, on floors found in the meshes.

Agents in the same scan share its meshes. Distances and ways are measured in plan, also on stairs.
"""

from __future__ import annotations

import math

import numpy as np

from nav.agent import AgentConfig
from nav.bank import FloorBank
from nav.episode import NavEpisode
from nav.scan import Scan, ScanFloor, ScanKey, load_scan
from nav.scan_kernels import draw_scan, stand
from nav.scene import Places, Point, kept_with_scene
from nav.viewpoints import STRAY
from nav.worlds import AgentWorlds, Scratch
from rearrange.errors import UserError
from rearrange.render.meshes.library import MeshGeoms


class ScanWorlds(AgentWorlds):
    """N agents; attributes as of `AgentWorlds`, and `heights`: of the floor under them [N], m.

    `load` gives the scan of a `ScanKey`.
    """

    ON_DEVICE = False
    bank: FloorBank

    def __init__(self, count: int, config: AgentConfig, threads: int = 1) -> None:
        """Allocate the state; scenes are loaded when agents begin an episode there.

        Raises:
            UserError: The agent asks for labels, which scans come without.
        """
        super().__init__(count, config, threads)
        if config.goal_mask:
            raise UserError(
                "agent.goal_mask: scans come without our labels: set agent.goal_mask=false "
                "agent.rgb=true"
            )
        self.bank, self.load = FloorBank(), load_scan
        self.heights = np.zeros(count)

    # --- episodes -----------------------------------------------------------------------------------

    def lengths(
        self, i: int, episode: NavEpisode, goal: Point | Places | None
    ) -> tuple[float, float]:
        """See `AgentWorlds`; without a goal on the floor of the start the way is infinite."""
        del i
        floor, start = self._start(episode)
        found = _on_this(floor, goal)
        if found is None:
            return math.inf, math.inf
        points = found.points if isinstance(found, Places) else np.array([found])
        geodesic = floor.distances(np.array([start]), found)[0]
        return float(geodesic), float(np.linalg.norm(points - start, axis=1).min())

    def begin(self, i: int, episode: NavEpisode, goal: Point | Places | None) -> None:
        """See `AgentWorlds`."""
        floor, start = self._start(episode)
        pose = (*start, episode.start[2])
        self._put(i, floor, pose, None if goal is None else _on_this(floor, goal))
        self._stand()

    def scene(self, i: int) -> ScanFloor:
        """See `AgentWorlds`."""
        floor = super().scene(i)
        assert isinstance(floor, ScanFloor)
        return floor

    def on_floor(self, i: int, goal: Point | Places | None) -> Point | Places | None:
        """A goal of agent i's episode as `scene(i)` takes it."""
        return _on_this(self.scene(i), goal) if self._placed[i] else None

    def _start(self, episode: NavEpisode) -> tuple[ScanFloor, Point]:
        """The floor on which an episode begins, and where."""
        if episode.mesh is None:
            raise UserError(
                f"episode '{episode.episode_id}' is in {episode.building}, not in a scanned scene"
            )
        scan: Scan = self.load(ScanKey.of(episode.mesh, self.config))
        x, y, _ = episode.start
        found = scan.on_floor((x, y, episode.mesh.start_height))
        if found is None:
            raise UserError(
                f"episode '{episode.episode_id}': start_position: expected a place on the floor of "
                f"{episode.mesh.file}, where an agent of radius {self.config.radius:g} m fits; found none near"
            )
        return found

    # --- motion -------------------------------------------------------------------------------------

    def step(self, actions: np.ndarray) -> None:
        """See `AgentWorlds`."""
        super().step(actions)
        self._stand()

    def _stand(self) -> None:
        bank = self.bank
        stand(
            self.poses, self._scenes, bank.frames, bank.shapes, bank.cell_starts, bank.heights,
            self.heights,
        )  # fmt: skip

    # --- images -------------------------------------------------------------------------------------

    def categories_in_view(self) -> np.ndarray:
        """Unknown here: raises a UserError."""
        raise UserError("scans come without our labels, which the frontier agent needs")

    def draw(self, images: dict[str, np.ndarray], ids: np.ndarray | None = None) -> None:
        """See `AgentWorlds`; colours are those of textures and vertices, without light."""
        everyone = self._everyone if ids is None else ids
        by_scan: dict[int, list[int]] = {}
        for i in everyone[self._placed[everyone]].tolist():
            by_scan.setdefault(id(self.scene(i).meshes), []).append(i)
        rgb = images.get("rgb")
        for shared in by_scan.values():
            meshes = self.scene(shared[0]).meshes
            self._draw_in(meshes, np.array(shared), images["depth"][..., 0], rgb)
        if self._sees_far:
            np.minimum(images["depth"], 1.0, out=images["depth"])

    def _draw_in(
        self, meshes: MeshGeoms, ids: np.ndarray, depth: np.ndarray, rgb: np.ndarray | None
    ) -> None:
        """Draw what agents in the same scan see; depth [N, H, W]."""
        config = self.config

        def draw_some(some: np.ndarray, scratch: Scratch) -> None:
            draw_scan(
                some, self.poses, self.tilts, self.heights, config.camera_height, self._lens,
                config.depth_range, meshes.library.packed, meshes.meshes, meshes.textures,
                meshes.repeats, scratch.buffer, None if rgb is None else scratch.tags,
                None if rgb is None else scratch.faces, depth, rgb,
            )  # fmt: skip

        self._share(draw_some, ids)


def _on_this(floor: ScanFloor, goal: Point | Places | None) -> Point | Places | None:
    """A goal of an episode on a floor; None where it is not there.

    Points of files have heights, and of several only those count that lie where the agent gets to.
    """
    if not isinstance(goal, Places):
        return goal
    if goal.lone:
        found = floor.near(goal.points)
        return None if len(found) == 0 else (float(found[0, 0]), float(found[0, 1]))
    return _those_on_this(floor, goal)


@kept_with_scene
def _those_on_this(floor: ScanFloor, goal: Places) -> Places | None:
    """Points of a goal that a file's episodes share, those on a floor; the same object each time."""
    found = floor.near(goal.points, floor.grid.cell + STRAY)
    return Places(found) if len(found) else None
