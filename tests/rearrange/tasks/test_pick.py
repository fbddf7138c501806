import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.robot.fetch_fingers import FETCH_FINGERS
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.tasks import Pick, PickConfig

SLOT, OTHER_SLOT = 4, 9
START = (2.0, 1.0, 0.8)
REST = (0.5, 0.0, 1.0)  # of a base at the origin


@pytest.fixture
def objects():
    positions = np.full((2, 30, 3), 50.0)
    positions[:, SLOT] = START
    return positions


@pytest.fixture
def begin(make_state, make_episode, objects):
    """A task over two worlds whose hands are 1 m beside the object; world 1 is a bystander."""

    def start(config=None, **given):
        task = Pick(config or PickConfig(), 2)
        hands = [(2.0, 0.0, 0.8), (2.0, 0.0, 0.8)]
        state = make_state(2, object_position=objects, end_effector_position=hands, **given)
        task.start([0, 1], [make_episode((SLOT, START, START))] * 2, state)
        return task

    return start


@pytest.fixture
def step(make_state, objects):
    """Evaluate a state in which world 0 is as given and world 1 as at its start."""

    def evaluate(task, hand, held=-1, force=0.0, where=START, grip=-1.0):
        objects[0, SLOT] = where
        state = make_state(
            2,
            object_position=objects,
            end_effector_position=[hand, (2.0, 0.0, 0.8)],
            held_object=[held, -1],
            contact_force=[force, 0.0],
        )
        action = np.zeros((2, 11))
        action[:, 7] = grip, -1.0
        outcome = task.evaluate(state, action)
        assert all(not bool(flag[1]) for flag in outcome.failures.values())
        assert not bool(outcome.terminated[1])
        others = {name: float(term[1]) for name, term in outcome.rewards.items()}
        assert others.pop("slack") == pytest.approx(-0.005)
        assert not any(others.values())
        return outcome

    return evaluate


def rewards_of(outcome):
    """Reward terms of world 0 other than zero."""
    terms = {name: float(term[0]) for name, term in outcome.rewards.items()}
    return {name: term for name, term in terms.items() if term != 0.0}


def failures_of(outcome):
    return {name for name, flag in outcome.failures.items() if bool(flag[0])}


def test_approaching_pays_ten_per_metre_and_retreating_costs_it(begin, step):
    task = begin()
    outcome = step(task, (2.0, 0.4, 0.8))
    assert rewards_of(outcome) == pytest.approx({"distance": 4.0, "slack": -0.005}, abs=1e-4)
    outcome = step(task, (2.0, 0.3, 0.8))
    assert rewards_of(outcome) == pytest.approx({"distance": -1.0, "slack": -0.005}, abs=1e-4)
    assert not bool(outcome.terminated[0])
    assert not bool(outcome.success[0])


def test_taking_the_object_pays_once_and_brings_no_progress(begin, step):
    task = begin()
    outcome = step(task, (2.0, 0.9, 0.8), held=SLOT)
    assert rewards_of(outcome) == pytest.approx({"pick": 2.0, "slack": -0.005})
    assert not bool(outcome.terminated[0])
    outcome = step(task, (2.0, 0.9, 0.8), held=SLOT)
    assert rewards_of(outcome) == pytest.approx({"slack": -0.005})


def test_bringing_the_hand_to_rest_pays_and_ends_in_success(begin, step):
    task = begin()
    step(task, (0.5, 0.6, 1.0), held=SLOT)
    outcome = step(task, (0.5, 0.2, 1.0), held=SLOT)
    assert rewards_of(outcome) == pytest.approx({"distance": 4.0, "slack": -0.005}, abs=1e-4)
    outcome = step(task, (0.5, 0.14, 1.0), held=SLOT)
    expected = {"distance": 0.6, "success": 10.0, "slack": -0.005}
    assert rewards_of(outcome) == pytest.approx(expected, abs=1e-4)
    assert bool(outcome.success[0])
    assert bool(outcome.terminated[0])
    assert failures_of(outcome) == set()


def test_resting_with_empty_hands_is_no_success(begin, step):
    outcome = step(begin(), REST)
    assert not bool(outcome.success[0])
    assert not bool(outcome.terminated[0])


