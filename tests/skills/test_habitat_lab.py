"""Tasks of habitat-lab as something to train; with fakes, for it is not installed everywhere."""

import importlib.util
import pickle
import sys
import types

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

from rearrange.errors import UserError
from skills import habitat_lab
from skills.habitat_lab import (
    HabitatLabEnv,
    HabitatLabEnvironments,
    config_of,
    download_command,
    run_name,
)
from skills.settings import environments_of, settings_type
from skills.train import load_settings

TASK = "habitat-lab:RearrangePickTask-v0"


class Box:
    """A box of the old Gym, which is not Gymnasium's."""

    def __init__(self, low, high, shape):
        self.low, self.high = np.full(shape, low, np.float32), np.full(shape, high, np.float32)
        self.shape, self.dtype = shape, np.dtype(np.float32)


class OldEnvironment:
    """An environment as habitat-lab makes them: `reset` returns one thing, `step` four."""

    def __init__(self, fault=None):
        self.observation_space = types.SimpleNamespace(
            spaces={"head_depth": Box(0.0, 1.0, (4, 4, 1)), "joint": Box(-4.0, 4.0, (7,))}
        )
        self.action_space = Box(-20.0, 20.0, (3,))
        self.unwrapped = self
        self.seeds, self.actions = [], []

    def seed(self, seed):
        self.seeds.append(seed)

    def reset(self):
        self.count = 0
        return self.observation()

    def step(self, action):
        self.actions.append(action)
        self.count += 1
        success = self.count == 3 and action[0] > 0.5
        done = success or self.count == 5
        return self.observation(), 0.5, done, {"pick_success": success}

    def observation(self):
        value = np.float32(0.1 * self.count)
        return {"head_depth": np.full((4, 4, 1), value), "joint": np.full(7, value)}

    def close(self):
        self.closed = True


@pytest.fixture
def old(monkeypatch):
    """habitat-lab with one old environment."""
    environment = OldEnvironment()
    task = types.SimpleNamespace(success_measure="pick_success")
    limits = types.SimpleNamespace(max_episode_steps=5)
    config = types.SimpleNamespace(habitat=types.SimpleNamespace(task=task, environment=limits))

    def get_config(path, overrides):
        if "nope" in path:
            raise RuntimeError("Key 'nope' is not in struct\n    full_key: habitat.task.nope")
        if "missing" in path:
            raise ValueError("'data/datasets/replica_cad/x.json.gz' is not downloaded")
        return config

    habitat = types.ModuleType("habitat")
    habitat.get_config = get_config
    gym = types.ModuleType("habitat.gym")
    gym.make_gym_from_config = lambda config: environment
    monkeypatch.setitem(sys.modules, "habitat", habitat)
    monkeypatch.setitem(sys.modules, "habitat.gym", gym)
    return environment


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """habitat-lab's folder of configs."""
    folder = tmp_path / "habitat" / "config" / "benchmark" / "rearrange"
    folder.mkdir(parents=True)
    for name in ("pick", "pick_spot"):
        (folder / f"{name}.yaml").write_text("habitat:\n  task:\n    type: RearrangePickTask-v0\n")
    (folder / "idle.yaml").write_text("habitat:\n  simulator:\n    type: RearrangeSim-v0\n")
    (folder / "place.yaml").write_text("habitat:\n  task:\n    type: RearrangePlaceTask-v0\n")
    spec = types.SimpleNamespace(submodule_search_locations=[str(tmp_path / "habitat")])
    _pretend(monkeypatch, spec)


def _pretend(monkeypatch, spec):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: spec if name == "habitat" else find(name)
    )
    config_of.cache_clear()


def test_it_is_an_environment_of_today(old):
    env = HabitatLabEnv("pick.yaml", [])
    check_env(env, skip_render_check=True)
    assert isinstance(env.action_space, spaces.Box)
    assert env.action_space.high.tolist() == [1.0, 1.0, 1.0]


