import math

import numpy as np
import pytest

from rearrange.errors import UserError
from rearrange.navigation import distance_field, load_layout, region_field, standing_region
from rearrange.robot.fetch import FETCH
from rearrange.sim import NOTHING
from rearrange.tasks import Navigate, NavigateConfig
from rearrange.tasks.navigate import gone_shut
from rearrange.tasks.starts import open_doors, way_to_stand

SLOT, OTHER = 4, 9
START, GOAL = (6.0, 0.0, 0.8), (0.0, 8.0, 0.8)


@pytest.fixture
def begin(make_state, make_episode):
    """A task over two worlds whose robots look along x from 6 m before the object."""

    def start(held=None, pose=(0.0, 0.0, 0.0), **settings):
        task = Navigate(NavigateConfig(**settings), 2)
        hand = NOTHING if held is None else held
        state = make_state(2, base_pose=[pose, (0, 0, 0)], held_object=[hand, NOTHING])
        episodes = [
            make_episode((SLOT, START, GOAL), held_slot=held),
            make_episode((SLOT, START, GOAL)),
        ]
        task.start([0, 1], episodes, state)
        return task

    return start


@pytest.fixture
def step(make_state, assert_bystander):
    """Evaluate a state in which world 0 is as given and world 1 as at its start."""

    def evaluate(task, pose=(0.0, 0.0, 0.0), held=NOTHING, stop=False, force=0.0):
        state = make_state(
            2,
            base_pose=[pose, (0, 0, 0)],
            held_object=[held, NOTHING],
            contact_force=[force, 0.0],
        )
        action = np.full((2, 11), -1.0)
        action[0, 10] = 1.0 if stop else -1.0
        outcome = task.evaluate(state, np.asarray(action))
        assert_bystander(outcome)
        assert float(outcome.rewards["slack"][0]) == pytest.approx(-0.005)
        return outcome

    return evaluate


def near(**terms):
    return pytest.approx(terms, abs=1e-4)


def test_every_metre_nearer_pays_one(begin, step, rewards_of):
    task = begin()
    assert rewards_of(step(task, (2.0, 0.0, 0.0))) == near(distance=2.0)
    assert rewards_of(step(task, (1.0, 0.0, 0.0))) == near(distance=-1.0)


def test_what_is_nearer_than_the_floor_pays_nothing(begin, step, rewards_of):
    task = begin(pose=(4.0, 0, 0), distance_floor=1.2)
    assert rewards_of(step(task, (4.5, 0.0, 0.0))) == near(distance=0.5)
    assert rewards_of(step(task, (5.0, 0.0, 0.0))) == near(distance=0.3)
    assert rewards_of(step(task, (5.5, 0.0, 0.0))) == {}
    assert rewards_of(step(task, (4.6, 0.0, 0.0))) == near(distance=-0.2)


def test_turning_pays_only_within_three_metres(begin, step, rewards_of):
    task = begin(pose=(0, 0, 1.0))
    assert rewards_of(step(task, (0.0, 0.0, 0.5))) == {}
    task = begin(pose=(3.5, 0, -1.0))
    assert rewards_of(step(task, (3.5, 0.0, -0.7))) == near(turn=0.3)
    assert rewards_of(step(task, (3.5, 0.0, -0.9))) == near(turn=-0.2)


def test_lingering_where_stop_would_be_success_costs_if_asked(begin, step, rewards_of):
    task = begin(pose=(4.6, 0, 0), linger_penalty=0.1)
    assert rewards_of(step(task, (4.6, 0.0, 0.0))) == near(linger=-0.1)
    assert rewards_of(step(task, (4.6, 0.0, 0.0), stop=True)) == near(success=10.0)
    task = begin(pose=(4.4, 0, 0), linger_penalty=0.1)
    assert rewards_of(step(task, (4.4, 0.0, 0.0))) == {}


def test_only_what_falls_shut_counts():
    assert gone_shut(np.array([1.5, 0.2, 0.0]), np.array([1.2, 0.4, 0.0])) == pytest.approx(0.3)


def test_pushing_doors_shut_costs_if_asked(begin, make_state):
    task = begin(shut_penalty=2.0)
    action = np.full((2, 11), -1.0)

    def shut(door, drawer):
        joints = [[door, 0.0, drawer, 0.0, 0.0], [0.0] * 5]
        state = make_state(2, base_pose=[(0, 0, 0), (0, 0, 0)], articulated_joints=joints)
        return float(task.evaluate(state, action).rewards["shut"][0])

    assert shut(1.5, 0.3) == 0.0
    assert shut(1.2, 0.3) == pytest.approx(-0.6)
    assert shut(1.4, 0.2) == pytest.approx(-0.2)
    assert shut(1.4, 0.2) == 0.0


