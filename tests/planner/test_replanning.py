"""Replanning in a world without physics, where the robot sees what is within two metres."""

import numpy as np
import pytest

from planner.executive import BACK_OFF_STEP, BACK_OFF_WAY, LOOK_STEPS
from planner.rules import ExecutiveSettings
from rearrange.scenes.apartment_kind import APARTMENT
from skills.knowledge import Truth
from tests.helpers.planner_fakes import (
    FIRST_SLOT,
    make_episode,
    make_groceries_episode,
    make_table_episode,
    with_receptacles,
)
from tests.helpers.planner_faults import (
    FRIDGE,
    NearSighted,
    assert_all_done,
    disturbances,
    drop,
    fail_each,
    fail_once,
    fall_shut,
    knocks,
    take_a_can,
    texts,
    used,
)


def test_without_faults_the_plan_is_followed_as_ever(follow, world):
    plain = follow(replan=False)
    world.load(world.episode)
    execution = follow()
    assert_all_done(execution)
    assert plain.decisions == execution.decisions == ()
    assert plain.interactions == execution.interactions
    both = ["navigate", "pick", "place"]
    assert [used(plain, s) for s in both] == [used(execution, s) for s in both]
    # It folds the arm after the last step too, and looks after every Place.
    assert execution.steps == plain.steps + 3 + 5 * LOOK_STEPS


def test_a_pick_that_took_nothing_is_tried_from_another_stance(follow, skills):
    fail_once(skills["pick"], 1)
    execution = follow()
    assert_all_done(execution)
    assert used(execution, "pick") == [f"object_{k}" for k in (0, 1, 1, 2, 3, 4)]
    assert used(execution, "navigate")[2:4] == ["object_1", "object_1"]
    (decision,) = execution.decisions
    assert decision.text.startswith(
        "pick object_1 (003_cracker_box): nothing held after 3 steps; new plan of 16 steps: "
        "navigate object_1, pick object_1, navigate goal_1, place goal_1, navigate object_2"
    )
    assert (decision.plan_index, len(decision.plan)) == (5, 16)
    assert decision.plan[0] == "(nav fetch start_pose object_1)"
    assert [i.name for i in execution.interactions][2:4] == ["pick_1", "place_1"]
    assert len(execution.interactions) == 10
    assert [h.plan_index for h in execution.hand_offs[::2]] == list(range(22))


@pytest.mark.parametrize(
    ("room", "gone", "steps"), [(10.0, BACK_OFF_WAY, 12), (0.22, 0.22, 6), (0.0, 0.0, 1)]
)
def test_it_backs_off_before_it_drives_anew(follow, world, skills, room, gone, steps):
    """Where the last drive ended the next one would be over at once."""
    fail_once(skills["pick"], 1)
    world.room_behind = room
    drives = []

    def remember(reset):
        def note(world, argument):
            drives.append(tuple(world.state.base_pose[0]))
            reset(world, argument)

        return note

    skills["navigate"].reset = remember(skills["navigate"].reset)
    execution = follow()
    assert_all_done(execution)
    x, y, yaw = execution.hand_offs[10].base_pose  # of the Pick that took nothing
    assert drives[3] == pytest.approx((x - gone * np.cos(yaw), y - gone * np.sin(yaw), yaw))
    assert all(action[8] == 0.0 for action in world.actions[: skills["pick"].entered_at[1]])
    assert sum(action[8] < 0.0 for action in world.actions) == steps  # it does not press on


def test_a_blow_while_backing_off_ends_the_episode(follow, world, skills):
    fail_once(skills["pick"], 0)
    world.force_limit_at = 3 * 4 + 2  # a drive, Pick, and the arm folded after each
    execution = follow()
    assert execution.failure == "back_off: force limit"
    assert execution.steps == world.force_limit_at


def test_without_a_drive_to_come_it_stays_where_it_is(follow, world, skills):
    fail_once(skills["pick"], 0)
    execution = follow(per_object=0, episode=make_episode(1))
    assert "gives up object_0 (tried often enough); new plan of 0 steps" in texts(execution)[0]
    assert all(action[8] == 0.0 for action in world.actions)


def test_an_object_that_was_pushed_is_told_where_it_is_now(follow, skills):
    def push(world, argument):
        world.state.object_position[0, argument.slot, 0] += 0.4

    fail_once(skills["pick"], 1, push)
    assert_all_done(follow())
    assert [a.position for a in skills["pick"].resets[1:3]] == [(2.0, 0.0, 0.8), (2.4, 0.0, 0.8)]


