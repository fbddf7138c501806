"""Exact ray and geom intersection, one ray at a time (numba, double precision).

The slow path for geoms that touch the near plane or hold the camera. Rays and the eye are given
in the geom's frame; `low` is the z-depth at which rays start. As in `mujoco.mj_ray`, a ray that
starts inside a body meets it where it leaves, and planes are met from their front only.
"""

import math

import numba

from rearrange.render.projection import CYLINDER, EXACT, EYE, HUGE, PLANE, SPHERE


@numba.njit(**EXACT)
def _smallest_root(a, b, c, low, slab, at, along):
    """Smallest root >= low of a t^2 + 2 b t + c with |at + along * t| <= slab, or -1."""
    square = b * b - a * c
    if square < 0.0 or a < 1e-18:
        return -1.0
    root = math.sqrt(square)
    for t in ((-b - root) / a, (-b + root) / a):
        if t >= low and abs(at + along * t) <= slab:
            return t
    return -1.0


@numba.njit(**EXACT)
def _nearer(a, b):
    """The smaller of two depths, of which -1 means none."""
    if a < 0.0 or (b >= 0.0 and b < a):
        return b
    return a


@numba.njit(**EXACT)
def hit_flat(kind, sx, sy, sz, work, dx, dy, dz, low):
    """Depth at which a ray meets a box or a plane, at `low` or beyond, or -1."""
    ox, oy, oz = work[EYE, 0], work[EYE, 1], work[EYE, 2]
    if kind == PLANE:
        t = -oz / dz if dz < -1e-15 else -1.0
        x, y = abs(ox + t * dx), abs(oy + t * dy)
        seen = t >= low and (sx <= 0.0 or x <= sx) and (sy <= 0.0 or y <= sy)
        return t if seen else -1.0
    enter, leave = -HUGE, HUGE
    for o, d, s in ((ox, dx, sx), (oy, dy, sy), (oz, dz, sz)):
        if abs(d) < 1e-15:
            d = 1e-15
        a, b = (-s - o) / d, (s - o) / d
        enter, leave = max(enter, min(a, b)), min(leave, max(a, b))
    if enter > leave or leave < low:
        return -1.0
    return enter if enter >= low else leave


@numba.njit(**EXACT)
def hit_round(kind, sx, sy, work, dx, dy, dz, low):
    """Depth at which a ray meets a sphere, cylinder or capsule, at `low` or beyond, or -1."""
    ox, oy, oz = work[EYE, 0], work[EYE, 1], work[EYE, 2]
    if kind == SPHERE:  # scaled to radius 1
        c = ox * ox + oy * oy + oz * oz - 1.0
        a = dx * dx + dy * dy + dz * dz
        return _smallest_root(a, ox * dx + oy * dy + oz * dz, c, low, HUGE, 0.0, 0.0)
    a, b = dx * dx + dy * dy, ox * dx + oy * dy
    best = _smallest_root(a, b, ox * ox + oy * oy - sx * sx, low, sy, oz, dz)
    for side in (-1.0, 1.0):
        if kind == CYLINDER:
            t = (side * sy - oz) / dz if abs(dz) > 1e-15 else -1.0
            x, y = ox + t * dx, oy + t * dy
            if t >= low and x * x + y * y <= sx * sx:
                best = _nearer(best, t)
        else:
            z = oz - side * sy
            c = ox * ox + oy * oy + z * z - sx * sx
            square = (b + z * dz) ** 2 - (a + dz * dz) * c
            root = math.sqrt(max(square, 0.0))
            for t in ((-b - z * dz - root) / (a + dz * dz), (-b - z * dz + root) / (a + dz * dz)):
                if square >= 0.0 and t >= low and side * (oz + t * dz) >= sy:
                    best = _nearer(best, t)
    return best
