import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from nav.agent import AgentConfig
from nav.env import NavEnv
from nav.table import TASKS
from rearrange.navigation.map import GOAL, PATH, ROBOT, TARGET
from rearrange.scenes.registry import CLASSIC
from tests.helpers.colours import colours_of

SHAPE = (360, 720, 3)


def colours(picture):
    """Colours of the map, the right half."""
    return colours_of(picture[:, 360:])


def make(task, **options):
    agent = AgentConfig(camera_size=24, **options)
    return NavEnv(task, split="val", homes=CLASSIC, agent=agent, render_mode="rgb_array")


@pytest.mark.parametrize("task", TASKS)
def test_a_picture_shows_the_agent_and_what_it_looks_for(task):
    env = make(task)
    env.reset(seed=3)
    picture = env.render()
    assert picture is not None
    assert (picture.shape, picture.dtype) == (SHAPE, np.uint8)
    marks = {GOAL: task == "pointnav", TARGET: task == "objectnav", ROBOT: True}
    shown = colours(picture)
    assert {mark: mark in shown for mark in marks} == marks


def test_the_map_shows_the_way_so_far():
    env = make("explore")
    env.reset(seed=0)
    env.render()
    for _ in range(12):
        env.step(1)
        picture = env.render()
    assert picture is not None
    assert PATH in colours(picture)
    env.reset()
    again = env.render()
    assert again is not None
    assert PATH not in colours(again)


def test_the_agents_own_image_is_in_colour_if_it_sees_colours():
    env = make("pointnav", rgb=True)
    observation, _ = env.reset(seed=0)
    picture = env.render()
    assert picture is not None
    np.testing.assert_array_equal(picture[7:360:15, 7:360:15], observation["rgb"])


def test_without_a_mode_or_an_episode_nothing_is_drawn():
    env = NavEnv("pointnav", split="val", agent=AgentConfig(camera_size=16))
    env.reset(seed=0)
    assert env.render() is None
    with pytest.raises(ResetNeeded, match=r"reset\(\) before render"):
        make("pointnav").render()
