"""Files for the Habitat engine: our apartments, objects and robot as glTF and URDF.

All of it is read from the compiled MuJoCo model, so both simulators have the same geometry, masses and
limits. Everything keeps its own z-up frame here; `habitat.py` says where it stands. The files lie in the
user's cache folder under names that tell their content, so they are written once and shared by all
workers.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from atomic_files import write_whole
from rearrange.habitat.urdf import Link, body_link, urdf
from rearrange.robot.fetch import FETCH
from rearrange.robot.joint import AXES, Joint
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.compile import (
    ARTICULATED_BIT,
    FRICTION,
    OBJECT_FRICTION,
)
from rearrange.scenes.spec import SceneSpec
from rearrange.sim.apartment_model import load_apartment
from rearrange.sim.base import PHYSICS_STEP

FURNITURE = tuple(piece.name for piece in APARTMENT.furniture)  # what opens in our apartments
SEGMENTS = 24  # sides of a cylinder
GROUND = (60.0, 60.0, 1.0)  # [m], a box with its top at z = 0 instead of an infinite plane
_TRIANGLES_OF_A_BOX = np.array(
    [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ],
    np.uint32,
)  # fmt: skip
# Bullet multiplies the friction of two things that touch, MuJoCo takes the larger.
SURFACE_FRICTION = FRICTION[0] ** 0.5

Mesh = tuple[np.ndarray, np.ndarray]  # vertices [V, 3], m, and triangles [T, 3]
Colour = tuple[float, ...]  # red, green, blue and alpha, from 0 to 1


@dataclass(frozen=True)
class ObjectAsset:
    """A kind of object; mass [kg] and the inertia's diagonal about its centre [kg m2]."""

    visual: str
    collision: str
    mass: float
    inertia: tuple[float, ...]
    friction: float = OBJECT_FRICTION[0] ** 0.5
    rolling_friction: float = OBJECT_FRICTION[2]


@dataclass(frozen=True)
class FurnitureAsset:
    """What opens: its file, where it stands (z-up world frame), and its joints in order."""

    file: str
    position: np.ndarray
    rotation: np.ndarray  # wxyz
    joints: tuple[str, ...]


@dataclass(frozen=True)
class SceneAssets:
    """Files of an apartment."""

    visual: str
    collision: str
    objects: tuple[ObjectAsset, ...]  # of each slot
    furniture: tuple[FurnitureAsset, ...]


@functools.lru_cache(maxsize=256)
def scene_assets(layout: int, variation: int) -> SceneAssets:
    """Write the files of an apartment, where they are not there yet, and say where they are."""
    world = load_apartment(layout, variation, FETCH)
    model, scene = world.model, world.scene
    seen, colours, solid = scene_meshes(layout, variation)
    name = f"layout{layout}_variation{variation:02d}"
    kinds = {kind: _object_asset(model, scene, kind) for kind in dict.fromkeys(scene.slot_kinds)}
    return SceneAssets(
        visual=_write(f"{name}_visual.glb", glb(seen, colours)),
        collision=_write(f"{name}_collision.glb", glb(solid)),
        objects=tuple(kinds[kind] for kind in scene.slot_kinds),
        furniture=tuple(
            furniture_asset(model, piece.name, scene=scene) for piece in scene.furniture
        ),
    )


@functools.lru_cache(maxsize=1)
def robot_file() -> str:
    """Write the robot's file, if it is not there yet, and say where it is: the same in every apartment."""
    model = load_apartment(0, 0, FETCH).model
    return _write("fetch.urdf", urdf("fetch", robot_links(model)).encode())


def scene_meshes(layout: int, variation: int) -> tuple[list[Mesh], list[Colour], list[Mesh]]:
    """All of an apartment that stands still.

    Returns:
        What is seen, a mesh for each colour; these colours; each solid that is met.
    """
    model = load_apartment(layout, variation, FETCH).model
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    still = [
        geom
        for geom in range(model.ngeom)
        if model.body_weldid[model.geom_bodyid[geom]] == 0 and model.geom_rgba[geom, 3] > 0.0
    ]
    seen, solid = {}, [_moved(box_mesh(np.array(GROUND) / 2), np.eye(3), (0, 0, -GROUND[2] / 2))]
    for geom in still:
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_PLANE:
            continue
        rotation, position = data.geom_xmat[geom].reshape(3, 3), data.geom_xpos[geom]
        mesh = _moved(_mesh(model, geom), rotation, position)
        seen.setdefault(_colour(model, geom), []).append(mesh)
        if model.geom_contype[geom]:
            solid.append(mesh)
    return [_merged(meshes) for meshes in seen.values()], list(seen), solid


def _colour(model: mujoco.MjModel, geom: int) -> Colour:
    """Of a geom; nothing is seen through."""
    return (*(round(float(x), 3) for x in model.geom_rgba[geom, :3]), 1.0)


