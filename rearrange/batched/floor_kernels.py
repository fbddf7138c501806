"""Motion of the base against the clearance of the floor: `rearrange.navigation.base_motion` for Warp."""

from __future__ import annotations

import math

import warp as wp  # pyright: ignore[reportMissingImports]

from rearrange.batched.records import Floors
from rearrange.navigation.base_motion import AXES, SLOPE_STEP, SUB_STEP

wp.set_module_options({"enable_backward": False})

double = wp.float64
vec3d = wp.vec3d
ZERO, HALF, ONE = (wp.constant(wp.float64(x)) for x in (0.0, 0.5, 1.0))
PIECE, SLOPE = wp.constant(wp.float64(SUB_STEP)), wp.constant(wp.float64(SLOPE_STEP))
AXIS_COUNT = wp.constant(len(AXES))
ANGLE = wp.constant(wp.float64(math.pi / len(AXES)))  # from axis to axis
FAR = wp.constant(wp.float64(1.0e9))


@wp.func
def clearance(floors: Floors, home: int, x: wp.float64, y: wp.float64):
    """Bilinear clearance of a home's floor; see `interpolate` [m]."""
    frame, shape, start = floors.frames[home], floors.shapes[home], floors.starts[home]
    u = (x - frame[0]) / frame[2] - HALF
    v = (y - frame[1]) / frame[2] - HALF
    if not (u >= ZERO and v >= ZERO and u < double(shape[0] - 1) and v < double(shape[1] - 1)):
        return -ONE
    ix, iy = int(u), int(v)
    u -= double(ix)
    v -= double(iy)
    at = start + ix * shape[1] + iy
    low = double(floors.cells[at]) * (ONE - v) + double(floors.cells[at + 1]) * v
    at += shape[1]
    high = double(floors.cells[at]) * (ONE - v) + double(floors.cells[at + 1]) * v
    return low * (ONE - u) + high * u


@wp.func
def room(floors: Floors, home: int, x: wp.float64, y: wp.float64, least: wp.float64):
    """Clearance also midway between two obstacles [m]; see `base_motion.room`."""
    there = clearance(floors, home, x, y)
    if there < least:
        cell, most = floors.frames[home][2], FAR + ZERO
        for k in range(AXIS_COUNT):
            angle = double(k) * ANGLE
            east, north = cell * wp.cos(angle), cell * wp.sin(angle)
            ahead = clearance(floors, home, x + east, y + north)
            behind = clearance(floors, home, x - east, y - north)
            most = wp.min(most, wp.min(ahead, behind) + cell)
        there = wp.max(there, most)
    return there


@wp.func
def glide(
    floors: Floors,
    home: int,
    x: wp.float64,
    y: wp.float64,
    step_x: wp.float64,
    step_y: wp.float64,
    least: wp.float64,
):
    """One step along the tangent of the nearest obstacle: new x and y, and the clearance there [m]."""
    nose_x, nose_y = x + step_x, y + step_y
    normal_x = clearance(floors, home, nose_x + SLOPE, nose_y) - clearance(
        floors, home, nose_x - SLOPE, nose_y
    )
    normal_y = clearance(floors, home, nose_x, nose_y + SLOPE) - clearance(
        floors, home, nose_x, nose_y - SLOPE
    )
    norm = wp.sqrt(normal_x * normal_x + normal_y * normal_y)
    if norm < double(1.0e-9):
        return vec3d(x, y, -ONE)
    normal_x, normal_y = normal_x / norm, normal_y / norm
    inward = wp.min(step_x * normal_x + step_y * normal_y, ZERO)
    new_x, new_y = nose_x - inward * normal_x, nose_y - inward * normal_y
    there = room(floors, home, new_x, new_y, least)
    lack = least - there
    if lack > ZERO:
        push = wp.min(double(1.5) * lack + double(1.0e-4), PIECE)
        new_x, new_y = new_x + push * normal_x, new_y + push * normal_y
        there = room(floors, home, new_x, new_y, least)
    return vec3d(new_x, new_y, there)


@wp.func
def clamp(
    floors: Floors, home: int, x: wp.float64, y: wp.float64, dx: wp.float64, dy: wp.float64, radius: wp.float64,
    slide: bool,
):  # fmt: skip
    """Move a disc as far as the clearance lets it; see `clamp_kernel`: new x and y [m], 1 if it was cut."""
    length = wp.sqrt(dx * dx + dy * dy)
    if length == ZERO:
        return vec3d(x, y, ZERO)
    count = int(wp.ceil(length / PIECE))
    step_x, step_y = dx / double(count), dy / double(count)
    new_x, new_y = x + ZERO, y + ZERO
    here = room(floors, home, x, y, radius)
    blocked, going = double(0.0), wp.int32(1)
    for _ in range(count):
        if going == 1:
            there = room(floors, home, new_x + step_x, new_y + step_y, radius)
            if there >= radius or there > here:
                new_x, new_y, here = new_x + step_x, new_y + step_y, there
            else:
                blocked = double(1.0)
                going = 0
                if slide:
                    aside = glide(floors, home, new_x, new_y, step_x, step_y, wp.min(radius, here))
                    if aside[2] >= radius or aside[2] > here:
                        new_x, new_y, here = aside[0], aside[1], aside[2]
                        going = 1
    return vec3d(new_x, new_y, blocked)
