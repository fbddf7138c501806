"""The executive with fridges and drawers: Set Table, closing, handles, no navigation."""

import pytest

from planner.executive import Executive
from planner.interactions import without_navigation
from planner.rules import ExecutiveSettings
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING
from tests.helpers.planner_fakes import WIDE_OPEN, FakeSkill, planned

FRIDGE, DRAWER = (APARTMENT.joints.index(name) for name in ("fridge_door", "drawer_right_top"))


@pytest.fixture
def world(table_world):
    return table_world


@pytest.fixture
def table(world, skills):
    """Runs Set Table; `close` asks for closing, `edit` changes the plan."""

    def run(close=False, edit=lambda plan: plan, level="robot", **settings):
        task, plan = planned(close)
        executive = Executive(skills, ExecutiveSettings(**settings), level)
        return executive.run(world, edit(plan), task.arguments)

    return run


def names(execution):
    return [interaction.name for interaction in execution.interactions]


def once(execution):
    return [interaction.once for interaction in execution.interactions]


def at_end(execution):
    return [interaction.at_end for interaction in execution.interactions]


def first_fault(execution):
    return next((h.skill, h.deviation) for h in execution.hand_offs if h.deviation is not None)


def test_stages_of_set_table(table):
    execution = table()
    assert execution.success_at_end
    assert names(execution) == [
        *("open_cab_0", "pick_0", "place_0", "open_fridge_0", "pick_1", "place_1")
    ]
    assert once(execution) == at_end(execution) == [True] * 6


def test_skills_are_told_the_joint(table, skills):
    table()
    joints = [argument.joint for argument in skills["navigate"].resets]
    assert joints == ["drawer_right_top", None, None, "fridge_door", None, None]
    assert [a.joint for a in skills["open_cab"].resets] == ["drawer_right_top"]
    assert [a.joint for a in skills["open_fridge"].resets] == ["fridge_door"]
    assert [a.joint for a in skills["pick"].resets] == [None, None]


class Puller(FakeSkill):
    """Takes the handle, moves away with it, further than the drawer comes along, and lets go."""

    def act(self, world):
        action = super().act(world)
        index = APARTMENT.joints.index(self.argument.joint)
        if self.hidden == 1:
            world.state.held_handle[0] = index
        if self.hidden == 2:
            world.state.base_pose[0, :2] += (0.4, 0.01)
        if self.hidden == 3:  # after letting go nothing counts
            world.state.base_pose[0, 0] += 0.3
        action[7] = 1.0 if self.hidden < 3 else -1.0
        return action


@pytest.mark.parametrize(
    ("level", "told"),
    [("hab", (1.0, 0.0, 0.8)), ("robot", (1.45, 0.0, 0.8)), ("privileged", (1.45, 0.0, 0.8))],
)
def test_an_opened_drawer_carries_the_told_position(table, skills, level, told):
    skills["open_cab"] = Puller("open_cab")
    table(level=level)
    assert skills["open_cab"].resets[0].position == (1.0, 0.0, 0.8)
    assert skills["pick"].resets[0].position == pytest.approx(told)
    assert skills["navigate"].resets[1].position == pytest.approx(told)
    assert skills["place"].resets[0].position == (1.0, 4.0, 0.5)  # a goal stays where it is
    assert skills["pick"].resets[1].position == (2.0, 0.0, 0.8)  # the fridge's shelf stays too


def test_grip_is_the_openers_own(table, world, skills):
    def grip_of(skill, grip):
        skills[skill].grip = grip
        table()
        entered = skills[skill].entered_at[-1]
        return [action[7] for action in world.actions[entered : entered + 3]]

    assert grip_of("open_cab", 1.0) == [1.0] * 3
    world.load(world.episode)
    assert grip_of("open_cab", -1.0) == [-1.0] * 3


