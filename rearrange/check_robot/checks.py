"""Checks of a robot from files: facts about it, and remarks on the odd."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import mujoco
import numpy as np

from rearrange.robot.files import FileRobot
from rearrange.robot.kinematics import forward
from rearrange.robot.spec import WIDEST_BASE
from rearrange.scenes.compile import TIMESTEP, empty_spec

SETTLING, FOLLOWING = 1.0, 1.5  # [s]
SAG, LAG = 0.02, 0.03  # of a resting and of a moved joint [rad, of slides in their units]
MOVED = 0.2  # [rad, likewise]
MANY_TRIANGLES = 30_000  # from which on it is worth a word
SLACK = 0.005  # by which a base may stand out over its disc [m]
SURE = 1e-4  # [m], to which the model's place of the hand and ours agree
HIGHEST = 1.9  # [m], of a camera: what is higher is near ceilings' lamps and over doors


class Checks:
    """Looks at a robot.

    Attributes:
        facts: What it is.
        remarks: What is odd about it.
    """

    def __init__(self, found: FileRobot) -> None:
        """Collect all there is to say."""
        self.found, self.robot = found, found.spec
        self.facts: list[str] = []
        self.remarks: list[str] = []
        self.model = model_of(found)
        self._arm()
        self._body()
        self._kinematics()
        self._motion()

    def _arm(self) -> None:
        robot, planning = self.robot, self.robot.planning
        assert planning is not None
        self.facts.append(f"{robot.name}: an arm of {len(robot.joints)} joints")
        motors = robot.build.motors  # pyright: ignore[reportFunctionMemberAccess]
        for joint, motor in zip(robot.joints, motors, strict=True):
            verb, unit, of = ("slides", "m", "N") if joint.slides else ("turns", "rad", "N m")
            ends = "without end"
            if math.isfinite(joint.low):
                ends = f"{joint.low:.2f} to {joint.high:.2f} {unit}"
            self.facts.append(
                f"{joint.name}: {verb} {'along' if joint.slides else 'about'} {joint.axis}, {ends}, with up "
                f"to {motor.effort:.3g} {of}, gain {motor.gain:.3g}, rotor {motor.armature:.3g}"
            )
        x, y, z = robot.resting_tip
        theirs = ", ".join(f"{value:.3f}" for value in self.found.chain.theirs(robot.resting_arm))
        self.facts.append(
            f"at rest the tip is at ({x:.2f}, {y:.2f}, {z:.2f}): resting_arm: [{theirs}]"
        )
        reach = robot.reach
        self.facts.append(
            f"reach: handles {reach.ahead:.2f} m ahead, {reach.aside:.2f} m aside; things from "
            f"{reach.standing:.2f} m; planners begin from {len(planning.postures)} further postures"
        )
        if not planning.postures:
            self.remarks.append("postures: none is found beside the resting one: give some")

    def _body(self) -> None:
        robot, model = self.robot, self.model
        solid = int(((model.geom_contype | model.geom_conaffinity) > 0).sum())
        triangles = int(model.mesh_facenum.sum())
        masses = float(model.body_subtreemass[model.body(f"{robot.name}_mount").id])
        planning = robot.planning
        assert planning is not None
        self.facts.append(
            f"{solid} shapes collide, {triangles:,} triangles are shown; the arm weighs {masses:.1f} kg; "
            f"{len(planning.spheres)} spheres stand for it in plans"
        )
        if triangles > MANY_TRIANGLES:
            self.remarks.append(
                f"meshes: {triangles:,} triangles make pictures and new homes slower: with meshes: false what "
                "collides is shown"
            )
        for geom in range(model.ngeom):
            if (
                not model.geom_contype[geom]
                or model.geom_bodyid[geom] != model.body(robot.base.body).id
            ):
                continue
            out = _farthest(model, geom)
            if out > robot.base.radius + SLACK:
                self.remarks.append(
                    f"base.radius: something of the base reaches {out:.2f} m from its middle, and "
                    f"{robot.base.radius:g} m are kept free"
                )
                break
        tip = np.hypot(*robot.resting_tip[:2])
        if tip < robot.base.radius:
            self.remarks.append(
                "resting_arm: the hand is over the base, where it sees and reaches little"
            )
        height = robot.camera.position[2]
        if not 0.3 <= height <= HIGHEST:
            self.remarks.append(f"camera.at: it is {height:.2f} m high")
        if math.hypot(*robot.camera.position[:2]) > WIDEST_BASE:
            self.remarks.append("camera.at: it is in front of the base, where walls are")

    def _kinematics(self) -> None:
        """Compare the tip in the model and ours at some postures."""
        source, chain, robot = self.found.source, self.found.chain, self.robot
        low, high = np.clip(robot.limits, -math.pi, math.pi)
        worst = 0.0
        for joints in np.random.default_rng(0).uniform(low, high, (50, len(low))):
            source.pose(chain.theirs(joints))
            foot, along = source.cup()
            there = foot + along * robot.tip_offset
            worst = max(worst, float(np.linalg.norm(forward(robot, joints)[0] - there)))
        source.pose(chain.theirs(np.array(robot.resting_arm)))
        self.facts.append(f"kinematics agree with the model's to {worst * 1000:.2g} mm")
        if worst > SURE:
            self.remarks.append(
                f"arm: our kinematics and the model's differ by up to {worst * 1000:.1f} mm: its axes or the "
                "cup are not exactly along x, y or z"
            )

    def _motion(self) -> None:
        """Let it rest, and move each joint a little."""
        robot, model = self.robot, self.model
        data, rest = mujoco.MjData(model), np.array(robot.resting_arm)
        low, high = robot.limits
        _run(model, data, rest, rest, SETTLING)
        off = np.abs(data.qpos - rest) / robot.units
        for joint, each in zip(robot.joints, off, strict=True):
            if not each < SAG:
                self.remarks.append(
                    f"motors.{joint.name}: at rest it moves by {each:.2f}: it is weak or shakes"
                )
        target = np.where(rest + MOVED * robot.units > high, rest - MOVED * robot.units, rest)
        target = np.where(target == rest, rest + MOVED * robot.units, target)
        _run(model, data, rest, np.clip(target, low, high), FOLLOWING)
        off = np.abs(data.qpos - np.clip(target, low, high)) / robot.units
        for joint, each in zip(robot.joints, off, strict=True):
            if not each < LAG:
                self.remarks.append(
                    f"motors.{joint.name}: {FOLLOWING:g} s after it was to move by {MOVED:g} it is {each:.2f} "
                    "away: it is weak, slow or shakes"
                )


def _run(model: Any, data: Any, start: np.ndarray, target: np.ndarray, seconds: float) -> None:
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.ctrl[:] = start, target
    for _ in range(round(seconds / TIMESTEP)):
        mujoco.mj_step(model, data)


def model_of(found: FileRobot) -> Any:
    """The robot alone on a floor, compiled; contacts are off, as in the air."""
    spec = empty_spec()
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_PLANE, size=(3.0, 3.0, 0.1), rgba=(0.75, 0.72, 0.66, 1.0),
        contype=0, conaffinity=0,
    )  # fmt: skip
    found.spec.build(spec)
    model = spec.compile()
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.enableflags &= ~int(mujoco.mjtEnableBit.mjENBL_SLEEP)
    return model


def _farthest(model: Any, geom: int) -> float:
    """How far a geom reaches from the upright axis of its body [m]."""
    rotation = np.empty(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    rotation, size = rotation.reshape(3, 3), model.geom_size[geom]
    kind, round_by = model.geom_type[geom], float(size[0])
    if kind == mujoco.mjtGeom.mjGEOM_BOX:
        points, round_by = np.array(list(product((-1, 1), repeat=3))) * size, 0.0
    elif kind == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        points, round_by = model.mesh_vert[first : first + count], 0.0
    elif kind in (mujoco.mjtGeom.mjGEOM_CYLINDER, mujoco.mjtGeom.mjGEOM_CAPSULE):
        points = np.array([[0.0, 0.0, -size[1]], [0.0, 0.0, size[1]]])
    else:
        points = np.zeros((1, 3))
    places = model.geom_pos[geom] + points @ rotation.T
    return float(np.hypot(*places[:, :2].T).max()) + round_by
