"""Objects of meshes in a MuJoCo spec: convex parts that are touched, and triangles that are seen."""

from __future__ import annotations

from typing import Any

import mujoco

from rearrange.scenes.objects import MeshPart, ObjectKind

UNTOUCHED = {"contype": 0, "conaffinity": 0}
HULL = 48  # corners of a convex part at most: each contact looks at them
_RGB = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)


def add_meshes(spec: Any, body: Any, kind: ObjectKind, contact: dict[str, Any]) -> None:
    """Add an object's meshes to its body; slots of a kind share what is compiled of them.

    Args:
        spec: To which the body belongs.
        body: Of a slot.
        kind: What it holds.
        contact: Fields of geoms that collide.
    """
    volume = sum(part.volume for part in kind.meshes)
    for index, part in enumerate(kind.meshes):
        mesh = _mesh(spec, f"object_{kind.name}_{index}", part)
        look = {} if part.collides else UNTOUCHED | _look(spec, mesh, part)
        body.add_geom(
            name=f"{body.name}_{index}" if index else body.name,
            type=mujoco.mjtGeom.mjGEOM_MESH,
            meshname=mesh,
            mass=kind.mass * part.volume / volume,
            **(contact | look | {"rgba": (0.0, 0.0, 0.0, 0.0) if part.collides else part.color}),
        )


def _mesh(spec: Any, name: str, part: MeshPart) -> str:
    """Name of the mesh, added where it is not there yet."""
    if spec.mesh(name) is not None:
        return name
    inertia = mujoco.mjtMeshInertia
    if part.collides:
        mesh = spec.add_mesh(name=name, inertia=inertia.mjMESH_INERTIA_CONVEX, maxhullvert=HULL)
        mesh.uservert = part.vertices.ravel().tolist()  # MuJoCo makes the hull
        return name
    mesh = spec.add_mesh(name=name, inertia=inertia.mjMESH_INERTIA_SHELL)
    for field, values in (
        ("uservert", part.vertices),
        ("userface", part.faces),
        ("usernormal", part.normals),
        ("userfacenormal", part.normal_faces),
        ("usertexcoord", part.uvs),
        ("userfacetexcoord", part.uv_faces),
    ):
        if values is not None:
            setattr(mesh, field, values.ravel().tolist())
    return name


def _look(spec: Any, name: str, part: MeshPart) -> dict[str, str]:
    """Fields of a geom with the part's texture, which is added where it is not there yet."""
    if part.texture is None:
        return {}
    if spec.material(name) is None:
        texture = spec.add_texture(name=name, type=mujoco.mjtTexture.mjTEXTURE_2D)
        texture.height, texture.width, texture.nchannel = part.texture.shape
        texture.data = part.texture.tobytes()
        material = spec.add_material(name=name, texrepeat=part.repeat)
        material.textures[_RGB] = name
    return {"material": name}
