"""N agents side by side, each in a scene of its own: motion and images, nothing of tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from nav.agent import CPU, AgentConfig
from nav.bank import SceneBank
from nav.episode import NavEpisode
from nav.kernels import advance, draw
from nav.scene import Places, Point, Scene, load_scene
from rearrange.errors import UserError
from rearrange.render import Camera
from rearrange.render.caster import scratch_image
from rearrange.threads import Threads

COLOUR_RANGE = (
    30.0  # [m], colours and goal masks show up to here, also where depth is cut off before
)


TOGETHER = 8  # agents that a thread draws before it looks who is next
MOVED = 256  # likewise, that a thread moves


class Scratch:
    """Scratch images [H, W padded] of one thread that draws.

    Attributes:
        buffer: For depth.
        tags: For geoms' ids.
        faces: For those of triangles.
    """

    def __init__(self, size: int) -> None:
        """Allocate them for images of size x size pixels."""
        self.buffer = scratch_image(size, size, np.float32)
        self.tags = scratch_image(size, size, np.int32)
        self.faces = scratch_image(size, size, np.int32)


class AgentWorlds:
    """N agents.

    Attributes:
        ON_DEVICE: What they see can be drawn on a device.
        config: Body, motion and camera.
        load: Gives the scene of a building's name; who has other scenes than the process's sets it.
        bank: Scenes that agents are in.
        poses: x, y, yaw [N, 3], m and rad; yaw in (-pi, pi].
        tilts: Of the cameras, positive upwards [N], rad.
        travelled: Way of the last step [N], m.
        blocked: Whether an obstacle cut or deflected the last step [N].
        distances: Geodesic distance to the goal given to `place` [N], m; NaN without one.
        wanted: 1 + index in CATEGORIES of what is marked in each goal mask [N], uint8; 0 for nothing.
    """

    ON_DEVICE = True

    def __init__(self, count: int, config: AgentConfig, threads: int = 1) -> None:
        """Allocate the state; agents are nowhere until they are placed.

        What they see does not depend on the number of threads that draw it.
        """
        config.check()
        if config.draw_on != CPU and not self.ON_DEVICE:
            raise UserError(
                f"agent.draw_on={config.draw_on}: only our homes are drawn on a device: set agent.draw_on={CPU}"
            )
        self._threads = Threads(threads)
        self.config = config
        self.load: Callable[[Any], Any] = lambda name: load_scene(name, config.radius)
        self.bank = SceneBank()
        self.poses = np.zeros((count, 3))
        self.tilts = np.zeros(count)
        self.travelled = np.zeros(count)
        self.blocked = np.zeros(count, bool)
        self.distances = np.full(count, np.nan)
        self.wanted = np.zeros(count, np.uint8)
        self._scenes = np.zeros(count, np.int64)  # numbers in the bank
        self._placed, self._all_placed = np.zeros(count, bool), False
        # Distances to each agent's goal over its scene, which several may share, and their addresses
        self._fields: list[np.ndarray | None] = [None] * count
        self._field_at = np.zeros(count, np.int64)
        size = config.camera_size
        far = max(config.depth_range, COLOUR_RANGE) if self._sees_far else config.depth_range
        self._lens = Camera(size, size, config.field_of_view).lens(far=far)
        self._scratch = [Scratch(size) for _ in range(self._threads.count)]
        self._device: Any = None
        if config.draw_on != CPU:
            from nav.device_images import DeviceImages  # loads torch, which most agents need not

            self._device = DeviceImages(count, config)
        self._segmenter: Any = None
        if config.segmenter:
            from nav.segmenter import load_segmenter  # loads torch, which most agents need not

            self._segmenter = load_segmenter(config.segmenter, config)
            # Where nobody else sees them
            self._colours = np.zeros((count, size, size, 3), np.uint8)
        turn, tilt, limit = np.radians((config.turn, config.tilt, config.tilt_limit)).tolist()
        self._motion = np.array(
            (config.forward, turn, config.radius, float(config.slide), tilt, limit)
        )
        self._everyone = np.arange(count)

    @property
    def _sees_far(self) -> bool:
        """Return whether images go beyond the range of depth."""
        return self.config.rgb or self.config.goal_mask

    def scene(self, i: int) -> Scene:
        """The scene of agent i."""
        return self.bank.scenes[int(self._scenes[i])]

    def lengths(
        self, i: int, episode: NavEpisode, goal: Point | Places | None
    ) -> tuple[float, float]:
        """Geodesic and Euclidean distance from an episode's start to its nearest goal [m].

        Worlds of another kind may have to load the scene for that, in the place of agent i.
        """
        del i
        assert goal is not None
        scene: Scene = self.load(_building(episode))
        x, y, _ = episode.start
        if isinstance(goal, Places):
            straight = np.hypot(*(goal.points - (x, y)).T).min()
        else:
            straight = np.hypot(goal[0] - x, goal[1] - y)
        return scene.distance((x, y), goal), float(straight)

    def begin(self, i: int, episode: NavEpisode, goal: Point | Places | None) -> None:
        """Put agent i where an episode starts."""
        self.place(i, _building(episode), episode.start, goal)

    def place(
        self,
        i: int,
        scene: str,
        pose: tuple[float, float, float],
        goal: Point | Places | None = None,
    ) -> None:
        """Put agent i somewhere, and measure its distances to a goal if one is given."""
        self._put(i, self.load(scene), pose, goal)

    def _put(
        self, i: int, scene: Scene, pose: tuple[float, float, float], goal: Point | Places | None
    ) -> None:
        """Put agent i into a scene; the one where it was is forgotten if nobody else is there."""
        number = self.bank.enter(scene)
        if self._placed[i]:
            self.bank.leave(int(self._scenes[i]))
        self._placed[i], self._scenes[i] = True, number
        if not self._all_placed:
            # Kernels move those who are nowhere yet, too
            self._scenes[~self._placed] = number
            self._all_placed = bool(self._placed.all())
        self.poses[i], self.tilts[i] = pose, 0.0
        self.travelled[i], self.blocked[i] = 0.0, False
        field = None if goal is None else scene.distances_to(goal)
        self._fields[i], self._field_at[i] = field, 0 if field is None else field.ctypes.data
        self.distances[i] = np.nan if goal is None else scene.distance(pose[:2], goal)

    def step(self, actions: np.ndarray) -> None:
        """Carry out one action of each agent [N], see nav.agent."""
        bank, chosen = self.bank, np.asarray(actions, np.int64)

        def move(part: int, thread: int) -> None:
            del thread
            some = slice(part * MOVED, (part + 1) * MOVED)
            advance(
                chosen[some], self._motion, self._scenes[some], bank.frames, bank.shapes,
                bank.cell_starts, bank.clearance, self._field_at[some], self.poses[some],
                self.tilts[some], self.travelled[some], self.blocked[some], self.distances[some],
            )  # fmt: skip

        self._threads.each(move, -(-len(chosen) // MOVED))

    def close(self) -> None:
        """End the threads."""
        self._threads.close()

    def new_images(self) -> dict[str, Any]:
        """Arrays for `draw`: depth [N, H, W, 1] float32; rgb [N, H, W, 3] and goal_mask [N, H, W, 1] uint8.

        On a device depth alone, a tensor.
        """
        if self._device is not None:
            return {"depth": self._device.new_images()}
        shape = (len(self.poses), *(self.config.camera_size,) * 2)
        images: dict[str, np.ndarray] = {"depth": np.empty((*shape, 1), np.float32)}
        if self.config.rgb:
            images["rgb"] = np.empty((*shape, 3), np.uint8)
        if self.config.goal_mask:
            images["goal_mask"] = np.empty((*shape, 1), np.uint8)
        return images

    def draw(self, images: dict[str, Any], ids: np.ndarray | None = None) -> None:
        """Draw what agents see, all or those of some ids; depth in units of the depth range."""
        if self._device is not None:
            self._device.draw(images["depth"], self.bank, self._scenes, self.poses, self.tilts, ids)
            return
        marked = images.get("goal_mask")
        if self._segmenter is None:
            self._draw(images["depth"], images.get("rgb"), marked, self.bank.geoms.colours, ids)
            return
        rgb = images.get("rgb", self._colours)
        self._draw(images["depth"], rgb, None, self.bank.geoms.colours, ids)
        some = self._everyone if ids is None else ids
        if marked is not None and len(some):
            seen = rgb[some], images["depth"][some]
            marked[some] = self._segmenter.mark(*seen, self.wanted[some])

    def categories_in_view(self) -> np.ndarray:
        """1 + index in CATEGORIES of what each pixel shows, 0 for all else [N, H, W] uint8."""
        shape = (len(self.poses), *(self.config.camera_size,) * 2)
        images = np.empty((*shape, 1), np.float32), np.empty((*shape, 3), np.uint8)
        labels = np.repeat(self.bank.geoms.categories[:, None], 3, axis=1)
        self._draw(*images, None, labels, None)
        return images[1][..., 0]

    def _draw(
        self,
        depth: np.ndarray,
        rgb: np.ndarray | None,
        mask: np.ndarray | None,
        colours: np.ndarray,
        ids: np.ndarray | None,
    ) -> None:
        """Draw depth, the geoms' colours [M, 3] into rgb, and the goal mask; shapes as in `new_images`."""
        bank, config, geoms = self.bank, self.config, self.bank.geoms
        tagged = rgb is not None or mask is not None

        def draw_some(some: np.ndarray, scratch: Scratch) -> None:
            draw(
                some, self.poses, self.tilts, config.camera_height, self._lens, config.depth_range,
                self._scenes, bank.geom_starts, geoms.kinds, geoms.sizes, geoms.positions,
                geoms.rotations, colours, geoms.categories, self.wanted, scratch.buffer,
                scratch.tags if tagged else None, depth[..., 0], rgb,
                None if mask is None else mask[..., 0],
            )  # fmt: skip

        self._share(draw_some, self._everyone if ids is None else ids)
        if self._sees_far:
            np.minimum(depth, 1.0, out=depth)

    def _share(self, work: Callable[[np.ndarray, Scratch], None], ids: np.ndarray) -> None:
        """Share the drawing of agents among the threads, a few at a time."""
        if self._threads.count == 1:
            return work(ids, self._scratch[0])
        parts = np.array_split(ids, -(-len(ids) // TOGETHER)) if len(ids) else []
        self._threads.each(
            lambda part, thread: work(parts[part], self._scratch[thread]), len(parts)
        )


def _building(episode: NavEpisode) -> str:
    """The building in which an episode begins; UserError where it is in a scene of a file."""
    if episode.mesh is not None:
        raise UserError(
            f"episode '{episode.episode_id}' is in {episode.mesh.file}, not in one of our buildings: say "
            "sim=scan or sim=habitat"
        )
    return episode.building
