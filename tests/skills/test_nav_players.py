"""Players of navigation tasks: whoever it is plays the same episode, and is looked at alike."""

import pytest

from rearrange.errors import UserError
from rearrange.scenes.registry import DEFAULT_HOMES
from skills.command import USER_ERRORS
from skills.nav_players import nav_player
from skills.settings import CHECKPOINTS


@pytest.mark.parametrize(
    ("task", "who"), [("pointnav", "oracle"), ("flee", "oracle"), ("objectnav", "frontier")]
)
def test_an_onlooker_sees_every_step_of_the_same_episode(task, who):
    player = nav_player(task, who, "val", DEFAULT_HOMES)
    seen, played = [], []

    def look(env):
        seen.append(env.elapsed_steps)
        played.append(env.episode.episode_id)

    metrics = player.play(3, None, look)
    assert seen == list(range(1, int(metrics["length"]) + 1))
    other = nav_player(task, "random", "val", DEFAULT_HOMES)
    other.play(3, None)
    assert {other.environment.episode.episode_id} == set(played)
    assert player.play(3, None) == metrics
    assert len(seen) == metrics["length"]  # nobody looks any more


@pytest.mark.parametrize(
    ("task", "who"), [("explore", "oracle"), ("pointnav", "frontier"), ("pointnav", "zero")]
)
def test_who_cannot_play_a_task_is_refused(task, who):
    with pytest.raises(UserError, match=f"there is no {who} player for {task}"):
        nav_player(task, who, "val", DEFAULT_HOMES)


def test_a_policy_is_the_shipped_one_or_the_one_given(tmp_path):
    player = nav_player("pointnav", "policy", "val", DEFAULT_HOMES)
    assert player.runner.path == CHECKPOINTS / "pointnav.safetensors"
    assert player.runner.deterministic
    with pytest.raises(USER_ERRORS, match="policy for 'pointnav', not for 'objectnav'"):
        nav_player(
            "objectnav", "policy", "val", DEFAULT_HOMES, CHECKPOINTS / "pointnav.safetensors"
        )
    with pytest.raises(UserError, match=r"no policy .*none\.safetensors"):
        nav_player("pointnav", "policy", "val", DEFAULT_HOMES, tmp_path / "none.safetensors")
