"""Navigation tasks through the commands that train and evaluate skills."""

import importlib.util
import pickle

import numpy as np
import pytest
import torch

from nav import env as nav_env
from nav.episode import NavEpisode
from nav.habitat import write_episodes
from nav.habitat_objects import write_object_episodes
from nav.pointnav import PointNavConfig
from nav.table import default_config
from rearrange.errors import UserError
from skills import eval as evaluation
from skills import train
from skills.navigation import (
    NavEnvironments,
    episode_of_file,
    episodes_of,
    find_episode_file,
    load_episodes,
    navigation_names,
)
from skills.settings import environments_of, make_environments
from skills.summary import summarise
from tests.helpers.scanned import box, room, write
from tests.helpers.small_runs import TINY_NAVIGATION, curve, logged
from ver import UserError as VerUserError
from ver.checkpoint import load_policy
from ver.trainer import Trainer

TINY = list(TINY_NAVIGATION)


@pytest.fixture
def one_floor(monkeypatch):
    """Only one floor, so that few are built."""
    monkeypatch.setattr(nav_env, "building_names", lambda *_: ("layout5000_variation00",))


@pytest.mark.parametrize("task", navigation_names())
def test_every_task_has_settings_that_load(task):
    settings = train.load_settings(task, ["agent.slide=false", "task.max_steps=9"])
    assert settings.skill == task
    assert settings.trainer.system == "batched"
    environments = pickle.loads(pickle.dumps(make_environments(settings)))
    assert isinstance(environments, NavEnvironments)
    again = environments_of(environments.metadata(), "val")
    assert again.split == "val"
    assert environments.task_config() == settings.task
    assert again.task_config() == default_config(task)
    assert again.agent["slide"] is False


def test_images_on_a_device_are_for_a_learner_that_steps_all_agents_together():
    settings = train.load_settings("pointnav", ["agent.draw_on=tensors"])
    made = make_environments(settings)
    assert made.agent["draw_on"] == "tensors"
    assert made(0, 0).worlds.config.draw_on == "cpu"
    settings.trainer.system = "ver"
    with pytest.raises(UserError, match=r"agent.draw_on=tensors is for .* trainer.system=batched"):
        make_environments(settings)


@pytest.fixture
def rooms(tmp_path):
    """A folder of scenes."""
    (tmp_path / "scenes").mkdir()
    for n in range(4):
        crate = box((2.0 + n, 1.0, 0.0), (2.5 + n, 1.5, 1.0))
        write(tmp_path / "scenes" / f"room{n}.glb", [*room(7.0, 5.0 + n), crate])
    return [f"scenes={tmp_path / 'scenes'}", "sim=scan"]


@pytest.mark.slow
def test_a_training_goes_on_with_the_scenes_that_its_agents_share(tmp_path, rooms):
    words = [*TINY, *rooms, "task.max_steps=20", "trainer.total_steps=256"]
    settings = train.load_settings("pointnav", [*words, "sharing.scenes=2", "sharing.steps=18"])
    environments = make_environments(settings)
    whole = Trainer(settings.trainer, environments, tmp_path / "whole")
    whole.train()
    again = Trainer(settings.trainer, environments, tmp_path / "again")
    again.after_update = lambda trainer, _: trainer.steps == 128
    again.train()
    assert again.steps == 128
    again = Trainer(settings.trainer, environments, tmp_path / "again")
    again.train()
    assert not any(again.progress.faults.values())
    assert curve(tmp_path / "again") == curve(tmp_path / "whole")
    for name, value in again.policy.state_dict().items():
        assert torch.equal(value, whole.policy.state_dict()[name]), name


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["sharing.scenes=5"], "sharing.scenes must be from 1 to 4 for 4 agents and 4 scenes"),
        (["sharing.scenes=-1"], "sharing.scenes must be from 0 to 65536, found -1"),
        (
            ["sharing.scenes=2", "sharing.steps=1"],
            "sharing.steps must be at least sharing.scenes=2",
        ),
        (
            ["sharing.scenes=2", "trainer.system=ver"],
            "sharing.scenes=2 is for agents that are stepped",
        ),
        (["sharing.scenes=2", "dataset=a.json.gz"], "there is no a.json.gz"),
    ],
)
def test_scenes_that_cannot_be_shared_are_refused_in_one_line(rooms, words, told):
    with pytest.raises(UserError, match=f"^{told}"):
        make_environments(train.load_settings("pointnav", [*TINY, *rooms, *words]))


