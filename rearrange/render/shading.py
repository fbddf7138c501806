"""The numba kernels that colour a picture: normals, materials and light.

Colours are linear, in [0, 1].
"""

import math

import numba
import numpy as np

from rearrange.caching import cached_njit
from rearrange.render.meshes.library import MESH
from rearrange.render.meshes.look import look_of_mesh, tint_of_plane

PLANE, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX = 0, 2, 3, 4, 5, 6  # mujoco.mjtGeom
PLAIN, PLANKS, TILES = 0, 1, 2
FAST = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc"},
}
# Rows of the table of spots to be shaded.
POINT, NORMAL, VIEW, DEPTH, SUN, SEEN, TINT, FIELDS = 0, 3, 6, 9, 10, 11, 12, 15
STRIDE = 4  # the share of the sky is worked out on every fourth spot of a smooth surface
BEVEL = 0.012  # metres of a box's face over which the normal bends towards its neighbour


@numba.njit(**FAST)
def _box_normal(x, y, z, sx, sy, sz, bend):
    """Normal at a point on a box, bent near the edges as if they were rounded."""
    bevel = min(BEVEL, 0.4 * min(sx, min(sy, sz)))
    fx, fy, fz = (abs(x) - sx) / bevel + 1.0, (abs(y) - sy) / bevel + 1.0, (abs(z) - sz) / bevel + 1
    top = max(fx, max(fy, fz))
    fx = 1.0 if fx == top else max(fx, 0.0) ** 2 * bend
    fy = 1.0 if fy == top else max(fy, 0.0) ** 2 * bend
    fz = 1.0 if fz == top else max(fz, 0.0) ** 2 * bend
    return math.copysign(fx, x), math.copysign(fy, y), math.copysign(fz, z)


@numba.njit(**FAST)
def _local_normal(kind, x, y, z, sx, sy, sz, bend):
    """Outward normal, of any length, at a point on a geom, both in the geom's frame."""
    if kind == BOX:
        return _box_normal(x, y, z, sx, sy, sz, bend)
    if kind == PLANE:
        return 0.0, 0.0, 1.0
    if kind == CAPSULE:
        return x, y, z - min(max(z, -sz), sz)
    if kind == CYLINDER:
        rho = math.sqrt(x * x + y * y)
        bevel = min(BEVEL, 0.4 * min(sx, sz))
        side, cap = (rho - sx) / bevel + 1.0, (abs(z) - sz) / bevel + 1.0
        if side > cap:
            side, cap = 1.0, max(cap, 0.0) ** 2 * bend
        else:
            side, cap = max(side, 0.0) ** 2 * bend, 1.0
        return side * x / max(rho, 1e-9), side * y / max(rho, 1e-9), math.copysign(cap, z)
    return x / (sx * sx), y / (sy * sy), z / (sz * sz)


@numba.njit(**FAST)
def _normal(n, geoms, point, view, pixel):
    """Unit world normal at a world point on visible geom n, turned towards the viewer.

    Edges look rounded where their roundness is wider than a pixel, `pixel` metres wide there.
    """
    kinds, sizes, xpos, m = geoms
    x, y, z = point[0] - xpos[n, 0], point[1] - xpos[n, 1], point[2] - xpos[n, 2]
    a, b, c = _local_normal(
        kinds[n],
        m[n, 0] * x + m[n, 3] * y + m[n, 6] * z,
        m[n, 1] * x + m[n, 4] * y + m[n, 7] * z,
        m[n, 2] * x + m[n, 5] * y + m[n, 8] * z,
        sizes[n, 0],
        sizes[n, 1],
        sizes[n, 2],
        0.9 * min(max(BEVEL / pixel - 1.0, 0.0), 1.0),
    )
    x = m[n, 0] * a + m[n, 1] * b + m[n, 2] * c
    y = m[n, 3] * a + m[n, 4] * b + m[n, 5] * c
    z = m[n, 6] * a + m[n, 7] * b + m[n, 8] * c
    scale = 1.0 / math.sqrt(x * x + y * y + z * z + 1e-18)
    if x * view[0] + y * view[1] + z * view[2] > 0.0:
        scale = -scale
    return x * scale, y * scale, z * scale


