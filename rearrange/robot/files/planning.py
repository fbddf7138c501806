"""The planning model of a robot from files, worked out from what collides and from its kinematics."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from rearrange.errors import UserError
from rearrange.robot.files.shapes import Piece
from rearrange.robot.kinematics import link_frames
from rearrange.robot.planning import Disc, PlanningModel
from rearrange.robot.spec import RobotSpec

SAMPLES = 200  # postures that are looked at to see what meets what
TOUCHES = 0.01  # [m], nearer than which a link that never gets away from the body belongs to it
PUSHES = 0.3  # share of the arm's length from the shoulder, from which on a link may push a door
AIR = 0.005  # [m] around the base's cylinder
UPRIGHT = 0.95  # height up to which a trunk counts [m]
CUP_SPHERES = 3


@dataclass(frozen=True)
class OwnBody:
    """What is rigid with the base, as planners have it: a cylinder on the floor, and a box above it.

    Attributes:
        radius: Of the cylinder [m].
        top: Its height [m].
        low: Lower corner of the box [3], m.
        high: Upper corner [3], m.
    """

    radius: float
    top: float
    low: np.ndarray
    high: np.ndarray

    @property
    def center(self) -> np.ndarray:
        """Middle of the box [3], m."""
        return (self.low + self.high) / 2

    @property
    def half(self) -> np.ndarray:
        """Half sizes of the box [3], m."""
        return (self.high - self.low) / 2

    def clearance(self, points: np.ndarray) -> np.ndarray:
        """Distances of points [N, 3] in the base frame from both [N], m."""
        out = np.abs(points - self.center) - self.half
        box = np.linalg.norm(np.maximum(out, 0.0), axis=1) + np.minimum(out.max(axis=1), 0.0)
        aside = np.hypot(points[:, 0], points[:, 1]) - self.radius
        above = np.abs(points[:, 2] - self.top / 2) - self.top / 2
        under = np.hypot(np.maximum(aside, 0.0), np.maximum(above, 0.0))
        return np.minimum(box, under + np.minimum(np.maximum(aside, above), 0.0))

    @property
    def discs(self) -> tuple[Disc, ...]:
        """Discs over the box as seen from above."""
        x, y = self.center[:2]
        long, short = max(self.half[:2]), min(self.half[:2])
        count = max(1, min(4, math.ceil(long / max(short, 0.03))))
        radius = math.hypot(short, long / count)
        places = long * (np.arange(count) * 2 + 1 - count) / count
        if self.half[0] >= self.half[1]:
            return tuple((float(x + s), float(y), radius) for s in places)
        return tuple((float(x), float(y + s), radius) for s in places)


def own_body(pieces: Sequence[Piece], radius: float, height: float | None) -> OwnBody:
    """The robot's own body.

    Args:
        pieces: What is rigid with the base, base frame.
        radius: Of the base [m].
        height: Of a base of ours [m]; None: what of the pieces stands on the floor is the base.
    """
    boxes = [(piece.corners.min(axis=0), piece.corners.max(axis=0)) for piece in pieces]
    wide, top = radius, height
    if top is None:
        ground = [high[2] for low, high in boxes if low[2] < 0.2] or [0.1]
        top = float(min(max(ground), 0.45))
    above = [
        (np.maximum(low, (-9.0, -9.0, top)), high) for low, high in boxes if high[2] > top + 0.01
    ]
    if not above:
        middle = np.array([0.0, 0.0, top / 2])
        above = [(middle - 0.02, middle + 0.02)]
    low = np.min([each[0] for each in above], axis=0)
    high = np.max([each[1] for each in above], axis=0)
    return OwnBody(wide, top, low, high)


def model_of(
    robot: RobotSpec, links: Sequence[Sequence[Piece]], body: OwnBody, cup: tuple[float, float]
) -> PlanningModel:
    """The planning model of a robot that has none yet, without postures.

    Args:
        robot: The robot.
        links: What collides of each link, in its frame.
        body: What is rigid with its base.
        cup: Length and radius of the suction cup [m].
    """
    rows = [
        (link, *sphere)
        for link, pieces in enumerate(links)
        for piece in pieces
        for sphere in piece.spheres().tolist()
    ]
    length, radius = cup
    gripper, wider = len(links), radius * 1.08
    rows += [(gripper, x, 0.0, 0.0, wider) for x in np.linspace(0.0, length - wider, CUP_SPHERES)]
    shoulder, reach = _shoulder(robot)
    box = (*body.center, *body.half)
    discs = body.discs
    model = PlanningModel(
        sphere_rows=tuple(tuple(float(value) for value in row) for row in rows),
        cup_spheres=CUP_SPHERES,
        cup_radius=radius,
        first_wary_link=0,
        first_pushing_link=_first_pushing(robot, shoulder, reach),
        body_box=tuple(float(value) for value in box),
        body_cylinder=(0.0, 0.0, body.top / 2, body.radius + AIR, body.top / 2 + AIR),
        layers=(
            (0.0, body.top, ((0.0, 0.0, body.radius),)),
            (body.top, max(UPRIGHT, body.top + 0.1), discs),
        ),
        trunk=discs,
        postures=(),
        shoulder=shoulder,
        length=reach,
    )
    return replace(model, first_wary_link=_first_wary(robot, model, body))


def clearances(
    robot: RobotSpec, model: PlanningModel, body: OwnBody, joints: np.ndarray
) -> np.ndarray:
    """Distances of all spheres in a posture from the robot's own body and the floor [S], m."""
    centers = place(robot, model, joints)
    radii = model.spheres[:, 4]
    return np.minimum(body.clearance(centers), centers[:, 2]) - radii


