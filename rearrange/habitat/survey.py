"""One-off queries of a scene of a Habitat dataset: navmesh floor and handle poses.

As the engine it imports nothing of ours and knows Habitat's frames only. Loaded by `engine_server.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

CLIMB = 0.05  # [m], what is higher is no floor; the mesh may be as much above what is stood on
STEP_UP = 3 * CLIMB  # [m], a mesh of the floor that much higher is that of something else
LEVELS = 64  # places where the floor's height is looked up
HANDLE_PLACES = 17  # along the way of a handle


class Engine:
    """A scene with its furniture, without a robot."""

    def __init__(self, settings: dict[str, Any]) -> None:
        """Start the engine; `settings` as for `engine.Engine`, and `scene` and `dataset`, files."""
        import habitat_sim  # pyright: ignore[reportMissingImports]
        import magnum  # pyright: ignore[reportMissingImports]

        self.hsim, self.mn = habitat_sim, magnum
        backend = habitat_sim.SimulatorConfiguration()
        backend.scene_id, backend.scene_dataset_config_file = settings["scene"], settings["dataset"]
        backend.enable_physics, backend.physics_config_file = True, settings["physics"]
        backend.gpu_device_id = settings["device"]
        agent = habitat_sim.agent.AgentConfiguration()
        agent.sensor_specifications = []
        self.sim = habitat_sim.Simulator(habitat_sim.Configuration(backend, [agent]))
        self.furniture = self.sim.get_articulated_object_manager()

    def handles(self, markers: list[tuple[str, str, Any]]) -> list[dict[str, Any]]:
        """Where handles are, as their joints open.

        Args:
            markers: Of each: handle of the articulated object, name of the link and offset in its frame [3], m.

        Returns:
            Of each: `origin` of the frame in which it is stood before it [3], m, and what is ahead in it,
            `axis` [3]: for a door the furniture's, for a drawer its own; `values` of the joint [K], rad or m,
            and `places` of the handle then [K, 3], m.
        """
        return [self._handle(*marker) for marker in markers]

    def _handle(self, name: str, link_name: str, offset: Any) -> dict[str, Any]:
        piece = self.furniture.get_object_by_handle(name)
        if piece is None:
            there = ", ".join(self.furniture.get_object_handles())
            raise RuntimeError(f"the scene has no {name}, only {there}")
        link = piece.get_link_id_from_name(link_name)
        row, node = piece.get_link_joint_pos_offset(link), piece.get_link_scene_node(link)
        turns = piece.get_link_joint_type(link) == self.hsim.physics.JointType.Revolute
        widest = float(piece.joint_position_limits[1][row])
        if not 0.0 < widest < 10.0:
            raise RuntimeError(
                f"{link_name} of {name} opens from 0 to {widest:g}, not to so many m or rad"
            )
        before, values = list(piece.joint_positions), np.linspace(0.0, widest, HANDLE_PLACES)
        places = []
        for value in values:
            piece.joint_positions = [*before[:row], float(value), *before[row + 1 :]]
            places.append(list(node.transformation.transform_point(self.mn.Vector3(*offset))))
        piece.joint_positions = before
        frame = piece.transformation if turns else node.transformation
        return {
            "origin": list(frame.translation),
            "axis": list(frame.transform_vector(self.mn.Vector3.x_axis())),
            "values": values.tolist(),
            "places": places,
        }

    def floor(self, below: float, cell: float, radius: float, heights: tuple[float, float]) -> Any:
        """The floor of the scene, without where articulated furniture stands.

        Args:
            below: What lies higher is no floor, but a ceiling e.g. [m].
            cell: Size of the cells in which it is told [m].
            radius: Of the robot, whose largest connected floor counts [m].
            heights: Above the floor, between which the robot can touch something [m].

        Returns:
            x and z of the lower corner of the first cell [m]; the floor's height [m]; for each cell whether
            nothing stands there [x, z] bool.
        """
        level = self._level(self._navmesh(radius, heights[1]), below)
        finder = self._navmesh(0.0, heights[1])
        (x0, _, z0), (x1, _, z1) = finder.get_bounds()
        xs, zs = np.arange(x0, x1, cell) + 0.5 * cell, np.arange(z0, z1, cell) + 0.5 * cell
        free = [[finder.is_navigable([x, level, z], STEP_UP) for z in zs] for x in xs]
        return (
            float(x0),
            float(z0),
            level,
            np.array(free, bool) & ~self._furnished(xs, zs, level + np.linspace(*heights, 8)),
        )

    def _level(self, finder: Any, below: float) -> float:
        """Height of the largest connected floor: its median, as rugs and steps are higher [m]."""
        finder.seed(0)
        islands = [
            (finder.island_area(island), island)
            for island in range(finder.num_islands)
            if finder.get_random_navigable_point(island_index=island)[1] < below
        ]
        if not islands:
            raise RuntimeError(f"there is no floor below {below:g} m")
        _, island = max(islands)
        levels = []
        for _ in range(LEVELS):
            place = finder.get_random_navigable_point(island_index=island)
            ray = self.hsim.geo.Ray(self.mn.Vector3(*place), self.mn.Vector3(0.0, -1.0, 0.0))
            hits = self.sim.cast_ray(ray, 1.0).hits
            nearest = min((hit.ray_distance for hit in hits), default=0.0)
            levels.append(float(place[1]) - nearest)
        return float(np.median(levels))

    def _navmesh(self, radius: float, height: float) -> Any:
        settings = self.hsim.NavMeshSettings()
        settings.set_defaults()
        settings.agent_radius, settings.agent_height = radius, height
        settings.cell_height = settings.agent_max_climb = CLIMB
        settings.include_static_objects = True
        finder = self.hsim.PathFinder()
        if not self.sim.recompute_navmesh(finder, settings):
            raise RuntimeError("there is no floor for such a robot")
        return finder

    def _furnished(self, xs: np.ndarray, zs: np.ndarray, heights: np.ndarray) -> np.ndarray:
        """Whether articulated furniture is there at one of the heights [x, z] bool, as the boxes around it.

        The engine could put it into the navmesh, but dies where it is made of primitives.
        """
        points = np.stack(np.meshgrid(xs, heights, zs, indexing="ij"), axis=-1)
        taken = np.zeros((len(xs), len(zs)), bool)
        for piece in self.furniture.get_objects_by_handle_substring("").values():
            box = piece.root_scene_node.cumulative_bb
            into = np.array(piece.transformation.inverted_rigid())
            local = points @ into[:3, :3].T + into[:3, 3]
            inside = (local >= np.array(box.min)) & (local <= np.array(box.max))
            taken |= inside.all(axis=-1).any(axis=1)
        return taken
