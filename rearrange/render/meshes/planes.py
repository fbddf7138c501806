"""Textures of planes, laid over them as MuJoCo's renderer does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rearrange.compiled_models import flat_texture
from rearrange.render.meshes.library import NO_TEXTURE, MeshLibrary, library_of_model

PLANE = 0  # mujoco.mjtGeom


@dataclass(frozen=True)
class PlaneLooks:
    """Textures of M geoms, of which some are planes.

    Attributes:
        library: The textures.
        textures: Texture of each, or NO_TEXTURE [M], int64.
        steps: How often it is repeated in a metre along x, and against y [M, 2].
    """

    library: MeshLibrary
    textures: NDArray[np.int64]
    steps: NDArray[np.float64]

    def keep(self, mask: NDArray[np.bool_]) -> PlaneLooks:
        """The geoms where mask [M] is true."""
        return PlaneLooks(self.library, self.textures[mask], self.steps[mask])


def plane_looks(model: Any, ids: NDArray[np.int64]) -> PlaneLooks | None:
    """Textures of some geoms of a model [M]; None if there are none.

    `texrepeat` counts within the plane's size. With `texuniform`, and along an endless side, it counts within
    two metres: what MuJoCo draws, though its reference says one.
    """
    textures, steps = np.full(len(ids), NO_TEXTURE), np.zeros((len(ids), 2))
    for k in np.flatnonzero(model.geom_type[ids] == PLANE) if model.ntex else ():
        material = int(model.geom_matid[ids[k]])
        textures[k] = flat_texture(model, material)
        if textures[k] != NO_TEXTURE:
            half = np.array(model.geom_size[ids[k], :2])
            half[(half <= 0.0) | bool(model.mat_texuniform[material])] = 1.0
            steps[k] = model.mat_texrepeat[material] / (2.0 * half)
    if (textures == NO_TEXTURE).all():
        return None
    return PlaneLooks(library_of_model(model), textures, steps)
