"""Ways around the wall of the hall in tests/rearrange/navigation/conftest.py, worked out by hand."""

import math

WALL_X, WALL_TOP = (4.95, 5.05), 4.0  # of the hall in conftest.py
GOAL = (2.0, 1.0)
RADIUS = 0.3
STARTS = [(6.0, 1.0), (8.0, 1.0), (9.0, 3.0), (7.0, 3.0), (5.6, 2.0), (5.6, 3.5)]


def around_wall(start, goal=GOAL, radius=RADIUS):
    """Length of the taut string from right of the wall to left of it, over two arcs around its end."""

    def tangent(point, corner):
        dx, dy = abs(point[0] - corner[0]), corner[1] - point[1]
        away = math.hypot(dx, dy)
        below = math.atan2(dy, dx)  # angle under the horizontal
        arc = math.pi / 2 - (math.acos(radius / away) - below)
        return math.sqrt(away**2 - radius**2) + radius * arc

    left, right = (WALL_X[0], WALL_TOP), (WALL_X[1], WALL_TOP)
    return tangent(goal, left) + (right[0] - left[0]) + tangent(start, right)
