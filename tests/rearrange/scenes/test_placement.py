"""Plane geometry for furnishing, against plain computations of the same."""

import math

import numpy as np
import pytest
from scipy import ndimage

from rearrange.scenes.placement import CELL, Box2, FloorGrid, any_overlap, inside, overlap

SIZE = (6.0, 4.5)  # [m]
RADIUS = 0.4  # [m]


def boxes(rng: np.random.Generator, count: int) -> list[Box2]:
    """Rectangles anywhere on a floor, half of them not turned or by a right angle, some long like walls."""
    turns = np.where(
        rng.random(count) < 0.5, rng.choice([0.0, math.pi / 2, math.pi], count),
        rng.uniform(-4, 4, count),
    )  # fmt: skip
    halves = rng.uniform(0.02, 0.5, (count, 2)) * np.where(rng.random((count, 1)) < 0.3, (4, 1), 1)
    places = rng.uniform((0.0, 0.0), SIZE, (count, 2))
    rows = np.column_stack([places, halves, turns])
    return [(row[0], row[1], row[2], row[3], row[4]) for row in rows.tolist()]


def distance_to(box: Box2, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """From points to a rectangle [m]."""
    c, s = math.cos(box[4]), math.sin(box[4])
    u = np.abs(c * (x - box[0]) + s * (y - box[1])) - box[2]
    v = np.abs(-s * (x - box[0]) + c * (y - box[1])) - box[3]
    return np.hypot(np.maximum(u, 0.0), np.maximum(v, 0.0))


def test_a_quick_look_finds_the_overlaps_that_there_are():
    rng, found = np.random.default_rng(0), 0
    for _ in range(300):
        box, *others = boxes(rng, 6)
        expected = any(overlap(box, other, -1e-4) for other in others)
        assert any_overlap(box, others, -1e-4) == expected
        found += expected
    assert 50 < found < 250


def test_inside_counts_the_corners_of_a_turned_rectangle():
    square = (0.5, 0.5, 0.5, 0.5, 0.0)
    assert inside(square, (0.0, 0.0, 1.0, 1.0))
    assert not inside((*square[:4], 0.1), (0.0, 0.0, 1.0, 1.0))
    for side in range(4):
        bounds = [0.0, 0.0, 1.0, 1.0]
        bounds[side] += 0.01 if side < 2 else -0.01
        assert not inside(square, tuple(bounds))
    assert inside((2.0, 1.0, 0.5, 0.1, math.pi / 2), (1.89, 0.49, 2.11, 1.51))


@pytest.mark.parametrize("seed", range(5))
def test_disc_stands_where_nothing_is_nearer_than_its_radius(seed):
    obstacles = boxes(np.random.default_rng(seed), 8)
    grid = FloorGrid(SIZE, obstacles[:3], RADIUS)
    before = grid.free.copy()
    more = grid.extended(obstacles[3:])
    x, y = np.meshgrid(grid.x, grid.y, indexing="ij")
    nearest = np.minimum.reduce([x, SIZE[0] - x, y, SIZE[1] - y])
    nearest = np.minimum.reduce([nearest, *(distance_to(box, x, y) for box in obstacles)])
    np.testing.assert_array_equal(more.free, nearest > RADIUS)
    np.testing.assert_array_equal(grid.free, before)
    assert 0 < more.free.sum() < before.sum()


@pytest.mark.parametrize("share", [0.0, 0.4, 0.55, 0.65, 0.9, 1.0])
def test_main_component_is_the_largest_and_the_first_of_equals(share):
    rng = np.random.default_rng(1)
    for _ in range(200):
        shape = rng.integers(1, 30, 2)
        grid = FloorGrid((1.0, 1.0), [], RADIUS)
        grid.free = rng.random(shape) < share
        labels, count = ndimage.label(grid.free)
        sizes = np.bincount(labels.ravel(), minlength=2)
        sizes[0] = 0
        expected = (labels == sizes.argmax()) & (count > 0)
        np.testing.assert_array_equal(grid.main_component(), expected)


@pytest.mark.parametrize("limit", [0.1, 0.41, 0.9])
def test_within_looks_as_far_as_the_limit_and_no_farther(limit):
    rng, answers = np.random.default_rng(2), []
    grid = FloorGrid(SIZE, [], RADIUS)
    for _ in range(200):
        cells = rng.random(grid.free.shape) < 0.3 / (limit / CELL) ** 2
        points = rng.uniform((0.0, 0.0), SIZE, (2, 2))
        i, j = (points / CELL).astype(int).T
        near = np.asarray(ndimage.distance_transform_edt(~cells))[i, j] * CELL <= limit
        answers.append(grid.within(cells, points, limit))
        assert answers[-1] == near.all()
    assert 20 < sum(answers) < 180


def test_count_takes_the_cells_whose_middle_lies_inside():
    grid = FloorGrid((1.0, 1.0), [], RADIUS)
    cells = np.ones((20, 20), bool)
    assert grid.count(cells, (0.0, 0.0, 1.0, 1.0)) == 400
    assert grid.count(cells, (0.1, 0.1, 0.2, 0.3)) == 2 * 4
    assert grid.count(cells, (0.12, 0.1, 0.2, 0.3)) == 2 * 4
    assert grid.count(cells, (0.13, 0.1, 0.2, 0.3)) == 4