def test_turning_across_the_back_is_measured_the_short_way(begin, step, rewards_of):
    task = begin(pose=(5.0, 0, math.pi - 0.1))
    assert rewards_of(step(task, (5.0, 0.0, -math.pi + 0.3))) == near(turn=0.2)


@pytest.mark.parametrize(
    ("pose", "right"),
    [
        ((4.51, 0.0, 0.0), True),
        ((4.49, 0.0, 0.0), False),
        ((5.0, 0.0, 0.26), True),
        ((5.0, 0.0, -0.27), False),
        ((6.0, 1.0, -math.pi / 2), True),
        ((6.0, 1.0, math.pi / 2), False),
    ],
)
def test_stopping_ends_the_episode_right_or_wrong(
    begin, step, rewards_of, failures_of, pose, right
):
    task = begin(pose=pose)
    outcome = step(task, pose)
    assert not bool(outcome.terminated[0])
    assert not bool(outcome.success[0])
    outcome = step(task, pose, stop=True)
    assert bool(outcome.terminated[0])
    assert bool(outcome.success[0]) is right
    assert rewards_of(outcome) == (near(success=10.0) if right else {})
    assert failures_of(outcome) == (set() if right else {"stopped_early"})


def test_a_wrong_stop_may_just_cost_in_training(begin, step, rewards_of, failures_of):
    wrong, right = (4.49, 0.0, 0.0), (4.6, 0.0, 0.0)
    task = begin(pose=wrong, wrong_stop_ends=False, wrong_stop_penalty=0.5)
    outcome = step(task, wrong, stop=True)
    assert rewards_of(outcome) == near(stop=-0.5)
    assert failures_of(outcome) == {"stopped_early"}
    assert not bool(outcome.terminated[0])
    assert rewards_of(step(task, wrong)) == {}
    outcome = step(task, right, stop=True)
    assert bool(outcome.success[0])
    assert bool(outcome.terminated[0])


def test_stopping_far_from_the_goal_is_ignored(begin, step, failures_of):
    outcome = step(begin(pose=(3.9, 0.0, 0.0)), (3.9, 0.0, 0.0), stop=True)
    assert not bool(outcome.terminated[0])
    assert failures_of(outcome) == set()
    outcome = step(begin(pose=(4.1, 0.0, 0.0)), (4.1, 0.0, 0.0), stop=True)
    assert bool(outcome.terminated[0])
    assert failures_of(outcome) == {"stopped_early"}


def test_the_force_penalty_bites(begin, step, rewards_of, failures_of):
    task = begin()
    assert rewards_of(step(task, force=70.0)) == near(force=-0.007)
    assert rewards_of(step(task, force=700.0)) == near(force=-0.01)
    outcome = step(task, force=10_500.0)
    assert rewards_of(outcome) == near(force=-1.01)
    assert failures_of(outcome) == {"force_limit"}
    assert bool(outcome.terminated[0])


def test_when_something_is_held_its_goal_is_where_to_go(begin, step, rewards_of):
    task = begin(held=SLOT)
    assert rewards_of(step(task, (0.0, 2.0, 0.0), held=SLOT)) == near(distance=2.0)


def test_losing_what_is_held_costs_and_ends_the_episode(begin, step, rewards_of, failures_of):
    task = begin(held=SLOT, pose=(0, 7.0, math.pi / 2))
    outcome = step(task, (0, 7.0, math.pi / 2), stop=True)
    assert rewards_of(outcome) == near(drop=-1.0)
    assert failures_of(outcome) == {"dropped"}
    assert bool(outcome.terminated[0])
    assert not bool(outcome.success[0])


def test_the_hand_keeps_what_it_holds_and_takes_nothing(begin, make_state):
    task = begin(held=0)
    physical = np.zeros((2, 10))
    masked = task.mask(make_state(2, held_object=[0, NOTHING]), physical)
    assert float(masked[0, 7]) >= 0.0 > float(masked[1, 7])


def test_a_restarted_world_forgets_only_its_past(begin, step, make_state, make_episode, rewards_of):
    task = begin()
    step(task, (3.0, 0.0, 0.0))
    state = make_state(2, base_pose=[(1, 0, 0), (5, 5, 5)])
    task.start([0], [make_episode((SLOT, START, GOAL))], state)
    assert rewards_of(step(task, (2.0, 0.0, 0.0))) == near(distance=1.0)


