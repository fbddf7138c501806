"""Worlds on a device begin from their pool."""

import numpy as np
import pytest

from rearrange.batched.pool import PoolConfig, make_pool
from rearrange.errors import UserError
from rearrange.scenes.registry import CLASSIC
from rearrange.sim import SimulatorConfig
from rearrange.tasks.true_state import DEPTH
from rearrange.worlds import Worlds

pytest.importorskip("warp")
pytest.importorskip("mujoco_warp")
torch = pytest.importorskip("torch")

CONFIG = SimulatorConfig(camera_size=8)


@pytest.fixture(scope="module")
def worlds():
    from rearrange.batched.simulator import DeviceSimulator
    from rearrange.batched.worlds import PooledWorlds

    maker = Worlds("place", None, "val", CONFIG, 1, None, None, CLASSIC)
    pool = make_pool(maker, PoolConfig(homes=1, starts=3), seed=0)
    maker.close()
    simulator = DeviceSimulator(2, pool.bank, CONFIG, "cpu")
    made = PooledWorlds("place", None, "val", simulator, pool, CLASSIC, DEPTH)
    yield made
    made.close()


def test_the_generator_alone_decides_which_episode_begins(worlds):
    rows = [int(np.random.default_rng(seed).integers(3)) for seed in range(12)]
    assert len(set(rows)) == 3
    for seed, row in enumerate(rows):
        worlds.reset(1, np.random.default_rng(seed), seed, 7)
        assert worlds.episodes[1] is worlds.pool.episodes[row]
        assert worlds.state.worlds[1] == worlds.pool.starts.records[row]


def test_on_the_device_they_begin_together_when_it_matters(worlds, monkeypatch):
    done = []
    reset = worlds.simulator.physics.reset
    monkeypatch.setattr(
        worlds.simulator.physics,
        "reset",
        lambda ids, pool, rows: done.append(list(ids)) or reset(ids, pool, rows),
    )
    for i in (1, 0, 1):
        worlds.reset(i, np.random.default_rng(i))
    assert done == []
    held = worlds.state.held_object.copy()
    worlds.take(torch.zeros(2, worlds.task.action_size), (2, worlds.task.action_size))
    worlds.step()
    assert done == [[1, 0]]
    assert (worlds.state.held_object == held).all()  # what they begin with in the hand
    assert (held >= 0).all()


def test_other_episodes_are_refused(worlds):
    with pytest.raises(UserError, match="begin in episodes of their pool alone"):
        worlds.put(0, worlds.pool.episodes[0])
