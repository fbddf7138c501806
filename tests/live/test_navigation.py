"""Agents of navigation tasks: who can do which, and steps by keys."""

import pytest

from live.agents import make_agent
from live.episodes import Episodes
from nav.agent import FORWARD, STOP
from rearrange.errors import UserError
from tests.helpers.unseen_page import Page, use


@pytest.mark.parametrize(
    ("task", "name"), [("explore", "oracle"), ("pointnav", "frontier"), ("pointnav", "zero")]
)
def test_agents_that_cannot_do_a_navigation_task_are_refused(task, name):
    with pytest.raises(UserError, match=f"there is no {name} player for {task}"):
        make_agent(name, Episodes.find(task, "val", None), None)


def test_an_agent_takes_a_step_for_each_press():
    page = Page()
    walker = make_agent("drive", Episodes.find("pointnav", "val", None), page)
    assert walker.asked() is None
    use(page.gui.keys["arrowup"])
    use(page.gui.keys["pageup"])  # PointNav has no such action
    assert [walker.asked(), walker.asked(), walker.asked()] == [FORWARD, None, None]
    use(page.gui.widgets["stop: I am there"])
    assert walker.asked() == STOP


def test_an_episode_by_hand_ends_with_a_stop():
    page, steps = Page(), []
    walker = make_agent("drive", Episodes.find("pointnav", "val", None), page)

    def show(look, words):
        steps.append(look().step)
        use(page.gui.keys["arrowup" if len(steps) < 3 else "enter"])

    assert walker.play(4, show).startswith("failed: stopped elsewhere, 3 steps, SPL 0.00")
    assert steps == [0, 1, 2, 3]


def test_a_file_of_episodes_is_refused_as_there_are_none():
    with pytest.raises(UserError, match=r"--dataset x\.json\.gz: episodes of flee are sampled"):
        Episodes.find("flee", "val", "x.json.gz")
