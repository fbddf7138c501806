import math

import numpy as np
import pytest

from rearrange.sim import NOTHING
from rearrange.tasks import Place, PlaceConfig

SLOT, OTHER = 0, 9  # slot 0 too must count as something that is held
START, GOAL = (5.0, 5.0, 0.8), (2.0, 0.0, 0.8)
REST = (0.5, 0.0, 1.0)  # of a base at the origin


@pytest.fixture
def begin(make_state, make_episode):
    """A task over two worlds which hold the object 1 m before its goal, hands at rest."""

    def start(**settings):
        task = Place(PlaceConfig(**settings), 2)
        episode = make_episode((SLOT, START, GOAL), held_slot=SLOT)
        task.start([0, 1], [episode] * 2, scene(make_state))
        return task

    return start


def scene(make_state, where=(1.0, 0.0, 0.8), hand=REST, held=SLOT, force=0.0):
    positions = np.full((2, 30, 3), 50.0)
    positions[:, SLOT] = (where, (1.0, 0.0, 0.8))
    return make_state(
        2,
        object_position=positions,
        end_effector_position=[hand, REST],
        held_object=[held, SLOT],
        contact_force=[force, 0.0],
    )


@pytest.fixture
def step(make_state, assert_bystander):
    """Evaluate a state in which world 0 is as given and world 1 as at its start."""

    def evaluate(task, **given):
        outcome = task.evaluate(scene(make_state, **given), np.zeros((2, 11)))
        assert_bystander(outcome)
        assert float(outcome.rewards["slack"][0]) == pytest.approx(-0.005)
        return outcome

    return evaluate


def near(**terms):
    return pytest.approx(terms, abs=1e-4)


def test_carrying_the_object_nearer_pays_ten_per_metre(begin, step, rewards_of):
    task = begin()
    assert rewards_of(step(task, where=(1.4, 0.0, 0.8))) == near(distance=4.0)
    assert rewards_of(step(task, where=(1.3, 0.0, 0.8))) == near(distance=-1.0)


def test_moving_about_within_reach_of_the_goal_pays_nothing(begin, step, rewards_of):
    task = begin()
    step(task, where=(1.8, 0.0, 0.8))
    assert rewards_of(step(task, where=(1.86, 0.0, 0.8))) == {}
    assert rewards_of(step(task, where=(1.99, 0.0, 0.8))) == {}
    assert rewards_of(step(task, where=(1.8, 0.0, 0.8))) == near(distance=-1.9)


def test_the_last_centimetres_may_be_paid_for(begin, step, rewards_of):
    task = begin(arrival_distance=0.03)
    step(task, where=(1.8, 0.0, 0.8))
    assert rewards_of(step(task, where=(1.95, 0.0, 0.8))) == near(distance=1.5)
    assert rewards_of(step(task, where=(1.98, 0.0, 0.8))) == {}


def test_letting_go_at_the_goal_pays_once_and_then_the_way_to_rest(begin, step, rewards_of):
    task = begin()
    at_goal = (2.0, 0.1, 0.8)
    step(task, where=at_goal, hand=(1.9, 0.0, 1.0))
    outcome = step(task, where=at_goal, hand=(1.9, 0.0, 1.0), held=NOTHING)
    assert rewards_of(outcome) == near(place=5.0)
    assert not bool(outcome.terminated[0])
    outcome = step(task, where=at_goal, hand=(1.0, 0.0, 1.0), held=NOTHING)
    assert rewards_of(outcome) == near(distance=9.0)
    assert not bool(outcome.success[0])
    outcome = step(task, where=at_goal, hand=(0.6, 0.0, 1.0), held=NOTHING)
    assert rewards_of(outcome) == near(distance=4.0, success=10.0)
    assert bool(outcome.success[0])
    assert bool(outcome.terminated[0])


def test_what_moves_after_it_was_let_go_may_cost(begin, step, rewards_of):
    task = begin(settle_scale=10.0, place_bonus=0.0)
    step(task, where=(2.0, 0.1, 0.8))
    assert rewards_of(step(task, where=(2.0, 0.09, 0.8), held=NOTHING)) == near(settle=-0.1)
    assert rewards_of(step(task, where=(2.0, 0.09, 0.77), held=NOTHING)) == near(settle=-0.3)
    assert "settle" not in rewards_of(step(task, where=(2.0, 0.09, 0.77), held=NOTHING))


