"""Capsules and boxes around points."""

import math

import numpy as np
import pytest

from rearrange.robot.files.shapes import Piece, cover_points, fit


def inside(piece, points):
    """Which points are in a box or a capsule, with a tenth of a millimetre to spare."""
    local = (points - piece.center) @ piece.rotation
    if piece.kind == "box":
        return (np.abs(local) <= piece.size + 1e-4).all(axis=1)
    local[:, 2] -= np.clip(local[:, 2], -piece.size[1], piece.size[1])
    return np.linalg.norm(local, axis=1) <= piece.size[0] + 1e-4


def on_box(half, count=1500, seed=0):
    points = np.random.default_rng(seed).uniform(-1, 1, (count, 3))
    side = np.abs(points).argmax(axis=1)
    points[np.arange(count), side] = np.sign(points[np.arange(count), side])
    return points * half


def test_a_box_is_a_box():
    angle = 0.7
    turn = np.array(
        [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]]
    )
    points = np.vstack([on_box((0.3, 0.02, 0.2)), on_box((1, 1, 1), 0)]) @ turn.T
    piece = fit(points)
    assert piece.kind == "box"
    assert inside(piece, points).all()
    assert sorted(piece.size) == pytest.approx([0.02, 0.2, 0.3], rel=0.1)


def test_a_tube_with_round_ends_is_a_capsule():
    rng = np.random.default_rng(0)
    ball = rng.normal(size=(2000, 3))
    points = 0.05 * ball / np.linalg.norm(ball, axis=1, keepdims=True)
    points[:, 0] += 0.2 * np.sign(points[:, 0])
    piece = fit(points)
    assert piece.kind == "capsule"
    assert inside(piece, points).all()
    assert piece.size[:2] == pytest.approx([0.05, 0.2], rel=0.1)


def test_a_bent_thing_is_covered_by_more_than_one():
    first, second = on_box((0.2, 0.03, 0.03)), on_box((0.03, 0.03, 0.2), seed=1)
    points = np.vstack([first, second + np.array([0.2, 0.0, 0.2])])
    pieces = cover_points(points)
    assert len(pieces) > 1
    assert np.any([inside(piece, points) for piece in pieces], axis=0).all()
    assert sum(piece.volume for piece in pieces) < 0.6 * fit(points).volume


def test_spheres_stand_for_a_piece():
    box = Piece("box", np.zeros(3), np.eye(3), np.array([0.1, 0.04, 0.03]))
    spheres = box.spheres()
    points = on_box((0.1, 0.04, 0.03)) * 0.98
    gaps = np.linalg.norm(points[:, None] - spheres[:, :3], axis=2) - spheres[:, 3]
    assert gaps.min(axis=1).max() < 0.02  # corners look out a little
    assert (np.abs(spheres[:, :3]) + spheres[:, 3:] < box.size + 0.01).all()
