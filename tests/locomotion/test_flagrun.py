"""Humanoids that run to flags, and stand up."""

import numpy as np
import pytest
import torch

from locomotion.flagrun import BACK, FACE, FLAG_STAYS, LOW_FOR, Flagrun, FlagrunWorlds, lying_height
from locomotion.humanoid import HUMANOID
from locomotion.robots import compile_robot
from locomotion.running import Motion, Pose
from locomotion.worlds import OBSERVATION, LocomotionVectorEnv
from ver.errors import UserError

NAME = "humanoid_flagrun"
STILL = np.zeros((1, 21), np.float32)


def course(count: int = 1, **settings: float) -> Flagrun:
    values = {"within": 100.0, "lying": 0.0, **settings}
    return Flagrun(compile_robot(HUMANOID), count, "cpu", **values)


def made(count: int = 1, **settings) -> LocomotionVectorEnv:
    worlds = FlagrunWorlds(NAME, threads=1, **settings).make_vector(count, 0)
    worlds.reset(seed=0)
    return worlds


def motion(place: tuple[float, float], target: torch.Tensor) -> Motion:
    qpos, none = torch.zeros(1, 28), torch.zeros(1, 27)
    qpos[0, :2] = torch.tensor(place)
    return Motion(qpos, none, none, none, target)


def pose(speed: float) -> Pose:
    none = torch.zeros(1)
    return Pose(none, none, none, none, none, torch.tensor([speed]))


def test_observations_and_actions_are_the_humanoids():
    worlds = made(2)
    assert worlds.single_observation_space[OBSERVATION].shape == (76,)
    assert worlds.single_action_space.shape == (21,)


def test_flags_stand_anywhere_in_a_disk_around_the_robot():
    flags = course(4000)
    flags.begin(torch.arange(4000), torch.full((4000, 28), 7.0), torch.rand)
    away = (flags.target - 7.0).norm(dim=-1)
    assert 99 < away.max() <= 100
    # A disk of half the radius has a quarter of the area
    assert (away < 50).float().mean() == pytest.approx(0.25, abs=0.03)
    assert (flags.target - 7.0).mean(0).norm() < 5


def test_a_flag_moves_after_200_frames_or_once_it_is_reached():
    flags = course()
    flags.begin(torch.tensor([0]), torch.zeros(1, 28), torch.rand)
    first = flags.target.clone()
    for frame in range(1, FLAG_STAYS + 1):
        assert torch.equal(flags.target, first)
        flags.advance(motion((0.0, 0.0), flags.target), pose(2.0), torch.rand)
        assert flags.metrics(torch.tensor([frame]))["speed"].tolist() == [2.0]
    assert not torch.equal(flags.target, first)
    assert flags.metrics(torch.tensor([200]))["flags"].tolist() == [0]
    for away, reached in ((1.01, 0), (0.99, 1)):
        second = flags.target.clone()
        x, y = second[0].tolist()
        flags.advance(motion((x + away, y), flags.target), pose(0.0), torch.rand)
        assert torch.equal(flags.target, second) == (not reached)
        assert flags.metrics(torch.tensor([1]))["flags"].tolist() == [reached]
    flags.begin(torch.tensor([0]), torch.zeros(1, 28), torch.rand)
    assert flags.metrics(torch.tensor([1]))["flags"].tolist() == [0]


def test_speed_is_paid_and_seen_towards_the_flag_that_there_is():
    """To (30, 40) a robot with (3, 4) m/s runs at 5 m/s; the new flag, to the left, is seen at once."""
    worlds = made(lying=0.0, push=0.0)
    course, rest = worlds._course, worlds._rest[None].clone()
    course.target[0] = torch.tensor([30.0, 40.0])
    speeds = torch.zeros(1, 27)
    speeds[0, :2] = torch.tensor([3.0, 4.0])
    rest[0, 2] += 1.0  # in the air nothing slows it down but its own springs
    worlds._physics.restart(torch.tensor([0]), rest, speeds)
    before = worlds._course._left.item()
    shown, reward, *_ = worlds.step(STILL)
    assert course._left.item() == before - 1
    # alive, speed, half of the heading 0.6 / 0.8, standing
    assert reward.item() == pytest.approx(2.0 + 5.0 + 0.5 * 0.75 + 0.05, abs=0.05)
    assert shown[OBSERVATION][0, 9:11].tolist() == pytest.approx([0.8, 0.6], abs=0.02)
    course._left[0] = 1
    shown, *_ = worlds.step(STILL)
    way = course.target[0] - worlds._physics.qpos[0, :2]
    assert not torch.equal(course.target[0], torch.tensor([30.0, 40.0]))
    seen = shown[OBSERVATION][0, [10, 9]]
    torch.testing.assert_close(seen, way / way.norm(), atol=0.05, rtol=0)


