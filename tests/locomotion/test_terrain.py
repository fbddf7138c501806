"""Humanoids that run over boxes, and the map of heights that they see."""

import math

import mujoco
import numpy as np
import pytest
import torch

from locomotion.robots import BODY
from locomotion.terrain import (
    CLEAR,
    COLUMNS,
    DEEP,
    HEIGHTS,
    MOST,
    PERIOD,
    ROWS,
    Boxes,
    TerrainWorlds,
    heights,
    map_points,
)
from locomotion.worlds import OBSERVATION, LocomotionVectorEnv
from ver.errors import UserError

NAME = "humanoid_terrain"
MIDDLE = ROWS * COLUMNS // 2
HALF = torch.tensor([[1.0, 0.5, DEEP]])


def made(count: int = 1, **settings) -> LocomotionVectorEnv:
    worlds = TerrainWorlds(NAME, **{"threads": 1, **settings}).make_vector(count, 0)
    worlds.reset(seed=0)
    return worlds


def box(x: float, y: float, top: float, axis: int = 0, angle: float = 0.0) -> torch.Tensor:
    """A box whose middle is DEEP below `top`, turned about x, y or z (1, 2, 3): [1, 1, 7]."""
    values = torch.zeros(1, 1, 7)
    values[0, 0, :4] = torch.tensor([x, y, top - DEEP, math.cos(angle / 2)])
    if axis:
        values[0, 0, 3 + axis] = math.sin(angle / 2)
    return values


def at(*points: tuple[float, float], boxes: torch.Tensor, halves: torch.Tensor = HALF) -> list:
    return heights(torch.tensor([points]), boxes, halves)[0].tolist()


def test_a_level_box_is_as_high_as_its_top_and_the_floor_is_at_0():
    level = box(2.0, 1.0, 0.3)
    told = at((2, 1), (2.99, 1.49), (3.01, 1), (2, 1.51), boxes=level)
    assert told == pytest.approx([0.3, 0.3, 0, 0])
    assert at((2, 1), boxes=box(2, 1, -0.2)) == [0]
    # Turned by a quarter its length lies along y
    turned = box(2, 1, 0.3, 3, math.pi / 2)
    assert at((2.9, 1), (2, 1.9), boxes=turned) == pytest.approx([0, 0.3], abs=1e-6)


def test_a_box_that_leans_is_a_slope():
    """About y by 0.1 rad: ahead it goes down by the tangent; the middle of its top is 1 / cos above its own."""
    slope = box(0, 0, 0.4, 2, 0.1)
    top = 0.4 - DEEP + DEEP / math.cos(0.1)
    told = at((0, 0), (0.5, 0), (-0.5, 0.2), boxes=slope)
    assert told == pytest.approx(
        [top, top - 0.5 * math.tan(0.1), top + 0.5 * math.tan(0.1)], abs=1e-5
    )


def test_the_highest_of_several_boxes_counts():
    both = torch.cat([box(0, 0, 0.2), box(0.5, 0, 0.5)], 1)
    told = at((-0.9, 0), (0, 0), (1.4, 0), boxes=both, halves=HALF.repeat(2, 1))
    assert told == pytest.approx([0.2, 0.5, 0.5])


