"""Another robot in evaluations: asked for by name, or known from a policy's file."""

import json
from dataclasses import replace

import pytest

from planner import eval as planner_eval
from planner import rollouts
from rearrange.episodes import EpisodeSet
from rearrange.errors import UserError
from rearrange.robot import register_robot, unregister_robot
from rearrange.rules import OURS
from rearrange.view import command as view
from skills import eval as skills_eval
from skills.command import USER_ERRORS
from skills.library import robot_of
from skills.players import player_of
from skills.settings import SkillEnvironments
from tests.helpers.crane import CRANE
from ver import ActorCritic, save_policy
from ver.config import NetworkConfig


@pytest.fixture(scope="module", autouse=True)
def crane():
    register_robot(CRANE)
    yield
    unregister_robot("crane")


@pytest.fixture(scope="module")
def policy(tmp_path_factory):
    """A policy of Pick for the crane, which has learned nothing."""
    made = SkillEnvironments.of_rules("pick", "val", OURS, 64)
    environments = replace(made, robot="crane")
    env = environments(0, 0)
    path = tmp_path_factory.mktemp("crane") / "pick.safetensors"
    network = NetworkConfig(memory="none", hidden_size=8, visual_features=8)
    save_policy(
        path,
        ActorCritic(env.observation_space, env.action_space, network),
        metadata=environments.metadata(),
    )
    return path


SHORT = ["--dataset", "sampled", "--episodes", "1", "--workers", "1"]


def judged(tmp_path, *arguments: str) -> dict:
    path = tmp_path / "result.json"
    assert (
        skills_eval.main(["pick", "task.max_steps=5", *SHORT, "--json", str(path), *arguments]) == 0
    )
    return json.loads(path.read_text())


def test_a_policy_is_judged_with_the_robot_of_its_training(policy, tmp_path):
    assert judged(tmp_path, "--checkpoint", str(policy))["robot"] == "crane"
    with pytest.raises(UserError, match="the robot of its training: leave --robot out"):
        judged(tmp_path, "--checkpoint", str(policy), "--robot", "crane")


def test_who_has_learned_nothing_acts_with_the_robot_that_is_asked_for(tmp_path):
    assert judged(tmp_path, "--policy", "random", "--robot", "crane")["robot"] == "crane"
    assert judged(tmp_path, "--policy", "random")["robot"] == "fetch"
    with pytest.raises(
        UserError, match="unknown robot 'crain': choose one of fetch, fetch_fingers, mast, crane"
    ):
        judged(tmp_path, "--policy", "random", "--robot", "crain")


def test_policies_of_several_robots_do_not_go_together(policy):
    asked = f"oracle,pick={policy}"
    assert robot_of(asked) == "crane"
    assert robot_of("oracle") == "fetch"
    with pytest.raises(USER_ERRORS, match="acts with the robot crane, not fetch"):
        robot_of(asked, asked="fetch")
    with pytest.raises(USER_ERRORS, match="acts with the robot fetch, not crane"):
        robot_of(f"learned,pick={policy}", asked="crane")
    with pytest.raises(USER_ERRORS, match="acts with the robot crane, not fetch"):
        player_of("pick", asked, "val", "classic", "fetch")


def test_plans_and_recorded_starts_are_of_the_robot(tmp_path):
    path = tmp_path / "result.json"
    words = ["tidy_house", "--skills", "random", "--robot", "crane", *SHORT]
    starts = tmp_path / "starts"
    assert planner_eval.main([*words, "--json", str(path), "--record-hand-offs", str(starts)]) == 0
    assert json.loads(path.read_text())["robot"] == "crane"
    (found,) = starts.rglob("*.json.gz")
    recorded = EpisodeSet.load(found)
    assert recorded.robot == "crane"
    assert all(len(episode.arm_joints) == len(CRANE.joints) for episode in recorded)


def test_an_episode_is_drawn_with_it():
    options = view.parse(["pick", "--robot", "crane", "--dataset", "sampled"])
    assert view.load_world(options).robot is CRANE


def test_rollouts_of_a_plan_are_of_the_robot_of_its_policies(policy):
    words = ["tidy_house", "--skills", f"oracle,pick={policy}", "--homes", "classic"]
    actor = rollouts.PlanActor(rollouts.parse(words))
    assert actor.world.robot.name == "crane"
    actor.world.close()
