"""Drawers and doors of a model, as the parts of our homes: all that is known of them follows from geometry."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import mujoco
import numpy as np

from rearrange.compiled_models import geom_color, is_drawn
from rearrange.declarations import nearest
from rearrange.scenes.apartment import ArticulatedPose, Receptacle
from rearrange.scenes.compile import ARTICULATED_BIT, add_box, add_part
from rearrange.scenes.home_files.declaration import PartWords
from rearrange.scenes.home_files.looks import add_look
from rearrange.scenes.home_files.model import JOINT, OBJ, FileModel, joint_kind
from rearrange.scenes.home_files.shapes import cloud, exact_shape, heading
from rearrange.scenes.spec import Door, Drawer, Furniture, Part

STRAIGHT = 0.99  # cosine of the lean that an axis may have
LEVER = 0.1  # least distance of a handle from its hinge [m]
FARTHEST_BACK = 0.7  # what lies behind a front for as much is kept free of other things [m]
INVISIBLE = (0.0, 0.0, 0.0, 0.0)
# Damping, friction and armature where the model has none: a part must stay where it is left
SLIDES, TURNS = (3.0, 1.5, 0.1), (0.4, 0.4, 0.02)
LEAST_MASS = 0.5  # [kg]
FULL_DRAWER, FULL_DOOR = 0.45, 1.5  # openings that tasks have in mind [m, rad]
ASKED = {"open_cab": 0.40, "close_cab": 0.45, "open_fridge": 1.18, "close_fridge": 2.1}
ASKED_BY = {"open": "task.joint_goal", "close": "task.start_joint_low and task.start_joint_high"}


@dataclass(frozen=True)
class Opening:
    """A part of a file's home.

    Attributes:
        part: As of SceneSpec.
        furniture: The piece that holds it alone.
        frame: Where that stands.
    """

    part: Part
    furniture: Furniture
    frame: ArticulatedPose


@dataclass(frozen=True)
class _Moving:
    """Geoms of a part seen from a frame on the floor, x out of the front.

    Attributes:
        geoms: All but the handle.
        boxes: Around each of them: lower and upper corner [G, 2, 3], m.
        handle: Likewise around the handle [2, 3], m.
        handle_geom: The handle; -1 for a site.
        origin: Of the frame [2], m.
        yaw: Of the frame [rad].
        clockwise: A door that opens so, seen from above.
    """

    geoms: tuple[int, ...]
    boxes: np.ndarray
    handle: np.ndarray
    handle_geom: int
    origin: np.ndarray
    yaw: float
    clockwise: bool


def make_opening(
    source: FileModel, name: str, words: PartWords, shut_in: Receptacle | None
) -> Opening | None:
    """A part of the home; None, and a fault noted, where it cannot be one."""
    joint = source.find(OBJ.mjOBJ_JOINT, words.joint)
    slides = joint_kind(source.model, joint) == JOINT.mjJNT_SLIDE
    seen = _look_at(source, name, words, joint, slides)
    if seen is None:
        return None
    if not len(seen.boxes):
        source.notes.faults.append(f"parts.{name}: nothing but its handle collides")
        return None
    if float(seen.boxes[:, 1, 0].max() - seen.handle[1, 0]) > LEVER:
        source.notes.remarks.append(
            f"parts.{name}: its handle is {seen.boxes[:, 1, 0].max() - seen.handle[1, 0]:.2f} m behind its "
            "front: oracles pull drawers straight out and cannot push doors aside"
        )
    seen, depth = _centred(seen, shut_in if not slides else None)
    travel = abs(source.opens_to[name] - source.closed[name])
    said = {
        "name": name,
        "range": (0.0, travel),
        "label": words.label or name.replace("_", " "),
        "receptacle": words.shuts,
        "tasks": _tasks(words, slides),
        "kind": ("drawer" if slides else "fridge") if words.kind is None else words.kind,
    }
    if not words.shuts:
        said["kind"] = ""
    part: Part
    if slides:
        part = _drawer(seen, travel, said)
    else:
        anchor = source.data.xanchor[joint][:2]
        part = _door(seen, travel, said, _local(anchor[None], seen.origin, seen.yaw)[0])
    for task in part.tasks:
        if task in ASKED and travel < ASKED[task] - 1e-6:
            unit = "m" if slides else "rad"
            source.notes.remarks.append(
                f"parts.{name}: it opens by {travel:.2f} {unit}, and {task} asks for up to "
                f"{ASKED[task]:g}: set {ASKED_BY[task.partition('_')[0]]}, or tasks: []"
            )
    width = float(np.ptp(seen.boxes[:, :, 1]))
    size = depth, width, float(seen.boxes[:, 1, 2].max())
    furniture = Furniture(
        name=f"{name}/frame", size=size, build=_Builder(source, part, seen, joint), parts=(part,)
    )
    x, y = (float(value) for value in seen.origin)
    return Opening(part, furniture, ArticulatedPose((x, y, 0.0), seen.yaw))


def _tasks(words: PartWords, slides: bool) -> tuple[str, ...]:
    if words.tasks is not None:
        return words.tasks
    if not words.shuts:
        return ()
    return ("open_cab", "close_cab") if slides else ("open_fridge", "close_fridge")


def _look_at(
    source: FileModel, name: str, words: PartWords, joint: int, slides: bool
) -> _Moving | None:
    """The part's geoms in a frame whose x points out of its front; None, and a fault, without."""
    model, data, faults = source.model, source.data, source.notes.faults
    handle_geom, handle = _handle(source, name, words)
    if handle is None:
        return None
    geoms = tuple(
        geom
        for geom, part in source.part_of.items()
        if part == name and geom != handle_geom and source.collides(geom)
    )
    sense = math.copysign(1.0, source.opens_to[name] - source.closed[name])
    axis = data.xaxis[joint] * sense
    if slides:
        if abs(axis[2]) > 1.0 - STRAIGHT:
            faults.append(f"parts.{name}.joint: '{words.joint}' does not slide level")
            return None
        yaw = math.atan2(axis[1], axis[0])
    else:
        lever = (handle.mean(axis=0) - data.xanchor[joint])[:2]
        if abs(axis[2]) < STRAIGHT:
            faults.append(
                f"parts.{name}.joint: the hinge of '{words.joint}' is not upright: take the part out, "
                "then it stays shut"
            )
            return None
        if np.hypot(*lever) < LEVER:
            faults.append(f"parts.{name}.handle: '{words.handle}' is at the hinge")
            return None
        yaw = _front(source, geoms, handle, lever if axis[2] > 0.0 else -lever)
    origin = data.xanchor[joint][:2].copy()
    boxes = [_box(_local(cloud(model, data, geom), origin, yaw)) for geom in geoms]
    found = np.array(boxes).reshape(-1, 2, 3)
    clockwise = not slides and axis[2] < 0.0
    return _Moving(
        geoms, found, _box(_local(handle, origin, yaw)), handle_geom, origin, yaw, bool(clockwise)
    )