def place(robot: RobotSpec, model: PlanningModel, joints: np.ndarray) -> np.ndarray:
    """Centres of the spheres in a posture [S, 3], base frame, m."""
    positions, rotations = link_frames(robot, joints)
    frames = model.spheres[:, 0].astype(int)
    return positions[frames] + np.einsum("sij,sj->si", rotations[frames], model.spheres[:, 1:4])


def random_postures(robot: RobotSpec, count: int, seed: int = 0) -> np.ndarray:
    """Postures within the limits [count, J]; of a hinge's at most one turn, around 0 as far as they allow."""
    low, high = robot.limits
    hinges = np.array([not joint.slides for joint in robot.joints])
    from_turn = np.maximum(low, np.minimum(-math.pi, high - 2 * math.pi))
    low = np.where(hinges, from_turn, low)
    high = np.where(hinges, np.minimum(high, low + 2 * math.pi), high)
    return np.random.default_rng(seed).uniform(low, high, (count, len(low)))


def _first_wary(robot: RobotSpec, model: PlanningModel, body: OwnBody) -> int:
    """The first link after those that are always at the body.

    Raises:
        UserError: They are all of them.
    """
    frames = model.spheres[:, 0]
    farthest = np.full(len(robot.joints) + 2, -math.inf)
    for joints in random_postures(robot, SAMPLES):
        distances = body.clearance(place(robot, model, joints)) - model.spheres[:, 4]
        for link in range(len(farthest)):
            of_link = distances[frames == link]
            if len(of_link):
                farthest[link] = max(farthest[link], float(of_link.min()))
    near = [link for link, gap in enumerate(farthest) if math.isfinite(gap) and gap < TOUCHES]
    first = max(near) + 1 if near else 0
    if not (frames >= first).any():
        raise UserError(
            f"robot {robot.name}: nothing of the arm leaves the box around what is rigid with its base, in "
            f"{SAMPLES} postures within the limits: planners need a hand that gets away from the body"
        )
    return first


def _shoulder(robot: RobotSpec) -> tuple[tuple[float, float, float], float]:
    """The first joint that lifts the arm, base frame, and how far the tip gets from it at most [m]."""
    lifts = [k for k, joint in enumerate(robot.joints) if joint.axis != "z" and not joint.slides]
    first = lifts[0] if lifts else 0
    middle = np.zeros(len(robot.joints))
    for k, joint in enumerate(robot.joints):
        if joint.slides:
            middle[k] = (joint.low + joint.high) / 2
    x, y, z = link_frames(robot, middle)[0][first].tolist()
    length = math.hypot(*robot.gripper_offset) + robot.tip_offset
    for joint in robot.joints[first + 1 :]:
        length += math.hypot(*joint.offset)
    for joint in robot.joints:
        if joint.slides:  # from the middle of its travel
            length += (joint.high - joint.low) / 2
    return (x, y, z), length


def _first_pushing(robot: RobotSpec, shoulder: tuple[float, float, float], length: float) -> int:
    """The first link whose frame gets some way from the shoulder."""
    farthest = np.zeros(len(robot.joints))
    for joints in random_postures(robot, SAMPLES, 1):
        away = np.linalg.norm(link_frames(robot, joints)[0][:-2] - shoulder, axis=1)
        farthest = np.maximum(farthest, away)
    beyond = np.flatnonzero(farthest > PUSHES * length)
    return int(beyond[0]) if len(beyond) else len(robot.joints) - 1
