import gymnasium
import pytest

from nav.flee import Flee
from nav.pointnav import PointNav
from nav.table import TASKS, all_tasks, default_config, find_task, register_task
from rearrange import UserError

OURS = ["pointnav", "objectnav", "flee", "explore"]


@pytest.fixture
def corner():
    """A task of one's own, until the test has ended."""
    yield type("Corner", (Flee,), {"name": "dark_corner"})
    TASKS.pop("dark_corner", None)
    gymnasium.registry.pop("rearrange/DarkCorner-v0", None)


def test_every_task_is_found_by_its_name_and_has_settings_of_its_own():
    assert list(all_tasks()) == OURS
    for name, task in all_tasks().items():
        assert task.name == name
        assert find_task(name) is task
        assert default_config(name) == task.config_type()


def test_unknown_tasks_are_refused_with_those_that_there_are():
    with pytest.raises(UserError, match="unknown navigation task 'hide': choose one of pointnav"):
        find_task("hide")


def test_a_task_of_ones_own_is_known_to_gymnasium_too(corner):
    assert register_task(corner) is register_task(corner) is find_task("dark_corner")
    env = gymnasium.make("rearrange/DarkCorner-v0", split="val", homes="classic", camera_size=8)
    observation, _ = env.reset(seed=0)
    assert set(observation) == {"depth", "gps", "compass"}
    env.close()


def test_a_name_belongs_to_one_task():
    with pytest.raises(UserError, match=r"'pointnav' of .*: nav\.pointnav has one of that name"):
        register_task(type("Other", (PointNav,), {}))
    assert list(TASKS) == OURS
