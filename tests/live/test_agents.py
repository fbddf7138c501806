from types import SimpleNamespace

import pytest

from live.agents import Player, make_agent
from live.episodes import Episodes
from rearrange.errors import UserError
from skills.settings import CHECKPOINTS


class FirstLook(Exception):  # noqa: N818 - no error: it leaves the episode
    """The world has been shown."""


def first_sight(episodes, name, number):
    seen = []

    def show(look, *told):
        seen.append(look(None))
        raise FirstLook

    with pytest.raises(FirstLook):
        make_agent(name, episodes, None).play(number, show)
    return seen[0]


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("place", ("policy", "oracle", "zero", "random")),
        pytest.param("tidy_house", ("policy", "oracle", "zero", "random"), marks=pytest.mark.slow),
        ("pointnav", ("policy", "oracle", "random")),
        ("objectnav", ("policy", "frontier", "random")),
    ],
)
def test_a_number_is_the_same_episode_whoever_acts(task, names):
    episodes = Episodes.find(task, "val", "sampled")
    scenes = [first_sight(episodes, name, 3).scene for name in names]
    assert all(scene == scenes[0] for scene in scenes)
    assert first_sight(episodes, names[-1], 4).scene != scenes[0]


def test_a_policy_of_another_task_is_refused():
    episodes = Episodes.find("pick", "val", None)
    with pytest.raises(UserError, match="holds a policy of another task than pick"):
        make_agent("policy", episodes, None, CHECKPOINTS / "place.safetensors")


def test_who_plays_where_nobody_can_look_is_refused():
    player = SimpleNamespace(environment=SimpleNamespace())
    with pytest.raises(UserError, match="only worlds of sim=mujoco can be watched"):
        Player(lambda number: (number, None), player, None)


def test_the_first_chore_follows_on_the_last(monkeypatch):
    played = []

    class Runner:
        def __init__(self, settings):
            pass

        def play(self, number, observers):
            played.append(number)
            return SimpleNamespace(execution=None)

    monkeypatch.setattr("live.agents.EpisodeRunner", Runner)
    monkeypatch.setattr("live.agents.ending_of", lambda execution: "")
    for dataset, expected in ((None, 7), ("sampled", 207)):
        episodes = Episodes.find("tidy_house", "val", dataset)
        make_agent("policy", episodes, None).play(207, lambda *_: None)
        assert played.pop() == expected


def test_new_plans_and_new_drives_are_the_executives(monkeypatch):
    asked = []
    monkeypatch.setattr("live.agents.EpisodeRunner", asked.append)
    episodes = Episodes.find("tidy_house", "val", None)
    make_agent("policy", episodes, None)
    make_agent("policy", episodes, None, None, 3, 2)
    mended = [(each.replanning.limit, each.executive.redrives) for each in asked]
    assert mended == [(0, 0), (3, 2)]
