"""Physics by mujoco-warp against MuJoCo's own: on Warp's CPU device, where it is installed."""

import re
import sys

import pytest
import torch

from locomotion.ant import ANT
from locomotion.physics import CpuPhysics, make_physics
from locomotion.robots import compile_robot
from locomotion.terrain import TerrainWorlds
from locomotion.warp_physics import INSTALL
from locomotion.worlds import OBSERVATION, ROBOTS, LocomotionWorlds
from tests.helpers.running_robots import placed, push_of
from ver.errors import UserError


@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_it_moves_robots_as_mujoco_does(robot):
    pytest.importorskip("mujoco_warp")
    body, count, joints = compile_robot(robot), 3, len(robot.pose)
    here, there = CpuPhysics(body, count, 2), make_physics(body, count, 2, 1, "warp-cpu")
    draws = torch.Generator().manual_seed(1)
    for physics in (here, there):
        placed(physics, count, robot=robot)
    for _ in range(30):
        actions = 0.3 * (2 * torch.rand(count, joints, generator=draws) - 1)
        for physics in (here, there):
            physics.step(actions, push_of(count))
        torch.testing.assert_close(there.qpos, here.qpos, atol=1e-4, rtol=0)
        assert torch.equal(there.touch > 0, here.touch > 0)
    assert here.touch.any()
    before = there.qpos
    for physics in (here, there):
        physics.restart(torch.tensor([1]), before[:1], torch.zeros(1, 6 + joints))
    torch.testing.assert_close(there.qpos[1], before[0])
    torch.testing.assert_close(there.qpos, here.qpos, atol=1e-4, rtol=0)
    assert not there.touch[1].any()


def test_its_worlds_show_and_pay_the_same():
    pytest.importorskip("mujoco_warp")
    told = []
    for device in ("cpu", "warp-cpu"):
        worlds = LocomotionWorlds("ant", device, episode_length=8).make_vector(2, 0)
        shown, _ = worlds.reset(seed=0)
        parts = [shown[OBSERVATION]]
        for _ in range(12):
            shown, rewards, terminated, truncated, _ = worlds.step(torch.full((2, 8), 0.1))
            parts += [shown[OBSERVATION], rewards, terminated.float(), truncated.float()]
        told.append(torch.cat([part.flatten() for part in parts]))
    torch.testing.assert_close(told[0], told[1], atol=2e-3, rtol=1e-3)


def test_over_boxes_it_moves_humanoids_as_mujoco_does():
    """Of three that begin standing or lying among boxes, which are moved under them."""
    pytest.importorskip("mujoco_warp")
    told = []
    for device in ("cpu", "warp-cpu"):
        worlds = TerrainWorlds("humanoid_terrain", device=device, threads=1, obstacles=12)
        worlds = worlds.make_vector(3, 0)
        worlds.reset(seed=1)
        worlds._course._boxes[..., :2] *= 0.4
        draws, parts = torch.Generator().manual_seed(0), []
        for _ in range(8):
            actions = 0.3 * (2 * torch.rand(3, 21, generator=draws) - 1)
            shown, rewards, *_ = worlds.step(actions)
            parts += [worlds._physics.qpos, shown[OBSERVATION][:, -2:], rewards[:, None]]
            parts.append(shown["heights"])
        told.append(torch.cat(parts, -1))
    assert told[0][:, -165:].any(-1).all()  # none is on the floor alone
    close = (told[0] - told[1]).abs() < 1e-3
    assert close.float().mean() > 0.999  # but for heights beside an edge
    torch.testing.assert_close(told[0][:, :28], told[1][:, :28], atol=1e-4, rtol=0)


def test_without_the_package_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco_warp", None)
    with pytest.raises(UserError, match=re.escape(INSTALL)):
        make_physics(compile_robot(ANT), 1, 2, 1, "cuda")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_says_so():
    pytest.importorskip("mujoco_warp")
    with pytest.raises(UserError, match="device=cuda: there is no CUDA device; choose device=cpu"):
        make_physics(compile_robot(ANT), 1, 2, 1, "cuda")
