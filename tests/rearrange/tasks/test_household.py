import dataclasses
import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.tasks import TidyHouse, TidyHouseConfig

SLOTS = (3, 7, 11, 15, 19)
STARTS = [(float(k), 1.0, 0.8) for k in range(5)]
GOALS = [(float(k), 6.0, 0.5) for k in range(5)]
HAND = (0.0, 0.0, 0.8)
NO_STOP, STOP = -1.0, 1.0


@pytest.fixture
def objects():
    positions = np.full((1, 30, 3), 50.0)
    positions[0, list(SLOTS)] = STARTS
    return positions


@pytest.fixture
def task(make_state, make_episode, objects):
    """A house in which the hand starts 1 m from the first object, which is to go 5 m further."""
    task = TidyHouse(TidyHouseConfig(), 1)
    state = make_state(1, object_position=objects, end_effector_position=[HAND])
    task.start([0], [make_episode(*zip(SLOTS, STARTS, GOALS, strict=True))], state)
    return task


@pytest.fixture
def step(task, make_state, objects):
    """Evaluate a state; `moved` puts targets elsewhere, for good."""

    def evaluate(hand=HAND, held=None, moved=None, stop=NO_STOP, force=0.0):
        for k, where in (moved or {}).items():
            objects[0, SLOTS[k]] = where
        state = make_state(
            1,
            object_position=objects,
            end_effector_position=[hand],
            held_object=[-1 if held is None else SLOTS[held]],
            contact_force=[force],
        )
        action = np.zeros((1, 11))
        action[0, 10] = stop
        return task.evaluate(state, np.asarray(action))

    return evaluate


def rewards_of(outcome):
    terms = {name: float(term[0]) for name, term in outcome.rewards.items() if name != "slack"}
    assert float(outcome.rewards["slack"][0]) == pytest.approx(-0.01)
    return {name: term for name, term in terms.items() if abs(term) > 1e-6}


def failures_of(outcome):
    return {name for name, flag in outcome.failures.items() if bool(flag[0])}


def approximately(**terms):
    return pytest.approx(terms, abs=1e-4)


def test_first_the_hand_then_the_object_has_to_come_nearer(step):
    assert rewards_of(step(hand=(0, 0.4, 0.8))) == approximately(progress=0.4)
    hand = (0.0, 1.0, 0.9)
    assert rewards_of(step(hand, held=0)) == approximately(pick=1.0)
    lifted = step(hand=(0, 2, 0.9), held=0, moved={0: (0, 2, 0.5)})
    before = math.hypot(5.0, 0.3)
    assert rewards_of(lifted) == approximately(progress=before - 4.0)


def test_placing_pays_once_and_turns_to_the_next_object(step):
    step(held=0)
    step(hand=(0, 6, 0.6), held=0, moved={0: (0.1, 6, 0.5)})
    assert rewards_of(step(hand=(0, 6, 0.6))) == approximately(place=1.0)
    assert rewards_of(step(hand=(0, 6, 0.6))) == {}
    before, after = math.dist((0, 6, 0.6), STARTS[1]), math.dist((0, 5, 0.6), STARTS[1])
    assert rewards_of(step(hand=(0, 5, 0.6))) == approximately(progress=before - after)
    step(hand=(0, 5, 0.6), held=0)
    assert "pick" not in rewards_of(step(hand=(0, 5, 0.6), held=0))
    assert "place" not in rewards_of(step(hand=(0, 5, 0.6)))


def test_put_down_too_far_from_its_goal_is_not_placed(step):
    step(held=0)
    step(held=0, moved={0: (0.16, 6, 0.5)})
    assert "place" not in rewards_of(step(moved={0: (0.16, 6, 0.5)}))


def test_still_held_at_its_goal_is_not_placed(step):
    step(held=0)
    assert "place" not in rewards_of(step(held=0, moved={0: (0, 6, 0.5)}))


