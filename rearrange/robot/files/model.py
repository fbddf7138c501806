"""The MJCF or URDF model of a robot, compiled, and which of its bodies and joints are base, arm and hand."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from rearrange.compiled_models import GEOM, Notes, compile_file, kind_of
from rearrange.declarations import nearest
from rearrange.errors import UserError
from rearrange.robot.files.declaration import Declaration

OBJ, JOINT = mujoco.mjtObj, mujoco.mjtJoint
BASE = -1  # link of bodies that are rigid with the base


@dataclass
class RobotModel:
    """A compiled model, posed, with its places in the base frame.

    Attributes:
        declaration: What the YAML file says.
        model: Compiled.
        data: Posed as `values` and the locked joints say.
        arm: Joints of the arm, from the base on.
        link_of: Body -> number of the arm's link that it is rigid with, or BASE; bodies of the robot only.
        hand: Body.
        rotation: Base frame from the model's world [3, 3].
        origin: Of the model's world in the base frame [3], m.
        values: Of the arm's joints as posed, in the model's units [J].
        notes: What was odd.
    """

    declaration: Declaration
    model: Any
    data: Any
    arm: list[int]
    link_of: dict[int, int]
    hand: int
    rotation: np.ndarray
    origin: np.ndarray
    values: np.ndarray
    notes: Notes

    def pose(self, values: np.ndarray) -> None:
        """Pose the arm by the values of its joints [J], in the model's units."""
        self.values = np.array(values, float)
        self.data.qpos[self.model.jnt_qposadr[self.arm]] = self.values
        mujoco.mj_kinematics(self.model, self.data)

    @property
    def names(self) -> list[str]:
        """Names of the arm's joints."""
        return [self.model.joint(joint).name for joint in self.arm]

    @property
    def slides(self) -> np.ndarray:
        """True for those of the arm's joints that slide [J]."""
        return self.model.jnt_type[self.arm] == int(JOINT.mjJNT_SLIDE)

    @property
    def axes(self) -> np.ndarray:
        """Axes of the arm's joints in the base frame [J, 3]."""
        return self.data.xaxis[self.arm] @ self.rotation.T

    @property
    def anchors(self) -> np.ndarray:
        """Places of the arm's joints in the base frame [J, 3], m."""
        return self.points(self.data.xanchor[self.arm])

    def points(self, points: np.ndarray) -> np.ndarray:
        """Points [N, 3] of the model's world in the base frame, m."""
        return points @ self.rotation.T + self.origin

    def cup(self) -> tuple[np.ndarray, np.ndarray]:
        """Foot of the suction cup [3], m, and where it looks [3], base frame."""
        words, data = self.declaration.cup, self.data
        if isinstance(words.at, str):
            site = self.model.site(words.at).id
            place, turn = data.site_xpos[site], data.site_xmat[site].reshape(3, 3)
        else:
            turn = data.xmat[self.hand].reshape(3, 3)
            place = data.xpos[self.hand] + turn @ np.array(words.at)
        return self.points(place[None])[0], self.rotation @ turn @ np.array(words.along)

    def geoms(self, link: int) -> list[int]:
        """Geoms of the bodies of a link."""
        bodies = self.model.geom_bodyid
        return [
            geom
            for geom in range(self.model.ngeom)
            if self.link_of.get(int(bodies[geom])) == link
            and kind_of(self.model, geom) not in (GEOM.mjGEOM_PLANE, GEOM.mjGEOM_HFIELD)
        ]

    def place(self, geom: int) -> tuple[np.ndarray, np.ndarray]:
        """Position [3], m, and rotation [3, 3] of a geom in the base frame."""
        turn = self.rotation @ self.data.geom_xmat[geom].reshape(3, 3)
        return self.points(self.data.geom_xpos[geom][None])[0], turn


def load_model(declaration: Declaration, notes: Notes) -> RobotModel:
    """Compile the model, find base, arm and hand, and lock what does not move.

    Raises:
        UserError: MuJoCo refuses it, or the hand is not found.
    """
    model = compile_file(declaration.model, f"{declaration.path}: model")
    base = _body(model, declaration, "base.body", declaration.base.body)
    hand = _body(model, declaration, "hand", declaration.hand)
    path = _ancestors(model, hand)
    if base not in path:
        raise UserError(f"{declaration.path}: hand: {declaration.hand} does not hang on base.body")
    between = path[: path.index(base)][::-1]  # from the base on
    arm = _arm(model, declaration, between)
    _check_cup(model, declaration)
    data = mujoco.MjData(model)
    _lock(model, data, declaration, arm, notes)
    mujoco.mj_kinematics(model, data)
    rotation, origin = _frame(data, declaration, base)
    links = _links(model, declaration, base, arm)
    values = data.qpos[model.jnt_qposadr[arm]]
    return RobotModel(
        declaration, model, data, arm, links, hand, rotation, origin, values.copy(), notes
    )


