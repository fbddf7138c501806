"""Agents of navigation tasks: who can do which, and steps by keys."""

import pytest

from live.agents import make_agent
from live.episodes import Episodes
from live.navigation import Keys
from nav.agent import FORWARD, STOP
from nav.env import NavEnv
from rearrange.errors import UserError
from tests.helpers.unseen_page import Page, use


@pytest.mark.parametrize(
    ("task", "name"), [("explore", "oracle"), ("pointnav", "frontier"), ("pointnav", "zero")]
)
def test_agents_that_cannot_do_a_navigation_task_are_refused(task, name):
    with pytest.raises(UserError, match=f"--agent {name} cannot do {task}"):
        make_agent(name, Episodes.find(task, "val", None), None)


def test_an_agent_takes_a_step_for_each_press():
    page = Page()
    keys = Keys(page)
    env = NavEnv("pointnav", split="val")
    act = keys(env, 0)
    assert act({}) is None
    use(page.gui.keys["arrowup"])
    use(page.gui.keys["pageup"])  # PointNav has no such action
    assert [act({}), act({}), act({})] == [FORWARD, None, None]
    use(page.gui.widgets["stop: I am there"])
    assert act({}) == STOP
