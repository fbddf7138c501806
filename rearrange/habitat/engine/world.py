"""An engine's simulator, its frames, its camera and its floor."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

FAR = 30.0  # [m], farther than anything in an apartment


class World:
    """A physics world with a camera, empty or with a scene of a dataset."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Start the engine.

        Args:
            settings: `physics`: file with time step and gravity; `time_step` [s]; `field_of_view` [deg];
                `device`: GPU, -1 for software; `friction` of all that is not an object; `near` [m].
        """
        import habitat_sim  # pyright: ignore[reportMissingImports]
        import magnum  # pyright: ignore[reportMissingImports]

        self.hsim, self.mn = habitat_sim, magnum
        self.settings = settings
        self.sim: Any = None
        self.worlds = 0
        # Kinds and sizes of pictures; of a kind that is not there at first none can be added later
        self.sensors = [("depth", 1), ("rgb", 1)]
        groups, helper = self._groups()
        helper.set_group_interacts_with(groups.UserGroup0, groups.Static, False)
        helper.set_group_interacts_with(groups.UserGroup0, groups.UserGroup0, False)
        helper.set_group_interacts_with(groups.UserGroup1, groups.Robot, False)

    def _groups(self) -> tuple[Any, Any]:
        physics = self.hsim.physics
        return physics.CollisionGroups, physics.CollisionGroupHelper

    def _open(self, files: dict[str, Any] | None) -> None:
        """Begin a world, empty or with a scene of a dataset: the renderer and what was read of files stay."""
        hsim = self.hsim
        backend = hsim.SimulatorConfiguration()
        backend.scene_id = "NONE" if files is None else files["scene"]
        backend.scene_dataset_config_file = "default" if files is None else files["dataset"]
        backend.enable_physics = True
        backend.physics_config_file = self.settings["physics"]
        backend.gpu_device_id = self.settings["device"]
        # Nothing is drawn with it here, but only new settings make a new world.
        backend.random_seed = self.worlds
        self.worlds += 1
        agent = hsim.agent.AgentConfiguration()
        agent.sensor_specifications = [self._sensor(*sensor) for sensor in self.sensors]
        configuration = hsim.Configuration(backend, [agent])
        if self.sim is None:
            self.sim = hsim.Simulator(configuration)
        else:
            self.sim.reconfigure(configuration)
        self.floor_height = 0.0 if files is None else files["height"]

    def _sensor(self, kind: str, size: int) -> Any:
        spec = self.hsim.CameraSensorSpec()
        spec.uuid = f"{kind}_{size}"
        kinds = self.hsim.SensorType
        spec.sensor_type = kinds.COLOR if kind == "rgb" else kinds.DEPTH
        spec.resolution = [size, size]
        spec.position = [0.0, 0.0, 0.0]
        spec.hfov = self.settings["field_of_view"]
        spec.near, spec.far = self.settings["near"], FAR
        return spec

    def _pose(self, position: Any, rotation: Any) -> Any:
        """Transformation of a place in the world, whose floor is at 0: position [3] and quaternion xyzw [4]."""
        x, y, z = position
        return self._relative((x, y + self.floor_height, z), rotation)

    def _relative(self, position: Any, rotation: Any) -> Any:
        """Transformation of a position [3] and a quaternion xyzw [4]."""
        mn = self.mn
        x, y, z, w = (float(value) for value in rotation)
        turn = mn.Quaternion(mn.Vector3(x, y, z), w)
        return mn.Matrix4.from_(turn.to_matrix(), mn.Vector3(*(float(p) for p in position)))

    def _pose_of(self, thing: Any) -> list[float]:
        return self._told(thing.translation, thing.rotation)

    def _told(self, position: Any, rotation: Any) -> list[float]:
        x, y, z = position
        return [x, y - self.floor_height, z, *rotation.vector, rotation.scalar]

    def render(self, position: Any, rotation: Any, size: int, kind: str = "depth") -> bytes:
        """What is seen from there: depth [size, size] float32, m, 0 where nothing is; or colours [.., 4] uint8.

        Args:
            position: Of the camera [3].
            rotation: Quaternion xyzw [4]; the camera looks along its -z.
            size: Height and width in pixels.
            kind: "depth" or "rgb".
        """
        if (kind, size) not in self.sensors:
            self.sim.add_sensor(self._sensor(kind, size))
            self.sensors.append((kind, size))
        self.sim.agents[0].scene_node.transformation = self._pose(position, rotation)
        sensor = self.sim._sensors[f"{kind}_{size}"]
        sensor.draw_observation()
        return np.ascontiguousarray(sensor.get_observation()).tobytes()

    def geodesics(self, starts: Any, goal: Any, radius: float, height: float) -> list[float]:
        """Distances over the engine's own navmesh [N], m; infinite without a way.

        Args:
            starts: Places [N, 3].
            goal: Another [3].
            radius: Of a cylinder that shall get through [m].
            height: Of it [m].
        """
        settings = self.hsim.NavMeshSettings()
        settings.set_defaults()
        settings.agent_radius, settings.agent_height = radius, height
        settings.include_static_objects = True
        finder = self.hsim.PathFinder()
        if not self.sim.recompute_navmesh(finder, settings):
            raise RuntimeError("there is no floor for such a robot")
        path, told = self.hsim.ShortestPath(), []
        up = np.array((0.0, self.floor_height, 0.0))
        path.requested_end = finder.snap_point(goal + up)
        for start in starts:
            path.requested_start = finder.snap_point(start + up)
            told.append(float(path.geodesic_distance) if finder.find_path(path) else float("inf"))
        return told

    def versions(self) -> str:
        """Of habitat-sim."""
        return str(self.hsim.__version__)

    def abort(self) -> None:
        """Die as the engine does on a mistake: for tests."""
        os.abort()

    def close(self) -> None:
        """Free the world."""
        if self.sim is not None:
            self.sim.close(destroy=True)
            self.sim = None