def test_just_outside_the_threshold_is_no_success(begin, step):
    assert not bool(step(begin(), (0.5, 0.151, 1.0), held=SLOT).success[0])


def test_a_wrong_object_costs_and_ends_the_episode(begin, step):
    outcome = step(begin(), (2.0, 0.0, 0.8), held=OTHER_SLOT)
    assert rewards_of(outcome) == pytest.approx({"wrong_object": -0.5, "slack": -0.005})
    assert failures_of(outcome) == {"wrong_object"}
    assert bool(outcome.terminated[0])
    assert not bool(outcome.success[0])


def test_suction_on_far_from_the_object_costs_if_asked(begin, step):
    config = PickConfig(early_grip_penalty=0.05, early_grip_distance=0.1)
    for hand, held, grip, cost in (
        ((2.0, 0.89, 0.8), -1, 1.0, -0.05),
        ((2.0, 0.91, 0.8), -1, 1.0, 0.0),  # near enough
        ((2.0, 0.89, 0.8), -1, -1.0, 0.0),  # off
        ((2.0, 0.89, 0.8), SLOT, 1.0, 0.0),  # it has the object
    ):
        outcome = step(begin(config), hand, held, grip=grip)
        assert outcome.rewards["early_grip"][0] == pytest.approx(cost)
    outcome = step(begin(), (2.0, 0.5, 0.8), grip=1.0)
    assert outcome.rewards["early_grip"][0] == 0.0  # off by default, as in habitat-lab


def test_dropping_costs_and_ends_the_episode_without_progress(begin, step):
    task = begin()
    step(task, (1.0, 0.0, 0.8), held=SLOT, where=(1.0, 0.0, 0.7))
    outcome = step(task, (1.0, 0.0, 0.8), where=(1.0, 0.0, 0.5))
    assert rewards_of(outcome) == pytest.approx({"drop": -0.5, "slack": -0.005})
    assert failures_of(outcome) == {"dropped"}
    assert bool(outcome.terminated[0])


def test_force_is_penalised_and_limited(begin, step):
    task = begin()
    outcome = step(task, (2.0, 0.0, 0.8), force=50.0)
    assert rewards_of(outcome) == pytest.approx({"force": -0.005, "slack": -0.005}, abs=1e-6)
    outcome = step(task, (2.0, 0.0, 0.8), force=10_100.0)
    assert rewards_of(outcome) == pytest.approx({"force": -1.01, "slack": -0.005}, abs=1e-6)
    assert failures_of(outcome) == {"force_limit"}
    assert bool(outcome.terminated[0])


def test_progress_follows_the_object_not_its_start(begin, step):
    outcome = step(begin(), (2.0, 0.0, 0.8), where=(2.0, 0.5, 0.8))
    assert rewards_of(outcome) == pytest.approx({"distance": 5.0, "slack": -0.005}, abs=1e-4)


def test_restarting_one_world_forgets_only_its_past(begin, step, make_state, make_episode, objects):
    task = begin()
    step(task, (2.0, 0.9, 0.8), held=SLOT)
    fresh = make_state(
        2, object_position=objects, end_effector_position=[(2, 0.5, 0.8), (2, 0, 0.8)]
    )
    task.start([0], [make_episode((SLOT, START, START))], fresh)
    outcome = step(task, (2.0, 0.6, 0.8))
    assert rewards_of(outcome) == pytest.approx({"distance": 1.0, "slack": -0.005}, abs=1e-4)


def test_letting_go_of_what_is_held_is_masked(begin, make_state, expect):
    task = begin()
    physical = np.zeros((2, 10))
    physical[:, 7] = -0.4
    masked = task.mask(make_state(2, held_object=[SLOT, -1]), np.asarray(physical))
    assert masked[0, 7] >= 0.0  # holds on
    expect(masked[1, 7], -0.4)


