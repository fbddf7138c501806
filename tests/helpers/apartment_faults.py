"""Properties that every apartment has to keep: nothing pierced, every point and handle in reach."""

import math
from functools import lru_cache

import mujoco
import numpy as np

from rearrange.navigation import ROBOT_RADIUS, OccupancyGrid
from rearrange.robot import kinematics
from rearrange.robot.fetch import FETCH
from rearrange.scenes import (
    ARTICULATED_BIT,
    STATIC_BIT,
    Apartment,
    ArticulatedPose,
    Receptacle,
    Solid,
    build_spec,
)
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.cabinet import CABINET_SIZE, DRAWERS
from rearrange.scenes.fridge import FRIDGE_DOOR, FRIDGE_HINGE, FRIDGE_SIZE
from rearrange.scenes.placement import overlap
from tests.helpers.apartment_checks import check_no_overlap, framed, obstacles, points_on

BIN = 0.05  # of the workspace's table, metres
ABOVE = 0.05  # the hand works so high above a surface, metres
DOOR_LENGTH = 0.69  # of the fridge's door from its hinge, metres
OPENING = 0.28  # half of the width of the fridge's opening through which a hand passes, metres
DOOR_HALF = 0.06  # from the middle of the door to the outside of its handle, metres


@lru_cache
def workspace(level: bool) -> np.ndarray:
    """Whether the suction tip gets there [height, distance], pointing level or else down.

    Any side of the robot will do, since the base turns; only what lies beyond the base counts.
    """
    rng = np.random.default_rng(0)
    low, high = np.clip(FETCH.limits, -math.pi, math.pi)
    table = np.zeros((50, 40), bool)
    for joints in rng.uniform(low, high, (60_000, 7)):
        positions, rotations = kinematics.link_frames(FETCH, joints)
        (x, y, z), down = positions[-1], -rotations[-1][2, 0]
        away = math.hypot(x, y)
        if away > ROBOT_RADIUS and 0.0 <= z < 2.5 and (abs(down) < 0.5 if level else down > 0.7):
            table[int(z / BIN), int(away / BIN)] = True
    return table


def within_reach(
    cells: np.ndarray, points: np.ndarray, level: bool, allowed: np.ndarray | None = None
) -> np.ndarray:
    """Whether each point [P, 3] is in the arm's workspace from some cell [K, 2]: [P].

    `allowed` [P, K] tells from which cells each may be reached, None from all.
    """
    offset = points[:, None, :2] - cells
    away = np.sqrt((offset * offset).sum(axis=-1))
    table = workspace(level)
    bins = np.minimum((away / BIN).astype(int), table.shape[1] - 1)
    reached = table[(points[:, 2] / BIN).astype(int)[:, None], bins]
    return (reached if allowed is None else reached & allowed).any(axis=1)


def near(cells: np.ndarray, points: np.ndarray) -> np.ndarray:
    """The cells [K, 2] from which the arm might get to one of the points [P, 3]."""
    middle, spread = points[:, :2].mean(axis=0), np.ptp(points[:, :2], axis=0).max()
    return cells[np.abs(cells - middle).max(axis=1) < 1.3 + spread]


def in_frame(points: np.ndarray, pose) -> np.ndarray:
    """World points [..., 2] in the frame of the fridge or the cabinet."""
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    return (points - np.array(pose.position[:2])) @ np.array([(c, -s), (s, c)])


def to_box(points: np.ndarray, low: tuple[float, float], high: tuple[float, float]) -> np.ndarray:
    """Distance of points [K, 2] to an upright rectangle [K]."""
    outside = np.maximum(np.maximum(low - points, points - high), 0.0)
    return np.linalg.norm(outside, axis=1)


def to_open_door(local: np.ndarray) -> np.ndarray:
    """Distance of points [K, 2], in the fridge's frame, to the middle of the fully open door [K]."""
    angle = FRIDGE_DOOR.range[1] - math.pi / 2  # the door shuts at -pi/2
    arm, end = local - np.array(FRIDGE_HINGE), np.array([math.cos(angle), math.sin(angle)])
    along = np.clip(arm @ end, 0.0, DOOR_LENGTH)
    return np.linalg.norm(arm - along[:, None] * end, axis=1)


