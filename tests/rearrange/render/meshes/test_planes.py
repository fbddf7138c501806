"""Textures of planes: texels worked by hand, as MuJoCo lays them."""

import mujoco
import numpy as np
import pytest

from rearrange.render import Camera, GeomTable, RgbOptions, look_at, render_rgb
from rearrange.render.meshes.look import GAMMA, tint_of_plane
from rearrange.render.meshes.planes import plane_looks

EVEN = RgbOptions(samples=1, shadow_size=0, sky_lamps=0, outline=0.0)
CAMERA = Camera(64, 64, 60)
ABOVE = np.array((0.0, 0.0, 2.0))
DOWN = look_at(ABOVE, (0, 0, 0))  # image up is +y
RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
TEXELS = np.array([(RED, GREEN), (BLUE, WHITE)], np.uint8)  # rows from above


def model_of(*geoms, repeat=(1, 1), uniform=False):
    """A model of geoms, planes if they say nothing else, whose material has TEXELS; and its data."""
    spec = mujoco.MjSpec()
    texture = spec.add_texture(name="t", type=mujoco.mjtTexture.mjTEXTURE_2D)
    texture.height, texture.width, texture.nchannel = TEXELS.shape
    texture.data = TEXELS.tobytes()
    material = spec.add_material(name="m", texrepeat=repeat, texuniform=uniform)
    material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "t"
    tetra = spec.add_mesh(name="tetra", uservert=[0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])
    tetra.userface = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    for geom in geoms:
        fields = {"type": mujoco.mjtGeom.mjGEOM_PLANE, "material": "m", **geom}
        spec.worldbody.add_geom(**fields)
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    return model, data


def plane(x, y, **fields):
    return {"size": (x, y, 0.1), **fields}


def colour(model, data, x, y, n=0):
    """Texel-like colour of the n-th plane at a place of its frame."""
    looks = plane_looks(model, np.arange(model.ngeom))
    assert looks is not None
    where = data.geom_xpos[n] + data.geom_xmat[n].reshape(3, 3) @ (x, y, 0.0)
    tint = tint_of_plane(
        (looks.library.packed, looks.textures, looks.steps), n, data.geom_xpos[n],
        data.geom_xmat[n], tuple(where),
    )  # fmt: skip
    return tuple(round(255 * value ** (1 / GAMMA)) for value in tint)


@pytest.mark.parametrize(
    ("size", "repeat", "uniform", "period"),
    [
        ((1.0, 1.0), (1, 1), False, (2.0, 2.0)),
        ((3.0, 0.5), (1, 1), False, (6.0, 1.0)),
        ((1.0, 1.0), (2, 4), False, (1.0, 0.5)),
        ((3.0, 0.5), (1, 4), True, (2.0, 0.5)),  # as many repeats in two metres
        ((0.0, 0.0), (4, 1), False, (0.5, 2.0)),  # endless: likewise
    ],
)
def test_texels_lie_where_they_should(size, repeat, uniform, period):
    """The middle of the plane is the middle of a repeat, whose first row lies at +y."""
    model, data = model_of(plane(*size), repeat=repeat, uniform=uniform)
    for row in range(2):
        for column in range(2):
            x, y = (column - 0.5) * period[0] / 2, (0.5 - row) * period[1] / 2
            texel = tuple(TEXELS[row, column].tolist())
            assert colour(model, data, x, y) == texel
            assert colour(model, data, x + 3 * period[0], y - 2 * period[1]) == texel


def test_a_turned_plane_takes_its_texture_along():
    model, data = model_of(plane(1.0, 1.0, pos=(4.0, 0.0, 1.0), quat=(0.5, 0.5, 0.5, 0.5)))
    assert colour(model, data, -0.5, 0.5) == RED
    assert colour(model, data, 0.5, 0.5) == GREEN


def test_other_geoms_and_planes_without_textures_have_none():
    ball = {"type": mujoco.mjtGeom.mjGEOM_SPHERE, "size": (0.1, 0.0, 0.0)}
    model, data = model_of(plane(1.0, 1.0), ball, plane(1.0, 1.0, material=""))
    looks = plane_looks(model, np.array([2, 0, 1]))
    assert looks is not None
    assert looks.textures.tolist() == [-1, 0, -1]
    assert looks.keep(np.array([False, True, True])).textures.tolist() == [0, -1]
    assert colour(model, data, -0.5, 0.5, 1) == WHITE
    assert plane_looks(model, np.array([1, 2])) is None


BOX = {"type": mujoco.mjtGeom.mjGEOM_BOX, "size": (3.0, 3.0, 0.1), "pos": (0.0, 0.0, -1.0)}
MESH = {"type": mujoco.mjtGeom.mjGEOM_MESH, "meshname": "tetra", "pos": (0.0, 0.0, 9.0)}


@pytest.mark.parametrize("others", [(), (BOX,), (MESH,), (BOX, MESH)])
def test_pictures_show_it(others):
    """Also beside meshes; no planks or tiles are drawn over it."""
    model, data = model_of(*others, plane(1.0, 1.0, rgba=(1.0, 1.0, 1.0, 1.0)))
    table = GeomTable.from_model(model)
    assert (table.meshes is not None) == (MESH in others)
    image = render_rgb(table, data.geom_xpos, data.geom_xmat, CAMERA, ABOVE, DOWN, EVEN)
    # Centres of texels lie at -0.5 m and 0.5 m, of which one metre is 27.7 pixels
    for row, column, strongest in ((18, 18, 0), (18, 46, 1), (46, 18, 2)):
        seen = image[row, column].astype(int)
        assert seen.argmax() == strongest
        assert np.sort(seen)[1] < 100
    assert image[46, 46].min() > 150
