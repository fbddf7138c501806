"""Glimpses on a device are those of the CPU."""

import math

import numpy as np
import torch

from rearrange.batched.glimpse import glimpses
from rearrange.tasks.glimpse import FINE, UNKNOWN, _glimpse

SHARE, SIZE = 0.7, 24
ALIKE = 0.999  # share of pixels: at an edge of two the next one may be taken


def view(yaw, pitch, eye):
    """A camera that looks along x, turned to the left and downwards; right, up, backward."""
    c, s = math.cos(yaw), math.sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    level = np.array([[0.0, 0.0, -1.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    c, s = math.cos(pitch), math.sin(pitch)
    down = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
    return np.array(eye), turn @ level @ down


def test_windows_are_those_of_the_cpu():
    rng = np.random.default_rng(0)
    cameras = [view(*rng.uniform((-3, 0.2), (3, 0.8)), rng.uniform(-1, 1, 3)) for _ in range(6)]
    # Before the camera; the last two are partly, and wholly, out of its sight
    own = np.array([[0.013, 0.024, -1.0], [0.3, 0.2, -1.5], [-0.4, 0.1, -0.9], [0.1, -0.5, -1.2],
                    [0.68, 0.0, -1.0], [0.2, 0.1, 1.0]])  # fmt: skip
    points = np.array([eye + turn @ at for (eye, turn), at in zip(cameras, own, strict=True)])
    fine = rng.uniform(0.7, 1.6, (6, FINE, FINE)).astype(np.float32)
    true = np.empty((6, SIZE, SIZE), np.float32)
    for k, (eye, turn) in enumerate(cameras):
        _glimpse(fine[k], SHARE, eye, turn, points[k], true[k])
    views = torch.tensor(np.array([[*eye, *turn.ravel()] for eye, turn in cameras]))
    told = torch.from_numpy(fine)[..., None]
    found = glimpses(told, SHARE, views, torch.from_numpy(points), SIZE)
    assert found.dtype == torch.float32
    assert found.shape == (6, SIZE, SIZE, 1)
    assert np.mean(np.abs(found[..., 0].numpy() - true) < 1e-5) > ALIKE
    assert (true[5] == UNKNOWN).all()
    assert 0.2 < (true[4] == UNKNOWN).mean() < 0.9
    assert true[0].std() > 0.1