def test_dropping_on_the_way_and_taking_up_again_brings_no_progress(step):
    hand = (0.0, 2.0, 0.9)
    step(hand, held=0, moved={0: (0, 2, 0.8)})
    assert rewards_of(step(hand)) == {}
    assert rewards_of(step(hand, held=0)) == {}


def test_success_needs_everything_in_place_nothing_held_and_stop(step):
    near = {k: (x + 0.29, y, z) for k, (x, y, z) in enumerate(GOALS)}
    outcome = step(moved=near)
    assert not bool(outcome.success[0])
    assert not bool(outcome.terminated[0])
    assert not bool(step(held=2, stop=STOP).success[0])
    outcome = step(stop=STOP)
    assert bool(outcome.success[0])
    assert bool(outcome.terminated[0])
    assert rewards_of(outcome)["success"] == pytest.approx(100.0)
    assert failures_of(outcome) == set()


def test_stopping_early_ends_in_failure(step):
    near = {k: (x + 0.29, y, z) for k, (x, y, z) in enumerate(GOALS)}
    outcome = step(moved=near | {4: (4.0, 6.31, 0.5)}, stop=STOP)
    assert bool(outcome.terminated[0])
    assert not bool(outcome.success[0])
    assert failures_of(outcome) == {"stopped_early"}


def test_force_ends_the_episode_only_beyond_its_limit(step):
    assert not bool(step(force=9_000.0).terminated[0])
    outcome = step(force=10_001.0)
    assert failures_of(outcome) == {"force_limit"}
    assert bool(outcome.terminated[0])
    assert "force" not in rewards_of(outcome)


def test_observations_are_in_their_frames(task, make_state, expect, assert_unchanged):
    yaw, angle = 2.8, -0.6
    base, tip = np.array([0.5, 2.0, 0.0]), np.array([0.1, 2.4, 0.7])
    c, s = math.cos(yaw), math.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    c, s = math.cos(angle), math.sin(angle)
    rotation = turn @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    state = make_state(
        1,
        base_pose=[[base[0], base[1], yaw]],
        end_effector_position=[tip],
        end_effector_rotation=[rotation],
    )
    with assert_unchanged(state):
        seen = task.observe(state)
    for key, points in (("obj_start", STARTS), ("obj_goal", GOALS)):
        in_hand = [np.linalg.inv(rotation) @ (np.array(p) - tip) for p in points]
        expect(seen[f"{key}_sensor"][0], np.concatenate(in_hand))
        polar = np.asarray(seen[f"{key}_gps_compass"])[0].reshape(5, 2)
        for (distance, minus_bearing), point in zip(polar, points, strict=True):
            x, y, _ = np.linalg.inv(turn) @ (np.array(point) - base)
            assert distance == pytest.approx(math.hypot(x, y), abs=1e-5)
            assert minus_bearing == pytest.approx(-math.atan2(y, x), abs=1e-5)
    expect(seen["ee_pos"][0], np.linalg.inv(turn) @ (tip - base))
    expect(seen["gps_compass"][0], [0.5, 2.0, math.cos(yaw), math.sin(yaw)])
    assert {name: box.shape for name, box in task.observation_spaces().items()} == {
        name: tuple(values.shape[1:]) for name, values in seen.items()
    }


def test_a_home_without_room_is_an_error_that_says_what_to_do(monkeypatch):
    monkeypatch.setattr(TidyHouse, "sample_scene", lambda *_: None)
    with pytest.raises(UserError, match=r"no room for the targets .* name fewer objects"):
        TidyHouse().sample_episode("val", np.random.default_rng(0))


def test_a_home_with_fewer_objects_than_are_moved_is_named():
    home = dataclasses.replace(APARTMENT, objects=APARTMENT.objects[:4], file="hut.yaml")
    told = r"5 objects are moved, and there are 4 in hut\.yaml: name more"
    with pytest.raises(UserError, match=told):
        TidyHouse(scene=home).sample_episode("val", np.random.default_rng(0))