def test_a_wrong_object_is_put_back_where_it_was(follow, world, skills):
    world.state.object_position[0, 0] = (2.1, 0.1, 0.8)
    assert APARTMENT.slot_kinds[0] != APARTMENT.slot_kinds[FIRST_SLOT + 1]
    fail_once(skills["pick"], 1, take_a_can)
    execution = follow()
    assert_all_done(execution)
    assert "wrong object in the hand (002_master_chef_can)" in texts(execution)[0]
    assert used(execution, "place") == ["goal_0", "back", *(f"goal_{k}" for k in (1, 2, 3, 4))]
    assert skills["place"].resets[1].slot == 0
    assert world.state.object_position[0, 0].tolist() == pytest.approx([2.1, 0.1, 0.8])


def test_a_wrong_object_that_is_asked_for_too_goes_to_its_goal(follow, skills):
    def take_target_3(world, argument):
        world.state.held_object[0] = FIRST_SLOT + 3

    fail_once(skills["pick"], 1, take_target_3)
    execution = follow()
    # Interactions are the first plan's, in whatever order they were done.
    assert_all_done(execution)
    assert used(execution, "place") == [f"goal_{k}" for k in (0, 3, 1, 2, 4)]


@pytest.mark.parametrize(("senses", "noticed"), [(NearSighted(), False), (Truth(), True)])
def test_objects_of_one_kind_look_alike(follow, skills, senses, noticed):
    def take_target_2(world, argument):
        world.state.held_object[0] = FIRST_SLOT + 2

    assert APARTMENT.slot_kinds[FIRST_SLOT + 1] == APARTMENT.slot_kinds[FIRST_SLOT + 2]
    fail_once(skills["pick"], 1, take_target_2)
    execution = follow(senses=senses)
    assert ("wrong object" in " ".join(texts(execution))) == noticed
    assert "wrong object" in [h.deviation for h in execution.hand_offs]  # the record knows


def test_a_load_that_falls_on_the_way_is_picked_up_where_it_lies(follow, skills):
    def lose(world, argument):
        world.state.base_pose[0] = (2.0, 2.0, 0.0)
        world.state.end_effector_in_base[0] = (0.5, 0.0, 1.0)
        world.state.object_position[0, argument.slot] = (2.6, 2.0, 0.1)
        drop(world, argument)

    # Told a goal, Navigate is on its way with the load.
    skills["navigate"].misses, done = (1,), []

    def wrong(world, argument):
        if argument.kind == "goal" and not done:
            done.append(lose(world, argument))
        else:
            skills["navigate"].effect(world, argument)

    skills["navigate"].wrong = wrong
    skills["navigate"].never_done = ()
    execution = follow()
    assert "navigate goal_1 (003_cracker_box): dropped" in texts(execution)[0]
    assert skills["pick"].resets[2].position == pytest.approx((2.6, 2.0, 0.1))
    assert_all_done(execution)


def test_an_object_beside_its_goal_is_taken_from_there(follow, skills):
    def beside(world, argument):
        world.state.object_position[0, argument.slot] = np.add(argument.position, (0.5, 0, 0))
        drop(world, argument)

    fail_once(skills["place"], 2, beside)
    execution = follow()
    assert "place goal_2 (003_cracker_box): missed the goal" in texts(execution)[0]
    assert skills["pick"].resets[3].position == pytest.approx((3.5, 4.0, 0.5))
    assert_all_done(execution)


def test_a_lost_object_is_given_up_and_the_others_are_not(follow, skills):
    def vanish(world, argument):
        world.state.object_position[0, argument.slot] = (50.0, 50.0, 0.0)
        drop(world, argument)

    fail_once(skills["place"], 2, vanish)
    execution = follow()
    assert "gives up object_2 (lost); new plan of 8 steps" in texts(execution)[0]
    assert not execution.success_at_end
    assert execution.failure == "place: missed the goal"
    assert [i.once for i in execution.interactions] == [True] * 5 + [False] * 5
    assert used(execution, "pick") == [f"object_{k}" for k in range(5)]


def test_what_moves_out_of_sight_goes_unnoticed(follow, skills):
    def knock(world, argument):
        world.state.held_object[0] = argument.slot
        world.state.object_position[0, FIRST_SLOT] = (50.0, 50.0, 0.0)

    fail_once(skills["pick"], 4, knock)
    execution = follow()
    assert execution.decisions == ()
    assert not execution.success_at_end
    assert execution.failure == "pick: moved a placed object"


def test_who_moved_an_object_is_told_not_what_it_had_suffered_before(follow, skills):
    fail_each(skills["pick"], {0: lambda world, argument: None, 4: knocks(0)})
    execution = follow()
    assert "nothing held" in texts(execution)[0]  # of object 0, mended
    assert disturbances(execution) == [("pick", "object_4", (0,))]
    assert execution.failure == "pick: moved a placed object"