def _handle(source: FileModel, name: str, words: PartWords) -> tuple[int, np.ndarray | None]:
    """Geom, or -1, and points around the handle in the world [N, 3], m; None, and a fault, without."""
    model, data = source.model, source.data
    geom = source.find(OBJ.mjOBJ_GEOM, words.handle)
    site = source.find(OBJ.mjOBJ_SITE, words.handle)
    if geom >= 0:
        if source.part_of.get(geom) != name:
            source.notes.faults.append(
                f"parts.{name}.handle: '{words.handle}' does not move with joint '{words.joint}'"
            )
            return geom, None
        return geom, cloud(model, data, geom)
    if site < 0:
        told = nearest(words.handle, source.names("geom") + source.names("site"))
        source.notes.faults.append(
            f"parts.{name}.handle: the model has no geom or site '{words.handle}': {told}"
        )
        return -1, None
    for marked, part in source.part_of.items():  # the geom in which the site is
        if part == name and source.collides(marked):
            points, turned = cloud(model, data, marked), data.geom_xmat[marked].reshape(3, 3)
            if _holds(points @ turned, data.site_xpos[site] @ turned):  # in the geom's own frame
                return marked, points
    half = np.maximum(model.site_size[site], 0.005)
    if model.site_type[site] == int(mujoco.mjtGeom.mjGEOM_SPHERE):
        half = np.full(3, half[0])
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = (signs * half) @ data.site_xmat[site].reshape(3, 3).T
    return -1, corners + data.site_xpos[site]


