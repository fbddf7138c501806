"""Projection of a geom: pose in the camera's frame, pixels that it may cover (numba)."""

import math

import numba

FAST = {
    "nogil": True,
    # Every slice would count a reference, atomically, which takes as long as a row of pixels. So these
    # functions may not allocate, not even by assigning one slice to another.
    "_nrt": False,
    "forceinline": True,
    "error_model": "numpy",
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "fastmath": {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"},
}
PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = 0, 2, 3, 4, 5, 6  # mujoco.mjtGeom

WORK_SHAPE = (36, 4)
# Rows of the scratch table `work`, in which one geom is described at a time.
OUT = 0  # 3 faces the camera is outside of: q = [0] + [1] * column + [2] * row, [3] axis
IN = 3  # 6 faces the camera is inside of, likewise
LOW = 9  # 6 lines that bound the columns from below: [0] + [1] * row
HIGH = 15  # 6 lines that bound the columns from above, likewise
AXIS = 21  # 3 half axes of the bounding box, camera frame (right, up, forward)
CORNER = 24  # 8 corners of it
RAY = 32  # 3 components of the ray in the geom's frame: [0] + [1] * column + [2] * row
EYE = 35  # the camera in the geom's frame
HUGE = 1e30
TILE = 8  # side of the blocks of pixels in which hidden geoms are looked for
OCCLUDER = 0.7  # geoms with a larger bounding radius are painted before that, metres

# Lens: half image width and height one metre ahead, near and far z-depth in metres.


@numba.njit(**FAST)
def describe(work, size, position, matrix, eye, axes, lens, width, height):
    """Put the eye, the rays and the axes of one geom into `work`; return its camera position."""
    x, y, z = eye[0] - position[0], eye[1] - position[1], eye[2] - position[2]
    step_x, step_y = 2.0 * lens[0] / width, -2.0 * lens[1] / height
    left, top = 0.5 * step_x - lens[0], 0.5 * step_y + lens[1]
    for k in range(3):
        p, q, r = matrix[k], matrix[3 + k], matrix[6 + k]
        right = p * axes[0, 0] + q * axes[1, 0] + r * axes[2, 0]
        up = p * axes[0, 1] + q * axes[1, 1] + r * axes[2, 1]
        ahead = -(p * axes[0, 2] + q * axes[1, 2] + r * axes[2, 2])
        work[EYE, k] = p * x + q * y + r * z
        work[RAY + k, 0] = ahead + left * right + top * up
        work[RAY + k, 1] = step_x * right
        work[RAY + k, 2] = step_y * up
        work[AXIS + k, 0] = right * size[k]
        work[AXIS + k, 1] = up * size[k]
        work[AXIS + k, 2] = ahead * size[k]
    return (
        -(x * axes[0, 0] + y * axes[1, 0] + z * axes[2, 0]),
        -(x * axes[0, 1] + y * axes[1, 1] + z * axes[2, 1]),
        x * axes[0, 2] + y * axes[1, 2] + z * axes[2, 2],
    )


@numba.njit(**FAST)
def distance(kind, size, work):
    """Distance from the eye to a geom, negative or zero inside (a lower bound for ellipsoids)."""
    x, y, z = abs(work[EYE, 0]), abs(work[EYE, 1]), abs(work[EYE, 2])
    if kind == PLANE:
        return abs(work[EYE, 2])
    if kind == BOX:
        x, y, z = max(x - size[0], 0.0), max(y - size[1], 0.0), max(z - size[2], 0.0)
        return math.sqrt(x * x + y * y + z * z)
    if kind == CYLINDER:
        x, z = max(math.sqrt(x * x + y * y) - size[0], 0.0), max(z - size[2], 0.0)
        return math.sqrt(x * x + z * z)
    z = max(z - size[2], 0.0) if kind == CAPSULE else z
    if kind == ELLIPSOID:
        x, y, z = x / size[0], y / size[1], z / size[2]
        return (math.sqrt(x * x + y * y + z * z) - 1.0) * min(size[0], size[1], size[2])
    return math.sqrt(x * x + y * y + z * z) - size[0]


@numba.njit(**FAST)
def _pixels(x0, x1, y0, y1, lens, width, height):
    """Pixels whose centres lie in a rectangle on the plane one metre ahead."""
    x, y = 0.5 * width / lens[0], 0.5 * height / lens[1]
    x0, x1 = (x0 + lens[0]) * x - 0.501, (x1 + lens[0]) * x - 0.499
    y0, y1 = (lens[1] - y1) * y - 0.501, (lens[1] - y0) * y - 0.499
    x0, x1 = max(math.ceil(x0), 0.0), min(math.floor(x1) + 1.0, float(width))
    y0, y1 = max(math.ceil(y0), 0.0), min(math.floor(y1) + 1.0, float(height))
    if x0 >= x1 or y0 >= y1:
        return 0, 0, 0, 0
    return int(x0), int(x1), int(y0), int(y1)


@numba.njit(**FAST)
def bounds_of_corners(work, cx, cy, cw, lens, width, height):
    """Pixels [x0, x1) x [y0, y1) that a box, given by its center and half axes, may cover."""
    near = lens[2]
    x0, x1, y0, y1 = HUGE, -HUGE, HUGE, -HUGE
    behind = 0
    for corner in range(8):
        a = 1.0 if corner & 1 else -1.0
        b = 1.0 if corner & 2 else -1.0
        c = 1.0 if corner & 4 else -1.0
        slot = CORNER + corner
        x = cx + a * work[AXIS, 0] + b * work[AXIS + 1, 0] + c * work[AXIS + 2, 0]
        y = cy + a * work[AXIS, 1] + b * work[AXIS + 1, 1] + c * work[AXIS + 2, 1]
        w = cw + a * work[AXIS, 2] + b * work[AXIS + 1, 2] + c * work[AXIS + 2, 2]
        work[slot, 0], work[slot, 1], work[slot, 2] = x, y, w
        if w < near:
            behind += 1
        else:
            x, y = x / w, y / w
            x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
    if behind == 8:
        return 0, 0, 0, 0
    if behind > 0:
        for corner in range(8):
            for bit in (1, 2, 4):
                p, r = CORNER + corner, CORNER + (corner | bit)
                if (work[p, 2] < near) != (work[r, 2] < near):
                    f = (near - work[p, 2]) / (work[r, 2] - work[p, 2])
                    x = (work[p, 0] + f * (work[r, 0] - work[p, 0])) / near
                    y = (work[p, 1] + f * (work[r, 1] - work[p, 1])) / near
                    x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
    return _pixels(x0, x1, y0, y1, lens, width, height)


@numba.njit(**FAST)
def bounds_of_sphere(cx, cy, cw, radius, lens, width, height):
    """Pixels that a sphere may cover."""
    room = cw * cw - radius * radius
    if cw <= radius or room < 1e-9:
        return 0, width, 0, height
    x = radius * math.sqrt(max(cx * cx + room, 0.0))
    y = radius * math.sqrt(max(cy * cy + room, 0.0))
    return _pixels(
        (cx * cw - x) / room, (cx * cw + x) / room,
        (cy * cw - y) / room, (cy * cw + y) / room, lens, width, height,
    )  # fmt: skip


@numba.njit(**FAST)
def fill_tiles(buffer, tiles):
    """Write the smallest inverse depth of each TILE x TILE block of buffer into tiles.

    The last row of `tiles` [H / TILE + 1, W] is scratch.
    """
    least = tiles[tiles.shape[0] - 1]
    for a in range(buffer.shape[0] // TILE):
        first = buffer[a * TILE]
        for k in range(least.size):
            least[k] = first[k]
        for i in range(a * TILE + 1, (a + 1) * TILE):
            row = buffer[i]
            for k in range(least.size):
                least[k] = row[k] if row[k] < least[k] else least[k]
        for b in range(buffer.shape[1] // TILE):
            smallest = least[b * TILE]
            for k in range(b * TILE + 1, (b + 1) * TILE):
                smallest = least[k] if least[k] < smallest else smallest
            tiles[a, b] = smallest


@numba.njit(**FAST)
def is_hidden(tiles, bounds, inverse, height):
    """Whether all that was painted over a rectangle of pixels is nearer than 1 / inverse."""
    x0, x1, y0, y1 = bounds
    if y1 > height // TILE * TILE:
        return False
    for a in range(y0 // TILE, (y1 + TILE - 1) // TILE):
        for b in range(x0 // TILE, (x1 + TILE - 1) // TILE):
            if tiles[a, b] < inverse:
                return False
    return True
