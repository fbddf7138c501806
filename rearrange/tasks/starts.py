"""Start states that several tasks sample: what is asked of which object, and where the robot stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np

from rearrange.errors import UserError
from rearrange.navigation import (
    DistanceField,
    OccupancyGrid,
    region_field,
    standing_region,
)
from rearrange.navigation.footprints import door_footprint
from rearrange.navigation.reach import NO_DOORS
from rearrange.robot import RobotSpec, kinematics
from rearrange.scenes.apartment import Apartment
from rearrange.scenes.registry import spec_of_layout
from rearrange.scenes.spec import Door
from rearrange.tasks.sampling import Scene

Pose = tuple[float, float, float]  # x, y [m], yaw [rad]
BEFORE_RADIUS = 0.35  # around the place before what opens (Part.before) one stands right [m]
FARTHEST_WAY = 4.5  # [m], that is measured at most; see FloorTask
DETOUR = 0.5  # [m], by which a way that leads around something is longer than straight, at least
FARTHEST = 30.0  # [m], where looking for a place for the robot ends
POSE_ATTEMPTS = 50  # start poses that are tried for one goal (habitat-lab: 50)
STANDING_ATTEMPTS = (
    100  # poses that are tried in the shrunk rectangle (habitat-lab), then in all of it
)


def pose_away_from(
    scene: Scene,
    point: tuple[float, ...],
    distance: float,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """A random pose farther than this from a point (horizontal) [m]; else the farthest that was tried."""
    return _least(scene, lambda pose: distance - math.dist(pose[:2], point[:2]), rng)


def pose_within(
    scene: Scene,
    point: tuple[float, ...],
    distance: float,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """A random pose within this distance of a point (horizontal) [m]; else the nearest that was tried."""
    return _least(scene, lambda pose: math.dist(pose[:2], point[:2]) - distance, rng)


def _least(scene: Scene, excess: Callable[[Pose], float], rng: np.random.Generator) -> Pose:
    """The first random pose whose excess is not above 0; else the one of least excess that was tried."""
    poses = []
    for _ in range(POSE_ATTEMPTS):
        poses.append(scene.grid.sample_pose(rng))
        if excess(poses[-1]) <= 0.0:
            break
    return min(poses, key=excess)


def pose_near(
    robot: RobotSpec,
    scene: Scene,
    receptacle: str,
    point: tuple[float, ...],
    distance: float,
    yaw_noise: float,
    rng: np.random.Generator,
    farthest: float = 0.0,
    detour: bool = False,
) -> Pose | None:
    """A pose that faces something on or in a receptacle from at most this distance [m], None if there is none.

    From there the robot gets to where it stands at the thing without going farther away. Where nothing is
    free the distance grows, up to the farthest. With `detour` the way there leads around something, such as
    the sofa on which the thing is, or the fridge's open door.
    """
    floor, region = _standing(robot, scene, receptacle, point)
    among = None
    if detour:
        extra = extra_ways(robot, region_field(floor, region, FARTHEST_WAY), point)
        among = (extra >= DETOUR) & (extra < math.inf)
    while True:
        pose = scene.grid.sample_pose_near(
            rng, point[:2], distance, yaw_noise, region=region, among=among
        )
        distance += 0.1  # habitat-lab: 0.02 m per 200 tries
        if pose is not None or distance >= farthest:
            return pose


def pose_nearby(
    robot: RobotSpec,
    scene: Scene,
    receptacle: str,
    point: tuple[float, ...],
    distance: float,
    yaw_noise: float,
    rng: np.random.Generator,
) -> Pose:
    """A pose as `pose_near` has it, from a little farther away if need be.

    Raises:
        UserError: The robot fits nowhere.
    """
    pose = pose_near(robot, scene, receptacle, point, distance, yaw_noise, rng, FARTHEST)
    if pose is None:
        raise UserError(f"{scene.grid.apartment.name} has no place for the robot")
    return pose


def extra_ways(robot: RobotSpec, way: DistanceField, point: Sequence[float]) -> np.ndarray:
    """How much longer than straight the way is to where a robot gets at a point, from each cell [nx, ny], m.

    Args:
        robot: Who goes.
        way: See `way_to_stand`.
        point: World x and y [m].
    """
    nx, ny = way.distance.shape
    x, y = (
        origin + (np.arange(count) + 0.5) * way.grid.cell - at
        for origin, count, at in zip(way.grid.origin, (nx, ny), point, strict=False)
    )
    straight = np.hypot(x[:, None], y[None, :]) - robot.reach.standing
    return way.distance - np.maximum(straight, 0.0)


def straight_way(robot: RobotSpec, point: Sequence[float], x: float, y: float) -> float:
    """The straight way from (x, y) to where a robot gets at a point, whatever stands in it [m]."""
    return max(math.dist((x, y), point[:2]) - robot.reach.standing, 0.0)


def way_to_stand(
    robot: RobotSpec,
    apartment: Apartment | None,
    grid: OccupancyGrid,
    receptacle: str,
    point: tuple[float, float],
    joints: Mapping[str, float],
    farthest: float = math.inf,
) -> DistanceField:
    """The way along the floor, around open doors, to where a robot stands to get at something.

    On an open receptacle that is from any side from where the arm reaches it, but not through a door: before
    the open fridge one is as near to the counter beside it. What is inside is reached from before it.

    Args:
        robot: Who stands there.
        apartment: The apartment; None: a scene of a dataset, where things lie as on open receptacles.
        grid: Its floor.
        receptacle: On or in what the thing is.
        point: Where it is, world x and y [m].
        joints: How far doors and drawers are open.
        farthest: Way that is measured at most [m].
    """
    floor, region = _where_to_stand(robot, apartment, grid, receptacle, point, joints)
    return region_field(floor, region, farthest)


def _standing(
    robot: RobotSpec, scene: Scene, receptacle: str, point: tuple[float, ...]
) -> tuple[OccupancyGrid, np.ndarray]:
    """`_where_to_stand` in a scene."""
    apartment, grid, joints = scene.apartment, scene.grid, scene.joints
    return _where_to_stand(robot, apartment, grid, receptacle, point[:2], joints)


def _where_to_stand(
    robot: RobotSpec,
    apartment: Apartment | None,
    grid: OccupancyGrid,
    receptacle: str,
    point: tuple[float, ...],
    joints: Mapping[str, float],
) -> tuple[OccupancyGrid, np.ndarray]:
    """The floor with open doors on it, and its cells in which a robot stands to get at something [nx, ny] bool.

    The arguments are those of `way_to_stand`.
    """
    doors = NO_DOORS if apartment is None else open_doors(apartment, joints)
    if len(doors):  # closed doors are on the floor's map already
        grid = grid.with_obstacles(doors)
    part = None if apartment is None else spec_of_layout(apartment.layout).part_of(receptacle)
    if apartment is None or part is None:
        near = standing_region(grid, np.asarray(point), robot.reach.standing, doors)
        return grid, near
    frame = spec_of_layout(apartment.layout).frame_of(apartment, part.name)
    place = frame.to_world(part.before(joints.get(part.name, 0.0)))
    return grid, standing_region(grid, np.asarray(place), BEFORE_RADIUS)


def open_doors(apartment: Apartment, joints: Mapping[str, float]) -> np.ndarray:
    """Footprints [D, 6] of the doors that stand open."""
    rows, spec = [NO_DOORS], spec_of_layout(apartment.layout)
    for part in spec.parts:
        angle = joints.get(part.name, 0.0)
        if isinstance(part, Door) and angle > 0.0:
            rows.append(door_footprint(part, spec.frame_of(apartment, part.name), angle))
    return np.concatenate(rows)


def standing_before(
    robot: RobotSpec,
    scene: Scene,
    joint: str,
    middle: float,
    half: tuple[float, float],
    scale: float,
    yaw_noise: float,
    rng: np.random.Generator,
) -> tuple[float, float, float] | None:
    """A free pose before a drawer or a door, as habitat-lab samples it.

    Args:
        robot: Who stands there.
        scene: Its `joints` say how far the joint is open.
        joint: Which part.
        middle: Distance of the rectangle's centre before what one faces (Part.faced) [m].
        half: Half sizes of the rectangle along and across that direction [m].
        scale: Share of it that is tried first; then all of it.
        yaw_noise: Standard deviation of the heading [rad].
        rng: Source of randomness.

    Returns:
        (x, y, yaw), or None if nothing was free.
    """
    part, value, door = scene.spec.part(joint), scene.joints.get(joint, 0.0), None
    if scene.apartment is None:
        # Of a dataset: there the simulator has to tell whether the robot meets the door
        frame = scene.handle_ways[joint]
        handle = frame.at(value)
        faced = (0.0, 0.0) if part.turns else handle
    else:
        frame = scene.spec.frame_of(scene.apartment, joint)
        door = part if isinstance(part, Door) else None
        handle, faced = part.handle_at(value), part.faced(value)
    c, s = math.cos(frame.yaw), math.sin(frame.yaw)
    for attempt in range(2 * STANDING_ATTEMPTS):
        share = scale if attempt < STANDING_ATTEMPTS else 1.0
        u = faced[0] + middle + share * float(rng.uniform(-half[0], half[0]))
        v = faced[1] + share * float(rng.uniform(-half[1], half[1]))
        heading = math.atan2(faced[1] - v, faced[0] - u) + float(rng.normal(0.0, yaw_noise))
        x, y = frame.position[0] + c * u - s * v, frame.position[1] + s * u + c * v
        if (
            _within_workspace(robot, (u, v, heading), handle)
            and not (door is not None and _meets_door(robot, (u, v, heading), door, value))
            and scene.grid.on_island(x, y)
        ):
            return x, y, math.remainder(heading + frame.yaw, 2 * math.pi)
    return None


def _within_workspace(
    robot: RobotSpec, pose: tuple[float, float, float], point: tuple[float, float]
) -> bool:
    """Whether the arm could reach that far, all in one frame."""
    dx, dy = point[0] - pose[0], point[1] - pose[1]
    c, s = math.cos(pose[2]), math.sin(pose[2])
    return c * dx + s * dy <= robot.reach.ahead and abs(c * dy - s * dx) <= robot.reach.aside


def _meets_door(
    robot: RobotSpec, pose: tuple[float, float, float], door: Door, angle: float
) -> bool:
    """Whether trunk or resting arm of a robot at a pose in the furniture's frame are at the open door."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    discs, radii = _body(robot)
    points = discs @ np.array([[c, s], [-s, c]]) + pose[:2] - np.asarray(door.hinge)
    along = np.array([math.sin(angle), -door.sense * math.cos(angle)])
    nearest = np.clip(points @ along, 0.0, door.width)
    gaps = np.linalg.norm(points - nearest[:, None] * along, axis=1)
    return bool((gaps < radii).any())


@cache
def _body(robot: RobotSpec) -> tuple[np.ndarray, np.ndarray]:
    """Discs over trunk and resting arm on the floor plane, base frame: centres [P, 2] and radii [P], m."""
    origins = kinematics.link_frames(robot, robot.resting_arm)[0][:, :2]
    between = 0.5 * (origins[1:] + origins[:-1])
    trunk = np.array([robot.mount[:2]])
    centres = np.concatenate([trunk, origins, between])
    radii = np.full(len(centres), robot.reach.arm_radius)
    radii[0] = robot.reach.trunk_radius
    return centres, radii
