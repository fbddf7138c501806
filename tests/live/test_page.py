"""The page in 3D: the home as MuJoCo has it, served to a browser."""

import socket
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest

from live.agents import make_agent
from live.pace import NextEpisode
from live.page import CAMERA, Page, follow, table


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


def test_the_page_is_served_and_agents_play_on_it():
    page = Page("127.0.0.1", free_port(), "test")
    page.pace.speed = 1000.0
    with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/", timeout=20) as answer:
        assert answer.status == 200
    for task, name in (("pick", "policy"), ("pick", "oracle"), ("pick", "zero"), ("pick", "random"),
                       ("open_fridge", "sliders"), ("tidy_house", "oracle")):  # fmt: skip
        told = []

        def show(world, words, told=told):
            page.show(world, words)
            told.append((world.elapsed_steps, words))
            if len(told) == 5:
                page.pace.leave()

        with pytest.raises(NextEpisode):
            make_agent(name, task, "val", page).play(0, show)
        assert len(told) == 5
        assert told[-1][0] > told[0][0]
    assert told[-1][1].count("\n- ") == 20  # the plan of five objects
    page.close()


def test_a_followed_robot_may_be_looked_at_from_anywhere():
    camera, base, step = SimpleNamespace(), np.array([1.0, 2.0, 0.0]), np.array([0.5, 0.0, 0.0])
    follow(camera, base, None)
    np.testing.assert_allclose(camera.position, base + CAMERA)
    camera.position = np.array([5.0, 5.0, 5.0])  # somebody has gone round it
    looked_at = camera.look_at
    follow(camera, base + step, base)
    np.testing.assert_allclose(camera.position, [5.5, 5.0, 5.0])
    np.testing.assert_allclose(camera.look_at, looked_at + step)


def test_rewards_that_are_zero_are_left_out():
    rewards = {"pick": np.array([2.0]), "drop": np.array([0.0])}
    assert table(rewards).splitlines()[2:] == ["| pick | +2.0000 |"]
