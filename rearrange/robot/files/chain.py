"""The arm of a model as joints about x, y and z of frames that no fixed rotation turns.

There is a posture, the reference, in which the axes of all joints are along those of the base and the hand
looks along x. Mostly it is that of the model, with some joints turned by a right angle. If all links have
frames parallel to the base's there, nothing is between two joints but an offset. A joint about a negative
axis counts backwards. So our value of a joint is `sign * (value in the model - reference)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from rearrange.robot.files.model import RobotModel
from rearrange.robot.joint import AXES, Joint, Vector

EXACT, NEAR = 1e-6, 5e-3  # [rad], by which an axis may be off: nothing is said, it is refused
SLIDES = 0.3  # [m], how far a slide goes while a hinge turns by one radian; at a task's usual step 0.34 m/s
MOST_TURNED = 3  # joints that are turned by right angles, so that the hand looks ahead


@dataclass(frozen=True)
class Chain:
    """The arm in our words.

    Attributes:
        joints: From the base on.
        mount: What the first joint's offset begins at, base frame [m].
        gripper_offset: Foot of the cup in the last joint's frame [m].
        reference: Values of the model's joints where ours are 0 [J], rad, of slides m.
        signs: 1, or -1 for joints that count backwards [J].
        anchors: Of the joints' frames in the base frame at the reference [J, 3], m.
    """

    joints: tuple[Joint, ...]
    mount: Vector
    gripper_offset: Vector
    reference: np.ndarray
    signs: np.ndarray
    anchors: np.ndarray

    def ours(self, values: tuple[float, ...] | np.ndarray) -> np.ndarray:
        """Our values of the joints from the model's [J]."""
        return self.signs * (np.asarray(values, float) - self.reference)

    def theirs(self, joints: tuple[float, ...] | np.ndarray) -> np.ndarray:
        """The model's values of the joints from ours [J]."""
        return self.signs * np.asarray(joints, float) + self.reference


def find_chain(source: RobotModel) -> Chain | None:
    """The arm of a model, which is left at the reference; None, and a fault, where it has none like ours."""
    off = _align_axes(source)
    if off is None or not _look_ahead(source):
        return None
    axes, anchors = source.axes, source.anchors
    if off > EXACT:
        source.notes.remarks.append(
            f"arm: axes are up to {math.degrees(off):.2g} degrees off x, y or z, and count as exact"
        )
    kinds = np.abs(axes).argmax(axis=1)
    signs = np.sign(axes[np.arange(len(axes)), kinds])
    offsets = np.diff(anchors, axis=0, prepend=anchors[:1])
    foot = source.cup()[0] - anchors[-1]
    joints = tuple(
        _joint(source, link, "xyz"[kinds[link]], float(signs[link]), offsets[link])
        for link in range(len(axes))
    )
    return Chain(joints, _vector(anchors[0]), _vector(foot), source.values.copy(), signs, anchors)


def _vector(values: np.ndarray) -> Vector:
    x, y, z = (float(value) for value in values)
    return x, y, z


def _joint(source: RobotModel, link: int, axis: str, sign: float, offset: np.ndarray) -> Joint:
    model, joint = source.model, source.arm[link]
    name = model.joint(joint).name
    low, high = -math.inf, math.inf
    if model.jnt_limited[joint]:
        ends = sign * (model.jnt_range[joint] - source.values[link])
        low, high = float(ends.min()), float(ends.max())
    slides = source.declaration.slides.get(name, SLIDES) if source.slides[link] else 0.0
    return Joint(name, _vector(offset), axis, low, high, slides)


def _off(directions: np.ndarray) -> np.ndarray:
    """Angles between directions [N, 3] and the nearest of the axes [N], rad."""
    largest = np.abs(directions).max(axis=1, keepdims=True)
    others = np.sqrt(np.maximum((directions**2).sum(axis=1) - largest[:, 0] ** 2, 0.0))
    return np.arctan2(others, largest[:, 0])


def _align_axes(source: RobotModel) -> float | None:
    """Turn joints until the axes of all are along x, y or z; by how much they are off then [rad]."""
    for link, name in enumerate(source.names):
        if _off(source.axes)[link] > NEAR:
            _turn_towards(source, link, source.axes[link])
        off = _off(source.axes)
        if off[: link + 1].max() > NEAR:
            x, y, z = source.axes[link]
            source.notes.faults.append(
                f"arm: the axis of '{name}' is along ({x:.2f}, {y:.2f}, {z:.2f}) of the base, and no turn of "
                "the joints before brings it along x, y or z, as kinematics here want it"
            )
            return None
    return float(_off(source.axes).max())


def _turn_towards(source: RobotModel, link: int, direction: np.ndarray) -> None:
    """Turn the last hinge before a link so that a direction is along an axis, if it can."""
    hinges = np.flatnonzero(~source.slides[:link])
    if len(hinges) == 0:
        return
    hinge = int(hinges[-1])
    about = source.axes[hinge]
    if abs(about @ direction) > NEAR:
        return
    first = np.array(list(AXES.values()))[int(np.abs(about).argmax()) - 2]
    second = np.cross(about, first)
    angle = math.atan2(direction @ second, direction @ first)
    values = source.values.copy()
    values[hinge] += round(angle / (math.pi / 2)) * (math.pi / 2) - angle
    source.pose(values)


def _look_ahead(source: RobotModel) -> bool:
    """Turn joints until the cup looks along x; False, and a fault, where that cannot be."""
    if _off(source.cup()[1][None])[0] > NEAR:
        _turn_towards(source, len(source.arm), source.cup()[1])
    at_first = source.values.copy()
    hinges = np.flatnonzero(~source.slides)[::-1]
    for count in range(min(MOST_TURNED, len(hinges)) + 1):
        for chosen in combinations(hinges.tolist(), count):
            for turns in product((1, -1, 2), repeat=count):
                values = at_first.copy()
                values[list(chosen)] += np.array(turns) * (math.pi / 2)
                source.pose(values)
                if source.cup()[1][0] > math.cos(NEAR):
                    return True
    x, y, z = source.cup()[1]
    source.notes.faults.append(
        f"cup.along: with the axes of all joints along x, y and z it looks along ({x:.2f}, {y:.2f}, {z:.2f}), "
        "and no right angles of the joints make that x: it must look along or across the last joint's axis"
    )
    return False
