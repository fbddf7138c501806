import pytest

from live.agents import make_agent


class FirstLook(Exception):  # noqa: N818 - no error: it leaves the episode
    """The world has been shown."""


def first_episode(task, name):
    seen = []

    def show(world, words):
        seen.append(world.episode)
        raise FirstLook

    with pytest.raises(FirstLook):
        make_agent(name, task, "val", None).play(3, show)
    return seen[0]


@pytest.mark.parametrize("task", ["place", "tidy_house"])
def test_a_number_is_the_same_episode_whoever_acts(task):
    episodes = [first_episode(task, name) for name in ("policy", "oracle", "zero", "random")]
    assert all(episode == episodes[0] for episode in episodes)
