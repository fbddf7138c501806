"""Generated apartments in training: a world stays in one for some episodes, by its seed and their number."""

import numpy as np
import pytest

from rearrange.env import RearrangeEnv, RearrangeVectorEnv
from rearrange.scenes.registry import CLASSIC, GENERATED, split_of_layout
from rearrange.tasks.sampling import at_home, empty_scene, source_of
from rearrange.worlds import EPISODES_PER_HOME


def place(env: RearrangeEnv) -> tuple[int, int]:
    return env.episode.layout, env.episode.variation


def started(env: RearrangeEnv, number: int) -> tuple[int, int]:
    """Where an episode takes place that a trainer's worker starts."""
    env.reset(seed=1000 + number, options={"episode_number": number})
    return place(env)


@pytest.fixture(autouse=True)
def _never_away(monkeypatch):
    monkeypatch.setattr("rearrange.tasks.sampling.AWAY_SHARE", 0.0)


def test_episodes_share_an_apartment_and_then_meet_a_new_one():
    env = RearrangeEnv("open_fridge", homes=GENERATED, seed=5)
    places = [started(env, number) for number in range(2 * EPISODES_PER_HOME)]
    assert len(set(places[:EPISODES_PER_HOME])) == len(set(places[EPISODES_PER_HOME:])) == 1
    assert places[0] != places[-1]
    assert split_of_layout(places[0][0]) == "train"
    # Whatever happened before, as a resumed run needs it
    again = RearrangeEnv("open_fridge", homes=GENERATED, seed=5)
    assert started(again, EPISODES_PER_HOME + 1) == places[-1]
    other = RearrangeEnv("open_fridge", homes=GENERATED, seed=6)
    assert started(other, 0) != places[0]


def test_who_tells_no_number_meets_a_new_apartment_every_time():
    env = RearrangeEnv("open_fridge", homes=GENERATED, seed=5)
    places = set()
    for seed in range(6):
        env.reset(seed=seed)
        places.add(place(env))
    assert len(places) == 6


def test_classic_apartments_are_drawn_as_ever():
    told, untold = (RearrangeEnv("open_fridge", homes=CLASSIC, seed=5) for _ in range(2))
    for number in range(4):
        untold.reset(seed=1000 + number)
        assert started(told, number) == place(untold)


def test_worlds_side_by_side_share_apartments_too(monkeypatch):
    monkeypatch.setattr("rearrange.worlds.EPISODES_PER_HOME", 2)
    env = RearrangeVectorEnv(2, "open_fridge", homes=GENERATED)
    env.reset(seed=[3, 4])
    places = []
    for _ in range(4):
        episodes = env._worlds.episodes
        places.append([(episode.layout, episode.variation) for episode in episodes if episode])
        for i in range(2):
            env._begin(i)
    assert places[0] == places[1] != places[2] == places[3]
    assert places[0][0] != places[0][1]


def test_a_draw_leaves_home_now_and_then(monkeypatch):
    monkeypatch.setattr("rearrange.tasks.sampling.AWAY_SHARE", 1 / 16)
    monkeypatch.setattr("rearrange.tasks.sampling.load_layout", lambda *place: (place, None))
    source = at_home(source_of("val", GENERATED), (7, 0))
    rng = np.random.default_rng(0)
    places = [empty_scene(source, rng).apartment for _ in range(2000)]
    home = max(set(places), key=places.count)
    away = sum(p != home for p in places) / len(places)
    assert away == pytest.approx(1 / 16, abs=0.02)
    assert all(split_of_layout(layout) == "val" for layout, _ in places)
