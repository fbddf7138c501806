import subprocess
import sys
from importlib.metadata import EntryPoint

import gymnasium
import numpy as np
import pytest

import rearrange
from rearrange import registration
from rearrange.gym_ids import GROUP, id_of
from rearrange.registration import NAMES
from rearrange.rules import hab_config
from rearrange.tasks import register_task, unregister_task


@pytest.mark.slow
def test_every_task_has_an_id():
    built_in = "import rearrange; print(*rearrange.TASKS)"  # other tests add theirs to this process
    found = subprocess.run(
        [sys.executable, "-c", built_in], capture_output=True, check=True, text=True
    )
    assert found.stdout.split() == list(NAMES)
    assert id_of("open_fridge") == "rearrange/OpenFridge-v0"
    for name in NAMES:
        assert gymnasium.spec(id_of(name)).kwargs == {"task": name}


def test_a_task_of_ones_own_has_one_too():
    own = type("Wait", (rearrange.TASKS["navigate"][0],), {"name": "wait_for_it"})
    register_task(own)
    env = gymnasium.make("rearrange/WaitForIt-v0", split="val", camera_size=8)
    assert isinstance(env.unwrapped, rearrange.RearrangeEnv)
    env.close()
    unregister_task("wait_for_it")
    assert "rearrange/WaitForIt-v0" not in gymnasium.registry


def test_a_task_of_another_package_has_one_before_it_is_loaded(monkeypatch):
    point = EntryPoint("serve_drinks", "not_there_at_all:ServeDrinks", GROUP)
    monkeypatch.setattr(registration, "entry_points", lambda group: {GROUP: [point]}[group])
    registration.register()
    name = "rearrange/ServeDrinks-v0"
    assert gymnasium.registry.pop(name).kwargs == {"task": "serve_drinks"}


def test_an_environment_is_made_by_its_id_and_seen_by_policies_as_shipped():
    env = gymnasium.make("rearrange/OpenFridge-v0", split="val", max_steps=2)
    observation, _ = env.reset(seed=0)
    assert observation["head_depth"].shape == (64, 64, 1)
    stay = np.zeros(env.action_space.shape, np.float32)
    stay[10] = -1.0  # no stop
    assert env.step(stay)[2:4] == (False, False)
    *_, truncated, info = env.step(stay)
    assert truncated
    assert info["is_success"] is False
    env.close()


def test_worlds_side_by_side_are_made_by_it_too():
    envs = gymnasium.make_vec(
        "rearrange/OpenFridge-v0", 2, "vector_entry_point",
        split="val", camera_size=8, max_steps=1, render_mode="rgb_array",
    )  # fmt: skip
    observations, _ = envs.reset(seed=0)
    assert observations["head_depth"].shape == (2, 8, 8, 1)
    assert [picture.shape for picture in envs.render()] == [(540, 680, 3)] * 2
    infos = envs.step(np.zeros(envs.action_space.shape, np.float32))[4]
    assert infos["final_info"]["is_success"].tolist() == [False, False]
    envs.close()


def test_rules_preset_and_groups_are_keywords():
    def made(**keywords):
        env = gymnasium.make(
            "rearrange/Navigate-v0", split="val", disable_env_checker=True, **keywords
        )
        config, size = env.unwrapped.task.config, env.observation_space["head_depth"].shape[0]
        env.close()
        return config, size

    hab, size = made(rules="hab")
    assert (hab, size) == (hab_config("navigate"), 128)
    config, size = made(preset="gpu", **{"force.penalty": 0.5, "action": {"arm_step": 0.01}})
    assert (config.force.penalty, config.action.arm_step, config.action.repeat) == (0.5, 0.01, 3)
    assert size == 128
    env = gymnasium.make("rearrange/Pick-v0", sensors="state", disable_env_checker=True)
    assert "head_depth" not in env.observation_space.spaces
    env.close()


def test_unknown_settings_and_bad_values_are_refused_in_one_line():
    with pytest.raises(
        rearrange.UserError, match=r"unknown setting 'max_step' .*did you mean max_steps"
    ):
        gymnasium.make("rearrange/Pick-v0", max_step=3)
    with pytest.raises(rearrange.UserError, match=r"task\.max_steps must be from 1 to 1e\+09"):
        gymnasium.make("rearrange/Pick-v0", max_steps=0)
    with pytest.raises(rearrange.UserError, match="camera_size must be from 1 to 1024"):
        gymnasium.make("rearrange/Pick-v0", camera_size=0)
    with pytest.raises(rearrange.UserError, match="split"):
        gymnasium.make("rearrange/Pick-v0", split="night")