def test_every_object_that_is_moved_is_told(follow, skills):
    fail_each(skills["pick"], {2: knocks(0), 4: knocks(1)})
    execution = follow(replan=False)  # nothing is mended
    assert disturbances(execution) == [("pick", "object_2", (0,)), ("pick", "object_4", (1,))]


def test_what_was_put_back_may_be_moved_again(follow, skills):
    fail_each(skills["pick"], {2: knocks(0), 4: knocks(0)})
    execution = follow(senses=Truth())
    assert disturbances(execution) == [("pick", "object_2", (0,)), ("pick", "object_4", (0,))]
    assert_all_done(execution)


def test_what_ended_the_episode_is_its_failure(follow, world, skills):
    fail_once(skills["pick"], 1)
    backing = round(BACK_OFF_WAY / BACK_OFF_STEP)
    world.force_limit_at = 3 * 19 + LOOK_STEPS + 1 + backing  # object 2 is at its goal by then
    execution = follow(per_object=0)
    assert "gives up object_1" in texts(execution)[0]
    assert execution.failure == "reset_arm: force limit"


def test_a_door_that_did_not_open_is_tried_again(follow, skills):
    fail_once(skills["open_cab"], 0)
    execution = follow(make_table_episode(), level="privileged")
    assert_all_done(execution)
    assert "open_cab object_0 (003_cracker_box): no effect" in texts(execution)[0]
    assert used(execution, "open_cab") == ["object_0", "start_0"]
    assert [a.joint for a in skills["open_cab"].resets] == ["drawer_right_top"] * 2
    assert skills["pick"].resets[0].position == pytest.approx((1.45, 0.0, 0.8))


def test_a_handle_is_let_go(follow, skills, world):
    def cling(world, argument):
        world.move_joint(argument.joint, 1.5)
        world.state.held_handle[0] = FRIDGE

    skills["open_fridge"].grip = 1.0
    fail_once(skills["open_fridge"], 1, cling)
    execution = follow(make_table_episode())
    assert "holds a handle" in texts(execution)[0]
    assert_all_done(execution)


def test_a_door_left_ajar_is_closed_again(follow, skills):
    fail_once(skills["close_fridge"], 1, lambda world, _: world.move_joint("fridge_door", 0.8))
    execution = follow(make_table_episode(), close=True, senses=Truth())
    assert "close_fridge object_1" in texts(execution)[0]
    assert_all_done(execution)


def test_the_hand_is_emptied_before_a_door_is_opened(follow, skills):
    episode = with_receptacles(
        make_episode(1), [("sofa", "fridge_middle")], articulated={"fridge_door": 1.5}
    )
    # The fridge falls shut, and the object is still in the hand.
    fail_once(skills["place"], 0, fall_shut)
    execution = follow(episode, senses=Truth())
    assert "still in the hand" in texts(execution)[0]
    assert "hand first; new plan of 2 steps: navigate back, place back" in texts(execution)[0]
    assert "object_0 is still to be done" in texts(execution)[1]
    assert used(execution, "place") == ["goal_0", "back", "goal_0"]
    assert_all_done(execution)


def test_groceries_go_back_into_the_open_fridge(follow, skills):
    fail_once(skills["place"], 2, lambda world, argument: None)
    assert_all_done(follow(make_groceries_episode()))


def test_another_object_of_the_kind_is_not_taken_for_one_that_is_hidden(follow):
    class Behind(NearSighted):
        """Sees only an object of the kind that stands a metre from where it looks."""

        def find(self, world, slot, near):
            x, y, z = near
            return x + 1.0, y, z

        def shows(self, world, position):
            return False

    execution = follow(senses=Behind())
    assert execution.decisions == ()
    assert_all_done(execution)


def test_the_camera_turns_to_what_was_placed(follow, world):
    follow(make_episode(1))
    # The goal lies 0.6 m straight ahead, behind the robot's own hand: it turns until it is seen aside.
    turns = [action[9] for action in world.actions if action[9] != 0.0]
    assert turns[0] == pytest.approx(-0.0833)
    assert len(turns) == LOOK_STEPS  # this world's base does not turn


def test_a_drive_out_of_time_is_mended_by_a_new_plan_where_one_is_left(follow, skills):
    navigate, done = skills["navigate"], skills["navigate"].done
    navigate.misses = (1,)
    navigate.done = lambda world: len(navigate.resets) != 3 and done(world)

    def arrive_at_last(world, argument):
        if len(navigate.resets) > 3:
            navigate.effect(world, argument)

    navigate.wrong = arrive_at_last
    execution = follow(executive=ExecutiveSettings(redrives=2))
    assert_all_done(execution)
    (decision,) = execution.decisions
    assert decision.plan is not None
    assert not decision.drives_anew
