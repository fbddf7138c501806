"""Rooms of boxes as binary glTF, for agents in scanned scenes; lengths in metres, z up."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import trimesh

THICK = 0.1
HALL = (10.0, 8.0)  # as in tests/rearrange/navigation/conftest.py: with a wall that ends in it
WALL = ((4.95, 0.0, 0.0), (5.05, 4.0, 2.5))
STEPS, RISE, RUN = 12, 0.17, 0.25
UPSTAIRS = STEPS * RISE


def box(low, high, colour=(200, 200, 200)):
    """A box between two corners."""
    made = trimesh.creation.box(bounds=[low, high])
    made.visual.vertex_colors = [*colour, 255]
    return made


def room(width, depth, floor=0.0, slab=True, height=2.5):
    """A floor from the origin on, and four walls around it."""
    t, top = THICK, floor + height
    walls = [
        ((-t, -t, floor), (0, depth + t, top)),
        ((width, -t, floor), (width + t, depth + t, top)),
        ((0, -t, floor), (width, 0, top)),
        ((0, depth, floor), (width, depth + t, top)),
    ]
    boxes = [box(low, high) for low, high in walls]
    return [*boxes, box((0, 0, floor - t), (width, depth, floor))] if slab else boxes


def hall():
    """A room with a wall in it, around the end of which one goes."""
    return [*room(*HALL), box(*WALL, colour=(180, 30, 30))]


def two_storeys():
    """A room of 10 m x 4 m, a flight of stairs along a wall, and a floor over the far half of it."""
    stairs = [box((2.0 + RUN * k, 0.0, 0.0), (6.0, 1.0, RISE * (k + 1))) for k in range(STEPS)]
    upper = box((5.0, 0.0, UPSTAIRS - THICK), (10.0, 4.0, UPSTAIRS))
    return [*room(10.0, 4.0, height=2.5 + UPSTAIRS), *stairs, upper]


def triangles(boxes):
    """Corners [T, 3, 3]."""
    return np.concatenate([each.triangles for each in boxes])


def ramp(steepness, length=3.0):
    """A floor, and on it a wedge 2 m wide that rises along x from x = 2 [deg]."""
    top = length * np.tan(np.radians(steepness))
    outline = [(2.0, 0.0), (2.0 + length, 0.0), (2.0 + length, top)]
    points = np.array([(x, y, z) for y in (1.0, 3.0) for x, z in outline])
    sides = [(a, b, b + 3, a + 3) for a, b in pairwise((0, 1, 2, 0))]
    faces = [(0, 1, 2), (3, 5, 4), *(f for a, b, c, d in sides for f in ((b, a, d), (b, d, c)))]
    return [*room(8.0, 4.0), trimesh.Trimesh(points, faces, process=False)], top


def write(path, boxes, transform=None):
    """Write a scene; returns its path as text."""
    scene = trimesh.Scene()
    for each in boxes:
        scene.add_geometry(each, transform=transform)
    Path(path).write_bytes(scene.export(file_type="glb"))
    return str(path)
