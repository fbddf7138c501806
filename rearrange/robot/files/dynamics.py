"""Masses of a robot's links and motors of its joints, from the model or in keeping with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from rearrange.robot.files.chain import Chain
from rearrange.robot.files.model import RobotModel
from rearrange.robot.parts import Motor

LEAST_MASS = 0.05  # [kg], of a link of which the model says less
LEAST_INERTIA = 1e-5  # [kg m2], about each axis
GRAVITY = 9.81  # [m/s2]
LOAD = 1.5  # [kg], which a motor is meant to carry where the model does not say its strength
GAIN = 5.0  # position gain over effort [1/rad], about as of Fetch's motors
ARMATURE = 1 / 3000  # [s2], rotor inertia over gain, likewise


@dataclass(frozen=True)
class Inertia:
    """What a link weighs.

    Attributes:
        mass: [kg]
        center: Of mass, base frame [3], m.
        matrix: About it, along the base's axes [3, 3], kg m2.
    """

    mass: float
    center: np.ndarray
    matrix: np.ndarray


def inertia_of(source: RobotModel, link: int) -> Inertia:
    """What all bodies of a link weigh together, as the model is posed."""
    model, data = source.model, source.data
    bodies = [body for body, found in source.link_of.items() if found == link and body]
    masses = model.body_mass[bodies]
    mass = float(masses.sum())
    if mass < LEAST_MASS:
        name = source.names[link]
        source.notes.remarks.append(
            f"what hangs on '{name}' weighs {mass:g} kg in the model, and counts as {LEAST_MASS} kg"
        )
        anchor = source.anchors[link]
        return Inertia(LEAST_MASS, anchor, np.eye(3) * LEAST_MASS * 0.03**2)
    places = source.points(data.xipos[bodies])
    center = masses @ places / mass
    matrix = np.eye(3) * LEAST_INERTIA
    for body, own, place in zip(bodies, masses, places, strict=True):
        turn = source.rotation @ data.ximat[body].reshape(3, 3)
        lever = place - center
        matrix += turn @ np.diag(model.body_inertia[body]) @ turn.T
        matrix += own * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    return Inertia(mass, center, matrix)


def motors_of(source: RobotModel, chain: Chain, inertias: Sequence[Inertia]) -> list[Motor]:
    """The motor of each joint: as the YAML file says, as the model says, or strong enough."""
    model, found = source.model, []
    for name in source.declaration.motors:
        if name not in source.names:
            source.notes.faults.append(f"motors.{name}: it is no joint of the arm")
    unsaid = []
    for link, (joint, name) in enumerate(zip(source.arm, source.names, strict=True)):
        words = source.declaration.motors.get(name, {})
        effort, gain = _actuator(source, joint)
        if effort <= 0.0 and "effort" not in words:
            unsaid.append(name)
            effort = _enough(chain, inertias, link)
        effort = words.get("effort", effort)
        gain = words.get("gain", gain if gain > 0.0 else GAIN * effort / chain.joints[link].unit)
        rotor = max(float(model.dof_armature[model.jnt_dofadr[joint]]), ARMATURE * gain)
        found.append(Motor(effort, gain, words.get("armature", rotor)))
    if unsaid:
        source.notes.remarks.append(
            f"motors: the model does not say how strong {', '.join(unsaid)} are: as much as {LOAD} kg in the "
            "hand ask for"
        )
    return found


def _actuator(source: RobotModel, joint: int) -> tuple[float, float]:
    """Limit of the torque of a joint's actuator and its position gain; 0 where there is none."""
    model, effort, gain = source.model, 0.0, 0.0
    on_joint = int(mujoco.mjtTrn.mjTRN_JOINT)
    for k in np.flatnonzero(model.actuator_trnid[:, 0] == joint):
        if model.actuator_trntype[k] != on_joint:
            continue
        gear = abs(float(model.actuator_gear[k, 0]))
        strength = float(model.actuator_gainprm[k, 0])
        if model.actuator_forcelimited[k]:
            effort = gear * float(np.abs(model.actuator_forcerange[k]).max())
        if model.actuator_biastype[k] == int(mujoco.mjtBias.mjBIAS_AFFINE):
            # Of a length of gear times the joint's
            gain = gear**2 * max(0.0, -float(model.actuator_biasprm[k, 1]))
        elif effort == 0.0 and model.actuator_ctrllimited[k]:
            effort = gear * strength * float(np.abs(model.actuator_ctrlrange[k]).max())
    if model.jnt_actfrclimited[joint]:  # of a URDF file the joint's effort
        limit = float(np.abs(model.jnt_actfrcrange[joint]).max())
        effort = min(effort, limit) if effort else limit
    return effort, gain


def _enough(chain: Chain, inertias: Sequence[Inertia], link: int) -> float:
    """Torque [N m] or force [N] with which a joint carries twice its arm stretched out, and a load."""
    if chain.joints[link].slides:
        carried = sum(each.mass for each in inertias[link:]) + LOAD
        return 2.0 * GRAVITY * carried + 20.0
    lengths = [float(np.linalg.norm(joint.offset)) for joint in chain.joints[link + 1 :]]
    lengths.append(float(np.linalg.norm(chain.gripper_offset)))
    torque, lever = 0.0, 0.0
    for each, length in zip(inertias[link:], lengths, strict=True):
        torque += each.mass * (lever + 0.5 * length)
        lever += length
    return 2.0 * GRAVITY * (torque + LOAD * lever) + 2.0
