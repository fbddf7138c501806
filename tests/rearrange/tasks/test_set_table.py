import math

import numpy as np
import pytest

from rearrange.navigation import load_layout
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.scenes.objects import OBJECT_KINDS
from rearrange.sim import MujocoSimulator, SimulatorConfig
from rearrange.tasks import SetTable, SetTableConfig

BOWL, APPLE = 28, 27
STARTS, GOALS = ((4.0, 0.0, 0.7), (0.0, 4.0, 1.0)), ((1.0, 1.0, 0.8), (1.4, 1.0, 0.8))
FRIDGE, DRAWER = (APARTMENT.joints.index(name) for name in ("fridge_door", "drawer_right_top"))


@pytest.fixture
def episodes(one_variation):
    rng = np.random.default_rng(0)
    return [SetTable().sample_episode("val", rng) for _ in range(25)]


@pytest.fixture
def make_scene(make_state):
    """Two worlds at the start, but for the joints of world 0."""

    def make(fridge=0.0, drawer=0.0):
        positions = np.full((2, 30, 3), 50.0)
        positions[:, BOWL], positions[:, APPLE] = STARTS
        joints = np.zeros((2, 5))
        joints[0, FRIDGE], joints[0, DRAWER] = fridge, drawer
        return make_state(2, object_position=positions, articulated_joints=joints)

    return make


@pytest.fixture
def begin(make_episode, make_scene):
    def start(settings=None, **joints):
        task = SetTable(settings, 2)
        episode = make_episode(*zip((BOWL, APPLE), STARTS, GOALS, strict=True))
        task.start([0, 1], [episode] * 2, make_scene(**joints))
        return task

    return start


@pytest.fixture
def step(make_scene, rewards_of, assert_bystander):
    def evaluate(task, **joints):
        action = np.full((2, 11), -1.0)
        outcome = task.evaluate(make_scene(**joints), np.asarray(action))
        assert_bystander(outcome)
        assert float(outcome.rewards["slack"][0]) == pytest.approx(-0.01)
        return rewards_of(outcome)

    return evaluate


def near(**terms):
    return pytest.approx(terms, abs=1e-4)


def test_opening_pays_until_it_is_open_and_then_a_bonus(begin, step):
    task = begin()
    assert step(task, drawer=0.2) == near(opening=0.2)
    assert step(task, drawer=0.1) == near(opening=-0.1)
    assert step(task, drawer=0.36) == near(opening=0.26, open=1.0)
    assert step(task, drawer=0.45) == {}
    assert step(task, drawer=0.1) == {}
    assert step(task, drawer=0.4) == {}  # shutting and opening again pays nothing
    assert step(task, drawer=0.4, fridge=1.0) == near(opening=1.0)
    assert step(task, drawer=0.4, fridge=1.1) == near(opening=0.1, open=1.0)


def test_other_drawers_pay_nothing(begin, make_scene, rewards_of):
    task, state = begin(), make_scene()
    state.articulated_joints[0, 2:] = 0.4
    rewards = rewards_of(task.evaluate(state, np.asarray(np.full((2, 11), -1.0))))
    assert rewards == {}


def test_what_starts_open_pays_nothing(begin, step):
    task = begin(fridge=1.5)
    assert step(task, fridge=0.2) == {}
    assert step(task, fridge=1.5) == {}


def test_the_reference_has_no_such_terms(begin, step):
    task = begin(SetTableConfig(open_scale=0.0, open_bonus=0.0))
    assert step(task, drawer=0.4) == {}


def test_a_restarted_world_forgets_only_its_past(begin, step, make_episode, make_scene):
    task = begin()
    step(task, drawer=0.4)
    episode = make_episode(*zip((BOWL, APPLE), STARTS, GOALS, strict=True))
    task.start([0], [episode], make_scene(drawer=0.1))
    assert step(task, drawer=0.2) == near(opening=0.1)


def test_bowl_and_apple_go_from_behind_closed_doors_to_the_table(episodes):
    for episode in episodes:
        assert not episode.articulated
        bowl, apple = episode.targets
        assert (bowl.slot, apple.slot) == (BOWL, APPLE)
        assert (APARTMENT.slot_kinds[BOWL], APARTMENT.slot_kinds[APPLE]) == (
            "024_bowl",
            "013_apple",
        )
        assert bowl.start_receptacle == "drawer_right_top"
        assert apple.start_receptacle == "fridge_middle"
        assert {bowl.goal_receptacle, apple.goal_receptacle} == {"table_01"}
        assert len(episode.objects) >= 27


def test_goals_keep_their_gaps(episodes):
    for episode in episodes:
        radius = {
            s: OBJECT_KINDS[APARTMENT.slot_kinds[s]].footprint_radius for s in episode.objects
        }
        bowl, apple = episode.targets
        assert math.dist(bowl.goal, apple.goal) > radius[BOWL] + radius[APPLE] + 0.0499
        for target in episode.targets:
            for slot, (x, y, z, *_) in episode.objects.items():
                gap = math.dist(target.goal[:2], (x, y)) - radius[target.slot] - radius[slot]
                assert gap > 0.0499 or abs(target.goal[2] - z) > 0.2


def test_clutter_stands_on_open_receptacles(episodes):
    for episode in episodes:
        apartment = load_layout(episode.layout, 0)[0]
        surfaces = [apartment.receptacles[name] for name in APARTMENT.open_receptacles]
        for slot, (x, y, *_) in episode.objects.items():
            if slot not in (BOWL, APPLE):
                reach = min(
                    math.dist((x, y), s.position[:2]) - math.hypot(*s.half_extents)
                    for s in surfaces
                )
                assert reach <= 0.0


def test_the_bowl_rides_in_its_drawer_and_the_apple_stays_on_its_shelf(episodes):
    simulator = MujocoSimulator(1, SimulatorConfig(camera_size=8))
    idle = np.zeros((1, 10))
    idle[0, 7] = -1.0
    for episode in (episodes[0], episodes[2]):  # in [1] the robot stands in the drawer's way
        simulator.reset([0], [episode])
        world, data = simulator.worlds[0], simulator.data[0]
        yaw = world.apartment.frames["cabinet"].yaw
        before = simulator.state.object_position[0].copy()
        for _ in range(90):
            data.xfrc_applied[:] = 0.0
            pull = 2.5 if simulator.state.articulated_joints[0, DRAWER] < 0.4 else 0.0
            drawer, door = (world.model.body(n).id for n in ("drawer_right_top", "fridge_door"))
            data.xfrc_applied[drawer, :2] = pull * math.cos(yaw), pull * math.sin(yaw)
            data.xfrc_applied[door, 5] = 2.0
            simulator.step(idle)
        joints = simulator.state.articulated_joints[0]
        moved = simulator.state.object_position[0] - before
        assert joints[DRAWER] > 0.4
        assert joints[FRIDGE] > 1.07
        # A drawer that is pulled hard slides under the bowl, but its back wall takes the bowl along.
        along = moved[BOWL, 0] * math.cos(yaw) + moved[BOWL, 1] * math.sin(yaw)
        assert 0.1 < along <= joints[DRAWER] + 0.01
        assert abs(moved[BOWL, 2]) < 0.01
        np.testing.assert_allclose(moved[APPLE], 0.0, atol=0.01)
    simulator.close()
