"""What ends attempts and plans: time-outs, giving up, and limits of plans, steps and force."""

import pytest

from planner.executive import LOOK_STEPS
from planner.record import missed_steps
from planner.rules import ExecutiveSettings
from skills.knowledge import Truth
from tests.helpers.planner_fakes import make_episode, with_receptacles
from tests.helpers.planner_faults import (
    FRIDGE,
    assert_all_done,
    fail_once,
    fall_shut,
    take_a_can,
    texts,
    used,
)


def test_a_timeout_is_no_fault_where_its_effect_is_there(follow, skills):
    skills["pick"].never_done = (1,)
    execution = follow()
    assert texts(execution) == [
        "pick object_1 (003_cracker_box): time-out after 10 steps, but its effect is there; goes on"
    ]
    assert_all_done(execution)
    assert missed_steps(execution.hand_offs) == frozenset()


def test_a_drive_that_never_stopped_may_have_arrived(follow, world, skills):
    def stay_away(world, argument):
        world.state.base_pose[0] = (argument.position[0] - 1.6, argument.position[1], 0.0)

    skills["navigate"].never_done = (1,)
    fail_once(skills["navigate"], 1, stay_away)
    execution = follow()
    object_1, goal_1 = (
        f"navigate {name}_1 (003_cracker_box): time-out" for name in ("object", "goal")
    )
    assert "new plan of 16 steps: navigate object_1" in texts(execution)[0]
    goes_on = "after 10 steps, but its effect is there; goes on"
    assert texts(execution)[1:] == [f"{object_1} {goes_on}", f"{goal_1} {goes_on}"]
    assert missed_steps(execution.hand_offs) == {4}
    assert_all_done(execution)


def test_drives_may_time_out_where_they_shall_proceed(follow, skills):
    skills["navigate"].misses = skills["navigate"].never_done = (2,)  # far from its target
    execution = follow(executive=ExecutiveSettings(navigate_timeout_ends=False))
    assert execution.decisions == ()
    assert [h.ending for h in execution.hand_offs if h.skill == "navigate"].count("time-out") == 2
    assert_all_done(execution)


def test_the_way_back_counts_against_whose_pick_went_wrong(follow, world, skills):
    world.state.object_position[0, 0] = (2.1, 0.1, 0.8)
    fail_once(skills["pick"], 1, take_a_can)
    stuck = [True] * 3  # so often it is not let go
    skills["place"].misses = tuple(range(5))
    skills["place"].wrong = lambda world, argument: (
        stuck.pop() if stuck and argument.slot == 0 else skills["place"].effect(world, argument)
    )
    execution = follow(per_object=2)
    assert {a.target_index for a in skills["place"].resets if a.slot == 0} == {1}
    given_up = [text for text in texts(execution) if "gives up" in text]
    assert ["gives up object_1 (tried often enough)" in text for text in given_up] == [True]
    assert [i.once for i in execution.interactions] == [True] * 2 + [False] * 8
    assert used(execution, "place")[-1] == "goal_4"


def test_what_is_still_to_be_done_is_not_its_objects_fault(follow, skills):
    episode = with_receptacles(
        make_episode(1), [("sofa", "fridge_middle")], articulated={"fridge_door": 1.5}
    )
    fail_once(skills["place"], 0, fall_shut)
    execution = follow(episode, senses=Truth(), per_object=1)
    assert "object_0 is still to be done" in texts(execution)[1]
    assert not any("gives up" in text for text in texts(execution))
    assert_all_done(execution)


def test_an_object_that_never_works_is_given_up(follow, skills):
    skills["pick"].misses = (1,)
    execution = follow(per_object=2)
    assert used(execution, "pick") == [f"object_{k}" for k in (0, 1, 1, 1, 2, 3, 4)]
    assert "gives up object_1 (tried often enough); new plan of 12 steps" in texts(execution)[-1]
    assert execution.failure == "pick: nothing held"
    assert [i.once for i in execution.interactions] == [True] * 2 + [False] * 8


@pytest.mark.parametrize("limit", [1, 2])
def test_there_are_no_more_new_plans_than_allowed(follow, skills, limit):
    skills["pick"].misses = skills["pick"].never_done = (1, 2, 3)
    execution = follow(limit=limit, per_object=5)
    plans = [d for d in execution.decisions if d.plan is not None]
    assert len(plans) == limit
    # Then it is TP-SRL's executive: the next time-out ends the episode.
    assert used(execution, "pick") == ["object_0", *["object_1"] * (limit + 1)]
    assert execution.failure == "pick: time-out"


def test_the_force_limit_ends_the_episode_as_ever(follow, world):
    world.force_limit_at = 8
    execution = follow()
    assert (execution.steps, execution.failure) == (8, "pick: force limit")


def test_a_force_limit_while_looking_ends_the_episode(follow, world):
    world.force_limit_at = 30  # the first object is placed, and the arm folded, after 24 steps
    execution = follow()
    assert (execution.steps, execution.failure) == (30, "look: force limit")


DONE_AFTER = 39 * 3 + 4 * LOOK_STEPS  # the last Place's end


@pytest.mark.parametrize("left", [0, 1, 3, 4, 20, 33, 34])
def test_looking_costs_no_success_that_was_there(follow, left):
    execution = follow(executive=ExecutiveSettings(max_steps=DONE_AFTER + left))
    assert_all_done(execution)
    assert execution.steps == DONE_AFTER + left
    assert missed_steps(execution.hand_offs) == frozenset()


def test_a_handle_may_be_let_go_with_the_last_step(follow, skills):
    def cling(world, argument):
        skills["place"].effect(world, argument)
        world.state.held_handle[0] = FRIDGE

    fail_once(skills["place"], 4, cling)
    execution = follow(executive=ExecutiveSettings(max_steps=DONE_AFTER + 3 + LOOK_STEPS + 1))
    assert "holds a handle after 3 steps; new plan of 0 steps" in texts(execution)[0]
    assert execution.success_at_end


def test_the_step_limit_ends_what_is_not_done(follow):
    execution = follow(executive=ExecutiveSettings(max_steps=DONE_AFTER - 1))
    assert execution.failure == "place: step limit"
