"""The shell over worlds that only count: what it adds is seen without a simulator."""

from importlib.metadata import EntryPoint

import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from rearrange import shell
from rearrange.errors import UserError
from tests.helpers.counters import Counters, Single

ACTION = np.ones(1, np.float32)


def test_a_repeated_action_ends_with_the_episode_and_every_step_is_told():
    env, told = Single(Counters(1, repeat=3), None, None), []
    env.after_step = lambda env: told.append(float(env.observe()["count"][0]))
    env.reset(options={"episode": 4})
    assert env.episode == 4
    assert env.step(ACTION)[1:] == (3.0, False, False, {})
    observation, reward, *over, info = env.step(ACTION)
    assert (reward, over) == (1.0, [True, False])
    assert info == {"metrics": {"success": 1.0, "length": 4.0}, "is_success": True}
    assert observation["count"] == [4.0]
    assert told == [1.0, 2.0, 3.0, 4.0]


def test_a_seed_given_at_the_beginning_is_told_to_the_worlds():
    worlds = Counters(1)
    env = Single(worlds, 7, None)
    env.reset(options={"episode_number": 5})
    assert worlds.asked == [(0, 7, 5)]
    first = env.episode
    again = Single(Counters(1), None, None)
    again.reset(seed=7)
    assert again.episode == first


@pytest.mark.parametrize("number", ["3", -1, 2.5])
def test_a_number_of_an_episode_is_whole(number):
    env = Single(Counters(1), 7, None)
    before = env.np_random.bit_generator.state
    with pytest.raises(
        UserError, match=r"^options\[\"episode_number\"\] must be a whole number from 0, found "
    ):
        env.reset(seed=3, options={"episode_number": number})
    assert env.np_random.bit_generator.state == before


def test_a_refused_episode_leaves_the_one_before():
    env = Single(Counters(1), None, None)
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before using"):
        _ = env.episode
    with pytest.raises(ResetNeeded, match=r"call reset\(\) before step"):
        env.step(ACTION)
    env.reset(options={"episode": 4})
    with pytest.raises(UserError, match="too short"):
        env.reset(options={"episode": -1})
    assert env.episode == 4


def test_after_the_end_a_step_is_refused_until_the_next_episode():
    env = Single(Counters(1), None, None)
    env.reset(options={"episode": 1})
    assert env.step(-ACTION)[3]
    with pytest.raises(ResetNeeded, match=r"^the episode is over: call reset\(\) before step\(\)$"):
        env.step(ACTION)
    with pytest.raises(UserError, match="too short"):
        env.reset(options={"episode": -1})
    with pytest.raises(ResetNeeded):  # that was no beginning
        env.step(ACTION)
    env.reset(options={"episode": 2})
    assert env.step(ACTION)[2] is False


def test_every_episode_is_drawn_anew():
    assert Single(Counters(1), None, None).render() is None
    with pytest.raises(
        UserError, match=r"^render_mode must be rgb_array, human or None, found 'ansi'$"
    ):
        Single(Counters(1), None, "ansi")
    env = Single(Counters(1), None, "rgb_array")
    with pytest.raises(ResetNeeded, match="before render"):
        env.render()
    pictures = []
    for _ in range(2):
        env.reset(seed=0)
        pictures += [env.render()[1], env.render()[1]]
    assert pictures == [1, 2, 1, 2]


class Recorder:
    """A viewer that notes what it is to show."""

    def __init__(self, env):
        self.env, self.told = env, []
        env.recorder = self

    def show(self):
        self.told.append(float(self.env.observe()["count"][0]))

    def close(self):
        self.told.append("closed")


@pytest.fixture
def viewers(monkeypatch):
    """Let entry points of viewers be these."""

    def use(*values):
        points = [EntryPoint(f"v{k}", value, shell.VIEWERS) for k, value in enumerate(values)]
        monkeypatch.setattr(shell, "entry_points", lambda group: points[::-1])

    return use


def test_a_person_is_shown_every_step_of_the_world(viewers):
    viewers(f"{__name__}:Recorder", "no_such_package:Viewer")
    env = Single(Counters(1, repeat=2), None, "human")
    env.reset(options={"episode": 9})
    env.step(ACTION)
    assert env.render() is None
    env.step(ACTION)
    env.close()
    env.close()
    assert env.recorder.told == [0.0, 1.0, 2.0, 3.0, 4.0, "closed"]


def test_without_a_viewer_nothing_is_begun(viewers):
    viewers()
    with pytest.raises(UserError, match=r"^render_mode=human: no package with a viewer"):
        Single(Counters(1), None, "human")
    viewers("no_such_package:Viewer")
    with pytest.raises(UserError, match=r"^viewer 'v0' cannot be loaded from no_such_package"):
        Single(Counters(1), None, "human")
