"""The page is served to a browser, shows every kind of agent, and its camera follows."""

import itertools
import urllib.request
from types import SimpleNamespace

import numpy as np
import pytest

import live.page
from live.agents import make_agent
from live.episodes import Episodes
from live.geometry import parts_in
from live.pace import NextEpisode
from live.page import CAMERA, enlarged, follow, named


def test_the_page_is_served_and_agents_play_on_it(page):
    with urllib.request.urlopen(f"http://127.0.0.1:{page.port}/", timeout=20) as answer:
        assert answer.status == 200
    for task, name in (("pick", "policy"), ("pick", "oracle"), ("pick", "zero"), ("pick", "random"),
                       ("open_fridge", "drive"), ("tidy_house", "oracle"), ("pointnav", "policy"),
                       ("pointnav", "oracle"), ("objectnav", "policy"), ("objectnav", "frontier"),
                       ("explore", "random"), ("flee", "oracle")):  # fmt: skip
        told = []

        def show(look, *words, told=told):
            page.show(look, *words)
            told.append((look(None).step, words))
            if len(told) == 5:
                page.pace.leave()

        with pytest.raises(NextEpisode):
            make_agent(name, Episodes.find(task, "val", None), page).play(0, show)
        assert len(told) == 5
        assert told[-1][0] > told[0][0]
        if task == "tidy_house":
            plan, beliefs = told[-1][1]
            assert plan.count("<div") == 21  # of five objects
            assert beliefs.count("object_") == 5


def test_every_body_stands_where_the_world_has_it_also_in_the_next_episode(page, monkeypatch):
    """Only what moved is sent."""
    monkeypatch.setattr(live.page, "POSES", 0.0)
    monkeypatch.setattr(page.pace, "wait", lambda: None)
    seen = 0

    def show(look, *words):
        nonlocal seen
        page.show(look, *words)
        sight = look(None)
        for body, frame in page._moving.items():
            np.testing.assert_allclose(frame.position, sight.poses[body, :3], atol=1e-6)
            np.testing.assert_allclose(frame.wxyz, sight.poses[body, 3:], atol=1e-6)
        seen += 1
        if seen % 4 == 0:
            raise NextEpisode

    agent = make_agent("random", Episodes.find("open_fridge", "val", None), page)
    for episode in (0, 1):
        with pytest.raises(NextEpisode):
            agent.play(episode, show)
    assert seen == 8


def test_what_stays_in_the_next_home_is_not_sent_again(page):
    """The robot and its names stay; the home is another."""
    episodes = Episodes.find("pick", "val", None)
    meshes, messages = [], []

    def show(look, *words):
        page.draw(look, *words)
        meshes.append({name: mesh for name, (_, mesh) in page._parts.items()})
        messages.append(len(page.server._websock_server._broadcast_buffer.message_from_id))
        raise NextEpisode

    agent = make_agent("zero", episodes, page)
    for episode in range(0, 30, 5):
        with pytest.raises(NextEpisode):
            agent.play(episode, show)
    for before, after in itertools.pairwise(meshes):
        same = {name for name in before if after.get(name) is before[name]}
        assert 40 < len(same) < len(after)
        assert set(page._moving) == {
            int(name.split("/")[1][5:]) for name in after if "body" in name
        }
    assert set(meshes[-1]) == set(named(parts_in(page._past[-1])))
    assert messages[-1] < 1.5 * messages[1]  # else who comes late gets all homes


def test_a_world_that_waits_for_a_key_is_one_step_to_look_back_at(page):
    drawn = itertools.count(1)

    def show(look, *words):
        page.draw(look, *words)
        if next(drawn) == 5:
            raise NextEpisode

    with pytest.raises(NextEpisode):
        make_agent("drive", Episodes.find("pointnav", "val", None), page).play(0, show)
    assert [sight.step for sight in page._past] == [0]


def test_parts_of_a_body_are_numbered():
    a, b, c = (SimpleNamespace(body=body) for body in (0, 3, 3))
    assert named([a, b, c]) == {"/home/part_0": a, "/body_3/part_0": b, "/body_3/part_1": c}


def test_it_pauses_at_a_step_once_somebody_looks(page, monkeypatch):
    watched, seen = [], []
    monkeypatch.setattr(type(page), "is_watched", property(lambda _: bool(watched)))
    page.pause_at = 2

    def show(look, *words):
        page.draw(look, *words)
        seen.append(page.pace.paused)
        if len(seen) == 5:
            raise NextEpisode
        watched.extend([True] * (len(seen) == 4))

    with pytest.raises(NextEpisode):
        make_agent("random", Episodes.find("explore", "val", None), page).play(0, show)
    assert seen == [False] * 4 + [True]
    assert page.pause_at is None


def test_a_followed_robot_stays_in_the_middle_from_wherever_it_is_seen():
    base, step = np.array([1.0, 2.0, 0.0]), np.array([0.5, 0.0, 0.0])
    camera = SimpleNamespace(aspect=1.6, position=np.zeros(3), look_at=np.zeros(3))
    follow(camera, base, None)
    np.testing.assert_allclose(camera.position, base + CAMERA)
    middle = camera.look_at
    camera.position = np.array([5.0, 5.0, 5.0])  # somebody has gone round it
    follow(camera, base, base)
    np.testing.assert_allclose(camera.position, [5.0, 5.0, 5.0])
    camera.position, camera.look_at = camera.position - 0.3, camera.look_at - 0.3  # it is late
    follow(camera, base + step, base)
    np.testing.assert_allclose(camera.look_at, middle + step)
    np.testing.assert_allclose(camera.position, np.array([5.0, 5.0, 5.0]) + step)


def test_on_upright_screens_the_robot_stands_above_the_panel():
    wide = SimpleNamespace(aspect=1.6, position=np.zeros(3), look_at=np.zeros(3))
    upright = SimpleNamespace(aspect=0.5, position=np.zeros(3), look_at=np.zeros(3))
    for camera in (wide, upright):
        follow(camera, np.zeros(3), None)
    assert upright.look_at[2] < wide.look_at[2]


def test_a_small_picture_is_enlarged_by_whole_pixels():
    picture = np.arange(64 * 64 * 3, dtype=np.uint8).reshape(64, 64, 3)
    large = enlarged(picture)
    assert large.shape == (128, 128, 3)
    np.testing.assert_array_equal(large[::2, 1::2], picture)
    assert enlarged(large).shape == large.shape
