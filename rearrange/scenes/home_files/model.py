"""The MJCF model of a home, compiled and posed with all that opens shut, in the frame of our homes.

That frame has the lower corner of the home's bounds as its origin and the floor at z = 0, m.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from rearrange.compiled_models import GEOM, Notes, collides, compile_file, kind_of
from rearrange.declarations import nearest
from rearrange.scenes.home_files.declaration import Declaration, PartWords
from rearrange.scenes.home_files.shapes import cloud

OBJ, JOINT = mujoco.mjtObj, mujoco.mjtJoint
AT_END = 1e-3  # of a joint from the end of its range [m or rad]


@dataclass
class FileModel:
    """A compiled model and its pose.

    Attributes:
        model: Compiled.
        data: Posed, in the home's frame.
        floor: Geoms that are floor and stand in nobody's way.
        bounds: Upper corner of the home (x, y) [m].
        part_of: Geom -> name of the part with which it moves.
        closed: Part -> value of its joint where it is shut.
        opens_to: Part -> value of its joint where it is open as far as it goes.
        notes: What was odd.
    """

    model: Any
    data: Any
    floor: set[int]
    bounds: tuple[float, float]
    part_of: dict[int, str]
    closed: dict[str, float]
    opens_to: dict[str, float]
    notes: Notes

    def collides(self, geom: int) -> bool:
        """Whether it is in the way of something; floors are not."""
        return collides(self.model, geom) and geom not in self.floor

    def title(self, geom: int) -> str:
        """A geom in words: its name, or that of its body."""
        name = self.model.geom(geom).name
        return name or f"a geom of body {self.model.body(self.model.geom_bodyid[geom]).name}"

    def find(self, kind: Any, name: str) -> int:
        """Number of what has a name, or -1."""
        return mujoco.mj_name2id(self.model, kind, name)

    def names(self, kind: str) -> list[str]:
        """All names of "geom", "site", "body" or "joint"."""
        count = getattr(self.model, {"joint": "njnt"}.get(kind, f"n{kind}"))
        return [name for i in range(count) if (name := getattr(self.model, kind)(i).name)]


def load_model(declaration: Declaration, notes: Notes) -> FileModel:
    """Compile the model and pose it.

    Raises:
        UserError: MuJoCo refuses it.
    """
    model = compile_file(declaration.model, f"{declaration.path}: model")
    if declaration.scale != 1.0:
        _scale(model, declaration.scale)
    data, part_of = mujoco.MjData(model), dict[int, str]()
    closed: dict[str, float] = {}
    opens_to: dict[str, float] = {}
    for name, words in declaration.parts.items():
        joint = _joint(model, name, words, notes)
        if joint < 0:
            continue
        ends = _ends(model, joint, name, words, notes, declaration.scale)
        if ends is None:
            continue
        closed[name], opens_to[name] = ends
        data.qpos[model.jnt_qposadr[joint]] = closed[name]
        for geom in _geoms_below(model, int(model.jnt_bodyid[joint])):
            if geom in part_of:
                notes.faults.append(
                    f"parts.{name}: it moves with {part_of[geom]}: name one of them"
                )
                break
            part_of[geom] = name
    mujoco.mj_kinematics(model, data)
    found = FileModel(model, data, set(), (0.0, 0.0), part_of, closed, opens_to, notes)
    height = _find_floor(found, declaration.floor)
    low, high = _find_bounds(found, declaration)
    origin = np.array([*low, height])
    for places in (data.geom_xpos, data.site_xpos, data.xanchor, data.xpos):
        places -= origin
    found.bounds = float(high[0] - low[0]), float(high[1] - low[1])
    _note_the_rest(found, declaration)
    return found


def joint_kind(model: Any, joint: int) -> mujoco.mjtJoint:
    """What a joint is."""
    return JOINT(int(model.jnt_type[joint]))


def _scale(model: Any, factor: float) -> None:
    """Multiply all lengths of a compiled model that are looked at here."""
    for name in (
        "body_pos", "geom_pos", "geom_size", "geom_rbound", "site_pos", "site_size", "jnt_pos", "mesh_vert"
    ):  # fmt: skip
        getattr(model, name)[:] *= factor
    for joint in range(model.njnt):
        start, kind = int(model.jnt_qposadr[joint]), joint_kind(model, joint)
        if kind == JOINT.mjJNT_SLIDE:
            model.jnt_range[joint] *= factor
            model.qpos0[start] *= factor
        elif kind == JOINT.mjJNT_FREE:
            model.qpos0[start : start + 3] *= factor


def _joint(model: Any, name: str, words: PartWords, notes: Notes) -> int:
    joint = mujoco.mj_name2id(model, OBJ.mjOBJ_JOINT, words.joint)
    if joint < 0:
        there = [model.joint(i).name for i in range(model.njnt)]
        told = nearest(words.joint, filter(None, there))
        notes.faults.append(f"parts.{name}.joint: the model has no joint '{words.joint}': {told}")
    return joint


def _ends(
    model: Any, joint: int, name: str, words: PartWords, notes: Notes, scale: float
) -> tuple[float, float] | None:
    """Values of a joint of the scaled model where its part is shut, and fully open; None where it has none."""
    at = f"parts.{name}.joint: '{words.joint}'"
    if joint_kind(model, joint) not in (JOINT.mjJNT_HINGE, JOINT.mjJNT_SLIDE):
        notes.faults.append(f"{at} is neither a hinge nor a slide")
        return None
    if not model.jnt_limited[joint]:
        notes.faults.append(f"{at} has no range: write range= into the model")
        return None
    low, high = (float(value) for value in model.jnt_range[joint])
    stands = float(model.qpos0[model.jnt_qposadr[joint]])
    unit = scale if joint_kind(model, joint) == JOINT.mjJNT_SLIDE else 1.0  # of the file's model
    value = stands if words.closed is None else words.closed * unit
    if abs(value - low) < AT_END:
        return low, high
    if abs(value - high) < AT_END:
        return high, low
    notes.faults.append(
        f"{at} goes from {low / unit:g} to {high / unit:g}, and {value / unit:g} is neither: say with closed: "
        "which end is shut"
    )
    return None


def _geoms_below(model: Any, body: int) -> list[int]:
    """Geoms of a body and of those that hang on it."""
    found = []
    for geom in range(model.ngeom):
        above = int(model.geom_bodyid[geom])
        while above not in (0, body):
            above = int(model.body_parentid[above])
        if above == body:
            found.append(geom)
    return found


def _find_floor(found: FileModel, name: str) -> float:
    """Height of the floor; its geoms are noted down."""
    model, data = found.model, found.data
    planes = [
        geom
        for geom in range(model.ngeom)
        if kind_of(model, geom) == GEOM.mjGEOM_PLANE and data.geom_xmat[geom][8] > 0.99
    ]
    found.floor.update(planes)
    if not name:
        heights = sorted({round(float(data.geom_xpos[plane, 2]), 3) for plane in planes})
        if len(heights) > 1:
            found.notes.faults.append(
                f"floor: the model has planes {heights[0]:g} and {heights[-1]:g} m high: name the one on which "
                "the robot stands"
            )
        return float(data.geom_xpos[planes[0], 2]) if planes else 0.0
    geom, site = found.find(OBJ.mjOBJ_GEOM, name), found.find(OBJ.mjOBJ_SITE, name)
    if geom >= 0:
        found.floor.add(geom)
        points = cloud(model, data, geom)
        is_plane = geom in planes or len(points) == 0
        return float(data.geom_xpos[geom, 2] if is_plane else points[:, 2].max())
    if site >= 0:
        return float(data.site_xpos[site, 2])
    told = nearest(name, found.names("geom") + found.names("site"))
    found.notes.faults.append(f"floor: the model has no geom or site '{name}': {told}")
    return 0.0


def _find_bounds(found: FileModel, declaration: Declaration) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper corner (x, y) of the home in the model's frame [m]."""
    if declaration.bounds is not None:
        low, high = np.array(declaration.bounds).reshape(2, 2) * declaration.scale
        return low, high
    model = found.model
    clouds = [
        cloud(model, found.data, geom)[:, :2]
        for geom in range(model.ngeom)
        if (found.collides(geom) or geom in found.floor)
        and kind_of(model, geom) != GEOM.mjGEOM_PLANE
    ]
    points = np.concatenate([np.empty((0, 2)), *clouds])
    if len(points) == 0:
        found.notes.faults.append("bounds: nothing in the model collides: is its contype 0?")
        return np.zeros(2), np.ones(2)
    return points.min(axis=0), points.max(axis=0)