def robot_links(model: mujoco.MjModel) -> list[Link]:
    """The Fetch, rigid but for its arm. The cup is a link of its own: contacts are told per link.

    The engine tells where a link's centre of mass is; the cup's is put at the suction tip.
    """
    links = [Link("base")]
    parent = "base"
    joints: dict[str, Joint] = {joint.name: joint for joint in FETCH.joints}
    for body in range(model.nbody):
        name = model.body(body).name
        if not name.startswith("fetch_"):
            continue
        joint = joints.get(name.removeprefix("fetch_"))
        limits = (0.0, 0.0) if joint is None else (joint.low, joint.high)
        kind = "fixed" if joint is None else "revolute" if np.isfinite(limits[0]) else "continuous"
        axis = AXES["z" if joint is None else joint.axis]
        geoms = [g for g in _geoms(model, body) if model.geom(g).name != FETCH.suction_geom]
        link = body_link(model, body, parent, kind, axis, limits, geoms)
        links.append(link)
        parent = link.name
    cup = model.geom(FETCH.suction_geom).id
    links.append(
        body_link(
            model, model.body(FETCH.gripper_body).id, parent, "fixed", geoms=[cup],
            name=FETCH.suction_geom, offset=(0.0, 0.0, 0.0), mass=0.1,
            center=FETCH.tip,
        )
    )  # fmt: skip
    return links


def furniture_asset(
    model: mujoco.MjModel, root: str, handles_apart: bool = True, scene: SceneSpec = APARTMENT
) -> FurnitureAsset:
    """The doors or drawers of a piece of furniture; its carcass belongs to the apartment.

    With `handles_apart` each handle is a link of its own, by which it is known; else it is of the door's.
    """
    links, joints = [Link("base")], []
    body = model.body(root).id
    for name in scene.joints:
        part, joint = model.body(name).id, model.joint(name).id
        if model.body_parentid[part] != body:
            continue
        hinge = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE
        handle = model.geom(f"handle_{name}").id
        # Habitat takes a joint's damping for the largest impulse of a brake: that is dry friction.
        brake = float(model.dof_frictionloss[model.jnt_dofadr[joint]]) * PHYSICS_STEP
        links.append(
            body_link(
                model, part, "base", "revolute" if hinge else "prismatic",
                tuple(model.jnt_axis[joint]), tuple(model.jnt_range[joint]),
                [g for g in _geoms(model, part) if g != handle or not handles_apart], brake=brake,
                group=ARTICULATED_GROUP,
            )
        )  # fmt: skip
        if handles_apart:
            links.append(
                body_link(
                    model, part, name, "fixed", geoms=[handle], name=f"handle_{name}",
                    offset=(0.0, 0.0, 0.0), mass=0.1, center=tuple(model.geom_pos[handle]),
                    group=ARTICULATED_GROUP,
                )
            )  # fmt: skip
        joints.append(name)
    text = urdf(root, links)
    file = _write(f"{root}.urdf", text.encode())
    return FurnitureAsset(file, model.body_pos[body], model.body_quat[body], tuple(joints))


# Collision group of doors and drawers, UserGroup0 of Habitat: they do not meet the apartment's solids.
ARTICULATED_GROUP = 64
assert ARTICULATED_BIT


def _object_asset(model: mujoco.MjModel, scene: SceneSpec, kind: str) -> ObjectAsset:
    """A kind of object from the first body of its kind."""
    body = model.body(scene.object_bodies[scene.slot_kinds.index(kind)]).id
    turned = np.empty(9)
    seen, solid = {}, []
    for geom in _geoms(model, body):
        mujoco.mju_quat2Mat(turned, model.geom_quat[geom])
        mesh = _moved(_mesh(model, geom), turned.reshape(3, 3), model.geom_pos[geom])
        seen.setdefault(_colour(model, geom), []).append(mesh)
        if model.geom_contype[geom]:
            solid.append(mesh)
    mujoco.mju_quat2Mat(turned, model.body_iquat[body])
    axes = turned.reshape(3, 3)
    inertia = np.diag(axes @ np.diag(model.body_inertia[body]) @ axes.T)
    return ObjectAsset(
        _write(
            f"{kind}_visual.glb", glb([_merged(meshes) for meshes in seen.values()], list(seen))
        ),
        _write(f"{kind}_collision.glb", glb(solid)),
        float(model.body_mass[body]),
        tuple(inertia.tolist()),
    )


def _geoms(model: mujoco.MjModel, body: int) -> range:
    first = int(model.body_geomadr[body])
    return range(first, first + int(model.body_geomnum[body]))


# --- meshes -----------------------------------------------------------------------------------------