def test_observations_are_in_their_frames(begin, make_state, expect, assert_unchanged):
    task = begin(pose=(0.0, 0.0, 0.5))
    joints = np.linspace(-1, 1, 14).reshape(2, 7)
    state = make_state(2, base_pose=[(6, -2, 0), (3, 0, math.pi)], arm_joints=joints)
    with assert_unchanged(state):
        seen = task.observe(state)
    expect(seen["goal_to_agent_gps_compass"][0], [2.0, -math.pi / 2])
    assert abs(float(seen["goal_to_agent_gps_compass"][1, 1])) == pytest.approx(math.pi, abs=1e-5)
    expect(seen["joint"], joints)
    c, s = math.cos(0.5), math.sin(0.5)
    expect(seen["gps_compass"][0], [6 * c - 2 * s, -6 * s - 2 * c, c, -s])
    assert {name: box.shape for name, box in task.observation_spaces().items()} == {
        name: tuple(values.shape[1:]) for name, values in seen.items()
    }


def test_a_lone_world_observes_the_same(make_state, make_episode, expect):
    lone, pair = Navigate(None, 1), Navigate(None, 2)
    poses = [(-1.0, 2.5, 2.9), (-1.0, 2.5, 2.9)]
    episode = make_episode((SLOT, START, GOAL))
    lone.start([0], [episode], make_state(1, base_pose=[poses[0]]))
    pair.start([0, 1], [episode] * 2, make_state(2, base_pose=poses))
    alone = lone.observe(make_state(1, base_pose=[(2.0, 7.0, -3.0)]))
    beside = pair.observe(make_state(2, base_pose=[(2.0, 7.0, -3.0)] * 2))
    for key, value in alone.items():
        expect(beside[key][0], value[0])


@pytest.mark.usefixtures("one_variation")
def test_sampled_starts_are_far_from_goals_of_every_kind():
    rng, task = np.random.default_rng(0), Navigate()
    kinds = {"open": 0, "shut in": 0, "held": 0, "held for the fridge": 0}
    for _ in range(60):
        episode = task.sample_episode("val", rng)
        (target,) = episode.targets
        held = episode.held_slot is not None
        goal = target.goal if held else target.start
        assert math.dist(goal[:2], episode.base_pose[:2]) > 3.0
        assert load_layout(episode.layout, 0)[1].on_island(*episode.base_pose[:2])
        assert target.start == episode.objects[target.slot][:3]
        if held:
            assert episode.held_slot == target.slot
            assert target.goal_receptacle != target.start_receptacle
            fridge = target.goal_receptacle == "fridge_middle"
            kinds["held for the fridge" if fridge else "held"] += 1
            assert episode.articulated.get("fridge_door", 0.0) == (1.5 if fridge else 0.0)
        else:
            inside = target.start_receptacle in ("fridge_middle", "drawer_right_top")
            kinds["shut in" if inside else "open"] += 1
            assert not episode.articulated or not inside
    # 0.167 x 0.2 = 2 of 60 are expected to be held for the fridge.
    assert kinds["held for the fridge"] > 0
    assert kinds["held"] == pytest.approx(60 * 0.167 * 0.8, abs=4)
    assert kinds["shut in"] == pytest.approx(60 * 0.833 * 0.2, abs=4)


def test_the_way_along_the_floor_pays_if_asked_for(make_state, make_episode):
    """Over a random walk through an apartment, beside the straight distance, which differs."""
    _, grid = load_layout(0, 0)
    rng = np.random.default_rng(0)
    poses = [grid.sample_pose(rng) for _ in range(12)]
    goal = (*poses[-1][:2], 0.8)
    field = region_field(grid, standing_region(grid, np.array(goal[:2]), FETCH.reach.standing))
    ways = [field.at(x, y) for x, y, _ in poses]
    straight = [math.dist(pose[:2], goal[:2]) for pose in poses]
    assert np.ptp(np.subtract(ways, straight)) > 0.5
    task = Navigate(NavigateConfig(geodesic=True, turn_scale=0.0), 2)
    states = [make_state(2, base_pose=[(0.0, 0.0, 0.0), pose]) for pose in poses]
    episode = make_episode((SLOT, goal, goal))
    task.start([1], [episode], states[0])
    action = np.full((2, 11), -1.0)
    for k in range(1, len(poses)):
        reward = float(task.evaluate(states[k], action).rewards["distance"][1])
        assert reward == pytest.approx(ways[k - 1] - ways[k], abs=1e-6)