def _note_the_rest(found: FileModel, declaration: Declaration) -> None:
    """Remark on what the model has and a home cannot."""
    model, remarks = found.model, found.notes.remarks
    used = {words.joint for words in declaration.parts.values()}
    loose = [
        model.body(model.jnt_bodyid[j]).name
        for j in range(model.njnt)
        if joint_kind(model, j) in (JOINT.mjJNT_FREE, JOINT.mjJNT_BALL)
    ]
    fixed = [
        model.joint(j).name
        for j in range(model.njnt)
        if joint_kind(model, j) in (JOINT.mjJNT_HINGE, JOINT.mjJNT_SLIDE)
        and model.joint(j).name not in used
    ]
    if loose:
        remarks.append(f"loose bodies stay where they are: {_listed(loose)}")
    if fixed:
        remarks.append(f"joints that are no parts stay as they are: {_listed(fixed)}")
    fields = [found.title(g) for g in range(model.ngeom) if kind_of(model, g) == GEOM.mjGEOM_HFIELD]
    if fields:
        remarks.append(f"height fields are neither seen nor touched: {_listed(fields)}")
    size = found.bounds
    if not 1.0 <= min(size) <= max(size) <= 50.0:
        found.notes.faults.append(
            f"bounds: the home is {size[0]:.1f} m by {size[1]:.1f} m: 1 to 50 m can be had; is its scale "
            "right?"
        )


def _listed(names: Sequence[str]) -> str:
    shown = [name or "(unnamed)" for name in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