def test_another_simulator_is_refused_in_one_line(monkeypatch):
    with pytest.raises(
        UserError, match="unknown simulator 'moon': choose one of grid, habitat, scan"
    ):
        make_environments(train.load_settings("pointnav", ["sim=moon"]))
    for module in ("nav.episode_files", "skills.eval_options"):
        monkeypatch.setattr(f"{module}.check_installed", lambda: None)
    with pytest.raises(UserError, match="sim=habitat needs episodes, for example dataset="):
        make_environments(train.load_settings("pointnav", ["sim=habitat"]))
    settings = ["sim=habitat", "dataset=d/{split}.json.gz", "split=val"]
    with pytest.raises(UserError, match=r"there is no d/val\.json.*datasets_download"):
        make_environments(train.load_settings("pointnav", settings))
    options = evaluation.parse(["pointnav", "--sim", "habitat"])
    with pytest.raises(UserError, match=r"--sim habitat needs episodes .* as --dataset"):
        evaluation.find_file(options)
    with pytest.raises(UserError, match="--policy frontier plays elsewhere"):
        evaluation.parse(["objectnav", "--sim", "habitat", "--policy", "frontier"])


@pytest.mark.skipif(importlib.util.find_spec("habitat_sim") is not None, reason="it is installed")
def test_habitat_sim_is_named_where_it_is_missing():
    for ask in (
        lambda: make_environments(train.load_settings("pointnav", ["sim=habitat"])),
        lambda: evaluation.parse(["pick", "--sim", "habitat"]),
    ):
        with pytest.raises(UserError, match="needs habitat-sim, which is not installed: conda"):
            ask()


def test_senseless_settings_are_refused_in_one_line():
    with pytest.raises(UserError, match=r"agent\.radius must be from 0\.05 to 0\.4, found 2"):
        make_environments(train.load_settings("pointnav", ["agent.radius=2"]))
    with pytest.raises(UserError, match=r"task\.success_distance must be positive"):
        make_environments(train.load_settings("pointnav", ["task.success_distance=0"]))
    with pytest.raises(UserError, match=r"homes must be one of classic, generated, .*, not"):
        make_environments(train.load_settings("flee", ["homes=moon"]))
    with pytest.raises(UserError, match=r"scenes=scans are for sim=scan or sim=habitat: say which"):
        make_environments(train.load_settings("pointnav", ["scenes=scans"]))
    with pytest.raises(UserError, match=r"homes=classic chooses our buildings, sim=scan plays"):
        make_environments(train.load_settings("pointnav", ["sim=scan", "homes=classic"]))
    with pytest.raises(VerUserError, match=r"unknown key 'task.speed'.*task.success_reward"):
        train.load_settings("pointnav", ["task.speed=2"])
    with pytest.raises(
        UserError, match=r"unknown skill 'jump': choose one of .*pointnav, objectnav"
    ):
        train.load_settings("jump")


def test_a_policy_is_judged_in_the_homes_of_its_training_or_in_others():
    settings = train.load_settings("pointnav", ["homes=generated"])
    metadata = make_environments(settings).metadata()
    assert environments_of(metadata, "val").homes == "generated"
    settings = train.load_settings("pointnav", ["homes=classic"])
    assert environments_of(make_environments(settings).metadata(), "val").homes == "classic"
    options = evaluation.parse(["pointnav", "--homes", "generated"])
    shipped = str(evaluation.checkpoint_of(options))
    player = evaluation.EpisodePlayer(shipped, options).player
    player.environment.reset(seed=0)
    assert player.environment.episode.building.startswith("layout5")


def test_homes_are_not_chosen_where_a_file_has_chosen():
    with pytest.raises(UserError, match="--homes chooses our apartments"):
        evaluation.parse(["pointnav", "--homes", "classic", "--dataset", "a.json.gz"])