def test_letting_go_elsewhere_ends_the_episode(begin, step, rewards_of, failures_of):
    task = begin(drop_penalty=0.25)
    step(task, where=(1.8, 0.0, 0.8))
    outcome = step(task, where=(1.84, 0.0, 0.8), held=NOTHING)
    assert rewards_of(outcome) == near(drop=-0.25)
    assert failures_of(outcome) == {"dropped"}
    assert bool(outcome.terminated[0])
    assert rewards_of(step(begin(), held=NOTHING)) == {}  # habitat-lab: no penalty


def test_an_object_that_moves_off_its_goal_again_is_no_success(begin, step, failures_of):
    task = begin()
    step(task, where=(2.0, 0.0, 0.8), held=NOTHING)
    outcome = step(task, where=(2.0, 0.16, 0.8), held=NOTHING)
    assert not bool(outcome.success[0])
    assert not bool(outcome.terminated[0])
    assert failures_of(outcome) == {"displaced"}
    step(task, where=(2.0, 0.14, 0.8), held=NOTHING)
    assert bool(step(task, where=(2.0, 0.14, 0.8), held=NOTHING).success[0])


def test_an_object_at_rest_outside_its_goal_may_end_the_episode(begin, step, failures_of):
    task = begin(displaced_ends=True)
    step(task, where=(2.0, 0.0, 0.8), held=NOTHING)
    assert not bool(
        step(task, where=(2.0, 0.16, 0.8), held=NOTHING).terminated[0]
    )  # it still moves
    outcome = step(task, where=(2.0, 0.16, 0.8), held=NOTHING)
    assert bool(outcome.terminated[0])
    assert not bool(outcome.success[0])
    assert failures_of(outcome) == {"displaced"}


@pytest.mark.parametrize(("moved", "succeeds"), [(0.0012, False), (0.0008, True)])
def test_success_needs_an_object_that_lies_still(begin, step, moved, succeeds):
    task = begin()
    step(task, where=GOAL, held=NOTHING)
    assert bool(step(task, where=GOAL, held=NOTHING).success[0])
    outcome = step(task, where=(2.0, moved, 0.8), held=NOTHING)
    assert bool(outcome.success[0]) == succeeds
    assert bool(step(task, where=(2.0, moved, 0.8), held=NOTHING).success[0])


@pytest.mark.parametrize("given", [{"held": SLOT}, {"hand": (0.5, 0.16, 1.0)}])
def test_success_needs_an_empty_hand_at_rest(begin, step, given):
    task = begin()
    step(task, where=GOAL, held=given.get("held", NOTHING))
    outcome = step(task, **{"where": GOAL, "held": NOTHING, **given})
    assert not bool(outcome.success[0])
    assert not bool(outcome.terminated[0])


def test_the_force_penalty_bites(begin, step, rewards_of, failures_of):
    task = begin()
    assert rewards_of(step(task, force=50.0)) == near(force=-0.005)
    assert rewards_of(step(task, force=500.0)) == near(force=-0.01)
    outcome = step(task, force=10_400.0)
    assert rewards_of(outcome) == near(force=-1.01)
    assert failures_of(outcome) == {"force_limit"}
    assert bool(outcome.terminated[0])


def test_taking_up_again_is_masked(begin, make_state, expect):
    physical = np.zeros((2, 10))
    physical[:, 7] = 0.4
    masked = begin().mask(make_state(2, held_object=[0, NOTHING]), np.asarray(physical))
    assert float(masked[0, 7]) >= 0.0  # still held
    expect(masked[1, 7], -1.0)
    physical[:, 7] = -0.4
    at_goal = make_state(2, held_object=[3, NOTHING], end_effector_position=[GOAL, GOAL])
    masked = begin(release_pause=0).mask(at_goal, np.asarray(physical))
    assert float(masked[0, 7]) < 0.0  # letting go is allowed


