"""The page in 3D: the home as MuJoCo has it, served to a browser."""

import socket
import urllib.request
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest

from live.agents import make_agent
from live.geometry import parts_of
from live.pace import NextEpisode
from live.page import CAMERA, Page, follow, table
from rearrange.robot.fetch import FETCH
from rearrange.sim.apartment_model import load_apartment


def free_port():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return held.getsockname()[1]


@pytest.fixture(scope="module")
def home():
    model = load_apartment(5000, 0, FETCH).model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


def test_every_part_lies_where_the_geoms_of_its_body_do(home):
    model, data = home
    for part in parts_of(model, data):
        vertices = part.vertices
        if part.body:
            vertices = vertices @ data.xmat[part.body].reshape(3, 3).T + data.xpos[part.body]
            geoms = np.flatnonzero(model.geom_bodyid == part.body)
        else:
            geoms = np.flatnonzero(model.body_weldid[model.geom_bodyid] == 0)
        # Each corner is on a geom: no farther from its centre than its bounding sphere reaches.
        away = np.linalg.norm(vertices[:, None] - data.geom_xpos[geoms], axis=2)
        assert (away <= model.geom_rbound[geoms] + 1e-6).any(axis=1).all()


def test_a_box_has_its_size(home):
    model, data = home
    handle = next(
        part for part in parts_of(model, data)
        if model.body(part.body).name.startswith("object_")
        and (model.geom_type[model.geom_bodyid == part.body] == mujoco.mjtGeom.mjGEOM_BOX).all()
        and (model.geom_bodyid == part.body).sum() == 1
    )  # fmt: skip
    (geom,) = np.flatnonzero(model.geom_bodyid == handle.body)
    np.testing.assert_allclose(
        np.ptp(handle.vertices, axis=0), 2 * model.geom_size[geom], atol=1e-9
    )


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