def test_pointnav_trains_and_is_evaluated(tmp_path, one_floor):
    run = tmp_path / "run"
    assert train.main(["pointnav", *TINY, f"run={run}"]) == 0
    rows = logged(run)
    assert [row["steps"] for row in rows] == [32, 64]
    last = rows[-1]
    assert {"episode/spl", "episode/soft_spl", "episode/success"} <= last.keys()
    assert {"episode/distance_to_goal", "episode/difficulty_ratio"} <= last.keys()
    assert last["episode/episode_return"] == pytest.approx(last["episode/return"])
    policy = run / "policy.safetensors"
    assert load_policy(policy).metadata["skill"] == "pointnav"
    options = evaluation.parse(
        ["pointnav", "--checkpoint", str(policy), "--episodes", "3", "--seed", "2"]
    )
    options.file = None
    results = []
    for _ in range(2):
        player = evaluation.EpisodePlayer(str(policy), options)
        results.append([player.play(index) for index in range(3)])
    assert results[0] == results[1]
    summary = summarise(results[0])
    spl = summary["scores"]["spl"]
    assert 0.0 <= spl["low"] <= spl["mean"] <= spl["high"] <= 1.0
    assert set(summary) >= {"success_at_end", "failures", "means"}
    assert "success_once" not in summary


def test_tasks_without_success_are_summarised():
    results = [{"episode": i, "score": float(i), "length": 5.0} for i in (1, 0)]
    summary = summarise(results)
    assert summary["means"] == {"score": 0.5, "length": 5.0}
    assert "success_at_end" not in summary


def test_the_oracle_plays_a_file_of_habitats_schema(tmp_path, one_floor):
    env = nav_env.NavEnv("pointnav", PointNavConfig(), "val")
    episodes = []
    for index in range(2):
        env.reset(seed=index)
        values = vars(env.episode) | {"episode_id": str(index)}
        episodes.append(type(env.episode)(**values))
    path = tmp_path / "val.json.gz"
    write_episodes(path, episodes)
    assert episode_of_file("pointnav", path, 1, seed=0).goal == episodes[1].goal
    order = np.random.default_rng(3).permutation(2)
    assert episode_of_file("pointnav", path, 0, seed=3).goal == episodes[order[0]].goal
    options = evaluation.parse(["pointnav", "--policy", "oracle", "--dataset", str(path)])
    options.episodes = 2
    options.file, line = evaluation.find_file(options)
    assert line == f"episodes: {path}, which holds 2"
    told = evaluation.EpisodePlayer("oracle", options).play(0)
    assert told["success"] == 1.0
    assert told["spl"] > 0.85
    options.split = "train"
    told = r"episode '0' is in layout5000_variation00, a building of 'val', not of 'train': ask for --split val"
    with pytest.raises(UserError, match=told):
        evaluation.find_file(options)
    options.split, options.episodes = "val", 3
    with pytest.raises(UserError, match="holds 2 episodes, not 3"):
        evaluation.find_file(options)
    options.skill = "explore"
    with pytest.raises(
        UserError, match="files hold episodes of pointnav or objectnav, not of explore"
    ):
        evaluation.find_file(options)


def test_files_with_one_building_of_another_split_are_refused(tmp_path):
    starts = {
        "seen": "layout1000_variation00",
        "home": "layout3_variation00",
        "new": "layout5005_variation02",
    }
    known = [
        NavEpisode(name, building, (1.0, 1.0, 0.0), (2.0, 2.0), 0.2, 1.5)
        for name, building in starts.items()
    ]
    path = tmp_path / "mixed.json.gz"
    write_episodes(path, known[1:])
    assert find_episode_file(str(path), "pointnav", 2, "val")[0] == path
    episodes_of.cache_clear()
    load_episodes.cache_clear()
    write_episodes(path, [*known[1:], known[0]])
    for split, name in (("val", "seen"), ("test", "home")):
        with pytest.raises(
            UserError, match=rf"episode '{name}' is in .*, not of '{split}'"
        ) as error:
            find_episode_file(str(path), "pointnav", 1, split)
        assert "\n" not in str(error.value)


