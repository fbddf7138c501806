import mujoco
import numpy as np
import pytest

from rearrange.render import Camera, GeomTable, look_at, render_depth, render_segmentation
from tests.helpers.render_scenes import SHAPES, cast_with_mujoco, load, random_room

AHEAD = look_at((0, 0, 0), (1, 0, 0))
ORIGIN = np.zeros(3)


def images(model, data, camera, position, rotation, **options):
    table = GeomTable.from_model(model)
    pose = (data.geom_xpos, data.geom_xmat, camera, np.asarray(position, float), rotation)
    return render_depth(table, *pose, **options), render_segmentation(table, *pose, **options)


def assert_agrees(model, data, camera, position, rotation, **options):
    """Depth within 0.1 mm and equal ids on all but 0.2 % of the pixels.

    Those are rays that graze a rim, which single precision decides either way, and the ids of
    surfaces that coincide.
    """
    position = np.asarray(position, float)
    depth, ids = images(model, data, camera, position, rotation, **options)
    true_depth, true_ids = cast_with_mujoco(model, data, camera, position, rotation, **options)
    assert np.mean(np.abs(depth - true_depth) > 1e-4) <= 0.002
    assert np.mean(ids != true_ids) <= 0.002
    return depth


@pytest.mark.parametrize("seed", range(10))
def test_random_scenes_agree_with_mujoco(seed):
    model, data = random_room(seed)
    rng = np.random.default_rng(100 + seed)
    camera = Camera(*[(40, 48), (33, 57), (64, 64)][seed % 3], [60, 90, 115][seed % 3])
    eye = rng.uniform(-3.5, 3.5, 3) * (1, 1, 0.25)
    assert_agrees(model, data, camera, eye, look_at(eye, rng.uniform(-2, 2, 3)))


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_alone_agrees_with_mujoco(shape):
    rng = np.random.default_rng(5)
    camera = Camera(24, 32, 90)
    for _ in range(25):
        quat, size = rng.normal(size=4), rng.uniform(0.05, 0.9, 3)
        geom = f'type="{shape}" size="{size[0]} {size[1]} {size[2]}"'
        model, data = load(f'{geom} quat="{quat[0]} {quat[1]} {quat[2]} {quat[3]}"')
        eye = rng.normal(size=3)
        eye *= rng.uniform(0.2, 2.5) / np.linalg.norm(eye)
        assert_agrees(model, data, camera, eye, look_at(eye, rng.uniform(-0.3, 0.3, 3)))


@pytest.mark.parametrize("shape", SHAPES)
def test_touching_the_near_plane_agrees_with_mujoco(shape):
    rng = np.random.default_rng(6)
    camera = Camera(20, 20, 100)
    for _ in range(10):
        quat = rng.normal(size=4)
        geom = f'type="{shape}" size=".3 .3 .3"'
        model, data = load(f'{geom} quat="{quat[0]} {quat[1]} {quat[2]} {quat[3]}"')
        eye = rng.normal(size=3)
        eye *= rng.uniform(0.28, 0.62) / np.linalg.norm(eye)
        rotation = look_at(eye, eye + rng.normal(size=3))
        assert_agrees(model, data, camera, eye, rotation, near=0.2)


def test_sphere_straight_ahead():
    model, data = load('type="sphere" size=".5" pos="3 0 0"')
    depth, ids = images(model, data, Camera(65, 65, 90), ORIGIN, AHEAD)
    assert depth[32, 32] == pytest.approx(2.5, abs=1e-6)
    assert depth[0, 0] == 10.0
    # The rim is seen under asin(0.5 / 3), 0.169 m off axis at one metre: 5.49 of 32.5 pixels.
    assert (ids[32] == 0).sum() == 2 * 5 + 1


def test_box_face_has_one_depth_and_exact_edges():
    model, data = load('type="box" size=".5 1 1" pos="2.5 0 0"')
    depth, _ = images(model, data, Camera(64, 64, 90), ORIGIN, AHEAD)
    expected = np.full((64, 64), 10.0)
    expected[16:48, 16:48] = 2.0  # a 2 m face at 2 m fills half of a 90 degree view
    np.testing.assert_allclose(depth, expected, atol=1e-6)


