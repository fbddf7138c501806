"""A robot from its two files: what is read, worked out and put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from rearrange.compiled_models import Notes, collides
from rearrange.declarations import FilesError
from rearrange.robot.files.build import Builder, Link
from rearrange.robot.files.chain import Chain, find_chain
from rearrange.robot.files.declaration import Declaration, read_declaration
from rearrange.robot.files.dynamics import inertia_of, motors_of
from rearrange.robot.files.looks import look_of
from rearrange.robot.files.model import BASE, RobotModel, load_model
from rearrange.robot.files.planning import OwnBody, model_of, own_body
from rearrange.robot.files.postures import CLEAR, GOOD, Poser
from rearrange.robot.files.shapes import pieces_of
from rearrange.robot.kinematics import forward
from rearrange.robot.spec import Base, HeadCamera, Reach, RobotSpec

UNKNOWN = Reach(1.0, 0.6, 0.7, 0.2, 0.13)  # until it is worked out
LEAST_STANDING = 0.55  # [m], nearer than which counters and tables are out of reach


class RobotError(FilesError):
    """A robot whose files do not go together."""

    CHECK = "rearrange check-robot"


@dataclass(frozen=True)
class FileRobot:
    """A robot from files.

    Attributes:
        spec: The robot.
        notes: Remarks.
        chain: Its arm, and what its joints are in the model.
        source: The model.
        body: What is rigid with its base.
    """

    spec: RobotSpec
    notes: Notes
    chain: Chain
    source: RobotModel
    body: OwnBody


@cache
def read_robot(path: Path) -> FileRobot:
    """The robot of a YAML file; kept, as long as the process lives.

    Args:
        path: Resolved.

    Raises:
        UserError: It cannot be read at all, or it has a fault (RobotError).
    """
    words, notes = read_declaration(path), Notes()
    source = load_model(words, notes)
    chain = find_chain(source)
    if chain is not None:
        _check_words(source, words)
    if chain is None or notes.faults:
        raise RobotError(path, notes.faults)
    builder = _builder(source, chain)
    if notes.faults:
        raise RobotError(path, notes.faults)
    body = own_body(builder.base.pieces, words.base.radius, words.base.height)
    spec = _finished(_spec(words, chain, builder), words, builder, body, chain, notes)
    if notes.faults:
        raise RobotError(path, notes.faults)
    return FileRobot(spec, notes, chain, source, body)


def _check_words(source: RobotModel, words: Declaration) -> None:
    """Note what the YAML file says of joints that are not there, or not in their number."""
    count, faults = len(source.arm), source.notes.faults
    slides = [name for name, each in zip(source.names, source.slides, strict=True) if each]
    for name in words.slides:
        if name not in slides:
            faults.append(
                f"slides.{name}: it is no slide of the arm: {', '.join(slides) or 'none'} are"
            )
    postures = {"resting_arm": words.resting_arm} if words.resting_arm else {}
    postures |= {f"postures[{k}]": each for k, each in enumerate(words.postures or ())}
    for key, posture in postures.items():
        if len(posture) != count:
            faults.append(
                f"{key}: {count} values are expected, for {', '.join(source.names)}, found {len(posture)}"
            )


def _builder(source: RobotModel, chain: Chain) -> Builder:
    """All that the bodies are made of."""
    words = source.declaration
    inertias = [inertia_of(source, link) for link in range(len(source.arm))]
    origins = [np.zeros(3), *chain.anchors]
    links = []
    for link, origin in enumerate(origins, start=BASE):
        geoms = source.geoms(link)
        solid = [geom for geom in geoms if collides(source.model, geom)] or geoms
        pieces = tuple(piece.moved(origin) for piece in pieces_of(source, solid))
        inertia = None
        if link != BASE:
            found = inertias[link]
            inertia = replace(found, center=found.center - origin)
        links.append(Link(pieces, look_of(source, geoms, len(pieces), origin), inertia))
    if not any(link.pieces for link in links[1:]):
        source.notes.faults.append("arm: no geom of the model hangs on it")
    if not links[0].pieces and words.base.height is None:
        source.notes.faults.append(
            "base: the model has no geom that is rigid with it: say base.height, and a cylinder stands there"
        )
    cylinder = None if words.base.height is None else (words.base.radius, words.base.height)
    return Builder(
        words.name, links[0], cylinder, chain.mount, chain.joints,
        motors_of(source, chain, inertias), links[1:], chain.gripper_offset,
        (words.cup.length, words.cup.radius),
    )  # fmt: skip


def _spec(words: Declaration, chain: Chain, builder: Builder) -> RobotSpec:
    """The robot, without all that has to be worked out."""
    base, camera = words.base, words.camera
    at, target = camera.at, camera.target
    return RobotSpec(
        name=words.name,
        build=builder,
        joints=chain.joints,
        mount=chain.mount,
        gripper_offset=chain.gripper_offset,
        tip_offset=words.cup.length,
        resting_arm=(0.0,) * len(chain.joints),
        resting_tip=(0.0, 0.0, 0.0),
        gripper_body=f"{words.name}_gripper",
        suction_geom=f"{words.name}_cup",
        base=Base(base.radius, base.drive_force, base.turn_torque, f"{words.name}_base"),
        camera=HeadCamera(
            (at[0], at[1], at[2]), (target[0], target[1], target[2]), camera.field_of_view
        ),
        reach=UNKNOWN,
    )


def _finished(
    robot: RobotSpec,
    words: Declaration,
    builder: Builder,
    body: OwnBody,
    chain: Chain,
    notes: Notes,
) -> RobotSpec:
    """The robot with its resting arm, its reach and its planning model."""
    cup = words.cup.length, words.cup.radius
    planning = model_of(robot, [link.pieces for link in builder.links], body, cup)
    poser = Poser(robot, planning, body)
    resting, tip = _resting(robot, words, chain, poser, notes)
    robot = replace(robot, resting_arm=resting, resting_tip=tip, planning=planning)
    poser.robot = robot
    if poser.clearance(np.array(resting)) < 0.0:
        notes.remarks.append("resting_arm: the arm meets the robot's own body or the floor there")
    reach = replace(poser.reach(robot.mount), **words.reach)
    if reach.standing < LEAST_STANDING - 1e-6:
        notes.remarks.append(
            f"reach: the hand, pointing down, reaches things no farther than {reach.standing:.2f} m from the "
            f"base's middle at all of the heights of tables; {LEAST_STANDING} m are wanted"
        )
    if words.postures is None:
        postures = poser.postures(reach.standing - 0.1)
    else:
        postures = tuple(
            tuple(_within(robot, chain, f"postures[{k}]", each, notes).tolist())
            for k, each in enumerate(words.postures)
        )
    return replace(robot, reach=reach, planning=replace(planning, postures=postures))


def _within(
    robot: RobotSpec, chain: Chain, key: str, values: Sequence[float], notes: Notes
) -> np.ndarray:
    """Our values of the joints from the model's [J]; those beyond their limits are faults."""
    joints = chain.ours(np.array(values))
    low, high = robot.limits
    for k, joint in enumerate(robot.joints):
        if not low[k] - 1e-6 <= joints[k] <= high[k] + 1e-6:
            ends = sorted((float(chain.theirs(low)[k]), float(chain.theirs(high)[k])))
            notes.faults.append(
                f"{key}: {joint.name} goes from {ends[0]:.4g} to {ends[1]:.4g}, found {values[k]:g}"
            )
    return joints


def _resting(
    robot: RobotSpec, words: Declaration, chain: Chain, poser: Poser, notes: Notes
) -> tuple[tuple[float, ...], tuple[float, float, float]]:
    """The resting arm in our values, and where its tip is, base frame [m]."""
    if words.resting_arm is not None:
        joints = _within(robot, chain, "resting_arm", words.resting_arm, notes)
    else:
        assert words.resting_tip is not None  # the reader has seen to that
        joints, error = poser.resting(words.resting_tip)
        if error > GOOD:
            place = ", ".join(f"{value:g}" for value in words.resting_tip)
            notes.faults.append(
                f"resting_tip: the tip does not reach ({place}): it stays {error:.2f} m away"
            )
        elif poser.clearance(joints) < CLEAR / 2:
            notes.remarks.append(
                "resting_tip: with the tip there the arm is close to the robot's own body"
            )
    x, y, z = forward(robot, joints)[0].tolist()
    return tuple(joints.tolist()), (x, y, z)
