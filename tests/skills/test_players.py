"""What an evaluation does beside playing: other worlds' images, other numbers."""

import numpy as np
import pytest

from rearrange.tasks.glimpse import GLIMPSE
from rearrange.tasks.map_way import MAP_WAY
from rearrange.worlds import DEPTH_KEY
from skills import players
from skills.eval_options import task_changes
from skills.players import BLIND, OWN, SWAPPED, OraclePlayer, PolicyPlayer, RandomPlayer
from skills.summary import causes_of

SHORT = {"max_steps": 30}


def test_swapped_images_are_those_of_another_world(pick_checkpoint, monkeypatch):
    told = {}
    for swapped in (False, True):
        images = "swapped" if swapped else "own"
        player = PolicyPlayer(str(pick_checkpoint), True, "val", images, SHORT)
        act, seen = player.runner.act, []

        def record(observation, act=act, seen=seen):
            seen.append({key: value.copy() for key, value in observation.items()})
            return act(observation)

        monkeypatch.setattr(player.runner, "act", record)
        metrics = player.play(3, None)
        assert metrics["detour"] in (0.0, 1.0)
        told[swapped] = (seen, metrics)
    first, other = told[False][0][0], told[True][0][0]
    for key in (DEPTH_KEY, GLIMPSE):
        assert not np.array_equal(first[key], other[key])
    for key in set(first) - {DEPTH_KEY, GLIMPSE}:
        np.testing.assert_array_equal(first[key], other[key])
    images = [seen[DEPTH_KEY] for seen in told[True][0]]
    assert not np.array_equal(images[0], images[-1])  # the other world goes on


def test_the_same_seed_swaps_in_the_same_images(pick_checkpoint):
    player = PolicyPlayer(str(pick_checkpoint), False, "val", "swapped", SHORT)
    once = player.play(5, None)
    player.play(6, None)
    assert player.play(5, None) == once


def test_observers_see_every_step(pick_checkpoint):
    player, seen = PolicyPlayer(str(pick_checkpoint), True, "val", changes=SHORT), []
    metrics = player.play(3, None, lambda world: seen.append(world.elapsed_steps))
    assert seen == list(range(1, int(metrics["length"]) + 1))
    assert player.play(3, None) == metrics


def test_numbers_of_the_task_can_be_changed(pick_checkpoint):
    player = PolicyPlayer(str(pick_checkpoint), True, "val", changes={"max_steps": 3})
    assert player.environment.task.config.max_steps == 3
    assert player.play(3, None)["length"] <= 3


def test_a_number_in_a_group_leaves_the_others_as_the_policy_has_them(make_checkpoint):
    path = str(make_checkpoint("pick", "rules=hab"))
    changes = task_changes("pick", ["task.action.repeat=2", "task.max_steps=9"])
    assert changes == {"action": {"repeat": 2}, "max_steps": 9}
    config = PolicyPlayer(path, True, "val", changes=changes).environment.task.config
    assert (config.action.repeat, config.max_steps) == (2, 9)
    assert (config.action.arm_step, config.action.delay) == (0.0125, 1)


def test_the_blind_see_one_image_always(pick_checkpoint, monkeypatch):
    player = PolicyPlayer(str(pick_checkpoint), True, "val", "blind", SHORT)
    act, seen = player.runner.act, []

    def record(observation):
        seen.append({key: value.copy() for key, value in observation.items()})
        return act(observation)

    monkeypatch.setattr(player.runner, "act", record)
    player.play(3, None)
    first = len(seen)
    player.play(4, None)
    assert len(seen) > first > 1
    for observation in seen:
        np.testing.assert_array_equal(observation[DEPTH_KEY], seen[0][DEPTH_KEY])
    assert any(not np.array_equal(o["joint"], seen[0]["joint"]) for o in seen)
    assert 0.0 < seen[0][DEPTH_KEY].mean() < 1.0


def test_random_actions_depend_on_the_seed_alone():
    player = RandomPlayer("pick", "val", changes={"max_steps": 12})
    once = player.play(5, None)
    other = player.play(6, None)
    assert player.play(5, None) == once != other
    assert once["length"] == 12.0


@pytest.mark.parametrize("images", [OWN, BLIND, SWAPPED])
def test_what_is_made_of_images_is_taken_away_with_them(make_checkpoint, monkeypatch, images):
    """A way over a map of the true images would lead a blind policy."""
    monkeypatch.setattr(players, "BLIND_EPISODES", 2)
    path = make_checkpoint("navigate", "task.map_way=true", "task.max_steps=12")
    player = PolicyPlayer(path, True, "val", images)
    own, acted_by, act = [], [], player.runner.act
    observe = player.environment.observe

    def record():
        seen = observe()
        own.append(seen[MAP_WAY].copy())
        return seen

    def see(observation):
        acted_by.append(observation[MAP_WAY].copy())
        return act(observation)

    monkeypatch.setattr(player.environment, "observe", record)
    monkeypatch.setattr(player.runner, "act", see)
    player.play(3, None)
    same = [np.array_equal(a, b) for a, b in zip(own, acted_by, strict=False)]
    assert len(acted_by) > 1
    assert all(same) if images == OWN else not any(same)
    if images == BLIND:
        assert (np.array(acted_by) == acted_by[0]).all()


class GivesUp:
    """An oracle that has no way to a handle."""

    failure, done = "open: no reach", True

    def act(self, state):
        return np.zeros(len(state.robot.joints) + 3)


def test_why_an_oracle_gave_up_is_a_cause_of_failure(monkeypatch):
    monkeypatch.setattr(players, "begin_oracle", lambda *_: GivesUp())
    metrics = OraclePlayer("open_cab", "val").play(3, None)
    assert causes_of(metrics) == ["stopped_early", "open: no reach"]


def test_an_oracle_moves_its_arm_no_faster_than_the_rules_let_it():
    player = OraclePlayer("pick", "val", rules="hab")
    world, moved = player.environment, []
    targets = world.simulator._arm_targets
    before = [None]

    def look(world):
        if before[0] is not None:
            moved.append(float(np.abs(targets[0] - before[0]).max()))
        before[0] = targets[0].copy()

    player.play(0, None, look)
    most = world.task.action.arm_step
    assert 0.9 * most < max(moved) < most + 1e-9
