"""The contact sheet of a home: from above, its floor, and what the robot sees before things."""

from __future__ import annotations

import math
from typing import Any

import mujoco
import numpy as np

from rearrange.check_scene.checks import Checks
from rearrange.navigation.map import draw_map, map_pixel
from rearrange.render import Camera, colour_depth, look_at, render_depth, render_rgb
from rearrange.render.picture import RgbOptions
from rearrange.render.sheet import INK, Sheet, Tag, draw_tags
from rearrange.robot import RobotSpec
from rearrange.sim.apartment_model import ApartmentModel
from rearrange.view.home_sheet import is_turned, picture_from_above

ABOVE = Camera(height=420, width=520, horizontal_fov=64.0)
MAP = (420, 420)  # a square, as it may be turned
SEEN = 236  # pixels of a side
COLUMNS, GAP, HEADER, CAPTION = 4, 14, 44, 22
FARTHEST = 4.0  # depth that is still told apart [m]
STANDING = 0.85  # from what the robot looks at [m]
FAULT = (190, 40, 30)
MARK = (255, 214, 102)
LONGEST = 120  # letters of a line


def draw_sheet(world: ApartmentModel, robot: RobotSpec, checks: Checks) -> Sheet:
    """All pictures, and what is odd, on one page."""
    views = _views(world, robot, checks)
    rows = math.ceil(len(views) / COLUMNS)
    marks = {line: str(number) for number, line in enumerate(checks.places, 1)}
    told = [(line, FAULT) for line in checks.faults]
    told += [(f"{marks[line]}  {line}" if line in marks else line, INK) for line in checks.remarks]
    width = 3 * GAP + ABOVE.width + MAP[0]
    width = max(width, GAP + COLUMNS * (SEEN + GAP))
    top = HEADER + CAPTION + ABOVE.height + GAP
    below = top + rows * (2 * SEEN + CAPTION + 2 * GAP)
    sheet = Sheet(width, below + 20 * len(told) + GAP)
    sheet.text(world.scene.name, GAP, 10, 24)
    sheet.put(picture_from_above(world.apartment, ABOVE), GAP, HEADER + CAPTION, "from above")
    floor = _floor(world, checks, marks)
    told_of = "floor; dark: too tight; red: objects" + ("; numbers: see below" if marks else "")
    sheet.put(floor, 2 * GAP + ABOVE.width, HEADER + CAPTION, told_of)
    for index, (title, colours, depth) in enumerate(views):
        row, column = divmod(index, COLUMNS)
        left = GAP + column * (SEEN + GAP)
        at = top + CAPTION + row * (2 * SEEN + CAPTION + 2 * GAP)
        sheet.put(colours, left, at, title)
        sheet.put(depth, left, at + SEEN + 4)
    for row, (line, colour) in enumerate(told):
        sheet.text(line[:LONGEST], GAP, below + 20 * row, 13, colour)
    return sheet


def _floor(world: ApartmentModel, checks: Checks, marks: dict[str, str]) -> np.ndarray:
    """The map of the floor, turned as the picture from above, with marks at what remarks are about."""
    extent = np.asarray(world.grid.clearance.shape) * world.grid.cell
    scale = float(min(MAP[0] / extent[0], MAP[1] / extent[1]))
    objects = [(pose[0], pose[1]) for pose in checks.objects.values()]
    floor, turned = draw_map(world.grid, scale, targets=objects), is_turned(world.apartment)
    tags = []
    for line, (x, y) in checks.places.items():
        column, row = map_pixel(world.grid, scale, x, y)
        pixel = (row, floor.shape[1] - column) if turned else (column, row)
        tags.append(Tag(marks[line], pixel, MARK))
    return draw_tags(np.rot90(floor).copy() if turned else floor, tags)


def _views(
    world: ApartmentModel, robot: RobotSpec, checks: Checks
) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """What the robot's camera sees before each receptacle and part: title, picture, depth."""
    if not world.grid.island.any():
        return []
    home, scene, data = world.apartment, world.scene, mujoco.MjData(world.model)
    for slot, pose in checks.objects.items():
        data.qpos[world.object_qpos + 7 * slot :][:7] = pose
    arm = slice(world.arm_qpos, world.arm_qpos + len(robot.joints))
    data.qpos[arm] = robot.resting_arm
    found = []
    for name in scene.open_receptacles:
        pose = _stand(world, home.receptacles[name].position[:2], STANDING)
        found.append((scene.title(name), *_look(world, robot, data, pose)))
    data.qpos[world.joint_qpos] = [part.laid_open for part in scene.parts]
    for part in scene.parts:
        before, handle = (
            scene.frame_of(home, part.name).to_world(point)
            for point in (part.before(part.laid_open), part.faced(part.laid_open))
        )
        x, y, _ = _stand(world, before, 0.0)
        pose = x, y, math.atan2(handle[1] - y, handle[0] - x)
        found.append((f"{part.label}, open", *_look(world, robot, data, pose)))
    return found


def _stand(
    world: ApartmentModel, point: tuple[float, float], distance: float
) -> tuple[float, float, float]:
    """A place on the island at about a distance from a point [m], and the heading towards it."""
    centers = world.grid.center_of(world.grid.island_cells)
    away = np.abs(np.linalg.norm(centers - point, axis=1) - distance)
    x, y = centers[int(away.argmin())].tolist()
    return x, y, math.atan2(point[1] - y, point[0] - x)


def _look(
    world: ApartmentModel, robot: RobotSpec, data: Any, pose: tuple[float, float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """What the head camera sees from a place: picture and depth in colours."""
    x, y, yaw = pose
    data.mocap_pos[0] = x, y, 0.0
    data.mocap_quat[0] = math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2)
    mujoco.mj_kinematics(world.model, data)
    c, s = math.cos(yaw), math.sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    eye = turn @ np.asarray(robot.camera.position) + (x, y, 0.0)
    rotation = turn @ look_at(robot.camera.position, robot.camera.target)
    camera = Camera(SEEN, SEEN, robot.camera.field_of_view)
    place = data.geom_xpos, data.geom_xmat, camera, eye, rotation
    colours = render_rgb(world.geoms, *place, RgbOptions(sky_lamps=0, shadow_size=0))
    depth = render_depth(world.geoms, *place)
    return colours, colour_depth(depth, 0.0, FARTHEST)
