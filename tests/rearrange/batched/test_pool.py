"""Pools of start states are what their seed says, and fit to be played."""

import numpy as np
import pytest

from rearrange.batched.pool import Pool, PoolConfig, Told, make_pool
from rearrange.scenes.registry import DEFAULT_HOMES
from rearrange.sim import SimulatorConfig
from rearrange.tasks.fitness import unfit
from rearrange.worlds import Worlds

NUMBERS = PoolConfig(homes=2, starts=2)


@pytest.fixture(scope="module")
def worlds():
    made = Worlds("pick", None, "val", SimulatorConfig(camera_size=8), 1, None, None, DEFAULT_HOMES)
    yield made
    made.close()


@pytest.fixture(scope="module")
def pool(worlds) -> Pool:
    return make_pool(worlds, NUMBERS, seed=3)


def test_each_home_has_as_many_starts_as_asked_for(pool):
    found = [(episode.layout, episode.variation) for episode in pool.episodes]
    assert found[0] == found[1] != found[2] == found[3]
    assert pool.bank.homes == (found[0], found[2])
    assert pool.starts.homes.tolist() == [0, 0, 1, 1]
    assert len({episode.base_pose for episode in pool.episodes}) == 4


def test_starts_are_as_the_simulator_has_them(pool, worlds):
    for k, episode in enumerate(pool.episodes):
        worlds.put(0, episode)
        assert pool.starts.records[k] == worlds.state.worlds[0]
        assert unfit(episode, worlds.state, 0) is None


def test_the_seed_decides(pool, worlds):
    assert make_pool(worlds, NUMBERS, seed=3).episodes == pool.episodes
    assert make_pool(worlds, NUMBERS, seed=4).episodes != pool.episodes


def test_progress_is_told_from_time_to_time(monkeypatch, capsys):
    clock = iter(np.arange(0.0, 100.0, 4.0))
    monkeypatch.setattr("rearrange.batched.pool.time.monotonic", lambda: next(clock))
    told = Told(2000)
    for made in (1000, 1001, 1002):
        told(made)
    assert capsys.readouterr().err == "1,002 of 2,000 start states\n"
