"""Our buildings as scenes of Habitat: a mesh of each in glTF, and PointNav episodes in them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from atomic_files import write_whole
from nav.episode import NavEpisode
from nav.habitat import write_episodes
from rearrange.habitat.scene import Mesh, box_mesh, cylinder_mesh, glb
from rearrange.navigation.footprints import Building
from rearrange.scenes.apartment import Solid


def building_glb(building: Building) -> bytes:
    """A building as binary glTF: a mesh for each solid, in its plain colour.

    It is z up, unlike glTF's rule: so Habitat takes a scene file without a config, as Matterport3D's are.
    """
    meshes = [_mesh(solid) for solid in building.solids]
    return glb(meshes, [solid.color for solid in building.solids])


def _mesh(solid: Solid) -> Mesh:
    """A solid where it stands."""
    size = np.array(solid.size)
    points, triangles = box_mesh(size) if solid.kind == "box" else cylinder_mesh(*size[:2])
    cosine, sine = np.cos(solid.yaw), np.sin(solid.yaw)
    turn = np.array([(cosine, -sine, 0.0), (sine, cosine, 0.0), (0.0, 0.0, 1.0)])
    return points @ turn.T + np.array(solid.position), triangles


def export(
    folder: Path,
    collection: str,
    split: str,
    buildings: Iterable[Building],
    episodes: Iterable[NavEpisode],
) -> tuple[Path, Path]:
    """Write buildings and PointNav episodes in them where Habitat's downloader would put such data.

    Args:
        folder: Habitat's data folder.
        collection: What the buildings are called together.
        split: Of the episodes.
        buildings: Those of the episodes.
        episodes: With goals.

    Returns:
        The folder of the scenes, and the file of the episodes.
    """
    scenes = folder / "scene_datasets"
    for building in buildings:
        write_whole(scenes / collection / f"{building.name}.glb", building_glb(building))
    path = folder / "datasets" / "pointnav" / collection / "v1" / split / f"{split}.json.gz"
    write_episodes(path, episodes, scene=f"{collection}/{{}}.glb")
    return scenes, path
