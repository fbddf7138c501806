"""Agents of navigation tasks: who can do which, and steps by keys."""

import os
import shutil

import pytest

from live import navigation
from live.agents import make_agent
from live.episodes import Episodes
from live.navigation import Keys
from nav.agent import FORWARD, STOP
from nav.env import NavEnv
from rearrange.errors import UserError
from skills.settings import CHECKPOINTS
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


def test_a_checkpoint_that_changes_is_read_again(tmp_path, monkeypatch):
    path = tmp_path / "policy.safetensors"
    shutil.copy(CHECKPOINTS / "objectnav.safetensors", path)
    agent = make_agent("policy", Episodes.find("objectnav", "val", None), None, path)
    read = []
    monkeypatch.setattr(navigation, "PolicyRunner", lambda *args: read.append(args) or Fake())
    agent._begin(agent._env, 0)
    assert not read
    os.utime(path, ns=(0, 1))
    for _ in range(2):
        agent._begin(agent._env, 0)
    assert read == [(path, True)]


class Fake:
    """A runner that does nothing."""

    deterministic = True

    def restart(self):
        """See `PolicyRunner`."""


def test_a_file_of_episodes_is_refused_as_there_are_none():
    with pytest.raises(UserError, match=r"--dataset x\.json\.gz: episodes of flee are sampled"):
        Episodes.find("flee", "val", "x.json.gz")