def play(arguments, count=2):
    options = evaluation.parse(arguments)
    options.episodes = count
    options.file, _ = evaluation.find_file(options)
    checkpoint = options.checkpoint or options.policy
    player = evaluation.EpisodePlayer(checkpoint, options)
    return [player.play(index) for index in range(count)]


def test_baselines_and_the_oracle_play_objectnav(one_floor):
    for policy, count in (("oracle", 2), ("frontier", 1), ("random", 1)):
        results = play(["objectnav", "--policy", policy], count)
        assert play(["objectnav", "--policy", policy], count) == results
        assert {"success", "spl", "soft_spl", "distance_to_goal"} <= results[0].keys()
        if policy == "oracle":
            assert [result["success"] for result in results] == [1.0, 1.0]


def test_the_oracle_plays_a_file_of_objectnav(tmp_path, one_floor):
    env = nav_env.NavEnv("objectnav", None, "val")
    env.reset(seed=3)
    path = tmp_path / "val.json.gz"
    write_object_episodes(path, [env.episode], env.task.view_rule, env.worlds.config.radius)
    (told,) = play(["objectnav", "--policy", "oracle", "--dataset", str(path)], 1)
    assert told["success"] == 1.0
    assert told["geodesic_distance"] == pytest.approx(env.episode.geodesic_distance)


def test_baselines_are_refused_where_they_make_no_sense():
    with pytest.raises(UserError, match="--policy frontier is for navigation tasks, not pick"):
        evaluation.parse(["pick", "--policy", "frontier"])
    with pytest.raises(UserError, match="--policy frontier takes no --checkpoint"):
        evaluation.parse(["objectnav", "--policy", "frontier", "--checkpoint", "x"])
    with pytest.raises(UserError, match="no frontier player for explore"):  # of both workers
        evaluation.main(["explore", "--policy", "frontier", "--workers", "2"])


def test_objectnav_has_an_agent_of_its_own():
    settings = train.load_settings("objectnav", ["agent.camera_size=32"])
    assert (settings.agent.turn, settings.agent.camera_size, settings.agent.slide) == (
        30.0,
        32,
        False,
    )
    assert (settings.agent.rgb, settings.agent.goal_mask) == (False, True)  # of the config file
    assert settings.trainer.network.angles == {"compass": [0]}
    assert train.load_settings("pointnav").agent.turn == 10.0


def test_pointnav_trains_on_tensors_and_goes_on(tmp_path, one_floor):
    """Images as drawn on a device: time limits, a stop in mid-episode, and a policy that is judged anywhere."""
    run = tmp_path / "run"
    words = ["pointnav", *TINY, f"run={run}", "agent.draw_on=tensors"]
    assert train.main(words) == 0
    assert train.main([*words, "trainer.total_steps=128"]) == 0
    assert [row["steps"] for row in logged(run)] == [32, 64, 96, 128]
    policy = str(run / "policy.safetensors")
    words = ["--checkpoint", policy, "--episodes", "1", "--split", "val"]
    assert evaluation.main(["pointnav", *words, "--json", str(tmp_path / "told.json")]) == 0


@pytest.mark.slow
def test_objectnav_trains_and_is_evaluated(tmp_path, one_floor):
    run = tmp_path / "run"
    assert train.main(["objectnav", *TINY, f"run={run}"]) == 0
    last = logged(run)[-1]
    assert {"episode/spl", "episode/success", "episode/distance_to_goal"} <= last.keys()
    policy = str(run / "policy.safetensors")
    results = play(["objectnav", "--checkpoint", policy])
    assert summarise(results)["success_at_end"]["low"] == 0.0


def test_explore_has_no_oracle():
    with pytest.raises(UserError, match="no oracle player for explore"):
        evaluation.main(["explore", "--policy", "oracle", "--workers", "1"])


@pytest.mark.slow
def test_worker_processes_train_a_navigation_task(tmp_path):
    run = [*TINY, "trainer.system=ver", "trainer.collect.environments_per_worker=4"]
    assert train.main(["explore", *run, f"run={tmp_path}"]) == 0
    row = logged(tmp_path)[-1]
    assert row["episode/score"] >= 1.0