def clear_of_swing(local: np.ndarray) -> np.ndarray:
    """Which bases [K, 2], in the fridge's frame, the door misses on its whole way [K]."""
    arm = local - np.array(FRIDGE_HINGE)
    angle = np.arctan2(arm[:, 1], arm[:, 0])
    swept = (angle > -math.pi / 2) & (angle < FRIDGE_DOOR.range[1] - math.pi / 2)
    away = np.where(swept, np.linalg.norm(arm, axis=1) - DOOR_LENGTH, to_open_door(local))
    return away >= ROBOT_RADIUS + DOOR_HALF


def clear_of_drawers(local: np.ndarray) -> np.ndarray:
    """Which bases [K, 2], in the cabinet's frame, the drawers miss when fully open [K]."""
    front = CABINET_SIZE[0] / 2 + 0.035 + DRAWERS[0].range[1]
    return to_box(local, (-0.3, -0.475), (front, 0.475)) >= ROBOT_RADIUS


def surface_points(receptacle: Receptacle, travel: float, yaw: float) -> np.ndarray:
    """Where the hand works on a receptacle [P, 3], its drawer drawn out by so much."""
    flat = points_on(receptacle) + travel * np.array([math.cos(yaw), math.sin(yaw)])
    return np.column_stack([flat, np.full(len(flat), receptacle.position[2] + ABOVE)])