def test_observations_are_in_their_frames(make_state, make_episode, expect, assert_unchanged):
    yaw, tip = 0.7, np.array([1.4, -0.3, 0.9])
    angle = 0.4
    tilt = np.array(
        [
            [math.cos(angle), 0, math.sin(angle)],
            [0, 1, 0],
            [-math.sin(angle), 0, math.cos(angle)],
        ]
    )
    c, s = math.cos(yaw), math.sin(yaw)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    rotation = turn @ tilt
    task = Pick(PickConfig(), 1)
    at_start = make_state(1, base_pose=[[0.2, 0.1, 0.3]])
    task.start([0], [make_episode((SLOT, START, START))], at_start)
    joints = np.linspace(-1.0, 1.0, 7)
    state = make_state(
        1,
        base_pose=[[1.0, -0.5, yaw]],
        end_effector_position=[tip],
        end_effector_rotation=[rotation],
        arm_joints=[joints],
        held_object=[OTHER_SLOT],
    )
    with assert_unchanged(state):
        seen = task.observe(state)
    expect(seen["obj_start_sensor"][0], np.linalg.inv(rotation) @ (np.array(START) - tip))
    expect(seen["joint"][0], joints)
    expect(seen["is_holding"], [[1.0]])
    in_base = np.linalg.inv(turn) @ (tip - (1.0, -0.5, 0.0))
    expect(seen["relative_resting_position"][0], np.array(REST) - in_base)
    back = np.array([[math.cos(0.3), math.sin(0.3)], [-math.sin(0.3), math.cos(0.3)]])
    gps = back @ np.array([0.8, -0.6])
    expect(seen["gps_compass"][0], [*gps, math.cos(0.4), math.sin(0.4)])
    assert {name: box.shape for name, box in task.observation_spaces().items()} == {
        name: tuple(values.shape[1:]) for name, values in seen.items()
    }


def test_a_held_handle_counts_as_holding(make_state, make_episode, expect):
    task = Pick(PickConfig(), 2)
    state = make_state(2, held_handle=[2, -1])
    task.start([0, 1], [make_episode((SLOT, START, START))] * 2, state)
    expect(task.observe(state)["is_holding"], [[1.0], [0.0]])


def test_start_positions_are_kept_when_the_state_moves_on(make_state, make_episode, expect):
    task = Pick(PickConfig(), 1)
    state = make_state(1, base_pose=[[1.0, 2.0, 0.0]])
    task.start([0], [make_episode((SLOT, START, START))], state)
    state.base_pose[0, 0] = 4.0
    expect(task.observe(state)["gps_compass"], [[3.0, 0.0, 1.0, 0.0]])


@pytest.mark.usefixtures("one_variation")
def test_sampled_episodes_ask_for_a_near_object():
    rng = np.random.default_rng(0)
    task = Pick()
    for _ in range(10):
        episode = task.sample_episode("val", rng)
        (target,) = episode.targets
        assert target.start == episode.objects[target.slot][:3]
        x, y, yaw = episode.base_pose
        dx, dy = target.start[0] - x, target.start[1] - y
        assert math.hypot(dx, dy) <= 2.0
        assert abs(math.remainder(math.atan2(dy, dx) - yaw, 2 * math.pi)) < 5 * 0.5236


@pytest.mark.usefixtures("one_variation")
@pytest.mark.parametrize("distance", [pytest.param(0.35, marks=pytest.mark.slow), 0.0])
def test_starts_that_are_too_near_are_refused(distance):
    rng = np.random.default_rng(0)
    Pick(PickConfig(start_distance=0.5)).sample_episode("val", rng)
    with pytest.raises(UserError, match=r"^task\.start_distance=.* set it to 0\.5 or more$"):
        Pick(PickConfig(start_distance=distance)).sample_episode("val", rng)


@pytest.mark.parametrize("open_share", [0.0, 1.0])
def test_fingers_are_asked_for_what_they_go_around(open_share, one_variation):
    task, rng = (
        Pick(PickConfig(open_share=open_share), robot=FETCH_FINGERS),
        np.random.default_rng(0),
    )
    slots = [task.sample_episode("train", rng).targets[0].slot for _ in range(12)]
    assert all(FETCH_FINGERS.can_hold(APARTMENT.objects[slot]) for slot in slots)
    assert len(set(slots)) > 5
