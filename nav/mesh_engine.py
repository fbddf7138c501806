"""One agent in one of Habitat's scenes, in a process of its own.

`rearrange/habitat/engine_server.py` loads this file.

It imports nothing of ours and knows Habitat's frame only: y up, quaternions x, y, z, w, metres.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

Vector = tuple[float, float, float]


class Engine:
    """A scene with its navmesh, an agent that stands on it, and its camera."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Start the engine.

        Args:
            settings: `radius` and `height` of the agent [m], `slide`: whether steps glide along
                obstacles, `size` of images [pixels], `field_of_view` [deg], `rgb`: whether colours are
                drawn, `device`: GPU, -1 for software.
        """
        import habitat_sim  # pyright: ignore[reportMissingImports]
        import magnum  # pyright: ignore[reportMissingImports]

        self.hsim, self.mn = habitat_sim, magnum
        self.settings = settings
        self.loaded: tuple[str, str] | None = None
        self.sim: Any = None
        self.path: Any = None
        self.place: Any = None

    def load(self, scene: str, dataset: str) -> None:
        """Go to a scene file, of a scene dataset's config file or of none (""), if it is another one.

        The navmesh is the scene's own if that is for such an agent, as in habitat-lab; else it is made.
        """
        if self.loaded == (scene, dataset):
            return
        self.close()
        hsim, settings = self.hsim, self.settings
        backend = hsim.SimulatorConfiguration()
        backend.scene_id = scene
        if dataset:
            backend.scene_dataset_config_file = dataset
        backend.gpu_device_id = settings["device"]
        backend.enable_physics = False
        floor = hsim.NavMeshSettings()
        floor.set_defaults()
        floor.agent_radius, floor.agent_height = settings["radius"], settings["height"]
        backend.navmesh_settings = floor
        agent = hsim.agent.AgentConfiguration()
        agent.sensor_specifications = [self._sensor(name) for name in self._sensors()]
        self.sim = hsim.Simulator(hsim.Configuration(backend, [agent]))
        if not self.sim.pathfinder.is_loaded:
            raise RuntimeError(f"{scene} has no floor on which such an agent could stand")
        self.loaded = (scene, dataset)

    def _sensors(self) -> list[str]:
        return ["depth", "rgb"] if self.settings["rgb"] else ["depth"]

    def _sensor(self, name: str) -> Any:
        spec = self.hsim.CameraSensorSpec()
        spec.uuid = name
        kinds = self.hsim.SensorType
        spec.sensor_type = kinds.COLOR if name == "rgb" else kinds.DEPTH
        spec.resolution = [self.settings["size"]] * 2
        spec.position = [0.0, 0.0, 0.0]
        spec.hfov = self.settings["field_of_view"]
        return spec

    # --- the floor ----------------------------------------------------------------------------------

    def begin(self, place: Vector, goals: np.ndarray) -> list[float]:
        """Put the agent on the floor nearest to a place; returns what `_told` does.

        Args:
            place: Where [m].
            goals: Places [G, 3], m; distances are measured to the nearest, put on the floor likewise.
        """
        self.path, self.place = self._path(goals), self._on_floor(place)
        return self._told()

    def distance(self, place: Vector, goals: np.ndarray) -> float:
        """Geodesic distance from a place to the nearest of others [G, 3], m; infinite without a way."""
        return self._measure(self._path(goals), self._on_floor(place))

    def _path(self, goals: np.ndarray) -> Any:
        path = self.hsim.MultiGoalShortestPath()
        # The mesh of the floor is up to 0.2 m above the floor, which would count as way to a goal
        ends = [self._on_floor(goal) for goal in goals]
        path.requested_ends = [end for end in ends if not math.isnan(end[0])]
        return path

    def _on_floor(self, place: Any) -> Any:
        """The nearest place on the mesh of the floor; NaN where none is near."""
        return self.sim.pathfinder.snap_point(np.array(place, np.float32))

    def _measure(self, path: Any, place: Any) -> float:
        if math.isnan(place[0]) or not path.requested_ends:
            return math.inf
        path.requested_start = place
        found = self.sim.pathfinder.find_path(path)
        return float(path.geodesic_distance) if found else math.inf

    def _told(self) -> list[float]:
        """The agent's position [3], and its geodesic distance to the goals [m]."""
        return [*(float(x) for x in self.place), self._measure(self.path, self.place)]

    def _end(self, step: Vector) -> Any:
        """End position of a step from here."""
        finder = self.sim.pathfinder
        go = finder.try_step if self.settings["slide"] else finder.try_step_no_sliding
        return go(self.place, self.mn.Vector3(*self.place) + self.mn.Vector3(*step))

    def move(self, step: Vector) -> list[float]:
        """Go as far as the floor lets; returns what `_told` does."""
        self.place = self._end(step)
        return self._told()

    def outlook(self, steps: list[Vector]) -> list[float]:
        """The distances [m] at which the agent would be after each of some steps."""
        return [self._measure(self.path, self._end(step)) for step in steps]

    # --- the camera ---------------------------------------------------------------------------------

    def render(self, position: Vector, rotation: tuple[float, ...]) -> list[bytes]:
        """Render a view: depth [H, W] float32, m, 0 where nothing is; colours [H, W, 4] uint8.

        The camera looks along its -z. Colours only if the engine was asked to draw them.
        """
        x, y, z, w = rotation
        turn = self.mn.Quaternion(self.mn.Vector3(x, y, z), w)
        pose = self.mn.Matrix4.from_(turn.to_matrix(), self.mn.Vector3(*position))
        self.sim.agents[0].scene_node.transformation = pose
        seen = []
        for name in self._sensors():
            sensor = self.sim.sensors[name]
            sensor.draw_observation()
            seen.append(np.ascontiguousarray(sensor.get_observation()).tobytes())
        return seen

    def abort(self) -> None:
        """Die as the engine does on a mistake: for tests."""
        os.abort()

    def close(self) -> None:
        """Leave the scene."""
        if self.sim is not None:
            self.sim.close(destroy=True)
            self.sim = self.loaded = None
