import numpy as np
import pytest

from rearrange.navigation import load_layout
from rearrange.robot.fetch import FETCH
from rearrange.sim import NOTHING
from rearrange.tasks import Navigate, NavigateConfig, Pick, PickConfig, Place, PlaceConfig
from rearrange.tasks.starts import way_to_stand

SLOT = 4
POINT = (3.0, 3.0, 0.8)


def poses(count):
    _, grid = load_layout(0, 0)
    rng = np.random.default_rng(0)
    return [grid.sample_pose(rng) for _ in range(count)]


def ways(name, found):
    apartment, grid = load_layout(0, 0)
    field = way_to_stand(FETCH, apartment, grid, name, POINT[:2], {})
    return [field.at(x, y) for x, y, _ in found]


@pytest.mark.parametrize("carries", [False, True])
def test_coming_nearer_along_the_floor_pays_before_the_hand_has_done_its_work(
    carries, make_state, make_episode
):
    kind, config = (Place, PlaceConfig) if carries else (Pick, PickConfig)
    task = kind(config(way_scale=2.0), 2)
    episode = make_episode((SLOT, POINT, POINT), **({"held_slot": SLOT} if carries else {}))
    before, after = (SLOT, NOTHING) if carries else (NOTHING, SLOT)
    name, path = "sink" if carries else "sofa", poses(40)
    path = [
        pose for pose, way in zip(path, ways(name, path), strict=True) if way < Pick.FARTHEST_WAY
    ]
    expected = ways(name, path)
    assert np.ptp(expected[:6]) > 1.0

    def state(pose, held):
        return make_state(2, base_pose=[(0.0, 0.0, 0.0), pose], held_object=[held, held])

    task.start([1], [episode], state(path[0], before))
    action = np.full((2, 11), -1.0)
    for k in range(1, 5):
        reward = float(task.evaluate(state(path[k], before), action).rewards["way"][1])
        assert reward == pytest.approx(2.0 * (expected[k - 1] - expected[k]), abs=1e-6)
    for pose in (path[5], path[4]):
        assert float(task.evaluate(state(pose, after), action).rewards["way"][1]) == 0.0


def test_nothing_is_paid_for_ways_that_were_not_known(make_state, make_episode):
    """From far away, or from where there is none: what counts is the way from where one was known first."""
    task, found = Pick(PickConfig(way_scale=2.0), 1), poses(40)
    left = dict(zip(found, ways("sofa", found), strict=True))
    far = max(found, key=left.__getitem__)
    near, nearer = sorted((pose for pose in found if left[pose] < Pick.FARTHEST_WAY), key=left.get)[
        1::-1
    ]
    assert left[far] > Pick.FARTHEST_WAY
    path = (far, far, near, far, nearer)
    states = [make_state(1, base_pose=[pose], held_object=NOTHING) for pose in path]
    task.start([0], [make_episode((SLOT, POINT, POINT))], states[0])
    action = np.full((1, 11), -1.0)
    paid = [float(task.evaluate(state, action).rewards["way"][0]) for state in states[1:]]
    assert paid == pytest.approx([0.0, 0.0, 0.0, 2.0 * (left[near] - left[nearer])], abs=1e-6)


def test_taking_it_in_the_step_in_which_a_way_is_first_known_counts(make_state, make_episode):
    found = poses(40)
    left = dict(zip(found, ways("sofa", found), strict=True))
    far, near = max(found, key=left.__getitem__), min(found, key=left.__getitem__)
    task = Pick(PickConfig(way_scale=2.0), 1)
    state = make_state(1, base_pose=[far], held_object=NOTHING)
    task.start([0], [make_episode((SLOT, POINT, POINT))], state)
    state = make_state(1, base_pose=[near], held_object=SLOT)
    rewards = task.evaluate(state, np.full((1, 11), -1.0)).rewards
    assert float(rewards["pick"][0]) == PickConfig().pick_bonus


def test_a_stop_where_no_way_is_known_is_not_in_the_region(make_state, make_episode):
    task = Navigate(NavigateConfig(geodesic=True, goal_way=0.5), 1)
    outside = (100.0, 0.0, 0.0)
    goal = (100.5, 0.0, 0.8)
    state = make_state(1, base_pose=[outside])
    task.start([0], [make_episode((SLOT, goal, goal))], state)
    outcome = task.evaluate(state, np.ones((1, 11)))
    assert outcome.failures["stopped_early"][0]
    assert not outcome.success[0]
    assert float(outcome.rewards["distance"][0]) == 0.0


def test_the_floor_is_measured_only_where_it_counts(make_state, make_episode):
    task = Place(PlaceConfig(), 1)
    first, second = poses(2)
    episode = make_episode((SLOT, POINT, POINT), held_slot=SLOT)
    task.start([0], [episode], make_state(1, base_pose=[first], held_object=SLOT))
    outcome = task.evaluate(make_state(1, base_pose=[second], held_object=SLOT), np.zeros((1, 11)))
    assert float(outcome.rewards["way"][0]) == 0.0
    assert not task.memory["way_left"].any()


def test_ways_that_are_kept_are_the_same_and_measured_once(make_state, make_episode, monkeypatch):
    task, other = (Pick(PickConfig(way_scale=2.0), 1) for _ in range(2))
    task.keep_ways()
    measured = []
    way = task.way
    monkeypatch.setattr(task, "way", lambda episode: measured.append(episode) or way(episode))
    state = make_state(1, base_pose=[poses(2)[0]], held_object=NOTHING)
    episodes = [make_episode((SLOT, POINT, POINT)) for _ in range(2)]
    for episode in (*episodes, *episodes):
        for each in (task, other):
            each.start([0], [episode], state)
        assert task.memory == other.memory
    assert measured == episodes