def test_actions_are_cut_to_what_habitat_lab_uses(old):
    env = HabitatLabEnv("pick.yaml", [])
    env.reset(seed=2**31 + 7)
    env.step(np.array([3.0, -3.0, 0.2]))
    assert old.seeds == [7]
    assert old.actions[0].tolist() == pytest.approx([1.0, -1.0, 0.2])
    assert old.actions[0].dtype == np.float32


def test_choices_are_passed_on_as_whole_numbers(old):
    old.action_space = types.SimpleNamespace(n=4)
    old.step = lambda action: (old.observation(), 0.0, bool(old.actions.append(action)), {})
    env = HabitatLabEnv("pointnav.yaml", [])
    assert env.action_space == spaces.Discrete(4)
    env.reset()
    env.step(np.int64(2))
    assert old.actions == [2]
    assert type(old.actions[0]) is int


def test_success_terminates_and_time_truncates(old):
    env = HabitatLabEnv("pick.yaml", [])
    for first, length, success in ((1.0, 3, True), (0.0, 5, False)):
        env.reset()
        for _ in range(length):
            _, _, terminated, truncated, info = env.step(np.array([first, 0.0, 0.0]))
        assert (terminated, truncated) == (success, not success)
        assert info["metrics"] == {
            "success": float(success),
            "length": float(length),
            "return": 0.5 * length,
            "pick_success": float(success),
        }


def test_missing_data_name_the_command_that_gets_them(old):
    with pytest.raises(
        UserError, match="not downloaded; get it with: python -m habitat_sim"
    ) as told:
        HabitatLabEnv("missing.yaml", [])
    assert "\n" not in str(told.value)
    with pytest.raises(
        UserError, match=r"cannot make nope.yaml: Key 'nope' is not in struct full_key"
    ):
        HabitatLabEnv("nope.yaml", [])
    assert "--uids ycb --data-path data" in download_command("ycb")


def test_without_habitat_lab_one_line_says_what_to_install(monkeypatch):
    _pretend(monkeypatch, None)
    with pytest.raises(UserError, match="needs habitat-lab, which is not installed: pip install"):
        config_of(TASK)


@pytest.mark.usefixtures("installed")
def test_a_task_type_is_found_in_its_plainest_benchmark():
    assert config_of(TASK) == "benchmark/rearrange/pick.yaml"
    assert config_of("habitat-lab:own/thing.yaml") == "own/thing.yaml"
    with pytest.raises(
        UserError, match=r"no benchmark of a task 'Nothing-v0': choose one of RearrangePickTask-v0"
    ):
        config_of("habitat-lab:Nothing-v0")
    with pytest.raises(UserError, match="RearrangePlaceTask-v0, or give"):
        config_of("habitat-lab:RearrangeSim-v0")


@pytest.mark.usefixtures("installed")
def test_the_trainer_takes_it_like_a_skill():
    settings = load_settings(TASK, ["overrides=[habitat.a=1]", "trainer.total_steps=7"])
    assert isinstance(settings, settings_type(TASK))
    assert settings.trainer.total_steps == 7
    environments = HabitatLabEnvironments.from_settings(settings)
    assert pickle.loads(pickle.dumps(environments)) == environments
    assert environments.metadata()["skill"] == TASK
    assert run_name(TASK) == "habitat-lab_RearrangePickTask-v0"
    with pytest.raises(UserError, match="judge it by the success in its log"):
        environments_of(environments.metadata(), "val")


@pytest.mark.usefixtures("installed")
def test_an_environment_gets_its_seed_and_split(old, monkeypatch):
    asked = []
    make = habitat_lab.HabitatLabEnv
    monkeypatch.setattr(
        habitat_lab, "HabitatLabEnv", lambda *given: asked.append(given) or make(*given)
    )
    HabitatLabEnvironments(TASK, ("habitat.a=1",), "val")(0, 5)
    ((config, overrides),) = asked
    assert config == "benchmark/rearrange/pick.yaml"
    assert overrides == [
        "habitat.dataset.split=val",
        "habitat.seed=5",
        "habitat.simulator.seed=5",
        "habitat.a=1",
    ]
