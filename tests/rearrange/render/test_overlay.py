import numpy as np
import pytest

from rearrange.render import (
    Camera,
    View,
    colour_depth,
    draw_box,
    draw_ghost_box,
    draw_ghost_sphere,
    draw_line,
    look_at,
)

CAMERA = Camera(60, 80, 90)


@pytest.fixture
def view() -> View:
    """A wall 4 m ahead fills the left half of the picture, one at 2 m the right half."""
    depth = np.full((60, 80), 4.0, np.float32)
    depth[:, 40:] = 2.0
    return View(CAMERA, np.zeros(3), look_at((0, 0, 0), (1, 0, 0)), depth)


def black() -> np.ndarray:
    return np.zeros((60, 80, 3), np.uint8)


def test_projection_is_the_inverse_of_the_rays(view):
    points = CAMERA.rays() @ view.rotation.T * 3.0
    pixels, depth = view.project(points)
    rows, columns = np.mgrid[:60, :80]
    np.testing.assert_allclose(pixels[..., 0], columns, atol=1e-9)
    np.testing.assert_allclose(pixels[..., 1], rows, atol=1e-9)
    np.testing.assert_allclose(depth, 3.0)


def test_lines_are_hidden_by_what_is_in_front(view):
    image = draw_line(black(), view, (3, 2.5, 0), (3, -2.5, 0), thickness=1, hidden=0.0)
    assert (image[29:31, 10:39].max(axis=0) == 255).all()
    assert (image[:, 41:] == 0).all()
    faint = draw_line(black(), view, (3, 2.5, 0), (3, -2.5, 0), thickness=1, hidden=0.2)
    assert set(np.unique(faint[:, 42:])) == {0, 51}


def test_a_line_through_the_camera_plane_is_cut(view):
    image = draw_line(black(), view, (-1, 0.5, 0), (1.5, 0.5, 0), thickness=1)
    assert image.any()
    assert not draw_line(black(), view, (-1, 1, 0), (-2, 1, 0)).any()


def test_boxes_have_their_edges_where_they_project(view):
    image = draw_box(black(), view, (2.5, 0.8, 0), (0.5, 0.4, 0.4), thickness=1, hidden=0.0)
    assert image[18:42, 8:32].any()
    pixel, _ = view.project((2.0, 1.2, 0.4))
    column, row = np.rint(pixel).astype(int)
    assert image[row, column].tolist() == [255, 255, 255]
    assert not image[:10].any()


@pytest.mark.parametrize("x", [1.5, 3.0, 5.0])
@pytest.mark.parametrize(("draw", "size"), [(draw_ghost_sphere, 0.4), (draw_ghost_box, [0.4] * 3)])
def test_ghosts_respect_depth(view, draw, size, x):
    image = draw(black(), view, (x, 0, 0), size)
    assert image[30, 38].any() == (x < 4.0)
    assert image[30, 41].any() == (x < 2.0)


def test_a_ghost_off_axis_is_not_cut_by_its_window(view):
    open_view = View(CAMERA, view.position, view.rotation, np.full((60, 80), 99.0))
    image = draw_ghost_sphere(black(), open_view, (1.0, 0.8, 0.4), 0.3)
    rays = CAMERA.rays() @ view.rotation.T
    rays /= np.linalg.norm(rays, axis=-1, keepdims=True)
    center = np.array((1.0, 0.8, 0.4))
    inside = np.linalg.norm(center - (rays @ center)[..., None] * rays, axis=-1) < 0.3
    np.testing.assert_array_equal(image.any(axis=-1), inside)


def test_depth_colours_darken_with_distance():
    image = colour_depth(np.array([[0.0, 5.0, 10.0, 99.0]])).astype(int).sum(axis=2)
    assert image[0, 0] > image[0, 1] > image[0, 2]
    assert image[0, 2] == image[0, 3]