def test_a_robot_among_furniture_is_no_nearer_and_no_farther(make_state, make_episode):
    _, grid = load_layout(0, 0)
    free = grid.sample_pose(np.random.default_rng(1))
    blocked = np.argwhere(grid.clearance == grid.clearance.min())[0]
    x, y = grid.center_of(blocked[None])[0]
    goal = (*grid.sample_pose(np.random.default_rng(2))[:2], 0.8)
    assert distance_field(grid, goal[:2]).at(x, y) == math.inf
    task = Navigate(NavigateConfig(geodesic=True, turn_scale=0.0), 1)
    state = make_state(1, base_pose=[free])
    task.start([0], [make_episode((SLOT, goal, goal))], state)
    action = np.full((1, 11), -1.0)
    for pose in ((x, y, 0.0), free):
        outcome = task.evaluate(make_state(1, base_pose=[pose]), action)
        assert float(outcome.rewards["distance"][0]) == 0.0


def test_a_region_as_the_goal_leaves_out_what_is_far_along_the_floor(make_state, make_episode):
    _, grid = load_layout(0, 0)
    goal = (*grid.sample_pose(np.random.default_rng(0))[:2], 0.8)
    field = region_field(grid, standing_region(grid, np.array(goal[:2]), FETCH.reach.standing))
    action = np.full((1, 11), 1.0)
    for distance, narrow in ((1.0, True), (1.45, False)):
        pose = next(
            (x, y, math.atan2(goal[1] - y, goal[0] - x))
            for angle in np.linspace(0, 2 * math.pi, 100)
            for x, y in [
                (goal[0] + distance * math.cos(angle), goal[1] + distance * math.sin(angle))
            ]
            if grid.on_island(x, y)
        )
        assert (field.at(*pose[:2]) < 0.4) is narrow
        for goal_way, expected in ((math.inf, True), (0.4, narrow)):
            task = Navigate(NavigateConfig(geodesic=True, goal_way=goal_way), 1)
            state = make_state(1, base_pose=[pose])
            task.start([0], [make_episode((SLOT, goal, goal))], state)
            outcome = task.evaluate(state, action)
            assert bool(outcome.success[0]) is expected
            assert bool(outcome.failures["stopped_early"][0]) is not expected
    with pytest.raises(UserError, match=r"set task\.geodesic=true"):
        Navigate(NavigateConfig(goal_way=1.0))


@pytest.mark.usefixtures("one_variation")
def test_the_way_to_what_is_shut_in_ends_where_one_stands_before_it(make_state):
    rng = np.random.default_rng(0)
    task = Navigate(NavigateConfig(geodesic=True, closed_share=1.0, holding_share=0.0), 1)
    for _ in range(4):
        episode = task.sample_episode("val", rng)
        apartment, grid = load_layout(episode.layout, episode.variation)
        name = episode.targets[0].start_receptacle
        inside = episode.targets[0].start[:2]
        field = way_to_stand(FETCH, apartment, grid, name, inside, episode.articulated)
        task.start([0], [episode], make_state(1, base_pose=[episode.base_pose]))
        expected = field.at(*episode.base_pose[:2])
        assert task.memory["way_left"][0] == pytest.approx(expected)
        to_object = distance_field(grid, inside).at(*episode.base_pose[:2])
        assert abs(expected - to_object) > 0.02


@pytest.mark.parametrize("closed_share", [0.0, 1.0])
def test_drawers_and_fridges_stand_open_where_the_goal_is_and_elsewhere(closed_share):
    """Nobody begins in an open door."""
    rng = np.random.default_rng(0)
    config = NavigateConfig(closed_share=closed_share, open_share=1.0, holding_share=0.0)
    task, opened = Navigate(config, 1), set()
    for _ in range(12):
        episode = task.sample_episode("val", rng)
        (part,) = [task.scene.part(name) for name, value in episode.articulated.items() if value]
        opened.add(part.name)
        assert part.laid_open <= episode.articulated[part.name] <= part.range[1]
        inside = episode.targets[0].start_receptacle == part.receptacle
        assert inside is bool(closed_share)
        apartment, floor = load_layout(episode.layout, episode.variation)
        grid = floor.with_obstacles(open_doors(apartment, episode.articulated))
        assert grid.is_free(*episode.base_pose[:2])
    assert opened == {"fridge_door", "drawer_right_top"}