def _body(model: Any, declaration: Declaration, key: str, name: str) -> int:
    if not name:
        return 0
    body = mujoco.mj_name2id(model, OBJ.mjOBJ_BODY, name)
    if body < 0:
        told = nearest(name, _named(model.body(k).name for k in range(1, model.nbody)))
        raise UserError(f"{declaration.path}: {key}: the model has no body '{name}': {told}")
    return int(body)


def _named(names: Iterable[str]) -> list[str]:
    return [name for name in names if name]


def _ancestors(model: Any, body: int) -> list[int]:
    """A body and those that it hangs on, up to the world."""
    found = [body]
    while found[-1]:
        found.append(int(model.body_parentid[found[-1]]))
    return found


def _joints_of(model: Any, body: int) -> list[int]:
    first = int(model.body_jntadr[body])
    return list(range(first, first + int(model.body_jntnum[body])))


def _arm(model: Any, declaration: Declaration, between: list[int]) -> list[int]:
    """Joints of the arm; raises UserError where they are none, or of the wrong kind."""
    there = [joint for body in between for joint in _joints_of(model, body)]
    names = [model.joint(joint).name for joint in there]
    where = f"{declaration.path}: arm"
    for name in declaration.arm:
        if name not in names:
            told = nearest(name, _named(names))
            raise UserError(f"{where}: between base and hand is no joint '{name}': {told}")
    found = [
        joint
        for joint, name in zip(there, names, strict=True)
        if name in declaration.arm or not declaration.arm
    ]
    if not found:
        raise UserError(
            f"{where}: there is no joint between base and hand: is hand: the right body?"
        )
    for joint in found:
        kind, name = JOINT(int(model.jnt_type[joint])), model.joint(joint).name
        if kind not in (JOINT.mjJNT_HINGE, JOINT.mjJNT_SLIDE):
            raise UserError(
                f"{where}: '{name}' is neither a hinge nor a slide: leave it out of arm:"
            )
        if not name:
            raise UserError(
                f"{where}: a joint of {model.body(model.jnt_bodyid[joint]).name} has no name"
            )
        if kind == JOINT.mjJNT_SLIDE and not model.jnt_limited[joint]:
            raise UserError(
                f"{where}: '{name}' slides and has no range: write range= into the model"
            )
    return found


def _check_cup(model: Any, declaration: Declaration) -> None:
    at = declaration.cup.at
    if isinstance(at, str) and mujoco.mj_name2id(model, OBJ.mjOBJ_SITE, at) < 0:
        told = nearest(at, _named(model.site(k).name for k in range(model.nsite)))
        raise UserError(f"{declaration.path}: cup.at: the model has no site '{at}': {told}")


def _lock(model: Any, data: Any, declaration: Declaration, arm: list[int], notes: Notes) -> None:
    """Write the values of joints that do not move."""
    names = [model.joint(k).name for k in range(model.njnt)]
    for name in declaration.locked:
        if name not in names or names.index(name) in arm:
            others = [each for k, each in enumerate(names) if k not in arm and each]
            raise UserError(
                f"{declaration.path}: locked: no joint '{name}' beside the arm: {nearest(name, others)}"
            )
    for joint, name in enumerate(names):
        kind = JOINT(int(model.jnt_type[joint]))
        if joint in arm or kind not in (JOINT.mjJNT_HINGE, JOINT.mjJNT_SLIDE):
            continue
        at = int(model.jnt_qposadr[joint])
        data.qpos[at] = declaration.locked.get(name, float(model.qpos0[at]))
        low, high = model.jnt_range[joint]
        if model.jnt_limited[joint] and not low - 1e-6 <= data.qpos[at] <= high + 1e-6:
            notes.remarks.append(
                f"{name} is locked at {data.qpos[at]:g}, outside its range {low:g} to {high:g}: say where "
                "under locked:"
            )


def _frame(data: Any, declaration: Declaration, base: int) -> tuple[np.ndarray, np.ndarray]:
    """Base frame from the model's world: rotation [3, 3] and origin [3], m."""
    angle = math.radians(declaration.base.turn)
    c, s = math.cos(angle), math.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    rotation = turn @ data.xmat[base].reshape(3, 3).T
    return rotation, np.array(declaration.base.place) - rotation @ data.xpos[base]


def _links(model: Any, declaration: Declaration, base: int, arm: list[int]) -> dict[int, int]:
    """Body -> link, of all bodies that hang on the base and are not left out."""
    for name in declaration.without:
        _body(model, declaration, "without", name)
    carried = {int(model.jnt_bodyid[joint]): link for link, joint in enumerate(arm)}
    links = {base: BASE}
    for body in range(base + 1, model.nbody):  # parents come first
        parent = int(model.body_parentid[body])
        if parent in links and model.body(body).name not in declaration.without:
            links[body] = carried.get(body, links[parent])
    return links