def _mesh(model: mujoco.MjModel, geom: int) -> Mesh:
    """A box or cylinder in its own frame."""
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX:
        return box_mesh(model.geom_size[geom])
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return cylinder_mesh(*model.geom_size[geom, :2])
    raise NotImplementedError(f"geom {geom} of {model.body(model.geom_bodyid[geom]).name}")


def box_mesh(half: np.ndarray) -> Mesh:
    """A box of these half edges [3] about its centre."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return corners * half, _TRIANGLES_OF_A_BOX


def cylinder_mesh(radius: float, half_height: float) -> Mesh:
    """A cylinder along z about its centre."""
    angles = np.arange(SEGMENTS) * 2 * np.pi / SEGMENTS
    # Half-way between a polygon inside the circle and one around it.
    reach = radius * 2 / (1 + np.cos(np.pi / SEGMENTS))
    ring = np.stack([reach * np.cos(angles), reach * np.sin(angles)], axis=1)
    low = np.column_stack([ring, np.full(SEGMENTS, -half_height)])
    high = np.column_stack([ring, np.full(SEGMENTS, half_height)])
    middle = np.array([(0, 0, -half_height), (0, 0, half_height)])
    triangles, top = [], SEGMENTS
    for k in range(SEGMENTS):
        m = (k + 1) % SEGMENTS
        triangles += [(k, m, top + m), (k, top + m, top + k)]
        triangles += [(2 * top, m, k), (2 * top + 1, top + k, top + m)]
    return np.concatenate([low, high, middle]), np.array(triangles, np.uint32)


def _moved(mesh: Mesh, rotation: np.ndarray, position: Sequence[float] | np.ndarray) -> Mesh:
    return mesh[0] @ rotation.T + np.asarray(position), mesh[1]


def _merged(meshes: Sequence[Mesh]) -> Mesh:
    """All in one: the engine draws it in one go."""
    starts = np.cumsum([0, *(len(vertices) for vertices, _ in meshes)])
    return (
        np.concatenate([vertices for vertices, _ in meshes]),
        np.concatenate([t + s for (_, t), s in zip(meshes, starts[:-1], strict=True)]),
    )


def glb(meshes: Sequence[Mesh], colours: Sequence[Colour] = ()) -> bytes:
    """Binary glTF 2.0 with a node for each mesh; Habitat makes a convex hull of each.

    Args:
        meshes: What it holds.
        colours: Red, green, blue and alpha of each mesh, from 0 to 1; none for the viewer's own.
    """
    views, accessors, entries, blob = [], [], [], b""
    for vertices, triangles in meshes:
        points = vertices.astype("<f4")
        for array, target in ((points, 34962), (triangles.astype("<u4").ravel(), 34963)):
            views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
            views[-1]["target"] = target
            blob += array.tobytes()
        accessors.append(
            {
                "bufferView": len(views) - 2, "componentType": 5126, "count": len(points),
                "type": "VEC3", "min": points.min(0).tolist(), "max": points.max(0).tolist(),
            }
        )  # fmt: skip
        accessors.append(
            {
                "bufferView": len(views) - 1, "componentType": 5125, "count": triangles.size,
                "type": "SCALAR",
            }
        )  # fmt: skip
        attributes = {"POSITION": len(accessors) - 2}
        entries.append({"primitives": [{"attributes": attributes, "indices": len(accessors) - 1}]})
    document: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(range(len(entries)))}],
        "nodes": [{"mesh": k} for k in range(len(entries))],
        "meshes": entries,
        "accessors": accessors,
        "bufferViews": views,
        "buffers": [{"byteLength": len(blob)}],
    }
    if colours:
        kinds = sorted(set(colours))
        document["materials"] = [
            {"pbrMetallicRoughness": {"baseColorFactor": kind, "metallicFactor": 0.0}}
            for kind in kinds
        ]
        for entry, colour in zip(entries, colours, strict=True):
            entry["primitives"][0]["material"] = kinds.index(colour)
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<II", len(blob), 0x004E4942) + blob
    return struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks


# --- files ------------------------------------------------------------------------------------------


def cache_folder() -> Path:
    """Where the files lie."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "rearrange" / "habitat"


def _write(name: str, content: bytes) -> str:
    """Path of a file with that content; written whole or not at all."""
    stem, dot, ending = name.partition(".")
    path = cache_folder() / f"{stem}_{hashlib.sha256(content).hexdigest()[:12]}{dot}{ending}"
    if not path.exists():
        write_whole(path, content)
    return str(path)


def physics_settings() -> str:
    """File with the engine's time step and gravity."""
    settings = {
        "physics_simulator": "bullet",
        "timestep": PHYSICS_STEP,
        "gravity": [0.0, -9.81, 0.0],
        "friction_coefficient": SURFACE_FRICTION,
        "restitution_coefficient": 0.0,
    }
    return _write("rearrange.physics_config.json", json.dumps(settings).encode())
