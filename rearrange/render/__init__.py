"""Depth, segmentation and shaded pictures of MuJoCo geoms on a CPU, without OpenGL."""

from rearrange.render.camera import Camera, look_at, look_from
from rearrange.render.caster import GeomTable, render_depth, render_segmentation
from rearrange.render.overlay import (
    View,
    colour_depth,
    draw_box,
    draw_ghost_box,
    draw_ghost_sphere,
    draw_line,
)
from rearrange.render.picture import RgbOptions, render_rgb
from rearrange.render.video import VideoWriter, write_gif

__all__ = [
    "Camera",
    "GeomTable",
    "RgbOptions",
    "VideoWriter",
    "View",
    "colour_depth",
    "draw_box",
    "draw_ghost_box",
    "draw_ghost_sphere",
    "draw_line",
    "look_at",
    "look_from",
    "render_depth",
    "render_rgb",
    "render_segmentation",
    "write_gif",
]