def test_a_camera_inside_a_box_sees_its_walls():
    model, data = load('type="box" size="2 3 1.5"')
    depth = assert_agrees(model, data, Camera(32, 32, 90), ORIGIN, AHEAD)
    assert depth[16, 16] == pytest.approx(2.0, abs=1e-5)


def test_planes_are_seen_from_the_front_only_and_end_at_their_size():
    model, data = load('type="plane" size="1 2 .1"')
    camera = Camera(64, 64, 90)
    depth, ids = images(model, data, camera, (0, 0, 2), look_at((0, 0, 2), (0, 0, 0)))
    assert (ids >= 0).any(axis=0).sum() == 32  # 2 m of 4 m across
    assert depth[32, 32] == pytest.approx(2.0, abs=1e-6)
    _, ids = images(model, data, camera, (0, 0, -2), look_at((0, 0, -2), (0, 0, 0)))
    assert (ids == -1).all()


def test_nothing_behind_the_camera_or_beyond_far_is_seen():
    model, data = load(
        'type="sphere" size=".5" pos="-3 0 0"', 'type="box" size="1 1 1" pos="8 0 0"'
    )
    camera = Camera(16, 16, 90)
    depth, ids = images(model, data, camera, ORIGIN, AHEAD, far=6.0)
    assert (depth == 6.0).all()
    assert (ids == -1).all()
    depth, _ = images(model, data, camera, ORIGIN, AHEAD, far=7.5)
    assert depth.min() == pytest.approx(7.0, abs=1e-5)


def test_hidden_groups_geoms_and_invisible_colours_are_left_out():
    model, data = load(
        'type="box" size=".1 1 1" pos="1 0 0" group="3"',
        'type="box" size=".1 1 1" pos="2 0 0" rgba="1 1 1 0"',
        'type="box" size=".1 1 1" pos="3 0 0"',
        'type="box" size=".1 5 5" pos="4 0 0"',
    )
    pose = (data.geom_xpos, data.geom_xmat, Camera(5, 5, 20), ORIGIN, AHEAD)
    assert render_segmentation(GeomTable.from_model(model), *pose)[2, 2] == 0
    assert render_segmentation(GeomTable.from_model(model, (3,)), *pose)[2, 2] == 2
    table = GeomTable.from_model(model, hidden_groups=[3], hidden_geoms=[2])
    assert render_segmentation(table, *pose)[2, 2] == 3


def test_materials_give_colour_and_visibility():
    xml = """<mujoco><asset>
    <material name="red" rgba="1 0 0 1"/><material name="no" rgba="1 1 1 0"/>
    </asset><worldbody><geom size="1" material="red"/><geom size="1" material="no"/>
    <geom size="1" material="red" rgba="0 1 0 1"/></worldbody></mujoco>"""
    table = GeomTable.from_model(mujoco.MjModel.from_xml_string(xml))
    assert sorted(table.ids.tolist()) == [0, 2]
    assert table.rgba[[0, 2]].tolist() == [[1, 0, 0, 1], [0, 1, 0, 1]]


@pytest.mark.parametrize("size", [(1, 1), (7, 3), (31, 17), (64, 64)])
def test_any_image_size_and_any_kind_of_array(size):
    model, data = random_room(1, 20)
    table, camera = GeomTable.from_model(model), Camera(*size, 80)
    pose = [data.geom_xpos, data.geom_xmat, camera, ORIGIN, AHEAD]
    depth = render_depth(table, *pose)
    frozen = [np.array(value) if isinstance(value, np.ndarray) else value for value in pose]
    for value in frozen:
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    frozen[4] = np.asfortranarray(frozen[4])
    out = np.empty((2 * size[0], 2 * size[1]), np.float32)[::2, ::2]
    assert render_depth(table, *frozen, out=out) is out
    np.testing.assert_array_equal(out, depth)
    single = [np.asarray(data.geom_xpos, np.float32), *pose[1:]]
    assert render_depth(table, *single).shape == size


def test_a_table_of_another_model_is_refused():
    model, data = random_room(0, 5)
    table = GeomTable.from_model(model)
    with pytest.raises(ValueError, match="geoms"):
        render_depth(table, data.geom_xpos[1:], data.geom_xmat, Camera(2, 2, 90), ORIGIN, AHEAD)