@pytest.mark.parametrize(("distance", "allowed"), [(0.3, False), (3.0, True)])
def test_letting_go_is_masked_far_from_the_goal(begin, make_state, distance, allowed):
    x, y, z = GOAL
    hands = [(x, y - 0.29, z), (x + 0.2, y, z + 0.25)]
    state = make_state(2, held_object=[SLOT, SLOT], end_effector_position=hands)
    physical = np.asarray(np.full((2, 10), -0.3))
    masked = begin(release_distance=distance, release_pause=0).mask(state, physical)
    assert float(masked[0, 7]) < 0.0
    assert (float(masked[1, 7]) < 0.0) is allowed


def test_arm_and_base_keep_still_while_it_is_let_go(begin, make_state):
    """Two steps before the grip opens and two after, whatever the policy does meanwhile."""
    task = begin(release_pause=2)
    held = make_state(2, held_object=[SLOT, SLOT], end_effector_position=[GOAL, GOAL])
    empty = make_state(2, held_object=[NOTHING, NOTHING], end_effector_position=[GOAL, GOAL])
    moving = np.full((2, 10), 0.5)
    moving[0, 7] = -0.3  # world 0 lets go, world 1 does not
    grips = []
    for step in range(6):
        masked = task.mask(held if step < 2 else empty, moving.copy())
        grips.append(float(masked[0, 7]))
        still = step < 4
        assert np.array_equal(masked[0, [*range(7), 8, 9]], np.full(9, 0.0 if still else 0.5))
        moving[0, 7] = 0.9  # what it wants now does not matter
        if step < 2:
            assert np.array_equal(masked[1], np.full(10, 0.5))
    assert [grip >= 0.0 for grip in grips] == [True, True, False, False, False, False]


@pytest.mark.parametrize("moves", [True, False])
def test_base_motion_can_be_switched_off(begin, make_state, expect, moves):
    masked = begin(base_motion=moves).mask(make_state(2), np.asarray(np.full((2, 10), -0.5)))
    expect(masked[:, 8:], np.full((2, 2), -0.5 * moves))
    expect(masked[:, :7], np.full((2, 7), -0.5))


def test_observations_are_in_their_frames(make_state, make_episode, expect, assert_unchanged):
    task = Place(PlaceConfig(), 1)
    task.start([0], [make_episode((SLOT, START, GOAL))], make_state(1))
    rotation = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]  # hand's x along y
    state = make_state(
        1,
        base_pose=[(1.0, 0.0, math.pi / 2)],
        end_effector_position=[(1.0, 0.3, 0.9)],
        end_effector_rotation=[rotation],
        held_object=[SLOT],
    )
    with assert_unchanged(state):
        seen = task.observe(state)
    expect(seen["obj_goal_sensor"], [[-0.3, -1.0, -0.1]])
    expect(seen["relative_resting_position"], [[0.2, 0.0, 0.1]])
    expect(seen["is_holding"], [[1.0]])
    expect(seen["joint"], np.zeros((1, 7)))
    expect(seen["gps_compass"], [[1.0, 0.0, 0.0, 1.0]])
    assert {name: box.shape for name, box in task.observation_spaces().items()} == {
        name: tuple(values.shape[1:]) for name, values in seen.items()
    }


@pytest.mark.usefixtures("one_variation")
def test_sampled_starts_hold_the_object_near_its_goal():
    rng, task = np.random.default_rng(0), Place()
    in_fridge = 0
    for _ in range(100):
        episode = task.sample_episode("val", rng)
        (target,) = episode.targets
        assert episode.held_slot == target.slot
        assert target.goal_receptacle != target.start_receptacle
        x, y, yaw = episode.base_pose
        dx, dy = target.goal[0] - x, target.goal[1] - y
        assert math.hypot(dx, dy) <= 2.0
        assert abs(math.remainder(math.atan2(dy, dx) - yaw, 2 * math.pi)) < 5 * 0.5236
        fridge = target.goal_receptacle == "fridge_middle"
        assert episode.articulated == ({"fridge_door": 1.5} if fridge else {})
        in_fridge += fridge
    assert in_fridge == pytest.approx(10, abs=8)


@pytest.mark.usefixtures("one_variation")
def test_goals_can_be_kept_out_of_the_fridge():
    rng, task = np.random.default_rng(0), Place(PlaceConfig(fridge_share=0.0))
    episodes = [task.sample_episode("val", rng) for _ in range(30)]
    assert all(e.targets[0].goal_receptacle != "fridge_middle" for e in episodes)