@numba.njit(**FAST)
def _hash(a, b):
    """A repeatable number in [0, 1) for a pair of whole numbers."""
    h = np.uint32(np.int64(a) * 374761393 + np.int64(b) * 668265263)
    h = np.uint32((h ^ (h >> np.uint32(13))) * np.uint32(1274126177))
    return ((h ^ (h >> np.uint32(16))) & np.uint32(0xFFFF)) / 65536.0


@numba.njit(**FAST)
def _noise(x, y):
    """Smooth noise in [0, 1) with features one unit wide."""
    a, b = math.floor(x), math.floor(y)
    u, v = x - a, y - b
    u, v = u * u * (3.0 - 2.0 * u), v * v * (3.0 - 2.0 * v)
    low = _hash(a, b) * (1.0 - u) + _hash(a + 1, b) * u
    return low * (1.0 - v) + (_hash(a, b + 1) * (1.0 - u) + _hash(a + 1, b + 1) * u) * v


@numba.njit(**FAST)
def _seam(offset, period, width, blur):
    """Share of a pixel, `blur` metres wide, that a joint of the floor covers."""
    gap = abs(offset - period * math.floor(offset / period + 0.5))
    return min(max((0.5 * (width + blur) - gap) / blur, 0.0), min(1.0, width / blur))


@numba.njit(**FAST)
def _pattern(style, x, y, blur):
    """Brightness of a floor at world (x, y), for a pixel `blur` metres wide."""
    fade = 1.0 / (1.0 + (blur / 0.05) ** 2)
    if style == TILES:
        seam = max(_seam(x, 0.4, 0.005, blur), _seam(y, 0.4, 0.005, blur))
        tone = _hash(math.floor(x / 0.4 + 0.5), math.floor(y / 0.4 + 0.5)) - 0.5
        return (1.0 + 0.05 * fade * tone) * (1.0 - 0.22 * seam)
    board = math.floor(y / 0.14)
    along = x + 1.3 * _hash(board, 7)
    plank = math.floor(along / 1.3)
    seam = max(_seam(y, 0.14, 0.004, blur), _seam(along, 1.3, 0.004, blur))
    tone = _hash(board, plank + 91) - 0.5
    grain = _noise(along * 2.0 + 17.0 * plank, y * 60.0 + 5.0 * board) - 0.5
    detail = 1.0 / (1.0 + (blur / 0.012) ** 2)
    return (1.0 + 0.2 * tone + 0.1 * detail * grain) * (1.0 - 0.4 * seam)


@numba.njit(**FAST)
def _lit(shadow, u, v, inverse):
    """Share of a lamp's light in [0, 1] at texel (u, v), for a point at that inverse depth."""
    size = shadow.shape[0]
    if u < 1.0 or v < 1.0 or u > size - 3.0 or v > size - 3.0:
        return 1.0
    i, j = int(v), int(u)
    fu, fv = u - j, v - i
    a = 1.0 if shadow[i, j] <= inverse else 0.0
    b = 1.0 if shadow[i, j + 1] <= inverse else 0.0
    c = 1.0 if shadow[i + 1, j] <= inverse else 0.0
    d = 1.0 if shadow[i + 1, j + 1] <= inverse else 0.0
    return (a * (1.0 - fu) + b * fu) * (1.0 - fv) + (c * (1.0 - fu) + d * fu) * fv