def through_the_opening(local: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Whether a hand comes straight from bases [K, 2] to points [P, 2] in the fridge: [P, K]."""
    front = FRIDGE_SIZE[0] / 2
    share = (front - inner[:, None, 0]) / np.maximum(local[:, 0] - inner[:, None, 0], 1e-6)
    crossing = inner[:, None, 1] + share * (local[:, 1] - inner[:, None, 1])
    return (np.abs(crossing) < OPENING) & (local[:, 0] > front)


def unreachable(apartment: Apartment, floor: np.ndarray) -> list[str]:
    """Receptacles with a point that the arm cannot get to from any connected free floor [K, 2]."""
    reasons = []
    for name, receptacle in apartment.receptacles.items():
        travel = DRAWERS[0].range[1] if receptacle.joint else 0.0
        points = surface_points(receptacle, travel, apartment.frames["cabinet"].yaw)
        cells, allowed = near(floor, points), None
        if name == "fridge_middle":
            local = in_frame(cells, apartment.frames["fridge"])
            allowed = through_the_opening(
                local, in_frame(points[:, :2], apartment.frames["fridge"])
            )
            allowed &= to_open_door(local) >= ROBOT_RADIUS + DOOR_HALF
        elif receptacle.joint:
            cells = cells[clear_of_drawers(in_frame(cells, apartment.frames["cabinet"]))]
        reached = within_reach(cells, points, name == "fridge_middle", allowed)
        if not reached.all():
            reasons.append(f"{name}: {int((~reached).sum())} of {len(points)} points out of reach")
    return reasons


def handles_out_of_reach(
    apartment: Apartment, floor: np.ndarray, handles: dict[str, np.ndarray]
) -> list[str]:
    """Handles that no free base can get to without standing in the way of what they open."""
    reasons = []
    for joint, point in handles.items():
        cells = near(floor, point[None])
        door = joint == "fridge_door"
        pose = apartment.frames["fridge"] if door else apartment.frames["cabinet"]
        local, handle = in_frame(cells, pose), in_frame(point[:2], pose)
        ahead, aside = (local - handle).T
        clear = clear_of_swing(local) if door else clear_of_drawers(local)
        cells = cells[clear & (ahead > 0.0) & (np.abs(aside) < ahead)]  # within 45 degrees
        if not within_reach(cells, point[None], level=True).all():
            reasons.append(f"{joint}: handle out of reach")
    return reasons


def pierced(apartment: Apartment) -> tuple[list[str], dict[str, np.ndarray]]:
    """What doors and drawers hit on their way, each opened alone; and where closed handles are."""
    model = build_spec(apartment).compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    handles = {j: data.geom(f"handle_{j}").xpos.copy() for j in APARTMENT.joints}
    plane = int(mujoco.mjtGeom.mjGEOM_PLANE)
    statics = np.flatnonzero((model.geom_contype == STATIC_BIT) & (model.geom_type != plane))
    reasons = []
    for joint in APARTMENT.joints:
        body = model.body(joint).id
        moving = np.flatnonzero(
            (model.geom_bodyid == body) & (model.geom_contype == ARTICULATED_BIT)
        )
        others = statics[model.geom_bodyid[statics] != model.body_parentid[body]]
        end = model.joint(joint).range[1]
        for value in np.linspace(0.0, end, 10 if joint == "fridge_door" else 3):
            data.qpos[model.joint(joint).qposadr[0]] = value
            mujoco.mj_kinematics(model, data)
            for geom in moving:
                gap = np.linalg.norm(data.geom_xpos[others] - data.geom_xpos[geom], axis=1)
                near = others[gap < model.geom_rbound[others] + model.geom_rbound[geom]]
                for other in near:
                    if mujoco.mj_geomDistance(model, data, geom, int(other), 0.01, None) < -1e-3:
                        names = model.geom(geom).name, model.geom(int(other)).name
                        reasons.append(f"{names[0]} at {value:.2f} hits {names[1]}")
        data.qpos[model.joint(joint).qposadr[0]] = 0.0
    return sorted(set(reasons)), handles


def without_room(apartment: Apartment, grid: OccupancyGrid) -> list[str]:
    """Places before the fridge, the cabinet and its open drawer where tasks start, but no robot can stand."""
    reasons = []
    for name, pose, area in (
        ("fridge", apartment.frames["fridge"], (0.93, -0.25, 1.15, 0.25)),
        ("cabinet", apartment.frames["cabinet"], (1.10, -0.30, 1.20, 0.30)),
        ("open drawer", apartment.frames["cabinet"], (1.54, 0.10, 1.58, 0.38)),
    ):
        x, y, *_ = framed(pose, *area)
        if not any(
            grid.on_island(x + dx, y + dy) for dx in (-0.1, 0.0, 0.1) for dy in (-0.1, 0.0, 0.1)
        ):
            reasons.append(f"no room to stand before the {name}")
    # Beside the fridge's open door base and arm need more room than between two walls: 0.745 m are planned,
    # of which the handles of a cabinet around the corner may take 15 mm.
    beside = framed(apartment.frames["fridge"], 0.38, -0.73, 1.3, FRIDGE_HINGE[1])
    if any(overlap(beside, other, -1e-3) for other in obstacles(apartment)):
        reasons.append("no room beside the open fridge")
    return reasons


def faults(
    apartment: Apartment, grid: OccupancyGrid | None = None, thorough: bool = True
) -> list[str]:
    """Which properties an apartment breaks, in words; thorough: is every point in reach, too."""
    reasons = []
    try:
        check_no_overlap(apartment)
    except AssertionError as error:
        reasons.append(f"overlap: {str(error).splitlines()[0]}")
    hits, handles = pierced(apartment)
    grid = grid or OccupancyGrid(apartment)
    floor = grid.center_of(np.argwhere(grid.island))
    reasons += hits + without_room(apartment, grid)
    reasons += unreachable(apartment, floor) if thorough else []
    reasons += handles_out_of_reach(apartment, floor, handles)
    return [f"{apartment.name}: {reason}" for reason in reasons]


def block(pose: ArticulatedPose, x: float, y: float, half: float, height: float) -> Solid:
    """A column at a place in the frame of the fridge or the cabinet."""
    place = framed(pose, x, y, x, y)
    return Solid("box", (place[0], place[1], height / 2), (half, half, height / 2), part="column")
