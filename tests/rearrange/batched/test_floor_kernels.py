"""The base moves on a device as it does on the CPU."""

from importlib import import_module

import numpy as np
import pytest

from rearrange.batched.bank import make_bank
from rearrange.navigation import load_layout
from rearrange.navigation.base_motion import clamp_base_motion
from rearrange.robot import find_robot
from rearrange.sim.config import SimulatorConfig

wp = pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")
kernels = import_module("rearrange.batched.floor_kernels")  # it needs the two above

HOMES = ((0, 0), (3, 2))
RADIUS = 0.25  # m


@wp.kernel
def clamp_all(
    homes: wp.array[wp.int32], motions: wp.array2d[wp.float64], radius: wp.float64,
    slide: bool, floors: kernels.Floors, reached: wp.array[wp.vec3d],
):  # fmt: skip
    """Move N discs; of each x, y, dx, dy [N, 4], m."""
    i = wp.tid()
    reached[i] = kernels.clamp(
        floors, homes[i], motions[i, 0], motions[i, 1], motions[i, 2], motions[i, 3], radius, slide
    )


@pytest.mark.parametrize("slide", [True, False])
def test_motion_is_clamped_as_on_the_cpu(slide):
    from rearrange.batched.memory import floors_of

    grids = [load_layout(*home)[1] for home in HOMES]
    rng, count = np.random.default_rng(0), 2000
    homes = rng.integers(2, size=count).astype(np.int32)
    cells = [np.argwhere(grid.clearance > 0.2) for grid in grids]
    starts = [grids[k].center_of(rng.choice(cells[k])) for k in homes]
    motions = np.concatenate([starts, rng.uniform(-0.09, 0.09, (count, 2))], axis=1)
    with wp.ScopedDevice("cpu"):
        floors = floors_of(make_bank(HOMES, SimulatorConfig(), find_robot()))
        reached = wp.zeros(count, dtype=wp.vec3d)
        given = [wp.array(homes), wp.array(motions, dtype=wp.float64), RADIUS, slide, floors]
        wp.launch(clamp_all, dim=count, inputs=given, outputs=[reached])
    true = [
        clamp_base_motion(grids[k], *motion, RADIUS, slide)
        for k, motion in zip(homes, motions, strict=True)
    ]
    np.testing.assert_allclose(reached.numpy(), np.array(true, float), atol=1e-9)
    cut = np.array([blocked for *_, blocked in true])
    assert 100 < cut.sum() < count - 100