@numba.njit(**FAST)
def _lamp_row(spots, count, shadow, axes, eye, reach, offset, soft, total, share):
    """Add to share [W] the light of one lamp on a row of spots, and to total its cosine."""
    size = shadow.shape[0]
    ax, ay, az = axes[0, 2], axes[1, 2], axes[2, 2]
    for k in range(count):
        nx, ny, nz = spots[NORMAL, k], spots[NORMAL + 1, k], spots[NORMAL + 2, k]
        cosine = nx * ax + ny * ay + nz * az
        if cosine <= 0.0:
            continue
        total[k] += cosine
        lit = 1.0
        if size > 0:
            lift = offset * (2.5 - 1.5 * cosine)  # more where light grazes, against false shade
            x = spots[POINT, k] + lift * nx - eye[0]
            y = spots[POINT + 1, k] + lift * ny - eye[1]
            z = spots[POINT + 2, k] + lift * nz - eye[2]
            inverse = -1.0 / (x * ax + y * ay + z * az)
            scale = 0.5 * size * inverse / reach
            u = (x * axes[0, 0] + y * axes[1, 0] + z * axes[2, 0]) * scale + 0.5 * size - 0.5
            v = 0.5 * size - 0.5 - (x * axes[0, 1] + y * axes[1, 1] + z * axes[2, 1]) * scale
            if soft > 0.0:
                lit = 0.0
                for n in range(9):
                    lit += _lit(shadow, u + soft * (n % 3 - 1), v + soft * (n // 3 - 1), inverse)
                lit /= 9.0
            else:
                lit = _lit(shadow, u, v, inverse)
        share[k] += cosine * lit


@numba.njit(**FAST)
def _background(slope):
    """Backdrop along a ray that climbs by `slope`: a soft vertical gradient."""
    f = min(max(0.5 + 0.9 * slope, 0.0), 1.0)
    return 0.64 + 0.20 * f, 0.67 + 0.20 * f, 0.72 + 0.19 * f


@numba.njit(**FAST)
def _outlined(buffer, tags, i, j, width):
    """Whether sample (i, j) lies on the near side of a step in depth between two geoms."""
    q = buffer[i, j] * np.float32(0.97)
    if j + 1 < width and tags[i, j + 1] != tags[i, j] and buffer[i, j + 1] < q:
        return True
    return i + 1 < tags.shape[0] and tags[i + 1, j] != tags[i, j] and buffer[i + 1, j] < q


@numba.njit(**FAST)
def _gather_row(
    i, samples, width, buffer, tags, looks, planes, eye, axes, lens, geoms, spots, owners, spot_of
):
    """Find what must be shaded on row i: one spot per pixel, and more where its samples differ."""
    columns, rows = width * samples, tags.shape[0]
    count, pixel = 0, 2.0 * lens[0] / width
    for sample in range(columns * samples):
        j, s = sample // (samples * samples), sample % (samples * samples)
        row, column = i * samples + s // samples, j * samples + s % samples
        u = ((column + 0.5) * 2.0 / columns - 1.0) * lens[0]
        v = (1.0 - (row + 0.5) * 2.0 / rows) * lens[1]
        scale = 1.0 / math.sqrt(1.0 + u * u + v * v)
        vx = (u * axes[0, 0] + v * axes[0, 1] - axes[0, 2]) * scale
        vy = (u * axes[1, 0] + v * axes[1, 1] - axes[1, 2]) * scale
        vz = (u * axes[2, 0] + v * axes[2, 1] - axes[2, 2]) * scale
        n = tags[row, column]
        depth, x, y, z, nx, ny, nz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        tint = 1.0, 1.0, 1.0
        if n >= 0:
            depth = 1.0 / (buffer[row, column] * scale)
            x, y, z = eye[0] + depth * vx, eye[1] + depth * vy, eye[2] + depth * vz
            if looks is None or geoms[0][n] != MESH:
                nx, ny, nz = _normal(n, geoms, (x, y, z), (vx, vy, vz), pixel * depth)
                if planes is not None and geoms[0][n] == PLANE:
                    tint = tint_of_plane(planes, n, geoms[2][n], geoms[3][n], (x, y, z))
            else:
                faces, first, known = looks
                (nx, ny, nz), tint = look_of_mesh(
                    known, n - first, faces[row, column], geoms[2][n], geoms[3][n], (x, y, z),
                    (vx, vy, vz),
                )  # fmt: skip
        if s > 0 and owners[count - 1] == n:
            k = count - 1
            a, b, c = spots[NORMAL, k], spots[NORMAL + 1, k], spots[NORMAL + 2, k]
            same = n < 0 or nx * a + ny * b + nz * c > 0.998
            if looks is not None:
                for channel in range(3):
                    same &= abs(spots[TINT + channel, k] - tint[channel]) < 0.01
            if same:
                spot_of[sample] = k
                continue
        owners[count] = n
        spots[POINT, count], spots[POINT + 1, count], spots[POINT + 2, count] = x, y, z
        spots[NORMAL, count], spots[NORMAL + 1, count], spots[NORMAL + 2, count] = nx, ny, nz
        spots[VIEW, count], spots[VIEW + 1, count], spots[VIEW + 2, count] = vx, vy, vz
        spots[DEPTH, count] = depth
        if looks is not None:
            spots[TINT, count], spots[TINT + 1, count], spots[TINT + 2, count] = tint
        spot_of[sample] = count
        count += 1
    return count


@numba.njit(**FAST)
def _colour_row(spots, owners, count, surface, looks, lamps, colours_out):
    """Colour [3, W] of a row of spots from the light that reaches them."""
    colours, styles, blur, horizon = surface
    key, sky, ground, sun_axes = lamps
    for k in range(count):
        n = owners[k]
        vx, vy, vz = spots[VIEW, k], spots[VIEW + 1, k], spots[VIEW + 2, k]
        backdrop = _background(vz)
        if n < 0:
            for c in range(3):
                colours_out[c, k] = backdrop[c]
            continue
        nx, ny, nz = spots[NORMAL, k], spots[NORMAL + 1, k], spots[NORMAL + 2, k]
        x, y = spots[POINT, k], spots[POINT + 1, k]
        scale, fog = 1.0, 0.0
        if styles[n] != PLAIN:
            slant = max(abs(nx * vx + ny * vy + nz * vz), 0.1)
            scale = _pattern(styles[n], x, y, blur * spots[DEPTH, k] / slant + 1e-4)
            away = math.sqrt((x - horizon[0]) ** 2 + (y - horizon[1]) ** 2)
            fog = min(max((away / horizon[2] - 1.0) * 1.2, 0.0), 1.0)
            fog = fog * fog * (3.0 - 2.0 * fog)
        sun, seen = spots[SUN, k], spots[SEEN, k]
        dome = (0.5 + 0.5 * nz) * (0.35 + 0.65 * seen)
        floor = (0.5 - 0.5 * nz) * (0.55 + 0.45 * seen)
        hx, hy, hz = sun_axes[0, 2] - vx, sun_axes[1, 2] - vy, sun_axes[2, 2] - vz
        half = max(nx * hx + ny * hy + nz * hz, 0.0) / math.sqrt(hx * hx + hy * hy + hz * hz)
        half = half * half
        half = half * half * half
        shine = 0.10 * sun * half * half * half * half * half * half
        for c in range(3):
            own = scale * colours[n, c]
            if looks is not None:
                own *= spots[TINT + c, k]
            lit = own * (key[c] * sun + sky[c] * dome + ground[c] * floor)
            colours_out[c, k] = lit + shine + fog * (backdrop[c] - lit - shine)


@numba.njit(**FAST)
def _anchors(spots, owners, count, some, anchors):
    """Copy every fourth spot, and those at the borders of surfaces, to `some` [FIELDS, W]."""
    found, last = 0, -STRIDE
    for k in range(count):
        border = k == 0 or k == count - 1
        for other in (max(k - 1, 0), min(k + 1, count - 1)):
            same = 0.0
            for c in range(NORMAL, NORMAL + 3):
                same += spots[c, k] * spots[c, other]
            border |= owners[k] != owners[other] or same < 0.99
        if border or k - last >= STRIDE:
            for c in range(VIEW):
                some[c, found] = spots[c, k]
            anchors[found] = k
            found, last = found + 1, k
    return found


@numba.njit(**FAST)
def _light_row(spots, owners, count, lamps, some, anchors, total):
    """Fill in the cosine-weighted light of the sun and the share of the sky for each spot."""
    sun_shadow, shadows, axes, eyes, lens, offsets = lamps
    spots[SUN, :count] = 0.0
    _lamp_row(
        spots, count, sun_shadow, axes[0], eyes[0], lens[0], offsets[0], 1.2, total, spots[SUN]
    )
    found = _anchors(spots, owners, count, some, anchors)
    some[SEEN, :found] = 1e-6
    total[:found] = 1e-6
    for k in range(shadows.shape[0]):
        _lamp_row(
            some, found, shadows[k], axes[k + 1], eyes[k + 1], lens[0], offsets[1], 0.0,
            total, some[SEEN],
        )  # fmt: skip
    for n in range(found):
        k = anchors[n]
        spots[SEEN, k] = some[SEEN, n] / total[n]
        if n > 0:
            j = anchors[n - 1]
            for m in range(j + 1, k):
                f = (m - j) / (k - j)
                spots[SEEN, m] = spots[SEEN, j] * (1.0 - f) + spots[SEEN, k] * f


@cached_njit(**FAST)
def shade(
    buffer, tags, looks, planes, samples, eye, axes, lens, geoms, surface, lamps, outline, table, out,
):  # fmt: skip
    """Colour out [H, W, 3] from inverse depth and visible geom of samples^2 per pixel.

    `looks` is None without meshes and textures; else visible triangles, index of the first geom that shows a
    mesh, and how meshes look, see `look_of_mesh`. `planes` is None without textured planes; then meshes do not
    pay for them. It is the first of `tint_of_plane`.
    """
    sun_shadow, shadows, lamp_axes, lamp_eyes, lamp_lens, offsets, key, sky, ground = lamps
    width, square = out.shape[1], samples * samples
    spots = np.zeros((FIELDS, width * square))
    some, anchors = np.zeros_like(spots), np.zeros(width * square, np.int64)
    total, colour = np.zeros(width * square), np.zeros((3, width * square))
    owners, spot_of = np.zeros(width * square, np.int64), np.zeros(width * square, np.int64)
    for i in range(out.shape[0]):
        count = _gather_row(
            i, samples, width, buffer, tags, looks, planes, eye, axes, lens, geoms, spots, owners,
            spot_of,
        )  # fmt: skip
        shade_lamps = (sun_shadow, shadows, lamp_axes, lamp_eyes, lamp_lens, offsets)
        _light_row(spots, owners, count, shade_lamps, some, anchors, total)
        light = (key, sky, ground, lamp_axes[0])
        _colour_row(spots, owners, count, surface, looks, light, colour)
        for j in range(width):
            r, g, b = 0.0, 0.0, 0.0
            for s in range(square):
                k = spot_of[j * square + s]
                dim = 1.0
                if outline > 0.0 and owners[k] >= 0:
                    row, column = i * samples + s // samples, j * samples + s % samples
                    if _outlined(buffer, tags, row, column, width * samples):
                        dim = 1.0 - outline
                r, g, b = (
                    r + dim * colour[0, k], g + dim * colour[1, k], b + dim * colour[2, k]
                )  # fmt: skip
            level = (table.size - 1) / (2.0 * square)
            out[i, j, 0] = table[min(int(r * level + 0.5), table.size - 1)]
            out[i, j, 1] = table[min(int(g * level + 0.5), table.size - 1)]
            out[i, j, 2] = table[min(int(b * level + 0.5), table.size - 1)]
