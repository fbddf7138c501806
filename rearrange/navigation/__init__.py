"""Moving over the floor: where the base fits, how far places are, and how to get there."""

from rearrange.navigation.base_motion import clamp_base_motion, room_at
from rearrange.navigation.geodesic import DistanceField, distance_field, distance_over, region_field
from rearrange.navigation.layouts import load_layout
from rearrange.navigation.map import draw_map, map_pixel
from rearrange.navigation.occupancy import CELL_SIZE, ROBOT_RADIUS, OccupancyGrid
from rearrange.navigation.paths import path_length, shortest_path
from rearrange.navigation.reach import standing_region

__all__ = [
    "CELL_SIZE",
    "ROBOT_RADIUS",
    "DistanceField",
    "OccupancyGrid",
    "clamp_base_motion",
    "distance_field",
    "distance_over",
    "draw_map",
    "load_layout",
    "map_pixel",
    "path_length",
    "region_field",
    "room_at",
    "shortest_path",
    "standing_region",
]
