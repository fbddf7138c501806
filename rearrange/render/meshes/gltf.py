"""Triangle meshes of a binary glTF file, read by trimesh: node transforms, base colours, textures.

Colours are taken as the bytes that the file holds, as Habitat's flat shading shows them: scans have their
light in them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rearrange.errors import UserError
from rearrange.render.meshes.library import NO_TEXTURE, MeshGeoms, MeshLibrary
from rearrange.render.meshes.mesh import mesh_of_corners

INSTALL = "pip install 'rearrange[scans]'"
UNREAD = ("KHR_draco_mesh_compression", "EXT_meshopt_compression")  # of triangles
PACKED = ("KHR_texture_basisu", "image/ktx2")  # textures that Pillow does not read
Array = NDArray[Any]


@dataclass(frozen=True)
class Piece:
    """Triangles of a file that look alike.

    Attributes:
        corners: [T, 3, 3], m, z up.
        colours: Of each corner [T, 3, 3], uint8; None for white.
        uvs: Place in the texture of each corner [T, 3, 2], (0, 0) its first texel; None without one.
        image: What the texture is made of; None without one.
    """

    corners: Array
    colours: Array | None
    uvs: Array | None
    image: Any


def read_gltf(path: str | Path, turn: Array, textured: bool = True) -> list[Piece]:
    """Read a file's triangles.

    Args:
        path: Of a .glb file.
        turn: Rotation from the file's frame into a frame with z up [3, 3].
        textured: Whether looks are wanted; false: only corners are read.

    Raises:
        UserError: The file cannot be read, holds no triangle, or a texture has a format that Pillow
            does not read; or trimesh is not installed.
    """
    scene = _load(Path(path), textured)
    pieces = []
    for node in scene.graph.nodes_geometry:
        transform, name = scene.graph[node]
        shape = scene.geometry[name]
        if getattr(shape, "faces", None) is None or len(shape.faces) == 0:
            continue  # lines and points
        whole = np.asarray(turn) @ np.asarray(transform)[:3]
        points = np.asarray(shape.vertices) @ whole[:, :3].T + whole[:, 3]
        if not np.isfinite(points).all():
            raise UserError(f"{path}: mesh '{name}' has places that are no finite numbers")
        faces = np.asarray(shape.faces)
        if faces.min() < 0 or faces.max() >= len(points):
            raise UserError(
                f"{path}: mesh '{name}' has triangles of more than its {len(points)} places"
            )
        if np.linalg.det(whole[:, :3]) < 0.0:  # a mirror turns triangles over
            faces = faces[:, ::-1]
        pieces.append(_piece(shape, points, faces, textured))
    if not pieces:
        raise UserError(f"{path}: expected a scene with triangles, found none")
    return pieces


def _load(path: Path, textured: bool) -> Any:
    """The file as a scene of trimesh."""
    try:
        import trimesh
    except ImportError:
        raise UserError(f"{path}: reading it needs trimesh: {INSTALL}") from None
    _check_header(path, textured)
    try:
        return trimesh.load_scene(path, process=False, skip_materials=not textured)
    except Exception as error:  # whatever a broken file makes of the reader
        told = " ".join(str(error).split()) or type(error).__name__
        raise UserError(f"{path} cannot be read as binary glTF: {told}") from None


def _check_header(path: Path, textured: bool) -> None:
    """Raise a UserError where a file is no .glb, or packed in a way that cannot be read."""
    if not path.is_file():
        raise UserError(f"there is no {path}")
    with path.open("rb") as file:
        magic, _, _, length = struct.unpack("<4sIII", file.read(16).ljust(16, b"\0"))
        if magic != b"glTF":
            raise UserError(f"{path}: expected binary glTF (.glb), found another format")
        header = file.read(4 + length)
    for name in UNREAD:
        if name.encode() in header:
            raise UserError(f"{path}: its triangles are packed by {name}: save it without")
    if textured and any(name.encode() in header for name in PACKED):
        raise UserError(
            f"{path}: its textures are packed as KTX2 (basis): take the scene with JPEG or PNG textures, "
            "or leave colours out (agent.rgb=false)"
        )


def _piece(shape: Any, points: Array, faces: Array, textured: bool) -> Piece:
    """A mesh of trimesh, in its place."""
    corners = points[faces]
    if not textured:
        return Piece(corners, None, None, None)
    visual, colours, uvs, image = shape.visual, None, None, None
    if visual.kind == "texture":
        material = visual.material
        image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
        if image is not None and visual.uv is not None:
            uvs = np.asarray(visual.uv)[faces]
            uvs = np.stack([uvs[..., 0], 1.0 - uvs[..., 1]], axis=-1)  # trimesh counts rows upwards
        else:
            image = None
        colours = _tinted(visual, material, len(points))
    elif visual.kind == "vertex":
        colours = np.asarray(visual.vertex_colors)[:, :3]
    return Piece(corners, None if colours is None else colours[faces], uvs, image)


def _tinted(visual: Any, material: Any, count: int) -> Array | None:
    """The colours by which a texture is multiplied at each vertex [count, 3] uint8; None for white."""
    colour = visual.vertex_attributes.get("color") if visual.vertex_attributes else None
    tint = getattr(material, "baseColorFactor", None)
    if tint is None and colour is None:
        return None
    shade = np.ones((count, 3))
    for values in (colour, tint):
        if values is not None:
            array = np.asarray(values)
            scale = 1.0 / np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 1.0
            shade = shade * np.clip(array[..., :3] * scale, 0.0, 1.0)
    return np.round(255.0 * shade).astype(np.uint8)


def library_of_pieces(pieces: list[Piece], name: str, finest: float = 0.0) -> MeshGeoms:
    """Pack triangles for the caster: a mesh for each texture, and one for all without.

    Args:
        pieces: See `read_gltf`.
        name: For messages.
        finest: Texels that are smaller are averaged [m], which saves memory, and noise in small images.

    Raises:
        UserError: A texture cannot be read.
    """
    images: list[Any] = []
    groups: dict[int, list[Piece]] = {}
    for piece in pieces:
        number = NO_TEXTURE
        if piece.image is not None:
            known = [k for k, image in enumerate(images) if image is piece.image]
            number = known[0] if known else len(images)
            if not known:
                images.append(piece.image)
        groups.setdefault(number, []).append(piece)
    meshes = [_mesh(group, name) for group in groups.values()]
    try:
        textures = [_texels(image, groups[k], finest) for k, image in enumerate(images)]
    except (OSError, ValueError, SyntaxError) as error:  # as Pillow tells of a broken picture
        raise UserError(
            f"{name}: a texture cannot be read: {' '.join(str(error).split())}"
        ) from None
    return MeshGeoms.of(MeshLibrary.of(meshes, textures), textures=list(groups))


def _texels(image: Any, pieces: list[Piece], finest: float) -> Array:
    """A texture [H, W, 3] uint8, coarser where its texels on the pieces are finer than asked for."""
    shown = image.convert("RGB")
    uvs = np.concatenate([piece.uvs for piece in pieces if piece.uvs is not None])
    corners = np.concatenate([piece.corners for piece in pieces])
    u, v = np.moveaxis(uvs[:, 1:] - uvs[:, :1], -1, 0)
    covered = 0.5 * np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum() * image.width * image.height
    sides = corners[:, 1:] - corners[:, :1]
    area = 0.5 * np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1).sum()
    factor = int(finest * np.sqrt(covered / area)) if area > 0.0 else 1
    factor = min(factor, image.width, image.height)
    return np.array(shown.reduce(factor) if factor > 1 else shown)


def _mesh(pieces: list[Piece], name: str) -> Any:
    """One mesh of pieces that have the same texture."""
    corners = np.concatenate([piece.corners for piece in pieces])
    uvs, colours = None, None
    if pieces[0].uvs is not None:
        uvs = np.concatenate([piece.uvs for piece in pieces if piece.uvs is not None])
    if any(piece.colours is not None for piece in pieces):
        colours = np.concatenate(
            [
                np.full(piece.corners.shape, 255, np.uint8)
                if piece.colours is None
                else piece.colours
                for piece in pieces
            ]
        )
    return mesh_of_corners(corners, None, uvs, colours, name=name)
