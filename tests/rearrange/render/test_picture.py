from dataclasses import replace

import numpy as np
import pytest

from rearrange.render import Camera, GeomTable, RgbOptions, look_at, render_rgb
from tests.helpers.render_scenes import load

FAST = RgbOptions(samples=1, shadow_size=256, sky_lamps=6, outline=0.0)
CAMERA = Camera(60, 80, 60)
EYE = np.array((0.0, -4.0, 3.0))
ROTATION = look_at(EYE, (0, 0, 0.3))
FLOOR = 'type="plane" size="0 0 .1" rgba=".8 .8 .8 1"'


def picture(options, *geoms, eye=EYE, rotation=ROTATION, depth=None, hidden=()):
    model, data = load(*geoms)
    table = GeomTable.from_model(model, hidden)
    pose = (data.geom_xpos, data.geom_xmat, CAMERA, eye, rotation)
    return render_rgb(table, *pose, options, depth)


def test_a_picture_is_deterministic_and_shows_colours():
    geoms = (FLOOR, 'type="box" size=".5 .5 .5" pos="0 0 .5" rgba=".9 .1 .1 1"')
    image = picture(FAST, *geoms)
    assert image.shape == (60, 80, 3)
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, picture(FAST, *geoms))
    red, green, blue = image[30, 40].astype(int)
    assert red > green + 60
    assert red > blue + 60


def test_an_empty_scene_is_backdrop():
    image = picture(RgbOptions(), 'type="sphere" size=".1" pos="0 0 500"')
    assert image.min() > 150


def test_things_cast_shadows_on_the_floor():
    options = replace(FAST, sun=(1.0, 0.0, 1.0), floors=False)
    ball = 'type="sphere" size=".4" pos="0 0 1"'
    with_shadow = picture(options, FLOOR, ball).astype(int).sum(axis=2)
    without = picture(replace(options, shadow_size=0), FLOOR, ball).astype(int).sum(axis=2)
    darker = without - with_shadow > 60
    assert darker.any()
    assert np.argwhere(darker)[:, 1].mean() < 40  # the sun is on the right


def test_depth_comes_with_the_picture():
    depth = np.empty((60, 80), np.float32)
    picture(FAST, FLOOR, depth=depth)
    assert depth[30, 40] == pytest.approx(np.linalg.norm(EYE - (0, 0, 0.3)) / 0.9, rel=0.05)


def test_clip_above_cuts_upright_boxes_and_drops_what_is_higher():
    wall = 'type="box" size="2 .1 1.5" pos="0 1 1.5" rgba="1 0 0 1"'
    lamp = 'type="sphere" size=".3" pos="0 0 2" rgba="0 1 0 1"'
    depth, cut = np.empty((60, 80), np.float32), np.empty((60, 80), np.float32)
    top = np.array((0.0, 1.0, 9.0))
    pose = {"eye": top, "rotation": look_at(top, (0, 1, 0))}
    picture(FAST, wall, lamp, depth=depth, **pose)
    picture(replace(FAST, clip_above=1.0), wall, lamp, depth=cut, **pose)
    assert depth[30, 40] == pytest.approx(6.0, abs=1e-3)
    assert cut[30, 40] == pytest.approx(8.0, abs=1e-3)
    assert (cut[31:] > 50).sum() > (depth[31:] > 50).sum()


def test_walls_between_the_camera_and_the_room_are_cut():
    walls = [
        f'type="box" size="2 .05 1" pos="0 {y} 1" group="2" rgba=".9 .9 .9 1"' for y in (-2, 2)
    ]
    toy = 'type="sphere" size=".5" pos="0 0 .5" rgba="0 .9 0 1"'
    low = np.array((0.0, -5.0, 1.0))
    pose = {"eye": low, "rotation": look_at(low, (0, 0, 0.5))}
    hidden = picture(FAST, FLOOR, toy, *walls, **pose)
    shown = picture(replace(FAST, cut_walls=True), FLOOR, toy, *walls, **pose)
    assert int(np.ptp(hidden[30, 40])) < 40
    assert int(shown[30, 40, 1]) - int(shown[30, 40, 0]) > 60
    assert shown[12, 40].max() - shown[12, 40].min() < 60  # the far wall still stands


def test_more_samples_smooth_edges():
    box = 'type="box" size=".7 .7 .7" euler="20 30 40" rgba=".1 .1 .1 1"'
    coarse, smooth = picture(FAST, box), picture(replace(FAST, samples=3), box)
    assert len(np.unique(smooth)) > len(np.unique(coarse))
