"""Pictures of an agent at work: what it sees, and a map of the floor with its way."""

from __future__ import annotations

import numpy as np
from PIL import Image

from nav.episode import NavEpisode
from nav.mesh_worlds import MeshWorlds
from nav.worlds import AgentWorlds
from rearrange.navigation import draw_map
from rearrange.render import colour_depth

SIZE = 360  # [pixels], height of a picture
FARTHEST = 5.0  # [m], in the colours of depth


class NavPicture:
    """Draws one episode, picture after picture."""

    def __init__(self, worlds: AgentWorlds, i: int, episode: NavEpisode) -> None:
        """Begin where an agent is now.

        Args:
            worlds: Agents; in Habitat's scenes, of which no floor is known, there is no map.
            i: Which.
            episode: What is asked for.
        """
        self._worlds, self._i, self._mapped = worlds, i, not isinstance(worlds, MeshWorlds)
        self._way = [episode.start[:2]]
        self._goals = [] if episode.goal is None else [episode.goal]
        self._sought: list[tuple[float, float]] = []
        if self._mapped and episode.category is not None:
            objects = worlds.scene(i).objects
            self._sought = [o.position[:2] for o in objects if o.category == episode.category]

    def draw(self) -> np.ndarray:
        """The next picture: the agent's image, and the map at its right [360, 720 or 360, 3] uint8."""
        images = self._worlds.new_images()
        self._worlds.draw(images, np.array([self._i]))
        if "rgb" in images:
            seen = images["rgb"][self._i]
        else:
            depth = images["depth"][self._i, ..., 0]
            depth = depth if isinstance(depth, np.ndarray) else depth.cpu().numpy()
            metres = depth * self._worlds.config.depth_range
            seen = colour_depth(metres, 0.0, FARTHEST)
        image = Image.fromarray(seen).resize((SIZE, SIZE), Image.Resampling.NEAREST)
        return np.hstack([np.asarray(image), self.map()]) if self._mapped else np.array(image)

    def map(self) -> np.ndarray:
        """The floor from above with the way so far, as large as it fits [360, 360, 3] uint8."""
        grid = self._worlds.scene(self._i).grid
        x, y, yaw = self._worlds.poses[self._i].tolist()
        self._way.append((x, y))
        scale = SIZE / (max(grid.clearance.shape) * grid.cell)
        floor = draw_map(
            grid, scale, np.array(self._way), (x, y, yaw), self._sought, goals=self._goals
        )
        page = np.full((SIZE, SIZE, 3), 255, np.uint8)
        height, width = floor.shape[:2]
        top, left = (SIZE - height) // 2, (SIZE - width) // 2
        page[top : top + height, left : left + width] = floor
        return page