def test_a_held_handle_is_kept_like_an_object(table, world, skills):
    def grasp(world, argument):
        world.state.held_handle[0] = DRAWER

    skills["open_cab"].grip = 1.0
    skills["open_cab"].misses, skills["open_cab"].wrong = (0,), grasp
    execution = table()
    assert first_fault(execution) == ("open_cab", "holds a handle")
    after = skills["open_cab"].entered_at[0] + 3  # reset_arm and navigate, whose own grip is -1
    assert [action[7] for action in world.actions[after : after + 6]] == [1.0] * 6


def test_pick_that_grasps_a_handle(table, skills, world):
    def grasp(world, argument):
        world.state.held_handle[0] = FRIDGE

    skills["pick"].misses, skills["pick"].wrong = (0,), grasp
    execution = table()
    assert execution.failure == "pick: holds a handle"
    assert once(execution) == [True] + [False] * 5


def test_half_open_is_not_open(table, skills):
    def pull_a_little(world, argument):
        world.move_joint(argument.joint, 0.34)

    skills["open_cab"].misses, skills["open_cab"].wrong = (0,), pull_a_little
    execution = table()
    assert first_fault(execution) == ("open_cab", "no effect")
    assert not any(once(execution))


@pytest.mark.parametrize("close", [False, True])
def test_the_full_task_is_judged_by_the_state_alone(table, skills, close):
    # A drawer that is not open enough to count, but for the object to be taken.
    skills["open_cab"].misses = (0,)
    skills["open_cab"].wrong = lambda world, argument: world.move_joint(argument.joint, 0.34)
    execution = table(close)
    assert not any(once(execution))
    assert execution.success_at_end
    assert execution.success_once
    assert execution.failure is None


def test_timeout_of_opening_ends_the_episode(table, skills):
    skills["open_fridge"].never_done = (1,)
    execution = table()
    assert execution.failure == "open_fridge: time-out"
    assert once(execution) == [True] * 4 + [False] * 2  # the door did open


def test_dropped_while_opening(table, world, skills):
    def lose(world, argument):
        world.state.held_object[0] = NOTHING

    world.state.held_object[0] = 9  # something is in the hand although the plan says it is empty
    for name in ("navigate", "reset_arm", "open_cab"):
        skills[name].grip = 1.0
    skills["open_cab"].misses, skills["open_cab"].wrong = (0,), lose
    assert first_fault(table()) == ("open_cab", "dropped")


def test_closing_is_judged(table, world):
    execution = table(close=True)
    assert execution.success_at_end
    assert names(execution)[3] == "close_cab_0"
    assert names(execution)[-1] == "close_fridge_0"
    assert world.state.articulated_joints.max() == 0.0


def test_closing_without_effect(table, skills):
    skills["close_fridge"].misses = (1,)
    execution = table(close=True)
    assert execution.failure == "close_fridge: no effect"
    assert once(execution) == [True] * 7 + [False]
    assert not execution.success_once
    assert not execution.success_at_end


def test_what_was_closed_shall_stay_closed(table, skills):
    def pull_both(world, argument):
        for joint, value in WIDE_OPEN.items():
            world.move_joint(joint, value)

    skills["open_fridge"].misses, skills["open_fridge"].wrong = (1,), pull_both
    execution = table(close=True)
    assert execution.failure == "open_fridge: reopened"
    assert once(execution) == [True] * 4 + [False] * 4
    assert at_end(execution) == [True] * 3 + [False] * 5


def test_what_is_opened_need_not_stay_open(table, skills):
    def fall_shut(world, argument):
        world.move_joint("drawer_right_top", 0.0)
        world.move_joint("fridge_door", WIDE_OPEN["fridge_door"])

    skills["open_fridge"].misses, skills["open_fridge"].wrong = (1,), fall_shut
    assert table().success_at_end


def test_navigation_can_be_left_out(table, skills):
    execution = table(edit=without_navigation)
    assert execution.success_at_end
    assert skills["navigate"].resets == []
    assert [h.skill for h in execution.hand_offs][0::2] == [
        *("open_cab", "pick", "place", "open_fridge", "pick", "place")
    ]
