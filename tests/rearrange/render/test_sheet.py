"""Contact sheets: tags apart from each other, cameras that hold what they shall show."""

import io

import numpy as np
import pytest
from PIL import Image

from rearrange.render import Camera, View, look_from
from rearrange.render.sheet import PAPER, Sheet, Tag, draw_tags

CAMERA = Camera(60, 80, 60.0)
PLATES = [(250, 0, 0), (0, 250, 0), (0, 0, 250), (250, 250, 0)]


@pytest.mark.parametrize("azimuth", [-2.0, 0.3, 1.9])
@pytest.mark.parametrize("elevation", [0.2, 1.1])
def test_look_from_holds_all_points_with_a_margin(azimuth, elevation):
    points = np.random.default_rng(0).uniform((-2, 0, 0), (4, 3, 1), (30, 3))
    eye, rotation = look_from(CAMERA, points, azimuth, elevation, margin=0.1)
    pixels, depth = View(CAMERA, eye, rotation, np.zeros((60, 80))).project(points)
    assert (depth > 0).all()
    share = (pixels + 0.5) / (80, 60)
    assert share.min() >= 0.1 - 1e-9
    assert share.max() <= 0.9 + 1e-9
    assert min(share.min(), 1 - share.max()) < 0.12  # and no farther away than needed
    np.testing.assert_allclose(np.arctan2(-rotation[1, 2], -rotation[0, 2]), azimuth)
    assert rotation[2, 2] == pytest.approx(np.sin(elevation))  # looks down


def test_tags_of_one_point_stand_apart():
    picture = np.zeros((200, 300, 3), np.uint8)
    draw_tags(picture, [Tag("name", (150.0, 100.0), plate) for plate in PLATES])
    areas = [int((picture == plate).all(axis=-1).sum()) for plate in PLATES]
    assert min(areas) > 0.8 * max(areas)  # none covers another
    assert min(areas) > 100


def test_a_tag_outside_the_picture_is_left_out():
    picture = np.zeros((50, 50, 3), np.uint8)
    draw_tags(picture, [Tag("a", (60.0, 10.0), PLATES[0]), Tag("b", (-1.0, 10.0), PLATES[1])])
    assert not picture.any()


def test_a_sheet_shows_what_was_put_on_it():
    sheet = Sheet(120, 90)
    sheet.put(np.full((20, 30, 3), 77, np.uint8), 10, 40, "caption")
    sheet.text("words", 60, 5)
    pixels = sheet.pixels
    assert (pixels[40:60, 10:40] == 77).all()
    assert (pixels[80:, 80:] == PAPER).all()
    assert (pixels[22:39, 10:60] != PAPER).any()
    file = io.BytesIO()
    sheet.save(file)
    again = np.asarray(Image.open(file).convert("RGB"), int)
    assert np.abs(again - pixels).mean() < 3
