"""EnvPool's worlds: on a stand-in, and on EnvPool where it is installed."""

import importlib.util
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from gymnasium import spaces

from tests.helpers.small_runs import TINY_NAMED, curve
from ver.adapters.envpool_worlds import EnvpoolWorlds
from ver.errors import UserError
from ver.eval import load_run, play_episodes
from ver.train import make_trainer

INSTALLED = importlib.util.find_spec("envpool") is not None
wanted = pytest.mark.skipif(not INSTALLED, reason="EnvPool is not installed: pip install envpool")
ROOM = spaces.Dict(
    {
        "sight": spaces.Dict({"frames": spaces.Box(0, 255, (2, 40, 36), np.uint8)}),
        "count": spaces.Box(0, np.inf, (1,)),
    }
)


class Counters:
    """As an EnvPool in its synchronous mode: world i counts to i + 2 steps.

    The odd ones end then, of the others the time is out.
    """

    observation_space = ROOM
    action_space = spaces.Discrete(3)

    def __init__(self, config: SimpleNamespace):
        self.spec = SimpleNamespace(config=config)
        self.counts, self.over = np.zeros(config.num_envs), np.zeros(config.num_envs, bool)
        self.closed = False

    def _show(self, ids):
        frames = np.zeros((len(ids), 2, 40, 36), np.uint8)
        frames[:, 1] = ids[:, None, None]
        return {"sight": {"frames": frames}, "count": self.counts[ids, None].astype(np.float32)}

    def reset(self, env_id=None):
        ids = np.arange(len(self.counts)) if env_id is None else env_id
        self.counts[ids], self.over[ids] = 0, False
        return self._show(ids), {"env_id": ids}

    def step(self, actions):
        ids = np.arange(len(self.counts))
        assert actions.shape == ids.shape
        assert not self.over.any(), "the next step of a world that has ended is a restart"
        self.counts += 1
        self.over = self.counts == ids + 2
        odd = ids % 2 == 1
        rewards = np.ones(len(ids), np.float32)
        return self._show(ids), rewards, self.over & odd, self.over & ~odd, {"env_id": ids}

    def close(self):
        self.closed = True


@pytest.fixture
def stand_in(monkeypatch):
    """Puts a module `envpool` in the way, and returns the pools that it makes."""
    module, made = ModuleType("envpool"), []

    def make(name, env_type, **given):
        assert env_type == "gymnasium"
        if given.get("max_episode_steps") == "many":
            raise TypeError("incompatible constructor arguments\nof many lines")
        players = 2 if name == "Duel-v1" else 1
        made.append(Counters(SimpleNamespace(max_num_players=players, **given)))
        return made[-1]

    fields = ("num_envs", "seed", "num_threads", "max_num_players", "max_episode_steps")
    module.list_all_envs = lambda: ["Counters-v1", "Duel-v1"]
    module.make_spec = lambda name: SimpleNamespace(config=SimpleNamespace(_fields=fields))
    module.make = make
    monkeypatch.setitem(sys.modules, "envpool", module)
    return made


def test_worlds_restart_in_the_step_in_which_they_end_and_tell_what_was_last(stand_in):
    worlds = EnvpoolWorlds("Counters-v1", 3).make_vector(3, 7)
    config = stand_in[0].spec.config
    assert (config.num_envs, config.seed, config.num_threads) == (3, 7, 3)
    assert worlds.single_observation_space["sight/frames"].shape == (40, 36, 2)
    shown, _ = worlds.reset(seed=[7, 8, 9])
    assert shown["sight/frames"].shape == (3, 40, 36, 2)
    assert shown["sight/frames"][:, 5, 5].tolist() == [[0, 0], [0, 1], [0, 2]]
    counts = []
    for _ in range(4):
        shown, rewards, terminated, truncated, infos = worlds.step(np.zeros(3, np.int64))
        final = infos["final_obs"]["count"][:, 0].tolist() if infos else None
        counts.append(
            (shown["count"][:, 0].tolist(), terminated.tolist(), truncated.tolist(), final)
        )
        assert rewards.tolist() == [1, 1, 1]
    nobody = [False] * 3
    assert counts == [
        ([1, 1, 1], nobody, nobody, None),
        ([0, 2, 2], nobody, [True, False, False], [2, 2, 2]),
        ([1, 0, 3], [False, True, False], nobody, [1, 3, 3]),
        ([0, 1, 0], nobody, [True, False, True], [2, 1, 4]),
    ]
    worlds.close()
    assert stand_in[0].closed


def test_a_run_trains_on_them_and_is_judged(tmp_path, stand_in):
    words = ["system=batched", "total_steps=256", "collect.num_environments=4", *TINY_NAMED]
    make_trainer("envpool:Counters-v1", words, tmp_path).train()
    assert curve(tmp_path)[-1]["steps"] == 256
    played = play_episodes(*load_run(tmp_path), 5, 0)
    assert played == {"return": [2, 3, 4, 5, 6], "length": [2, 3, 4, 5, 6]}


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("Nothing-v1", {}, "EnvPool has no environment 'Nothing-v1'; envpool.list_all_envs() names them"),
        (
            "Counters-v1",
            {"lives": 3},
            "unknown key 'env.lives': envpool:Counters-v1 takes env.num_threads, env.max_episode_steps",
        ),
        (
            "Counters-v1",
            {"seed": 3},
            "unknown key 'env.seed': envpool:Counters-v1 takes env.num_threads, env.max_episode_steps",
        ),
        (
            "Counters-v1",
            {"max_episode_steps": "many"},
            "EnvPool's Counters-v1 does not take env.max_episode_steps=many",
        ),
        ("Duel-v1", {}, "EnvPool's Duel-v1 has several players; here each world has one"),
    ],
)  # fmt: skip
def test_what_cannot_be_made_is_one_line(stand_in, name, options, told):
    with pytest.raises(UserError) as caught:
        EnvpoolWorlds(name, options=options).make_vector(2, 0)
    assert str(caught.value) == told


@wanted
@pytest.mark.parametrize("name", ["CartPole-v1", "Pendulum-v1"])
def test_a_run_learns_from_envpool_twice_the_same(tmp_path, name):
    words = ["system=batched", "total_steps=256", "env.max_episode_steps=20", *TINY_NAMED]
    for run in ("first", "second"):
        make_trainer(f"envpool:{name}", words, tmp_path / run).train()
        rows = curve(tmp_path / run)
        assert rows[-1]["steps"] == 256
        assert 1 <= rows[-1]["episode/episode_length"] <= 20
    first, second = (tmp_path / run / "policy.safetensors" for run in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()
    played = play_episodes(*load_run(tmp_path / "first"), 3, 0)
    assert all(1 <= length <= 20 for length in played["length"])
