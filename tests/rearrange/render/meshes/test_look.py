"""Pictures of meshes: normals, colours of vertices, textures."""

import numpy as np

from rearrange.render import Camera, GeomTable, RgbOptions, look_at, render_rgb
from rearrange.render.meshes import MeshGeoms, MeshLibrary, mesh_of_arrays
from tests.helpers.meshes import NOWHERE, cube, load_meshes, mesh_asset

EVEN = RgbOptions(samples=1, shadow_size=0, sky_lamps=0, outline=0.0)
CAMERA = Camera(64, 64, 60)
ABOVE = np.array((0.0, 0.0, 2.0))
DOWN = look_at(ABOVE, (0, 0, 0))  # image up is +y
SQUARE = np.array([(-1.0, -1, 0), (1, -1, 0), (1, 1, 0), (-1, 1, 0)]), [(0, 1, 2), (0, 2, 3)]
UVS = np.array([(0.0, 1.0), (1, 1), (1, 0), (0, 0)])  # the first texel lies at -x, +y


def picture(mesh, textures=(), options=EVEN, eye=ABOVE, turn=DOWN, rgba=None):
    library = MeshLibrary.of([mesh], textures)
    geoms = MeshGeoms.of(library, textures=[0] if len(textures) else None)
    table = GeomTable.of_meshes(geoms, None if rgba is None else [rgba])
    return render_rgb(table, *NOWHERE, CAMERA, eye, turn, options).astype(int)


def test_a_cube_of_triangles_looks_like_a_box():
    """But for the edges, which look rounded on a box."""
    eye = np.array((1.5, -1.0, 1.2))
    view = (CAMERA, eye, look_at(eye, (0, 0, 0)), RgbOptions(shadow_size=512))
    rgba = (0.8, 0.3, 0.2, 1.0)
    model, data = load_meshes("", 'type="box" size=".5 .5 .5" rgba=".8 .3 .2 1"')
    box = GeomTable.from_model(model)
    library = MeshLibrary.of([mesh_of_arrays(*cube())])
    table = GeomTable.of_meshes(MeshGeoms.of(library), [rgba])
    images = (
        render_rgb(table, *NOWHERE, *view),
        render_rgb(box, data.geom_xpos, data.geom_xmat, *view),
    )
    off = np.abs(images[0].astype(int) - images[1]).max(axis=2)
    assert np.percentile(off, 85) <= 3


def test_colours_of_vertices_blend_and_are_multiplied_by_that_of_the_geom():
    colours = np.array([(255, 0, 0), (0, 255, 0), (0, 255, 0), (255, 0, 0)], np.uint8)
    image = picture(mesh_of_arrays(*SQUARE, colours=colours))
    left, middle, right = image[32, 8], image[32, 32], image[32, 56]
    assert left[0] > 150 > 80 > left[1]
    assert right[1] > 150 > 80 > right[0]
    assert abs(middle[0] - middle[1]) < 12
    red = picture(mesh_of_arrays(*SQUARE, colours=colours), rgba=(1, 0, 0, 1))
    assert red[32, 56].max() < 100
    assert red[32, 8, 0] == left[0]


def test_a_texture_is_put_by_uv_and_blends_between_texels():
    texture = np.zeros((2, 2, 3), np.uint8)
    texture[0, 0], texture[0, 1], texture[1, 0] = (255, 0, 0), (0, 255, 0), (0, 0, 255)
    image = picture(mesh_of_arrays(*SQUARE, uvs=UVS), [texture])
    # Centres of texels lie at -0.5 m and 0.5 m, of which one metre is 27.7 pixels.
    for row, column, strongest in ((18, 18, 0), (18, 46, 1), (46, 18, 2)):
        assert image[row, column].argmax() == strongest
        assert np.sort(image[row, column])[1] < 100
    assert image[46, 46].max() < 100
    between = image[18, 32]
    assert abs(between[0] - between[1]) < 12
    assert between[2] < 100


def test_a_texture_of_a_model_is_put_as_its_uvs_say():
    """Black and white halves along u; MuJoCo centres and turns the mesh, its uvs stay with its corners."""
    paint = (
        '<texture name="t" type="2d" builtin="checker" width="2" height="2" rgb1="1 1 1" rgb2="0 0 0"/>'
        '<material name="m" texture="t"/>'
    )
    points = np.concatenate([SQUARE[0], [(0.0, 0.0, -0.5)]])
    faces = [*SQUARE[1], (0, 4, 1), (1, 4, 2), (2, 4, 3), (3, 4, 0)]
    uvs = " ".join(f"{u} {v}" for u, v in [*(UVS * 0.5 + 0.25), (0.5, 0.5)])
    model, data = load_meshes(
        paint + mesh_asset("roof", points, faces, texcoord=uvs),
        'type="mesh" mesh="roof" material="m"',
    )
    texels = model.tex_data.reshape(2, 2, 3)
    table = GeomTable.from_model(model)
    image = render_rgb(table, data.geom_xpos, data.geom_xmat, CAMERA, ABOVE, DOWN, EVEN).astype(int)
    for v, row in ((0, 8), (1, 56)):
        for u, column in ((0, 8), (1, 56)):
            bright = image[row, column].mean() > 120
            assert bright == (texels[v, u].mean() > 120)


def test_flat_triangles_have_one_shade_and_smooth_ones_do_not():
    points = np.array([(-1.0, -1, 0), (1, -1, 0), (0, 1, 0.0)])
    flat = picture(mesh_of_arrays(points, [(0, 1, 2)]), rgba=(0.5, 0.5, 0.5, 1))
    assert np.ptp(flat[28:40, 28:36].reshape(-1, 3), axis=0).max() <= 6  # the gleam alone changes
    normals = points + np.array((0, 0, 0.5))
    smooth = picture(mesh_of_arrays(points, [(0, 1, 2)], normals), rgba=(0.5, 0.5, 0.5, 1))
    assert np.ptp(smooth[28:40, 28:36].reshape(-1, 3), axis=0).max() > 10


def test_normals_are_turned_to_the_side_that_is_seen():
    points = np.array([(-1.0, -1, 0), (1, -1, 0), (0, 1, 0.0)])
    up = picture(mesh_of_arrays(points, [(0, 1, 2)], np.tile((0, 0, 1.0), (3, 1))))
    turned = picture(mesh_of_arrays(points, [(0, 2, 1)], np.tile((0, 0, -1.0), (3, 1))))
    np.testing.assert_array_equal(up, turned)


def test_meshes_throw_shadows_and_are_smoothed_at_edges():
    floor = 'type="plane" size="0 0 .1" rgba=".8 .8 .8 1"'
    model, data = load_meshes(
        mesh_asset("cube", *cube()), floor, 'type="mesh" mesh="cube" pos="0 0 1.5"'
    )
    eye = np.array((0.0, -4.0, 3.0))
    pose = (data.geom_xpos, data.geom_xmat, CAMERA, eye, look_at(eye, (0, 0, 0.3)))
    options = RgbOptions(
        shadow_size=256, sky_lamps=0, sun=(1.0, 0.0, 1.0), floors=False, outline=0.0
    )
    bare = RgbOptions(shadow_size=0, sky_lamps=0, sun=(1.0, 0.0, 1.0), floors=False, outline=0.0)
    table = GeomTable.from_model(model)
    with_shadow, without = (
        render_rgb(table, *pose, chosen).astype(int).sum(axis=2) for chosen in (options, bare)
    )
    darker = np.argwhere(without - with_shadow > 60)
    assert len(darker) > 30
    assert darker[:, 1].mean() < 32  # the sun is on the right
