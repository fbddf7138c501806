"""Compiled MuJoCo models that others wrote: colours, meshes and textures, what is seen and what collides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import mujoco
import numpy as np

from rearrange.errors import UserError

GEOM = mujoco.mjtGeom
SHOWN_GROUPS = 3  # groups 0 to 2 are drawn, as in MuJoCo's viewer; the others are what collides
_OF_MATERIAL = int(mujoco.mjtTextureRole.mjTEXROLE_RGB)
_FLAT = int(mujoco.mjtTexture.mjTEXTURE_2D)

Rgba = tuple[float, float, float, float]


@dataclass
class Notes:
    """What is wrong with a model, in words: faults forbid its use, remarks do not."""

    faults: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def compile_file(file: Path, at: str) -> Any:
    """Compile a MJCF or URDF file; all that is seen stays, and every link of a URDF file is a body.

    Args:
        file: The model.
        at: Where it is named, for messages.

    Raises:
        UserError: It cannot be read, or MuJoCo refuses it.
    """
    read = read_urdf if file.suffix.lower() == ".urdf" else _read_mjcf
    return compile_spec(lambda: read(file), f"{at}: {file}")


def compile_spec(make: Callable[[], Any], at: str) -> Any:
    """Compile the MjSpec that is made; raises UserError where MuJoCo refuses it."""
    try:
        spec = make()
        spec.compiler.fusestatic = False
        spec.compiler.discardvisual = False
        return spec.compile()
    except (ValueError, OSError, LookupError, ElementTree.ParseError) as error:
        told = " ".join(str(error).split())[:300]
        raise UserError(f"{at}: {told}") from None


def _read_mjcf(file: Path) -> Any:
    return mujoco.MjSpec.from_file(str(file))


def read_urdf(file: Path) -> Any:
    """Read the MjSpec of a URDF file.

    MuJoCo drops what is only seen while it reads such a file, unless the file itself says otherwise. It knows
    no `package://NAME/`: that is the folder NAME above the file, or else the file's own.
    """
    robot = ElementTree.fromstring(file.read_bytes())
    words = robot.find("mujoco")
    words = ElementTree.SubElement(robot, "mujoco") if words is None else words
    compiler = words.find("compiler")
    compiler = ElementTree.SubElement(words, "compiler") if compiler is None else compiler
    compiler.set("discardvisual", "false")
    compiler.set("fusestatic", "false")
    folder = file.resolve().parent
    for mesh in robot.iter("mesh"):
        name = mesh.get("filename", "")
        if name.startswith("package://"):
            package, _, inside = name.removeprefix("package://").partition("/")
            above = (each for each in (folder, *folder.parents) if each.name == package)
            mesh.set("filename", str(next(above, folder) / inside))
        elif name.startswith("file://"):
            mesh.set("filename", name.removeprefix("file://"))
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode"))
    spec.modelfiledir = str(folder)
    return spec


def kind_of(model: Any, geom: int) -> mujoco.mjtGeom:
    """What a geom is."""
    return GEOM(int(model.geom_type[geom]))


def collides(model: Any, geom: int) -> bool:
    """True if a geom touches anything in its model."""
    return bool(model.geom_contype[geom] or model.geom_conaffinity[geom])


def geom_color(model: Any, geom: int) -> Rgba:
    """A geom's own colour if one was set, else its material's."""
    rgba, material = model.geom_rgba[geom], int(model.geom_matid[geom])
    if material >= 0 and (rgba == (0.5, 0.5, 0.5, 1.0)).all():
        rgba = model.mat_rgba[material]
    red, green, blue, alpha = (float(value) for value in rgba)
    return red, green, blue, alpha


def is_drawn(model: Any, geom: int) -> bool:
    """True if a geom is seen."""
    return geom_color(model, geom)[3] > 0.0 and int(model.geom_group[geom]) < SHOWN_GROUPS


def seen_of(model: Any, geoms: Sequence[int]) -> list[int]:
    """Those geoms of a thing that are seen.

    Where some are drawn and touch nothing, what collides is not meant to be seen.
    """
    drawn = [geom for geom in geoms if is_drawn(model, geom)]
    return [geom for geom in drawn if not collides(model, geom)] or drawn


class MeshArrays(NamedTuple):
    """A mesh in the frame of its geoms, which MuJoCo has centred and turned.

    Attributes:
        vertices: [V, 3], m.
        faces: [F, 3], of vertices.
        normals: [N, 3].
        normal_faces: [F, 3], of normals.
        uvs: [T, 2], or None.
        uv_faces: [F, 3], of uvs, or None.
    """

    vertices: np.ndarray
    faces: np.ndarray
    normals: np.ndarray
    normal_faces: np.ndarray
    uvs: np.ndarray | None
    uv_faces: np.ndarray | None


def mesh_arrays(model: Any, mesh: int) -> MeshArrays:
    """Views of the arrays of a mesh."""

    def part(name: str, values: Any) -> np.ndarray:
        first = int(getattr(model, f"mesh_{name}adr")[mesh])
        return values[first : first + int(getattr(model, f"mesh_{name}num")[mesh])]

    has_uvs = int(model.mesh_texcoordadr[mesh]) >= 0
    return MeshArrays(
        part("vert", model.mesh_vert),
        part("face", model.mesh_face),
        part("normal", model.mesh_normal),
        part("face", model.mesh_facenormal),
        part("texcoord", model.mesh_texcoord) if has_uvs else None,
        part("face", model.mesh_facetexcoord) if has_uvs else None,
    )


def flat_texture(model: Any, material: int) -> int:
    """Flat texture of a material, or -1."""
    texture = int(model.mat_texid[material, _OF_MATERIAL]) if material >= 0 else -1
    return texture if texture >= 0 and int(model.tex_type[texture]) == _FLAT else -1


def texels(model: Any, texture: int) -> np.ndarray:
    """View of the texels of a texture [H, W, channels], uint8."""
    height, width = int(model.tex_height[texture]), int(model.tex_width[texture])
    channels, start = int(model.tex_nchannel[texture]), int(model.tex_adr[texture])
    return model.tex_data[start : start + height * width * channels].reshape(
        height, width, channels
    )


def texture_colors(model: Any, texture: int) -> np.ndarray:
    """Texels in three channels [H, W, 3], uint8: of a grey texture thrice the same, of any without alpha."""
    found = texels(model, texture)
    return found[..., :3] if found.shape[2] >= 3 else np.repeat(found[..., :1], 3, axis=2)