def test_an_episode_ends_after_160_frames_on_the_ground():
    flags = course()
    flags.begin(torch.tensor([0]), torch.zeros(1, 28), torch.rand)
    low, high = torch.tensor([True]), torch.tensor([False])
    assert not any(flags.over(low).item() for _ in range(LOW_FOR - 1))
    assert not flags.over(high).item()
    # One frame was counted back: 159, 158, 159, 160
    assert [flags.over(low).item() for _ in range(2)] == [False, True]
    flags.begin(torch.tensor([0]), torch.zeros(1, 28), torch.rand)
    assert not any(flags.over(high).item() for _ in range(300))
    assert [flags.over(low).item() for _ in range(LOW_FOR)].index(True) == LOW_FOR - 1


def test_a_robot_that_stays_down_ends_in_frame_160():
    worlds = made(lying=1.0, push=0.0)
    for frame in range(1, LOW_FOR + 1):
        shown, _, terminated, truncated, infos = worlds.step(STILL)
        assert terminated.item() == (frame == LOW_FOR)
    assert not truncated.any()
    metrics = infos["final_info"]["metrics"]
    assert metrics["fell"].tolist() == [1]
    assert abs(metrics["speed"].item()) < 0.5
    assert infos["final_obs"][OBSERVATION][0, 0] < 0.8
    assert shown[OBSERVATION].shape == (1, 76)


def test_half_of_the_episodes_begin_on_the_ground():
    worlds = made(400)
    qpos = worlds._physics.qpos
    w, x, y, z = qpos[:, 3:7].T
    up = 2 * (x * z - w * y)  # z of the torso's x: 1 on the back, -1 on the face
    stands = up.abs() < 0.2
    assert stands.float().mean() == pytest.approx(0.5, abs=0.1)
    assert (up > 0.9).float().mean() == pytest.approx(0.25, abs=0.08)
    assert (up < -0.9).float().mean() == pytest.approx(0.25, abs=0.08)
    assert torch.all(qpos[stands, 2] > 1.2)
    assert torch.all(qpos[~stands, 2] < 0.6)
    for lying in (0.0, 1.0):
        few = made(20, lying=lying)
        assert torch.all((few._physics.qpos[:, 2] < 0.6) == bool(lying))


def test_who_lies_touches_the_floor_and_is_not_in_it():
    """On its back the buttocks are lowest, on its face the toes of straight feet."""
    body = compile_robot(HUMANOID)
    assert lying_height(body, BACK) == pytest.approx(0.09 + 0.02 + 0.01)
    assert lying_height(body, FACE) > 0.14
    worlds = made(50, lying=1.0)
    before = worlds._physics.qpos[:, 2].clone()
    for _ in range(5):
        worlds.step(np.zeros((50, 21), np.float32))
    assert torch.all(worlds._physics.qpos[:, 2] < before + 0.05)  # nothing is thrown out


def test_torsos_are_pushed():
    quiet, pushed = made(16, lying=0.0, push=0.0), made(16, lying=0.0, push=5.0)
    for worlds in (quiet, pushed):
        worlds._pushed_at[:] = 1
        worlds.step(np.zeros((16, 21), np.float32))
    change = (pushed._physics.qvel - quiet._physics.qvel)[:, :2].norm(dim=-1)
    assert torch.all(change > 0)
    assert change.max() < 0.1


def played(seed: int) -> list[bytes]:
    worlds = FlagrunWorlds(NAME, threads=1, episode_length=15).make_vector(4, 1)
    shown, _ = worlds.reset(seed=seed)
    draws, told = torch.Generator().manual_seed(2), [shown[OBSERVATION].numpy().tobytes()]
    for _ in range(40):
        shown, *rest, _ = worlds.step(torch.rand(4, 21, generator=draws) * 2 - 1)
        told += [x.numpy().tobytes() for x in (shown[OBSERVATION], *rest)]
    return told


def test_the_same_seed_gives_the_same_bytes():
    once = played(3)
    assert played(3) == once != played(4)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"name": "ant"}, "locomotion has no 'ant'; choose humanoid_flagrun"),
        ({"flag_within": 0.5}, "flag_within must be from 1 to 500, found 0.5"),
        ({"flag_within": float("nan")}, "flag_within must be from 1 to 500, found nan"),
        ({"lying": 1.5}, "lying must be from 0 to 1, found 1.5"),
        ({"push": -1.0}, "push must be at least 0, found -1.0"),
    ],
)
def test_what_cannot_be_is_one_line(settings, told):
    with pytest.raises(UserError) as caught:
        FlagrunWorlds(**{"name": NAME, **settings})
    assert str(caught.value) == told
