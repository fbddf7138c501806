"""Ants as worlds that are stepped together."""

import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from locomotion.worlds import OBSERVATION, PUSHED_EVERY, LocomotionWorlds
from ver.errors import UserError


def played(steps: int, **settings) -> list[bytes]:
    """What eight ants show and are paid with random actions."""
    worlds = LocomotionWorlds("ant", **settings).make_vector(8, 1)
    shown, _ = worlds.reset(seed=4)
    draws, told = torch.Generator().manual_seed(2), [shown[OBSERVATION].numpy().tobytes()]
    for _ in range(steps):
        shown, *rest, _ = worlds.step(torch.rand(8, 8, generator=draws) * 2 - 1)
        told += [x.numpy().tobytes() for x in (shown[OBSERVATION], *rest)]
    worlds.close()
    return told


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_threads():
    once = played(60, threads=1, episode_length=20)
    assert played(60, threads=1, episode_length=20) == once
    assert played(60, threads=3, episode_length=20) == once


def test_another_seed_begins_otherwise():
    worlds = LocomotionWorlds("ant").make_vector(3, 1)
    first = worlds.reset(seed=1)[0][OBSERVATION]
    assert not torch.equal(worlds.reset(seed=2)[0][OBSERVATION], first)
    for same in ([1, 2, 3], np.int64(1)):
        assert torch.equal(worlds.reset(seed=same)[0][OBSERVATION], first)
    assert not torch.equal(first[0], first[1])


def test_an_episode_ends_when_its_time_is_out_and_begins_again_in_that_step():
    worlds = LocomotionWorlds("ant", episode_length=3, push=0).make_vector(2, 0)
    assert worlds.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    worlds.reset(seed=0)
    for step in (1, 2, 3):
        shown, _, terminated, truncated, infos = worlds.step(np.full((2, 8), 0.5, np.float32))
        assert not terminated.any()
        assert truncated.tolist() == [step == 3] * 2
    last, first = infos["final_obs"][OBSERVATION], shown[OBSERVATION]
    assert last[:, 27:35].tolist() == [[0.5] * 8] * 2  # what the motors did
    assert not first[:, 27:].any()
    metrics = infos["final_info"]["metrics"]
    assert metrics["fell"].tolist() == [0, 0]
    assert metrics["_speed"].all()


def test_speed_is_metres_along_x_for_each_second():
    worlds = LocomotionWorlds("ant", episode_length=60).make_vector(1, 0)
    worlds.reset(seed=0)
    worlds._physics.restart(torch.tensor([0]), worlds._rest[None], torch.zeros(1, 14))
    worlds._from[0] = -2.0
    for _ in range(60):  # a second: frames are two timesteps of 1/120 s
        *_, infos = worlds.step(np.zeros((1, 8), np.float32))
    assert infos["final_info"]["metrics"]["speed"].item() == pytest.approx(2.0, abs=0.01)


def test_an_ant_on_its_back_ends():
    worlds = LocomotionWorlds("ant").make_vector(3, 0)
    worlds.reset(seed=0)
    low = worlds._rest.clone()
    low[2], low[3:7] = 0.25, torch.tensor([0.0, 1.0, 0.0, 0.0])
    worlds._physics.restart(torch.tensor([1]), low[None], torch.zeros(1, 14))
    shown, _, terminated, truncated, infos = worlds.step(np.zeros((3, 8), np.float32))
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert infos["final_obs"][OBSERVATION][1, 0] < 0.26 < shown[OBSERVATION][1, 0]
    assert infos["final_info"]["metrics"]["fell"].tolist() == [0, 1, 0]
    assert infos["final_info"]["metrics"]["_fell"].tolist() == [False, True, False]


def test_starts_are_a_little_beside_a_rest():
    worlds = LocomotionWorlds("ant").make_vector(500, 0)
    shown = worlds.reset(seed=0)[0][OBSERVATION].numpy()
    assert 0.52 < shown[:, 0].min() < shown[:, 0].max() < 0.63
    for columns, most in ((slice(1, 3), 0.06), (slice(3, 9), 0.15), (slice(19, 27), 0.1)):
        spread = np.abs(shown[:, columns]).max(0)
        assert np.all(spread < most)
        assert np.all(spread > 0.8 * 0.05)
    hips = shown[:, 11:19:2]
    assert 0.09 < np.abs(hips).max() < 0.1


def test_every_torso_is_pushed_once_in_200_to_300_frames():
    worlds = LocomotionWorlds("ant", push=5.0).make_vector(64, 0)
    worlds.reset(seed=0)
    pushes = []
    for frame in range(1, 1000):
        worlds._clock += 1
        force = worlds._push()
        pushes += [(who, frame, force[who]) for who in force.any(-1).nonzero().flatten().tolist()]
    sizes = torch.stack([force for *_, force in pushes]).norm(dim=-1)
    assert 4.5 < sizes.max() <= 5.0
    assert not any(float(force[2]) for *_, force in pushes)
    for robot in range(64):
        times = [0, *(frame for who, frame, _ in pushes if who == robot)]
        waits = np.diff(times)
        assert len(waits) >= 3
        assert PUSHED_EVERY[0] <= waits.min() <= waits.max() <= PUSHED_EVERY[1]


def test_actions_beyond_the_box_are_cut():
    answers = []
    for size in (1.0, 7.0):
        worlds = LocomotionWorlds("ant").make_vector(1, 0)
        worlds.reset(seed=0)
        answers.append(worlds.step(np.full((1, 8), size, np.float32))[1].item())
    assert answers[0] == answers[1]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there_is_one_line():
    with pytest.raises(UserError, match=r"there is no CUDA device|mujoco-warp cannot be imported"):
        LocomotionWorlds("ant", device="cuda").make_vector(2, 0)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"name": "bee"}, "locomotion has no 'bee'; choose ant, humanoid"),
        ({"episode_length": 0}, "episode_length must be at least 1, found 0"),
        ({"substeps": 0}, "substeps must be at least 1, found 0"),
        ({"substeps": 1.5}, "substeps must be a whole number, found 1.5"),
        ({"threads": -1}, "threads must be at least 0, found -1"),
        ({"push": "hard"}, "push must be at least 0, found hard"),
        ({"push": -1.0}, "push must be at least 0, found -1"),
        ({"device": "tpu"}, "device must be cpu, cuda, cuda:N or warp-cpu, found tpu"),
        ({"reward": "more"}, "reward must be one of paper, mean, found more"),
    ],
)
def test_what_cannot_be_is_one_line(settings, told):
    with pytest.raises(UserError) as caught:
        LocomotionWorlds(**{"name": "ant", **settings})
    assert str(caught.value).startswith(told)
