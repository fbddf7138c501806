"""Geoms that are only seen: meshes and planes with their textures, and shapes that collide as boxes."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from rearrange.compiled_models import flat_texture, geom_color, mesh_arrays, texels
from rearrange.scenes.apartment import CEILING_GROUP
from rearrange.scenes.home_files.model import FileModel

_ROLE = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
_MESH = mujoco.mjtGeom.mjGEOM_MESH
_TEXTURED = (int(mujoco.mjtGeom.mjGEOM_PLANE), int(_MESH))
_DRAWN = (*range(int(mujoco.mjtGeom.mjGEOM_PLANE), int(mujoco.mjtGeom.mjGEOM_BOX) + 1), int(_MESH))
CEILING = 1.9  # [m], what begins higher is left out in views from above


def add_look(
    spec: Any, body: Any, source: FileModel, geom: int, position: np.ndarray, rotation: np.ndarray
) -> None:
    """Add to a body a geom that shows what one of the model shows, and that nothing can touch.

    Args:
        spec: To which the body belongs; meshes and textures are added to it once.
        body: Of the home.
        source: The model.
        geom: Which geom.
        position: Of the geom in the body's frame [3], m.
        rotation: Likewise [3, 3].
    """
    model, kind = source.model, int(source.model.geom_type[geom])
    if kind not in _DRAWN or kind == int(mujoco.mjtGeom.mjGEOM_HFIELD):
        return
    quaternion = np.empty(4)
    mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(rotation).ravel())
    fields: dict[str, Any] = {"size": model.geom_size[geom]}
    if kind == int(_MESH):
        fields = {"meshname": _mesh(spec, model, int(model.geom_dataid[geom]))}
    if kind in _TEXTURED:
        material = _material(spec, model, int(model.geom_matid[geom]))
        if material:
            fields["material"] = material
    high = source.data.geom_xpos[geom, 2] - model.geom_rbound[geom]
    body.add_geom(
        type=mujoco.mjtGeom(kind),
        pos=position,
        quat=quaternion,
        rgba=geom_color(model, geom),
        contype=0,
        conaffinity=0,
        mass=0.0,
        group=CEILING_GROUP if high > CEILING and kind != int(_MESH) else 0,
        **fields,
    )


def _mesh(spec: Any, model: Any, i: int) -> str:
    """Name of a mesh in the spec, added where it is not there yet."""
    name = f"home_mesh_{i}"
    if spec.mesh(name) is not None:
        return name
    found = mesh_arrays(model, i)
    mesh = spec.add_mesh(name=name, inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
    mesh.uservert, mesh.userface = found.vertices.ravel().tolist(), found.faces.ravel().tolist()
    mesh.usernormal = found.normals.ravel().tolist()
    mesh.userfacenormal = found.normal_faces.ravel().tolist()
    if found.uvs is not None and found.uv_faces is not None:
        mesh.usertexcoord = found.uvs.ravel().tolist()
        mesh.userfacetexcoord = found.uv_faces.ravel().tolist()
    return name


def _material(spec: Any, model: Any, i: int) -> str:
    """Name of a material with a flat texture in the spec, added where it is not there yet; "" without."""
    texture = flat_texture(model, i)
    if texture < 0:
        return ""
    name = f"home_material_{i}"
    if spec.material(name) is None:
        material = spec.add_material(name=name, rgba=model.mat_rgba[i])
        material.texrepeat = model.mat_texrepeat[i]
        material.texuniform = bool(model.mat_texuniform[i])
        material.textures[_ROLE] = _texture(spec, model, texture)
    return name


def _texture(spec: Any, model: Any, i: int) -> str:
    name = f"home_texture_{i}"
    if spec.texture(name) is None:
        found = texels(model, i)
        texture = spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D)
        texture.height, texture.width, texture.nchannel = found.shape
        texture.data = found.tobytes()
    return name
