"""Episodes that are played again: the same steps, from a result too, and by weights that have changed."""

import json
import os
import shutil

import numpy as np
import pytest

from live.agents import make_agent
from live.episodes import Episodes
from live.replay import Result
from rearrange.errors import UserError
from skills.settings import CHECKPOINTS


def steps_of(agent, number, count=8):
    """The first sights of an episode, and what came of it if it ended by then."""
    seen = []

    class Enough(Exception):  # noqa: N818 - no error: it leaves the episode
        """So many are enough."""

    def show(look, words, beliefs=""):
        seen.append((look(None), words))
        if len(seen) == count:
            raise Enough

    try:
        outcome = agent.play(number, show)
    except Enough:
        outcome = ""
    return [sight for sight, _ in seen], outcome, seen[-1][1]


def check_same(first, second):
    assert [sight.step for sight in first] == [sight.step for sight in second]
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one.poses, other.poses)
        assert one.rewards == other.rewards
        assert one.action == other.action


@pytest.mark.parametrize(("task", "name"), [("pick", "policy"), ("objectnav", "policy")])
def test_an_episode_played_again_has_the_same_states(task, name):
    agent = make_agent(name, Episodes.find(task, "val", None), None)
    first, _, _ = steps_of(agent, 2)
    steps_of(agent, 5)
    again, _, _ = steps_of(agent, 2)
    check_same(first, again)


def result_of(path, command, **more):
    path.write_text(json.dumps({"made": {"command": command}, **more}))
    return path


def test_an_evaluation_is_played_again_as_its_command_says(tmp_path):
    rows = {"columns": ["episode", "success", "failures"], "rows": [[0, 1, ""], [1, 0, "timeout"]]}
    command = "python -m skills.eval pick --actions mean --dataset sampled --seed 3 --json x.json"
    result = Result(result_of(tmp_path / "pick.json", command, per_episode=rows))
    assert result.outcomes == {0: "success", 1: "timeout"}
    assert "x.json" not in result.arguments
    played, _, _ = steps_of(result.make_agent(None), 1)
    from skills.eval import SEED_STRIDE
    from skills.players import PolicyPlayer

    player = PolicyPlayer(str(CHECKPOINTS / "pick.safetensors"), True, "val")
    poses = []

    def observe(world):
        poses.append(world.simulator.data[0].xpos.astype(np.float32))
        if len(poses) == 8:
            raise StopIteration

    with pytest.raises(StopIteration):
        player.play(3 * SEED_STRIDE + 1, None, observe)
    for sight, expected in zip(played, poses, strict=True):
        np.testing.assert_array_equal(sight.poses[:, :3], expected)


def test_a_chores_record_is_played_again(tmp_path):
    records = [{"index": 0, "success_at_end": False, "failure": "pick: time-out"}]
    command = "python -m planner.eval set_table --skills oracle --dataset sampled --seed 2"
    result = Result(result_of(tmp_path / "chore.json", command, records=records))
    assert result.outcomes == {0: "pick: time-out"}
    agent = result.make_agent(None)
    first, _, words = steps_of(agent, 0, 3)
    assert words.count("<div") == 13
    assert not first[0].action  # the world was unknown before its first step
    check_same(first[1:], steps_of(agent, 0, 3)[0][1:])


@pytest.mark.parametrize(
    ("command", "more"),
    [
        ("python -m skills.train pick", {"per_episode": {"columns": ["episode"], "rows": [[0]]}}),
        ("python -m skills.eval pick", {}),
        ("", {}),
    ],
)
def test_what_holds_no_episodes_is_refused(tmp_path, command, more):
    with pytest.raises(UserError, match=r"other\.json"):
        Result(result_of(tmp_path / "other.json", command, **more))


def test_a_result_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UserError, match=r"none\.json: No such file or directory$"):
        Result(tmp_path / "none.json")


def test_a_checkpoint_that_changes_is_read_again(tmp_path):
    path = tmp_path / "policy.safetensors"
    shutil.copy(CHECKPOINTS / "pick.safetensors", path)
    agent = make_agent("policy", Episodes.find("pick", "val", None), None, path)
    runner = agent._player.runner
    first, _, words = steps_of(agent, 0, 6)
    assert agent._player.runner is runner
    assert f"policy of step {runner.policy.metadata['steps']:,}<" in words
    from ver import ActorCritic, save_policy

    policy = runner.policy
    fresh = ActorCritic(policy.observation_space, policy.action_space, policy.network_config)
    save_policy(path, fresh, policy.config, policy.metadata | {"steps": 12_345})
    os.utime(path, ns=(0, 1))
    runner.deterministic = False
    second, _, words = steps_of(agent, 0, 6)
    assert "policy of step 12,345<" in words
    assert not agent._player.runner.deterministic
    assert any(not np.array_equal(a.poses, b.poses) for a, b in zip(first, second, strict=True))
