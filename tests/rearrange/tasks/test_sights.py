from types import SimpleNamespace

import numpy as np
import pytest

from rearrange.env import RearrangeEnv
from rearrange.robot.fetch import FETCH
from rearrange.shipped import ACTING
from rearrange.sim.config import SimulatorConfig
from rearrange.tasks import NavigateConfig, PickConfig, PlaceConfig
from rearrange.tasks.floor_map import FLOOR_MAP
from rearrange.tasks.glimpse import GLIMPSE
from rearrange.tasks.map_way import MAP_WAY
from rearrange.tasks.sights import SIGHTS, Sights

SIZE = 32
ALL = SimpleNamespace(floor_map=True, map_way=True, glimpse=True)
SOMETHING = 0  # channel of the floor map

CASES = [
    ("navigate", NavigateConfig(), []),
    ("navigate", NavigateConfig(floor_map=True), [FLOOR_MAP]),
    ("navigate", NavigateConfig(map_way=True), [MAP_WAY]),
    ("navigate", NavigateConfig(floor_map=True, map_way=True), [FLOOR_MAP, MAP_WAY]),
    ("pick", PickConfig(), []),
    ("pick", PickConfig(glimpse=True), [GLIMPSE]),
    ("place", PlaceConfig(glimpse=True), [GLIMPSE]),
]


@pytest.mark.parametrize(("name", "config", "shown"), CASES)
def test_settings_say_what_is_shown(name, config, shown):
    env = RearrangeEnv(name, config, "val", SimulatorConfig(camera_size=SIZE))
    observation, _ = env.reset(seed=1)
    assert [key for key in observation if key in (FLOOR_MAP, MAP_WAY, GLIMPSE)] == shown
    assert list(env.task.gathered_spaces(SIZE)) == shown
    assert observation in env.observation_space
    env.close()


def test_a_policy_is_judged_with_what_it_was_shown_in_training():
    assert set(SIGHTS) <= set(ACTING)


@pytest.fixture
def look(make_state):
    """Looks from the start of a world in which nothing is in view; the base does not go where it is driven."""

    def see(sights):
        state = make_state(1, base_blocked=[True])
        simulator = SimpleNamespace(
            state=state,
            render_depth=lambda size, ids: np.full((1, size, size), 10.0, np.float32),
        )
        depths = np.ones((1, SIZE, SIZE, 1), np.float32)
        places = np.array([[3.0, 0.0, 1.0]])
        return sights.look(
            simulator, depths, np.array([True]), np.zeros((1, 3)), places, np.arange(1)
        )

    return see


def test_all_are_shown_at_once_each_in_its_space(look):
    sights = Sights(ALL, FETCH, 1)
    sights.begin([0])
    seen, spaces = look(sights), sights.spaces(SIZE)
    assert list(seen) == list(spaces) == [FLOOR_MAP, MAP_WAY, GLIMPSE]
    assert all(seen[key][0] in spaces[key] for key in seen)


@pytest.mark.parametrize("ahead", [0.05, 0.0, -0.05])
def test_something_is_where_the_base_is_driven_and_does_not_go(look, ahead):
    sights = Sights(ALL, FETCH, 1)
    sights.begin([0])
    sights.drive(np.array([ahead]))
    rows, _ = np.nonzero(look(sights)[FLOOR_MAP][0, ..., SOMETHING])
    assert bool(len(rows)) == bool(ahead)
    assert ((rows < SIZE // 2) == (ahead > 0.0)).all()


def test_a_new_episode_forgets_what_was_bumped_into(look):
    sights = Sights(ALL, FETCH, 1)
    sights.begin([0])
    sights.drive(np.array([0.05]))
    assert look(sights)[FLOOR_MAP][..., SOMETHING].any()
    sights.begin([0])
    assert not look(sights)[FLOOR_MAP][..., SOMETHING].any()