def _holds(points: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point is in the box around some others."""
    return bool(((point >= points.min(axis=0)) & (point <= points.max(axis=0))).all())


def _front(source: FileModel, geoms: Sequence[int], handle: np.ndarray, lever: np.ndarray) -> float:
    """Direction out of a door's front: of its panel's sides the one to which the handle sets out [rad]."""
    clouds = [cloud(source.model, source.data, geom)[:, :2] for geom in geoms]
    side = heading(np.concatenate(clouds or [handle[:, :2]]))
    sets_out = math.atan2(lever[0], -lever[1])
    quarter = math.pi / 2
    return math.remainder(side + quarter * round((sets_out - side) / quarter), 2.0 * math.pi)


def _local(points: np.ndarray, origin: np.ndarray, yaw: float) -> np.ndarray:
    """Points of the world, [N, 2] or [N, 3], in a frame on the floor."""
    c, s = math.cos(yaw), math.sin(yaw)
    found = np.array(points, float)
    found[:, :2] = (points[:, :2] - origin) @ np.array([[c, -s], [s, c]])
    return found


def _box(points: np.ndarray) -> np.ndarray:
    return np.array([points.min(axis=0), points.max(axis=0)])


def _centred(seen: _Moving, shut_in: Receptacle | None) -> tuple[_Moving, float]:
    """The same in a frame in the centre of the footprint, and the footprint's depth [m]."""
    front, back = float(seen.boxes[:, 1, 0].max()), float(seen.boxes[:, 0, 0].min())
    if shut_in is not None:
        c, s = math.cos(shut_in.yaw), math.sin(shut_in.yaw)
        half = shut_in.half_extents
        corners = np.array([(i * half[0], j * half[1]) for i in (-1, 1) for j in (-1, 1)])
        corners = corners @ np.array([[c, s], [-s, c]]) + shut_in.position[:2]
        back = min(back, float(_local(corners, seen.origin, seen.yaw)[:, 0].min()))
    back = max(back, front - FARTHEST_BACK)
    middle = np.array(
        [(front + back) / 2, (seen.boxes[:, 0, 1].min() + seen.boxes[:, 1, 1].max()) / 2]
    )
    c, s = math.cos(seen.yaw), math.sin(seen.yaw)
    origin = seen.origin + np.array([[c, -s], [s, c]]) @ middle
    shift = np.array([*middle, 0.0])
    moved = replace(seen, boxes=seen.boxes - shift, handle=seen.handle - shift, origin=origin)
    return moved, front - back


def _drawer(seen: _Moving, travel: float, said: dict[str, Any]) -> Drawer:
    reach = min(travel, FULL_DRAWER)
    x, y, _ = seen.handle.mean(axis=0).tolist()
    return Drawer(
        **said,
        laid_open=reach,
        opened_beyond=0.78 * reach,
        aims=(reach - 0.02,),
        opened_least=reach - 0.04,
        handle=(x, y),
        standing=0.35,
    )


def _door(seen: _Moving, travel: float, said: dict[str, Any], hinge: np.ndarray) -> Door:
    """Where one stands, and how far an oracle wants to open, in proportions of our fridge."""
    reach = min(travel, FULL_DOOR)
    x, y = (float(value) for value in hinge)
    sense = -1.0 if seen.clockwise else 1.0
    width = float((sense * (y - seen.boxes[:, :, 1])).max())
    middle, outer = (
        seen.handle.mean(axis=0),
        float(max(seen.handle[1, 0], seen.boxes[:, 1, 0].max())),
    )
    near, far = sorted((sense * (y - seen.handle[:, 1])).tolist())
    return Door(
        **said,
        laid_open=reach,
        opened_beyond=0.71 * reach,
        aims=(0.967 * reach, 0.9 * reach, 0.833 * reach),
        opened_least=0.8 * reach,
        central_share=math.sqrt(0.5),
        hinge=(x, y),
        width=width,
        depth=(float(seen.boxes[:, 0, 0].min()) - x, float(seen.boxes[:, 1, 0].max()) - x),
        lower_edge=float(seen.boxes[:, 0, 2].min()),
        handle=(float(middle[0]) - x, float(middle[1]) - y),
        handle_span=(near - 0.04, far + 0.04, float(seen.handle[1, 0]) - x),
        before_closed=(outer + 0.29, -0.145 * sense * width),
        before_open=(outer + 0.38, y - 0.645 * sense),
        pushed=(0.84 * width, 0.957 * width),
        clockwise=seen.clockwise,
    )


@dataclass(frozen=True, eq=False)
class _Builder:
    """Adds a part to a spec, in the frame of its furniture."""

    source: FileModel
    part: Part
    seen: _Moving
    joint: int

    def __call__(self, spec: Any) -> None:
        model, seen, part = self.source.model, self.seen, self.part
        dof = int(model.jnt_dofadr[self.joint])
        given = model.dof_damping[dof], model.dof_frictionloss[dof], model.dof_armature[dof]
        least = TURNS if part.turns else SLIDES
        body = spec.worldbody.add_body(name=f"{part.name}/frame")  # no part or robot is called so
        moving = add_part(body, part, *(float(a) or b for a, b in zip(given, least, strict=True)))
        start = np.array([*(part.hinge if isinstance(part, Door) else (0.0, 0.0)), 0.0])
        boxes = np.concatenate([seen.boxes, seen.handle[None]]) - start
        mass = max(float(model.body_subtreemass[model.jnt_bodyid[self.joint]]), LEAST_MASS)
        density = mass / float(np.ptp(boxes, axis=1).prod(axis=1).sum())
        names = [f"{part.name}/{k}" for k in range(len(seen.geoms))] + [f"handle_{part.name}"]
        for geom, name, box in zip((*seen.geoms, seen.handle_geom), names, boxes, strict=True):
            color = geom_color(self.source.model, geom) if self._shows(geom) else INVISIBLE
            x, y, z = (tuple(ends) for ends in box.T.tolist())
            add_box(moving, name, x, y, z, color, ARTICULATED_BIT, density)
        self._add_looks(spec, moving, start)

    def _shows(self, geom: int) -> bool:
        """Whether the box around a geom is the geom."""
        source = self.source
        if geom < 0 or not is_drawn(source.model, geom):
            return False
        shape = exact_shape(source.model, source.data, geom)
        return (
            shape is not None
            and shape.kind == "box"
            and abs(math.remainder(shape.yaw - self.seen.yaw, math.pi / 2)) < 1e-3
        )

    def _add_looks(self, spec: Any, moving: Any, start: np.ndarray) -> None:
        source, seen = self.source, self.seen
        c, s = math.cos(seen.yaw), math.sin(seen.yaw)
        turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
        body = moving.add_body(name=f"{self.part.name}/looks")
        solid = {*seen.geoms, seen.handle_geom}
        for geom, part in source.part_of.items():
            is_box = geom in solid and self._shows(geom)
            if part != self.part.name or is_box or not is_drawn(source.model, geom):
                continue
            place = _local(source.data.geom_xpos[geom][None], seen.origin, seen.yaw)[0] - start
            rotation = turn @ source.data.geom_xmat[geom].reshape(3, 3)
            add_look(spec, body, source, geom, place, rotation)
