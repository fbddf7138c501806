"""Where the robot is told that an object in a drawer is, against where it is, in the real world."""

import math

import numpy as np
import pytest

from rearrange.robot.fetch import FETCH
from rearrange.scenes.apartment_kind import APARTMENT
from skills.knowledge import LEVELS, Knowledge
from skills.knowledge.senses import FRONT
from skills.oracle.skill import OracleSkill
from skills.players import argument_of

DRAWER = "drawer_right_top"
INDEX = APARTMENT.joints.index(DRAWER)


def play(world, knowledge, name):
    """The oracle of a skill, watched; returns whether it ended by itself."""
    skill = OracleSkill(name)
    skill.reset(world, argument_of(name, world.episode))
    while not skill.done(world) and world.elapsed_steps < 600:
        world.simulator.step(skill.act(world)[None])
        for each in knowledge.values():
            each.watch(name == "open_cab", DRAWER)
    return skill.done(world)


def know(world):
    return {level: Knowledge(world, level, {0: DRAWER}) for level in LEVELS}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_drawer_is_as_far_out_as_it_is_seen_or_as_the_hand_that_pulled_it(begin, seed):
    world = begin("open_cab", seed)
    knowledge, start = know(world), world.episode.targets[0].start
    handle = world.state.handle_position[0, INDEX].copy()
    assert play(world, knowledge, "open_cab")
    carried = np.add(start, world.state.handle_position[0, INDEX] - handle)
    assert math.dist(carried, start) > 0.4  # it is open
    assert knowledge["hab"].told(0, start) == start
    for level in ("robot", "privileged"):
        np.testing.assert_allclose(knowledge[level].told(0, start), carried, atol=1e-9)
    world.state.base_pose[0, :2] += 2 * FRONT
    assert 0.0 < math.dist(knowledge["robot"].told(0, start), carried) < 0.03
    np.testing.assert_allclose(knowledge["privileged"].told(0, start), carried, atol=1e-9)
    # What starts elsewhere is carried by nothing.
    assert all(each.told(1, start) == start for each in knowledge.values())


def test_a_push_is_seen_and_not_felt(begin):
    world = begin("close_cab", 0)
    knowledge, start = know(world), world.episode.targets[0].start
    play(world, knowledge, "close_cab")
    assert world.state.articulated_joints[0, INDEX] < 0.1
    assert math.dist(knowledge["robot"].told(0, start), start) > 0.3
    world.state.base_pose[0, :2] += 2 * FRONT
    assert knowledge["robot"].told(0, start) == start
    assert math.dist(knowledge["privileged"].told(0, start), start) > 0.3


class Hand:
    """A state whose hand is where it is put, far from the drawer."""

    def __init__(self, make_state):
        self.state = make_state()
        self.state.handle_position[0, INDEX, 1] = 2 * FRONT

    def put(self, x, holding):
        self.state.base_pose[0, 0] = x
        self.state.held_handle[0] = INDEX if holding else -1


@pytest.fixture
def hand():
    from rearrange.sim.base import SimState

    return Hand(lambda: SimState(1, FETCH))


def told(knowledge):
    return knowledge.told(0, (1.0, 0.0, 0.5))[0]


def test_only_what_an_opening_skill_takes_is_a_handle(hand):
    knowledge = Knowledge(hand, "robot", {0: DRAWER})
    for x, holding, skill in (
        (0.0, True, "pick"),  # an object
        (0.5, True, "navigate"),
        (0.5, True, "open_cab"),  # still held when the skill began
        (0.7, True, "open_cab"),
        (0.7, False, "open_cab"),
    ):
        hand.put(x, holding)
        knowledge.watch(skill == "open_cab", DRAWER)
    assert told(knowledge) == 1.0
    for x, holding, skill in (
        (0.0, True, "open_cab"),
        (0.2, True, "open_cab"),
        (0.1, True, "reset_arm"),  # it was not let go: the drawer comes back with the hand
        (0.9, False, "reset_arm"),
        (0.9, True, "open_cab"),  # taken anew
        (1.2, True, "open_cab"),
    ):
        hand.put(x, holding)
        knowledge.watch(skill == "open_cab", DRAWER)
    assert told(knowledge) == pytest.approx(1.4)
    knowledge.believe_shut("fridge_door")
    assert told(knowledge) == pytest.approx(1.4)
    knowledge.believe_shut(DRAWER)
    assert told(knowledge) == 1.0
