"""Settings of a training run."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES, layouts_of
from rearrange.sim import MujocoSimulator, Randomisation
from rearrange.tasks import PickConfig, default_config, household_names
from skills import skill_names
from skills.navigation import NavEnvironments
from skills.settings import SkillEnvironments, check_skill, settings_type
from skills.train import load_settings
from ver import UserError as VerUserError


@pytest.mark.parametrize("skill", [*skill_names(), *household_names()])
def test_every_trainable_skill_has_a_config_that_loads(skill):
    assert load_settings(skill).skill == skill


@pytest.mark.parametrize("scenario", household_names())
def test_household_scenarios_share_settings_and_keep_the_reference_rewards_but_slack(scenario):
    settings = load_settings(scenario, ["camera_size=16"])
    assert settings.camera_size == 16
    network = settings.trainer.network
    assert (network.memory, network.layers, network.binary_actions) == ("lstm", 1, [7, 10])
    assert settings.trainer.collect.num_environments == 32  # of all skills
    default = default_config(scenario)
    assert settings.task == replace(default, action=replace(default.action, repeat=3), slack=0.0)
    env = SkillEnvironments.from_settings(settings)(0, 0)
    for key, columns in network.angles.items():  # every second number is a bearing
        assert columns == list(range(1, env.task.OBSERVATION[key], 2))


def test_overrides_reach_task_and_trainer():
    settings = load_settings("pick", ["task.force.penalty=0.5", "trainer.ppo.epochs=7"])
    assert isinstance(settings.task, PickConfig)
    assert settings.task.force.penalty == 0.5
    assert settings.trainer.ppo.epochs == 7


def test_a_preset_lies_between_the_skills_settings_and_the_command_line():
    settings = load_settings("navigate", ["preset=gpu", "trainer.ppo.epochs=7"])
    assert settings.camera_size == 128
    network = settings.trainer.network
    assert (network.encoder, network.layers, settings.trainer.device) == ("resnet18", 2, "cuda")
    assert network.binary_actions == [2]  # the skill's own
    assert settings.trainer.ppo.epochs == 7
    assert load_settings("navigate").camera_size == 64


def test_the_recipe_of_bps_is_one_for_navigation():
    settings = load_settings("pointnav", ["preset=bps"])
    settings.agent.check()
    trainer = settings.trainer
    assert (trainer.system, trainer.ppo.optimizer) == ("batched", "lamb")
    assert (trainer.network.encoder, trainer.network.memory) == ("se_resnet9", "lstm")
    assert trainer.network.distances == {"pointgoal_with_gps_compass": [0]}  # configs/pointnav.yaml


def test_an_unknown_preset_is_told():
    with pytest.raises(UserError, match="unknown preset 'tpu': choose one of cpu, bps, gpu"):
        load_settings("pick", ["preset=tpu"])


def test_randomisation_reaches_the_simulator_but_not_evaluations():
    settings = load_settings("pick", ["randomise.friction=0.2", "randomise.depth_noise=0.003"])
    environments = SkillEnvironments.from_settings(settings)
    wanted = Randomisation(friction=0.2, depth_noise=0.003)
    assert environments.simulator_config().randomise == wanted
    assert environments.metadata()["randomise"]["friction"] == 0.2
    judged = SkillEnvironments.from_metadata(environments.metadata(), "val")
    assert judged.simulator_config().randomise == Randomisation()
    plain = SkillEnvironments.from_settings(load_settings("pick"))
    assert plain.simulator_config().randomise == Randomisation()


def test_policies_of_a_skill_are_judged_alike_but_act_as_they_learned_to():
    changes = [
        "goal_distance=9",
        "max_steps=77",
        "wrong_stop_ends=false",
        "near_share=0.5",
        "stop_distance=2",
    ]
    settings = load_settings("navigate", [f"task.{word}" for word in changes])
    metadata = SkillEnvironments.from_settings(settings).metadata()
    judged = SkillEnvironments.from_metadata(metadata, "val").task_config()
    seen = {"floor_map": True, "map_way": True}  # of the config file: what the policy sees
    assert judged == replace(default_config("navigate"), action=settings.task.action, **seen)
    assert judged.action.repeat == 3
    fixed = SkillEnvironments.from_settings(load_settings("pick", ["task.base_motion=false"]))
    assert not SkillEnvironments.from_metadata(fixed.metadata(), "val").task_config().base_motion
    nav = NavEnvironments.from_settings(load_settings("pointnav", ["task.success_distance=0.9"]))
    judged = NavEnvironments.from_metadata(nav.metadata(), "val").task_config()
    assert judged.success_distance == 0.2


def test_senseless_randomisation_is_refused():
    settings = load_settings("pick", ["randomise.mass=2"])
    with pytest.raises(UserError, match=r"randomise\.mass must be from 0 to 0\.9, found 2"):
        SkillEnvironments.from_settings(settings)


def test_unknown_skill_names_those_that_exist():
    with pytest.raises(UserError, match="unknown skill 'jump': choose one of navigate, pick"):
        check_skill("jump")


def test_unknown_key_names_those_that_exist():
    with pytest.raises(VerUserError, match=r"unknown key 'task.speed'.*task.max_steps"):
        load_settings("pick", ["task.speed=2"])


def test_environments_survive_pickling_and_metadata():
    settings = load_settings("pick", ["camera_size=16", "task.action.arm_step=0.02"])
    environments = pickle.loads(pickle.dumps(SkillEnvironments.from_settings(settings)))
    again = SkillEnvironments.from_metadata(environments.metadata(), "val")
    env = again(0, seed=1)
    assert env.task.config.action == settings.task.action
    assert env.observation_space["head_depth"].shape == (16, 16, 1)
    env.reset()
    assert env.episode.layout in layouts_of("val")
    assert settings_type("pick") is settings_type("pick")


def test_a_policy_knows_its_homes():
    settings = load_settings("pick", ["homes=classic", "starts.paths=[]"])
    metadata = SkillEnvironments.from_settings(settings).metadata()
    assert SkillEnvironments.from_metadata(metadata, "val").homes == "classic"
    del metadata["homes"]  # a policy of before
    assert SkillEnvironments.from_metadata(metadata, "val").homes == DEFAULT_HOMES


def test_a_policy_is_judged_in_the_world_of_its_rules():
    settings = load_settings("pick", ["slide=false", "stall=false"])
    metadata = SkillEnvironments.from_settings(settings).metadata()
    judged = SkillEnvironments.from_metadata(metadata, "val").simulator_config()
    assert (judged.slide, judged.stall) == (True, True)
    metadata["rules"] = "hab"
    judged = SkillEnvironments.from_metadata(metadata, "val").simulator_config()
    assert (judged.slide, judged.stall) == (False, False)


def test_worlds_side_by_side_are_those_that_stand_alone():
    settings = load_settings(
        "pick", ["camera_size=16", "randomise.friction=0.3", "homes=classic", "starts.paths=[]"]
    )
    environments = SkillEnvironments.from_settings(settings)
    worlds = environments.make_vector(2, seed=0)
    assert worlds.num_envs == 2
    assert worlds.task.config == settings.task
    observations, _ = worlds.reset(seed=[5, 9])
    action = np.full((2, 10), 0.5, np.float32)
    after, rewards, *_ = worlds.step(action)
    for index, seed in enumerate([5, 9]):
        env = environments(index, seed=1)
        assert env.observation_space == worlds.single_observation_space
        assert env.action_space == worlds.single_action_space
        alone, _ = env.reset(seed=seed)
        for key, value in alone.items():
            np.testing.assert_array_equal(observations[key][index], value)
        alone, reward, *_ = env.step(action[index])
        assert rewards[index] == reward
        for key, value in alone.items():
            np.testing.assert_array_equal(after[key][index], value)


@pytest.fixture
def lab_file(tmp_path):
    """Stands for a file of habitat-lab: what is asked of it before anything is read."""
    path = tmp_path / "lab.json"
    path.write_text('{"episodes": [{"rigid_objs": []}]}')
    return str(path)


@pytest.mark.parametrize(
    ("skill", "settings", "told"),
    [
        ("pick", [], "set sim=habitat, too"),
        ("tidy_house", ["sim=habitat"], "tidy_house knows our own apartments only"),
        ("pick", ["sim=habitat"], "episode 0: KeyError: 'additional_obj_config_paths'"),
    ],
)
def test_a_dataset_that_cannot_be_is_refused(lab_file, skill, settings, told):
    chosen = load_settings(skill, [f"dataset={lab_file}", *settings])
    with pytest.raises(UserError, match=told):
        SkillEnvironments.from_settings(chosen)


def test_recorded_starts_are_left_out_of_a_dataset(monkeypatch):
    monkeypatch.setattr("skills.settings.check_dataset", lambda *given: None)
    settings = load_settings("pick", ["dataset=lab.json", "starts.share=0.3"])
    assert settings.starts.paths
    starts = SkillEnvironments.from_settings(settings).starts
    assert (starts["paths"], starts["share"]) == ([], 0.3)


def test_sensors_that_there_are_not_are_refused_before_anything_starts():
    with pytest.raises(UserError, match="must be one of depth, state, both, found 'sonar'"):
        SkillEnvironments.from_settings(load_settings("place", ["sensors=sonar"]))


@pytest.mark.parametrize(
    ("sensors", "told"), [("both", ["true_state"]), ("depth", []), ("state", [])]
)
def test_the_true_state_is_hidden_from_the_policy_where_it_has_both(sensors, told):
    settings = load_settings("navigate", [f"sensors={sensors}"])
    assert settings.trainer.network.critic_only == told
    # And is learned to be told, where there is something that the policy is not told
    assert settings.trainer.ppo.state_estimation == (3.0 if told else 0.0)


def test_an_estimate_that_is_asked_for_where_there_is_nothing_to_tell_is_not_dropped():
    asked = ["sensors=depth", "trainer.ppo.state_estimation=2.0"]
    assert load_settings("navigate", asked).trainer.ppo.state_estimation == 2.0  # ver refuses it


def test_what_else_the_critic_alone_is_told_is_not_forgotten():
    settings = load_settings("place", ["trainer.network.critic_only=[more]"])
    assert settings.trainer.network.critic_only == ["more", "true_state"]


def test_the_policy_itself_is_never_shown_the_true_state_beside_the_image():
    settings = load_settings("place", ["sensors=both"])
    settings.trainer.network.critic_only = []
    with pytest.raises(UserError, match=r"sensors=both needs .*critic_only"):
        SkillEnvironments.from_settings(settings)


@pytest.mark.parametrize(
    ("skill", "trained", "judged"),
    [
        ("open_cab", {"stop_zone": 0.0}, {"stop_zone": 0.0}),
        ("open_cab", {"stop_zone": 0.3}, {}),
        ("navigate", {"stop_distance": 1000.0}, {"stop_distance": 1000.0}),
        ("navigate", {"stop_distance": 2.0}, {}),
    ],
)
def test_who_was_trained_without_a_mask_is_judged_without_it(skill, trained, judged):
    metadata = {"skill": skill, "camera_size": 64, "slide": True, "task": trained}
    assert SkillEnvironments.from_metadata(metadata, "val").task == judged


def test_a_policy_whose_critic_was_told_more_is_judged_by_its_own_sensors():
    trained = SkillEnvironments.from_settings(load_settings("pick", ["sensors=both"]))
    assert trained.sensors == "both"
    assert SkillEnvironments.from_metadata(trained.metadata(), "val").sensors == "depth"


def on_device(*more):
    words = ["sim=device", "trainer.system=batched", "starts.paths=[]", *more]
    return SkillEnvironments.from_settings(load_settings("pick", words))


def test_a_pool_and_a_learner_that_do_not_go_with_worlds_on_a_device_are_refused(monkeypatch):
    monkeypatch.setattr("skills.settings.check_on_device", lambda *_: None)  # where no Warp is
    for word, told in (
        ("trainer.system=ver", "set trainer.system=batched, found ver"),
        ("pool.starts=0", r"pool\.starts must be from 1 to 64, found 0"),
        ("pool.homes=5000", r"pool\.homes must be from 1 to 4096, found 5000"),
        ("sim=moon", "choose one of mujoco, habitat, device"),
        ("dataset=x", r"sim=habitat|sim=device"),
    ):
        with pytest.raises(UserError, match=told):
            on_device(word)


def test_who_was_trained_on_a_device_is_judged_on_the_cpu(monkeypatch):
    monkeypatch.setattr("skills.settings.check_on_device", lambda *_: None)
    trained = on_device("pool.homes=3", "trainer.device=cpu")
    assert trained.pool == {"homes": 3, "starts": 32}
    assert trained.device == "cpu"
    judged = SkillEnvironments.from_metadata(trained.metadata(), "val")
    assert judged.sim == "mujoco"
    assert isinstance(judged.make_simulator(1), MujocoSimulator)
    assert isinstance(trained.make_simulator(1), MujocoSimulator)  # one alone is only looked at
