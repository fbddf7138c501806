"""Starts that an initiation set is learned from."""

import math

import pytest

from rearrange.env import RearrangeEnv
from rearrange.errors import UserError
from rearrange.scenes.registry import collection_of
from skills.initiation.starts import NEAR, StartPlayer


@pytest.fixture(scope="module")
def player(make_checkpoint):
    player = StartPlayer(make_checkpoint("pick", "sensors=both"))
    yield player
    player.close()


def test_same_seed_same_starts_whatever_was_played_before(player):
    _, a = player.play("val", 5, 3, False)
    player.play("val", 6, 2, True)
    _, b = player.play("val", 5, 3, False)
    assert [s.value for s in a] == [s.value for s in b]
    assert all((x.seen == y.seen).all() for x, y in zip(a, b, strict=True))
    assert [s.succeeded for s in a] == [None] * 3
    assert len({s.value for s in a}) == 3


def test_played_starts_are_the_same_and_tell_how_they_ended(player):
    _, valued = player.play("val", 5, 2, False)
    _, played = player.play("val", 5, 2, True)
    assert [s.value for s in played] == [s.value for s in valued]
    assert [s.succeeded for s in played] == [False, False]  # 20 steps of a policy without training


def test_every_second_start_is_from_anywhere_near(player, monkeypatch):
    begun = []
    reset = RearrangeEnv.reset

    def watched(world, **options):
        answer = reset(world, **options)
        place = world.task.subject(world.state, 0)
        begun.append((world.episode, math.dist(world.state.base_pose[0, :2], place[:2])))
        return answer

    monkeypatch.setattr(RearrangeEnv, "reset", watched)
    player.play("val", 7, 6, False)
    assert len(begun) >= 6
    for (own, _), (moved, distance) in zip(begun[0:6:2], begun[1:6:2], strict=True):
        assert moved.objects == own.objects
        assert moved.targets == own.targets
        assert moved.base_pose != own.base_pose
        assert distance <= NEAR + 1e-6


def test_homes_are_those_of_the_training_or_as_asked(make_checkpoint):
    policy = make_checkpoint("pick", "sensors=both", "homes=classic", "starts.paths=[]")
    for homes, expected in (("", "classic"), ("generated", "generated")):
        world = StartPlayer(policy, homes)._world("val")
        world.reset(seed=1)
        assert collection_of(world.episode.layout) == (expected, "val")
        world.close()


def test_critic_must_know_more_than_the_policy(make_checkpoint):
    with pytest.raises(UserError, match="train with sensors=both"):
        StartPlayer(make_checkpoint("pick", "sensors=depth"))
