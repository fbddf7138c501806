"""Numba kernels of looks: normal and colour of a mesh at a point; the texture of a plane."""

import math

import numba

from rearrange.render.meshes.library import ABSENT, NO_TEXTURE

OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract", "nsz"}}
NORMALS, UVS, COLOURS = 0, 1, 2  # columns of Packed.looks
GAMMA = 2.2


@numba.njit(**OPTIONS)
def _blend(values, row, offset, step, shares):
    """A number at a point of a triangle from those at its corners, `step` apart in a row."""
    return (
        shares[0] * values[row, offset]
        + shares[1] * values[row, offset + step]
        + shares[2] * values[row, offset + 2 * step]
    )


@numba.njit(**OPTIONS)
def shares_of(corners, face, x, y, z):
    """Shares of the corners in a point on a triangle, and the triangle's normal of some length."""
    t = corners[face]
    px, py, pz = x - t[0], y - t[1], z - t[2]
    ax, ay, az = t[3] - t[0], t[4] - t[1], t[5] - t[2]
    bx, by, bz = t[6] - t[0], t[7] - t[1], t[8] - t[2]
    nx, ny, nz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    square = max(nx * nx + ny * ny + nz * nz, 1e-30)
    b = (py * bz - pz * by) * nx + (pz * bx - px * bz) * ny + (px * by - py * bx) * nz
    c = (ay * pz - az * py) * nx + (az * px - ax * pz) * ny + (ax * py - ay * px) * nz
    b, c = min(max(b / square, 0.0), 1.0), min(max(c / square, 0.0), 1.0)
    return (max(1.0 - b - c, 0.0), b, c), (nx, ny, nz)


@numba.njit(**OPTIONS)
def _texel(packed, texture, u, v, channel):
    """A texture's value at (u, v) in [0, 1], between the four next texels; it repeats itself."""
    start, height, width = (
        packed.textures[texture, 0],
        packed.textures[texture, 1],
        packed.textures[texture, 2],
    )
    x, y = u * width - 0.5, v * height - 0.5
    left, top = math.floor(x), math.floor(y)
    fx, fy, value = x - left, y - top, 0.0
    for corner in range(4):
        column, row = corner % 2, corner // 2
        share = (fx if column else 1.0 - fx) * (fy if row else 1.0 - fy)
        place = (int(top) + row) % height * width + (int(left) + column) % width
        value += share * packed.texels[start + place, channel]
    return value / 255.0


@numba.njit(**OPTIONS)
def _turned(m, scale, x, y, z):
    """A unit normal in the world of one in the frame of a mesh."""
    x, y, z = x / scale[0], y / scale[1], z / scale[2]
    x, y, z = (
        m[0] * x + m[1] * y + m[2] * z,
        m[3] * x + m[4] * y + m[5] * z,
        m[6] * x + m[7] * y + m[8] * z,
    )
    length = math.sqrt(max(x * x + y * y + z * z, 1e-30))
    return x / length, y / length, z / length


@numba.njit(**OPTIONS)
def colour_of_mesh(packed, mesh, texture, repeats, face, shares):
    """What texture and vertices make of a mesh's colour: sRGB, from 0 to 1.

    Args:
        packed: See library.Packed.
        mesh: Which of its meshes.
        texture: Which of its textures, or NO_TEXTURE.
        repeats: How often the texture is repeated along u and v [2].
        face: Which triangle of the pack.
        shares: Of its corners in the point that is seen, three numbers.
    """
    red, green, blue = 1.0, 1.0, 1.0
    if packed.looks[mesh, COLOURS] != ABSENT:
        row = face + packed.looks[mesh, COLOURS]
        red = _blend(packed.colours, row, 0, 3, shares) / 255.0
        green = _blend(packed.colours, row, 1, 3, shares) / 255.0
        blue = _blend(packed.colours, row, 2, 3, shares) / 255.0
    if texture != NO_TEXTURE and packed.looks[mesh, UVS] != ABSENT:
        row = face + packed.looks[mesh, UVS]
        u = _blend(packed.uvs, row, 0, 2, shares) * repeats[0]
        v = _blend(packed.uvs, row, 1, 2, shares) * repeats[1]
        red *= _texel(packed, texture, u, v, 0)
        green *= _texel(packed, texture, u, v, 1)
        blue *= _texel(packed, texture, u, v, 2)
    return red, green, blue


@numba.njit(**OPTIONS)
def look_of_mesh(looks, k, face, xpos, m, point, view):
    """How a world point on a triangle looks.

    Args:
        looks: Packed meshes; mesh, scale, texture and repeats of each geom that shows one, see MeshGeoms.
        k: Which of those geoms.
        face: Which triangle of the pack.
        xpos: Position of the geom [3], m.
        m: Its rotation [9].
        point: Three numbers, m.
        view: Direction from the camera to it.

    Returns:
        Unit normal towards the viewer, three numbers; linear red, green and blue, by which the geom's own
        colour is multiplied.
    """
    packed, meshes, scales, textures, repeats = looks
    mesh, scale = meshes[k], scales[k]
    x, y, z = point[0] - xpos[0], point[1] - xpos[1], point[2] - xpos[2]
    shares, (nx, ny, nz) = shares_of(
        packed.corners,
        face,
        (m[0] * x + m[3] * y + m[6] * z) / scale[0],
        (m[1] * x + m[4] * y + m[7] * z) / scale[1],
        (m[2] * x + m[5] * y + m[8] * z) / scale[2],
    )
    gx, gy, gz = _turned(m, scale, nx, ny, nz)
    if gx * view[0] + gy * view[1] + gz * view[2] > 0.0:
        gx, gy, gz = -gx, -gy, -gz
    normal = gx, gy, gz
    if packed.looks[mesh, NORMALS] != ABSENT:
        row = face + packed.looks[mesh, NORMALS]
        nx = _blend(packed.normals, row, 0, 3, shares)
        ny = _blend(packed.normals, row, 1, 3, shares)
        nz = _blend(packed.normals, row, 2, 3, shares)
        nx, ny, nz = _turned(m, scale, nx, ny, nz)
        if nx * gx + ny * gy + nz * gz < 0.0:  # the side that is seen has the normal turned over
            nx, ny, nz = -nx, -ny, -nz
        normal = nx, ny, nz
    red, green, blue = colour_of_mesh(packed, mesh, textures[k], repeats[k], face, shares)
    return normal, (red**GAMMA, green**GAMMA, blue**GAMMA)


@numba.njit(**OPTIONS)
def tint_of_plane(planes, n, xpos, m, point):
    """Linear red, green and blue that its texture gives a plane at a point; ones without a texture.

    Args:
        planes: Packed textures; texture and steps of each geom, see PlaneLooks.
        n: Which geom.
        xpos: Its position [3], m.
        m: Its rotation [9].
        point: Three numbers, m.
    """
    packed, textures, steps = planes
    if textures[n] == NO_TEXTURE:
        return 1.0, 1.0, 1.0
    x, y, z = point[0] - xpos[0], point[1] - xpos[1], point[2] - xpos[2]
    # The middle of the plane is that of a repeat
    u = 0.5 + steps[n, 0] * (m[0] * x + m[3] * y + m[6] * z)
    v = 0.5 - steps[n, 1] * (m[1] * x + m[4] * y + m[7] * z)
    red, green = _texel(packed, textures[n], u, v, 0), _texel(packed, textures[n], u, v, 1)
    return red**GAMMA, green**GAMMA, _texel(packed, textures[n], u, v, 2) ** GAMMA
