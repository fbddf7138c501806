"""The sheet of a robot: at rest from all sides, what its camera sees, and how far the hand gets."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from rearrange.check_robot.checks import Checks
from rearrange.render import Camera, GeomTable, colour_depth, look_at, render_depth, render_rgb
from rearrange.render.picture import RgbOptions
from rearrange.render.sheet import INK, Sheet
from rearrange.robot.files.postures import AHEAD, DOWN, Poser

SIDE = 330  # pixels of a picture
GAP, HEADER, CAPTION = 14, 44, 22
LENS = Camera(SIDE, SIDE, 46.0)
MIDDLE = (0.2, 0.0, 0.65)  # what the pictures show [m]
EYES = {
    "at rest": (1.9, 1.7, 1.5),
    "from the side": (0.2, -2.6, 0.75),
    "from above": (0.19, 0.0, 3.3),
}
CELL = 0.1  # of the map of reach [m]
NEAR, FAR, TOP = 0.2, 1.3, 1.6  # what it shows: distances ahead and height [m]
BOTH, DOWNWARDS, FORWARDS = (60, 140, 80), (90, 150, 210), (225, 170, 70)
NONE, GRID = (236, 236, 232), (255, 255, 255)
FARTHEST = 4.0  # depth that is still told apart [m]
LONGEST = 150  # letters of a line


def draw_sheet(checks: Checks) -> Sheet:
    """All pictures, and what is odd, on one page."""
    model, robot = checks.model, checks.robot
    data = mujoco.MjData(model)
    data.qpos[:] = robot.resting_arm
    mujoco.mj_kinematics(model, data)
    place = data.geom_xpos, data.geom_xmat
    table = GeomTable.from_model(model)
    light = RgbOptions(shadow_size=1024)
    pictures = [
        (name, render_rgb(table, *place, LENS, np.array(eye), look_at(eye, MIDDLE), light))
        for name, eye in EYES.items()
    ]
    lens = Camera(SIDE, SIDE, robot.camera.field_of_view)
    eye = np.array(robot.camera.position)
    rotation = look_at(robot.camera.position, robot.camera.target)
    depth = render_depth(table, *place, lens, eye, rotation)
    pictures.append(("what its camera sees", render_rgb(table, *place, lens, eye, rotation, light)))
    pictures.append(("as depth", colour_depth(depth, 0.0, FARTHEST)))
    pictures.append(("reach, from the side", reach_map(checks)))
    columns = 3
    width = GAP + columns * (SIDE + GAP)
    below = HEADER + 2 * (SIDE + CAPTION + GAP)
    sheet = Sheet(width, below + CAPTION + 20 * len(checks.remarks) + GAP)
    sheet.text(robot.name, GAP, 10, 24)
    for index, (title, picture) in enumerate(pictures):
        row, column = divmod(index, columns)
        top = HEADER + CAPTION + row * (SIDE + CAPTION + GAP)
        sheet.put(picture, GAP + column * (SIDE + GAP), top, title)
    words = (
        ("pointing down", DOWNWARDS), ("pointing ahead", FORWARDS), ("both", BOTH)
    )  # fmt: skip
    for k, (text, colour) in enumerate(words):
        sheet.swatch(GAP + k * 170, below, colour, text)
    for row, line in enumerate(checks.remarks):
        sheet.text(line[:LONGEST], GAP, below + CAPTION + 20 * row, 13, INK)
    return sheet


def reach_map(checks: Checks) -> Any:
    """Where the tip gets straight ahead of the base: distance to the right, height upwards [SIDE, SIDE, 3]."""
    robot, body = checks.robot, checks.found.body
    assert robot.planning is not None
    poser = Poser(robot, robot.planning, body)
    distances = np.arange(NEAR, FAR + 1e-6, CELL)
    heights = np.arange(CELL / 2, TOP, CELL)
    picture = np.empty((SIDE, SIDE, 3), np.uint8)
    picture[:] = GRID
    columns = np.linspace(0, SIDE, len(distances) + 1).astype(int)
    rows = np.linspace(SIDE, 0, len(heights) + 1).astype(int)
    for i, distance in enumerate(distances):
        for k, height in enumerate(heights):
            down = poser.reaches(float(distance), float(height), DOWN)
            ahead = poser.reaches(float(distance), float(height), AHEAD)
            colour = BOTH if down and ahead else DOWNWARDS if down else FORWARDS if ahead else NONE
            picture[rows[k + 1] + 1 : rows[k], columns[i] + 1 : columns[i + 1]] = colour
    return picture
