"""Bodies of a MuJoCo model as links of a URDF, the format in which Habitat takes what has joints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

Triple = tuple[float, float, float]
ZERO: Triple = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Shape:
    """A primitive of a link.

    Attributes:
        kind: "box", "cylinder" or "capsule"; the latter two along z.
        size: Box: edges; else radius and length without caps [m].
        position: In the link's frame [m].
        turn: Roll, pitch and yaw in the link's frame [rad].
        collides: False for what is only seen.
        colour: Red, green, blue and alpha, from 0 to 1; none for the viewer's own.
    """

    kind: str
    size: tuple[float, ...]
    position: Triple = ZERO
    turn: Triple = ZERO
    collides: bool = True
    colour: tuple[float, ...] = ()


@dataclass(frozen=True)
class Link:
    """A link and the joint that carries it.

    Attributes:
        name: Of the link, and of its joint.
        parent: Link that carries it; "" for the root.
        joint: "fixed", "revolute", "continuous" or "prismatic".
        offset: Of the joint in the parent's frame [m].
        turn: Roll, pitch and yaw of the joint in the parent's frame [rad].
        axis: Of the joint.
        limits: Of the joint, rad or m.
        brake: Largest impulse with which the joint resists motion, N m s or N s.
        mass: [kg].
        center: Centre of mass in the link's frame [m]; the engine tells poses of this point.
        inertia: Diagonal about it [kg m2].
        shapes: What it looks like and touches with.
        group: Collision group of Habitat; 0 leaves the engine's own.
    """

    name: str
    parent: str = ""
    joint: str = "fixed"
    offset: Triple = ZERO
    turn: Triple = ZERO
    axis: Triple = (0.0, 0.0, 1.0)
    limits: tuple[float, float] = (0.0, 0.0)
    brake: float = 0.0
    mass: float = 0.01
    center: Triple = ZERO
    inertia: Triple = (1e-5, 1e-5, 1e-5)
    shapes: tuple[Shape, ...] = ()
    group: int = 0


def body_link(
    model: mujoco.MjModel,
    body: int,
    parent: str,
    joint: str,
    axis: Sequence[float] = (0.0, 0.0, 1.0),
    limits: Sequence[float] = (0.0, 0.0),
    geoms: Sequence[int] = (),
    *,
    name: str = "",
    offset: Sequence[float] | None = None,
    mass: float | None = None,
    center: Sequence[float] | None = None,
    brake: float = 0.0,
    group: int = 0,
) -> Link:
    """A body, or with `name`, `offset`, `mass` and `center` some geoms of it, as a link.

    The inertia is the body's about its own axes without the products, or that of a small ball.
    """
    place = _triple(model.body_pos[body] if offset is None else offset)
    turn = ZERO if offset is not None else _angles(model.body_quat[body])
    if mass is None:
        axes = Rotation.from_quat(model.body_iquat[body], scalar_first=True).as_matrix()
        inertia = np.diag(axes @ np.diag(model.body_inertia[body]) @ axes.T)
    else:
        inertia = np.full(3, mass * 0.03**2)
    return Link(
        name or model.body(body).name, parent, joint, place, turn, _triple(axis),
        (float(limits[0]), float(limits[1])), brake,
        float(model.body_mass[body]) if mass is None else mass,
        _triple(model.body_ipos[body] if center is None else center), _triple(inertia),
        tuple(_shape(model, geom) for geom in geoms), group,
    )  # fmt: skip


def _shape(model: mujoco.MjModel, geom: int) -> Shape:
    half = model.geom_size[geom]
    kinds = {
        mujoco.mjtGeom.mjGEOM_BOX: ("box", tuple((2 * half).tolist())),
        mujoco.mjtGeom.mjGEOM_CYLINDER: ("cylinder", (float(half[0]), 2 * float(half[1]))),
        mujoco.mjtGeom.mjGEOM_CAPSULE: ("capsule", (float(half[0]), 2 * float(half[1]))),
    }
    kind, size = kinds[mujoco.mjtGeom(model.geom_type[geom])]
    position, turn = _triple(model.geom_pos[geom]), _angles(model.geom_quat[geom])
    colour = (*model.geom_rgba[geom, :3].tolist(), 1.0)
    return Shape(kind, size, position, turn, bool(model.geom_contype[geom]), colour)


def _triple(values: Sequence[float] | np.ndarray) -> Triple:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _angles(quaternion: np.ndarray) -> Triple:
    """Roll, pitch and yaw of a quaternion wxyz."""
    (a, _, _), (b, _, _), (c, d, e) = (
        Rotation.from_quat(quaternion, scalar_first=True).as_matrix().tolist()
    )
    if abs(c) > 1.0 - 1e-9:  # straight up or down: roll and yaw turn about the same axis
        low, high = Rotation.from_quat(quaternion, scalar_first=True).as_matrix()[:2, 1]
        return 0.0, -math.copysign(math.pi / 2, c), math.atan2(-low, high)
    return math.atan2(d, e), math.asin(-c), math.atan2(b, a)


def urdf(name: str, links: Sequence[Link]) -> str:
    """The links as a URDF file; each with all below it before its siblings, as Habitat numbers them."""
    robot = ElementTree.Element("robot", name=name)
    for link in links:
        _add_link(robot, link)
    for number, link in enumerate(links):
        if link.parent:
            _add_joint(robot, link, number)
    ElementTree.indent(robot)
    return ElementTree.tostring(robot, encoding="unicode")


def _add_link(robot: ElementTree.Element, link: Link) -> None:
    element = ElementTree.SubElement(robot, "link", name=link.name)
    inertial = ElementTree.SubElement(element, "inertial")
    _add_origin(inertial, link.center, ZERO)
    ElementTree.SubElement(inertial, "mass", value=_text([link.mass]))
    moments = dict(zip(("ixx", "iyy", "izz"), (_text([x]) for x in link.inertia), strict=True))
    ElementTree.SubElement(inertial, "inertia", ixy="0", ixz="0", iyz="0", **moments)
    for shape in link.shapes:
        _add_shape(element, "visual", shape, {})
        if shape.collides:
            _add_shape(
                element, "collision", shape, {"group": str(link.group)} if link.group else {}
            )


def _add_shape(
    element: ElementTree.Element, tag: str, shape: Shape, attributes: dict[str, str]
) -> None:
    part = ElementTree.SubElement(element, tag, attributes)
    _add_origin(part, shape.position, shape.turn)
    geometry = ElementTree.SubElement(part, "geometry")
    if shape.kind == "box":
        ElementTree.SubElement(geometry, "box", size=_text(shape.size))
    else:
        radius, length = (_text([value]) for value in shape.size)
        ElementTree.SubElement(geometry, shape.kind, radius=radius, length=length)
    if tag == "visual" and shape.colour:
        text = _text(shape.colour)
        material = ElementTree.SubElement(part, "material", name=text.replace(" ", "_"))
        ElementTree.SubElement(material, "color", rgba=text)


def _add_joint(robot: ElementTree.Element, link: Link, number: int) -> None:
    # Habitat numbers the links of a parent in the alphabetical order of their joints.
    name = f"{number:02d}_{link.name}"
    joint = ElementTree.SubElement(robot, "joint", name=name, type=link.joint)
    _add_origin(joint, link.offset, link.turn)
    ElementTree.SubElement(joint, "parent", link=link.parent)
    ElementTree.SubElement(joint, "child", link=link.name)
    if link.joint == "fixed":
        return
    ElementTree.SubElement(joint, "axis", xyz=_text(link.axis))
    ElementTree.SubElement(joint, "dynamics", damping=_text([link.brake]), friction="0")
    if link.joint != "continuous":
        low, high = (_text([value]) for value in link.limits)
        ElementTree.SubElement(joint, "limit", lower=low, upper=high, effort="1000", velocity="10")


def _add_origin(element: ElementTree.Element, position: Triple, turn: Triple) -> None:
    ElementTree.SubElement(element, "origin", xyz=_text(position), rpy=_text(turn))


def _text(values: Sequence[float]) -> str:
    return " ".join(f"{value:.9g}" for value in values)
