import time

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from benchmarks import systems
from benchmarks.faulty_environments import Trails
from benchmarks.systems import (
    Watch,
    main,
    random_action,
    simulate,
    skill_case,
    skill_limit,
    train,
)
from benchmarks.waiting import WaitingEnvironments
from skills.navigation import NavEnvironments
from ver import TrainerConfig, merge_config
from ver.collect.episode_order import EpisodeOrder
from ver.collect.systems import system_names


def test_figures_leave_out_the_first_rollout(tmp_path):
    watch = Watch(1.0, tmp_path, 4)
    watch.marks = [(10.0, 100, 5.0), (12.0, 200, 9.0), (13.0, 300, 11.0)]
    watch.waits = [(0.9, 0.9), (0.5, 0.8), (0.2, 0.5)]
    figures = watch.figures()
    assert figures["mean_sps"] == pytest.approx(200 / 3)
    assert figures["max_sps"] == pytest.approx(100)
    assert figures["waiting"] == pytest.approx(
        {"environments": 1 - 6 / 3 / 4, "inference": 0.4, "learner": 0.7}
    )


def test_where_one_process_steps_all_worlds_only_what_is_not_their_step_is_waiting(tmp_path):
    watch = Watch(1.0, tmp_path, 0)
    watch.marks = [(10.0, 100, 0.0), (12.0, 200, 0.0)]
    watch.waits = [(0.9, 0.9), (0.7, 0.8)]
    waiting = watch.figures()["waiting"]
    assert waiting == pytest.approx({"environments": 0.3, "inference": 0.7, "learner": 0.8})


def test_settings_of_the_command_line_win():
    given = ["preset=gpu", "trainer.device=cpu", "trainer.collect.num_environments=2"]
    config, _ = skill_case("batched", 1, "pick", given=given)
    assert (config.device, config.network.encoder) == ("cpu", "resnet18")
    collect = config.collect  # a preset's helpers are left out where one process decides
    assert (collect.num_environments, collect.num_inference_workers) == (2, 1)


def test_a_run_is_measured():
    words = ["system=ddppo", "learner_threads=1", "tensorboard=false", "collect.rollout_length=8"]
    words += ["collect.num_environments=2", "collect.environments_per_worker=1"]
    words += ["ppo.mini_batches=1", "network.hidden_size=32", "total_steps=1000000"]
    config, make_env = merge_config(TrainerConfig, [], words), Trails(delay_s=0.002)
    figures = train((config, make_env), 0.1)
    assert figures["rollouts"] >= 1
    assert figures["max_sps"] >= figures["mean_sps"] > 0
    assert 0 < figures["waiting"]["environments"] < 1
    assert 0 < figures["waiting"]["inference"] < 1


def test_unknown_names_are_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["--systems", "ver,vre"])
    names = ", ".join(system_names())
    assert f"unknown system 'vre': choose one of {names}\n" in capsys.readouterr().err


def test_a_navigation_task_is_trained_in_few_buildings():
    config, environments = skill_case("ddppo", 2, "pointnav")
    assert isinstance(environments, NavEnvironments)
    assert (environments.homes, environments.split) == ("classic", "val")
    assert (config.system, config.seed, config.collect.environments_per_worker) == ("ddppo", 2, 8)


def test_environments_that_wait_have_a_process_each():
    config, environments = skill_case("ver", 1, "pick", waits=3.0)
    assert isinstance(environments, WaitingEnvironments)
    assert (environments.factor, config.collect.environments_per_worker) == (3.0, 1)


@pytest.mark.parametrize(
    ("waits", "count", "cores", "times"),
    [(0.0, 16, 64, 2), (0.0, 16, 1, 1), (3.0, 16, 64, 4), (3.0, 64, 64, 16), (3.0, 64, 2, 2)],
)
def test_the_limit_is_of_the_workers_that_there_are(waits, count, cores, times, monkeypatch):
    plain = skill_case
    monkeypatch.setattr(systems, "skill_case", lambda *a, **k: (plain(*a, **k)[0], Trails()))
    monkeypatch.setattr(systems, "processors", lambda: cores)
    # 100 steps/s of one
    monkeypatch.setattr(systems, "simulate", lambda *a: (100, 1.0, a[4] if len(a) > 4 else 0.0))
    given = [f"trainer.collect.num_environments={count}"]
    assert skill_limit("pick", 1, waits, given) == pytest.approx(100.0 * times)


def test_pure_simulation_begins_episodes_as_a_training_and_adds_up_what_it_would_wait():
    begun = []

    class Steady(gymnasium.Env):
        action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)

        def reset(self, *, seed=None, options=None):
            begun.append((seed, options["episode_number"]))
            self.left = 3
            return {}, {}

        def step(self, action):
            assert action in self.action_space
            self.left -= 1
            end = time.thread_time() + 0.002
            while time.thread_time() < end:
                pass
            return {}, 0.0, self.left == 0, False, {}

    steps, busy_s, waited_s = simulate(Steady(), 5, -0.7, 0.05, 10.0)
    assert begun[:2] == [(EpisodeOrder(5).beginning(0, n)[0], n) for n in (1, 2)]
    assert len(begun) == -(-steps // 3)
    assert busy_s >= 0.05
    assert 0.02 <= waited_s / steps < 0.03  # ten times the computing


def test_actions_are_as_spread_as_an_untrained_policys():
    rng, space = np.random.default_rng(0), spaces.Box(2.0, 4.0, (50_000,), np.float32)
    drawn = random_action(space, -2.0, rng)
    assert drawn in space
    assert float(drawn.mean()) == pytest.approx(3.0, abs=0.01)
    assert float(drawn.std()) == pytest.approx(np.exp(-2.0), rel=0.02)
    assert random_action(spaces.Discrete(3), 0.0, rng) in (0, 1, 2)