def test_the_map_has_15_by_11_places_that_are_denser_near_the_robot():
    points = map_points("cpu").reshape(ROWS, COLUMNS, 2)
    assert (ROWS, COLUMNS) == (15, 11)
    assert points[7, 5].tolist() == [0, 0]
    assert points[0, 0].tolist() == [-2, -1]
    assert points[-1, -1].tolist() == [2, 1]
    for line in (points[:, 0, 0], points[0, :, 1]):
        gaps = line.diff()
        assert torch.all(gaps > 0)
        assert torch.all(gaps[len(gaps) // 2 :].diff() > 0)
        torch.testing.assert_close(gaps, gaps.flip(0))


def test_heights_are_those_that_a_ray_of_mujoco_meets():
    worlds = made(3)
    worlds._course._boxes[..., :2] *= 0.4  # under the robots' feet
    qpos = worlds._physics.qpos
    ground = worlds._course.ground(qpos)
    model = worlds._body.model
    model_of_boxes = mujoco.MjData(model)
    things, points = worlds._course.things(qpos), map_points("cpu")
    group, found = np.zeros(1, np.int32), []
    for robot in range(3):
        model_of_boxes.qpos[:] = [0, 0, -50, 1, *[0] * 24]  # out of the way
        model_of_boxes.mocap_pos[:] = things[robot, :, :3]
        model_of_boxes.mocap_quat[:] = things[robot, :, 3:]
        mujoco.mj_forward(model, model_of_boxes)
        w, x, y, z = qpos[robot, 3:7].tolist()
        yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        for ahead, aside in points.tolist():
            east = math.cos(yaw) * ahead - math.sin(yaw) * aside + float(qpos[robot, 0])
            north = math.sin(yaw) * ahead + math.cos(yaw) * aside + float(qpos[robot, 1])
            start, down = np.array([east, north, 5.0]), np.array([0.0, 0.0, -1.0])
            found.append(
                5.0 - mujoco.mj_ray(model, model_of_boxes, start, down, None, 1, -1, group)
            )
    seen = worlds._course._seen.flatten().numpy()
    close = np.abs(seen - found) < 1e-4
    assert close.mean() > 0.99  # but for points on an edge
    assert (np.abs(found) > 0.01).mean() > 0.5
    assert ground.tolist() == worlds._course._seen[:, MIDDLE].tolist()


def test_what_is_seen_and_judged_is_above_the_ground():
    worlds = made(2, lying=0.0, obstacle_tilt=0.0)
    course = worlds._course
    assert worlds.single_observation_space[HEIGHTS].shape == (165,)
    level = worlds._show(worlds._motion())
    assert level[HEIGHTS][:, MIDDLE].tolist() == [0, 0]
    course._boxes[0, 0] = box(*worlds._physics.qpos[0, :2].tolist(), 0.6)[0, 0]
    raised = worlds._show(worlds._motion())
    height = OBSERVATION, (0, 0)
    assert raised[OBSERVATION][height[1]] == pytest.approx(level[OBSERVATION][height[1]] - 0.6)
    assert raised[HEIGHTS][0, MIDDLE] == 0
    assert raised[HEIGHTS][0].min() == pytest.approx(-0.6)
    assert torch.equal(raised[OBSERVATION][1], level[OBSERVATION][1])
    assert worlds._task.fallen(worlds._motion()).tolist() == [True, False]


def test_the_map_turns_with_the_heading():
    """A box to the left of a robot, beyond the sides of its map, is ahead of it once it has turned there."""
    worlds = made(1, obstacles=1, obstacle_tilt=0.0)
    qpos = worlds._rest[None].clone()
    worlds._course._boxes[0, 0] = box(0.0, 1.7, 0.3)[0, 0]
    assert not worlds._course.ground(qpos).any()
    left = worlds._course.looks()[HEIGHTS].reshape(ROWS, COLUMNS)
    assert not left.any()
    qpos[0, 3:7] = torch.tensor([math.sqrt(0.5), 0, 0, math.sqrt(0.5)])
    worlds._course.ground(qpos)
    ahead = worlds._course.looks()[HEIGHTS].reshape(ROWS, COLUMNS)
    wide = (
        map_points("cpu").reshape(ROWS, COLUMNS, 2)[-1, :, 1].abs() < worlds._course._halves[0, 0]
    )
    assert ahead[-1].tolist() == pytest.approx((0.3 * wide).tolist())
    assert wide.sum() > 3
    assert not ahead[: ROWS // 2].any()


def test_boxes_are_drawn_for_each_episode_and_leave_the_start_clear():
    worlds = made(300, lying=0.0, obstacle_height=0.4, obstacle_tilt=0.2)
    boxes, start = worlds._course._boxes.clone(), worlds._physics.qpos[:, None, :2]
    w, x, y, z = boxes[..., 3:].unbind(-1)
    upright = 1 - 2 * (x * x + y * y)
    assert upright.min() >= math.cos(0.2) - 1e-6
    assert upright.min() < math.cos(0.19)
    torch.testing.assert_close(boxes[..., 3:].norm(dim=-1), torch.ones(300, 24))
    top = boxes[..., 2] + DEEP * upright
    assert -1e-6 < top.min() < 0.01 < 0.39 < top.max() < 0.4 + 1e-6
    tops = boxes[..., :2] + DEEP * torch.stack([2 * (x * z + w * y), 2 * (y * z - w * x)], -1)
    away = (tops - start).norm(dim=-1) - worlds._course._halves[:, :2].norm(dim=-1)
    assert away.min() > CLEAR - 1e-4
    assert (tops - start).abs().max() <= PERIOD / 2 + 1e-4
    assert not torch.equal(boxes[0], boxes[1])
    worlds._begin(torch.tensor([0]))
    assert not torch.equal(worlds._course._boxes[0], boxes[0])
    assert torch.equal(worlds._course._boxes[1:], boxes[1:])


def test_after_an_end_the_map_is_that_of_the_new_episode_and_the_others_keep_theirs():
    worlds = made(4, lying=0.0, push=0.0, obstacle_height=0.5)
    worlds._clock[1] = worlds.worlds.episode_length - 1
    shown, *_, infos = worlds.step(torch.zeros(4, 21))
    seen = worlds._course._seen.clone()
    torch.testing.assert_close(worlds._course.ground(worlds._physics.qpos), seen[:, MIDDLE])
    torch.testing.assert_close(worlds._course._seen, seen)
    others = torch.tensor([0, 2, 3])
    assert torch.equal(shown[HEIGHTS][others], infos["final_obs"][HEIGHTS][others])
    assert not torch.equal(shown[HEIGHTS][1], infos["final_obs"][HEIGHTS][1])


def test_the_terrain_repeats_itself_and_has_no_end():
    worlds = made(1, lying=0.0)
    qpos = worlds._physics.qpos.clone()
    worlds._course.ground(qpos)
    before = worlds._course._seen.clone()
    qpos[0, :2] += torch.tensor([5 * PERIOD, -2 * PERIOD])
    worlds._course.ground(qpos)
    torch.testing.assert_close(worlds._course._seen, before, atol=1e-3, rtol=0)
    away = worlds._course.things(qpos)[0, :, :2] - qpos[0, :2]
    assert away.abs().max() <= PERIOD / 2 + 1e-3


def test_sizes_of_boxes_are_always_the_same():
    few, many = Boxes(3).halves, Boxes(MOST).halves
    assert few.tolist() == many[:3].tolist()
    assert 0.15 <= many[:, :2].min() < 0.2 < 0.95 < many[:, :2].max() <= 1.0
    assert Boxes(3) == Boxes(3)  # so that a model is compiled once


def test_a_robot_stands_on_a_box():
    worlds = made(1, lying=0.0, push=0.0, obstacles=1)
    worlds._course._boxes[0, 0] = box(0.0, 0.0, 0.3)[0, 0]
    qpos = worlds._rest[None].clone()
    qpos[0, 2] += 0.3
    worlds._physics.restart(torch.tensor([0]), qpos, torch.zeros(1, 27))
    for _ in range(6):
        shown, *_ = worlds.step(np.zeros((1, 21), np.float32))
    assert shown[OBSERVATION][0, -2:].tolist() == [1, 1]
    assert worlds._physics.qpos[0, 2] > 1.5
    assert shown[OBSERVATION][0, 0] == pytest.approx(worlds._physics.qpos[0, 2].item() - 0.3)


def test_there_is_never_more_contact_than_there_is_room_for():
    """Humanoids that are thrown, in any pose, on as many boxes as there can be."""
    worlds = made(1, obstacles=MOST)
    body, course = worlds._body, worlds._course
    data, rng, most = mujoco.MjData(body.model), np.random.default_rng(0), 0
    for _ in range(30):
        mujoco.mj_resetData(body.model, data)
        worlds._begin(torch.tensor([0]))
        data.mocap_pos[:], data.mocap_quat[:] = course._boxes[0, :, :3], course._boxes[0, :, 3:]
        place = torch.from_numpy(rng.uniform(-4, 4, 2)).float()
        data.qpos[:2], data.qpos[3:7] = place, rng.normal(size=4)
        data.qpos[2] = 0.4 + heights(place[None, None], course._boxes, course._halves).item()
        data.qpos[7:] = rng.uniform(*body.ranges.T)
        for _ in range(40):
            mujoco.mj_step(body.model, data)
            most = max(most, data.ncon)
    floor = sum(
        {3: 2, 2: 1}[kind] for kind in body.model.geom_type[body.model.geom_contype == BODY]
    )
    assert body.contacts == 4 * floor
    assert floor / 2 < most < body.contacts / 2


def played(seed: int, **settings) -> list[bytes]:
    worlds = TerrainWorlds(NAME, episode_length=12, **settings).make_vector(4, 1)
    shown, _ = worlds.reset(seed=seed)
    draws, told = torch.Generator().manual_seed(2), [shown[HEIGHTS].numpy().tobytes()]
    for _ in range(30):
        shown, *rest, infos = worlds.step(torch.rand(4, 21, generator=draws) * 2 - 1)
        told += [x.numpy().tobytes() for x in (*shown.values(), *rest)]
    assert set(infos.get("final_obs", shown)) == {OBSERVATION, HEIGHTS}
    return told


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_threads():
    once = played(3, threads=1)
    assert played(3, threads=2) == once != played(4, threads=1)


def test_without_boxes_there_is_a_plain_floor():
    worlds = made(2, obstacles=0)
    assert worlds._body.model.nmocap == 0
    shown, *_ = worlds.step(np.zeros((2, 21), np.float32))
    assert not shown[HEIGHTS].any()


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"obstacles": -1}, "obstacles must be from 0 to 64, found -1"),
        ({"obstacles": 65}, "obstacles must be from 0 to 64, found 65"),
        ({"obstacle_height": 1.5}, "obstacle_height must be from 0 to 1, found 1.5"),
        ({"obstacle_tilt": -0.1}, "obstacle_tilt must be from 0 to 0.5, found -0.1"),
        ({"lying": 2.0}, "lying must be from 0 to 1, found 2"),
        ({"obstacles": 1.5}, "obstacles must be a whole number, found 1.5"),
        ({"lying": "a"}, "lying must be a number, found a"),
    ],
)
def test_what_cannot_be_is_one_line(settings, told):
    with pytest.raises(UserError) as caught:
        TerrainWorlds(**{"name": NAME, **settings})
    assert str(caught.value) == told
