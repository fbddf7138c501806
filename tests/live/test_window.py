"""`render_mode="human"`: the page without a browser."""

import sys
import urllib.request
from importlib.abc import MetaPathFinder
from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pytest

import nav  # noqa: F401 - makes the ids known
from live import window
from live.page import Page
from nav.agent import FORWARD
from rearrange import shell
from rearrange.errors import UserError
from tests.helpers import ROOT


@pytest.fixture(autouse=True)
def found(monkeypatch):
    """Let the viewer be found where the project is not installed, and the page be quick."""
    (line,) = [
        each
        for each in (ROOT / "pyproject.toml").read_text().splitlines()
        if each.startswith('browser = "live')
    ]
    point = EntryPoint("browser", line.partition(" = ")[2].strip('"'), shell.VIEWERS)
    monkeypatch.setattr(
        shell, "entry_points", lambda group: [point] if group == shell.VIEWERS else []
    )

    def quick(host, port, title):
        page = Page(host, 0, title)
        page.pace.speed = 1000.0
        return page

    monkeypatch.setattr("live.page.Page", quick)


@pytest.mark.parametrize(
    ("name", "action"),
    [("rearrange/Pick-v0", np.zeros(10, np.float32)), ("rearrange/PointNav-v0", FORWARD)],
)
def test_every_step_is_shown_and_the_address_is_told_once(name, action, capsys):
    steps = 3
    env = gymnasium.make(name, render_mode="human", split="val", homes="classic", camera_size=40)
    told = capsys.readouterr().out
    address = told.split()[0]
    with urllib.request.urlopen(address, timeout=20) as answer:
        assert answer.status == 200
    page = env.unwrapped._viewer._page
    for episode in range(2):
        env.reset(seed=episode)
        for _ in range(steps):
            env.step(action)
        assert env.render() is None
        assert page.controls.told == f"episode {episode}"
        assert len(page._past) == steps + 1
        assert [sight.step for sight in page._past] == list(range(steps + 1))
        assert page._words.content.startswith(f"**{env.unwrapped.task.name}**, home ")
    assert not page.controls.episodes.visible
    env.close()
    env.close()
    assert capsys.readouterr().out == ""


def test_without_viser_it_is_said_in_one_line(monkeypatch):
    class Missing(MetaPathFinder):
        def find_spec(self, name, *rest):
            if name == "live.page":
                raise ImportError("No module named 'viser'", name="viser")

    monkeypatch.delitem(sys.modules, "live.page")
    monkeypatch.setattr(sys, "meta_path", [Missing(), *sys.meta_path])
    with pytest.raises(UserError, match=r"^the live page needs viser: pip install viser$"):
        window.open_page("127.0.0.1", 0, "title")
