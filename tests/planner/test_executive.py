import dataclasses
import math

import numpy as np
import pytest

from planner.executive import BACK_OFF_STEP, BACK_OFF_WAY, Executive
from planner.record import missed_steps
from planner.rules import ExecutiveSettings
from rearrange.sim.base import NOTHING

SKILL_STEPS = 3  # of a fake skill that ends by itself


@pytest.fixture
def run(world, skills, task_and_plan):
    task, plan = task_and_plan

    def run(**settings):
        executive = Executive(skills, ExecutiveSettings(**settings))
        return executive.run(world, plan, task.arguments)

    return run


def names(execution):
    return [h.skill for h in execution.hand_offs]


def test_faultless_skills_tidy_the_house(run, world):
    execution = run()
    assert execution.success_at_end
    assert execution.success_once
    assert execution.failure is None
    assert [i.name for i in execution.interactions[:4]] == [
        "pick_0",
        "place_0",
        "pick_1",
        "place_1",
    ]
    assert all(i.once and i.at_end for i in execution.interactions)
    # 20 plan steps, a re-arming after all but the last, then the wait before the stop.
    assert execution.steps == world.elapsed_steps == 39 * SKILL_STEPS + 30


def test_arm_is_reset_after_every_step_but_the_last(run):
    sequence = names(run())
    assert sequence[1::2] == ["reset_arm"] * 19
    assert sequence[0::2] == ["navigate", "pick", "navigate", "place"] * 5


def test_skills_are_reset_on_every_entry_with_their_argument(run, skills):
    run()
    assert len(skills["navigate"].resets) == 10
    assert [a.kind for a in skills["navigate"].resets[:2]] == ["object", "goal"]
    assert [a.target_index for a in skills["pick"].resets] == [0, 1, 2, 3, 4]
    first = skills["pick"].resets[0]
    assert (first.slot, first.position) == (3, (1.0, 0.0, 0.8))
    assert skills["place"].resets[0].position == (1.0, 4.0, 0.5)


def test_grip_masks(run, world, skills):
    run()
    first = skills["pick"].entered_at[0]
    pick = [a[7] for a in world.actions[first : first + SKILL_STEPS]]
    assert pick == [-1.0, -1.0, 1.0]  # holds from its third action on, whatever the skill says
    rest = [a[7] for a in world.actions[first + SKILL_STEPS : first + 3 * SKILL_STEPS]]
    assert rest == [1.0] * 6  # reset_arm and navigate keep holding
    place = skills["place"].entered_at[0]
    assert [a[7] for a in world.actions[place : place + SKILL_STEPS]] == [1.0, 1.0, -1.0]
    assert world.actions[place + SKILL_STEPS][7] == -1.0  # reset_arm with an empty hand


def test_masks_leave_the_rest_of_the_action_alone(world, skills, task_and_plan):
    task, plan = task_and_plan
    given = np.arange(10.0)
    skills["navigate"].act = lambda world: given
    Executive(skills, ExecutiveSettings(timeouts={"navigate": 1})).run(world, plan, task.arguments)
    assert np.delete(world.actions[0], 7).tolist() == np.delete(np.arange(10.0), 7).tolist()
    assert given[7] == 7.0


@pytest.mark.parametrize(("skill", "steps"), [("pick", 10), ("place", 10), ("navigate", 10)])
def test_timeout_ends_the_episode(run, skills, skill, steps):
    skills[skill].never_done = (1,)
    skills[skill].misses = (1,)
    execution = run()
    last = execution.hand_offs[-1]
    assert (last.skill, last.ending, last.steps) == (skill, "time-out", steps)
    assert execution.failure == f"{skill}: time-out"
    assert not execution.success_at_end
    reached = [i.name for i in execution.interactions if i.once]
    expected = ["pick_0", "place_0", "pick_1"] if skill == "place" else ["pick_0", "place_0"]
    assert reached == expected


def test_timeouts_can_be_overridden(run, skills):
    skills["pick"].never_done = (0,)
    assert run(timeouts={"pick": 7}).hand_offs[-1].steps == 7


def test_navigate_timeout_can_proceed(run, skills):
    skills["navigate"].never_done = (0, 1, 2, 3, 4)
    execution = run(navigate_timeout_ends=False)
    assert execution.hand_offs[0].ending == "time-out"
    assert execution.success_at_end


def test_reset_arm_timeout_proceeds(run, skills):
    skills["reset_arm"].never_done = (0, 1, 2, 3, 4)
    execution = run()
    assert execution.hand_offs[1].ending == "time-out"
    assert execution.hand_offs[1].steps == 5
    assert execution.success_at_end


def test_stop_far_from_the_target_is_masked(run, skills):
    skills["navigate"].misses = (2,)  # does not move, and says that it is done
    execution = run()
    assert execution.failure == "navigate: time-out"
    assert run(stop_mask_distance=50.0).success_at_end


def test_wrong_object_goes_unnoticed_but_is_recorded(run, skills):
    def take_another(world, argument):
        world.state.held_object[0] = argument.slot + 1

    skills["pick"].misses = (1,)
    skills["pick"].wrong = take_another
    execution = run()
    assert execution.failure == "pick: wrong object"
    assert len(execution.hand_offs) == 39  # the plan went on to its end
    assert [i.once for i in execution.interactions] == [True, True] + [False] * 8


def test_empty_hand_after_pick(run, skills):
    skills["pick"].misses = (0,)
    assert run().failure == "pick: nothing held"


def test_dropped_on_the_way(run, skills):
    def drop(world, argument):
        world.state.held_object[0] = NOTHING

    skills["reset_arm"].misses = (3,)
    skills["reset_arm"].wrong = drop
    skills["place"].misses = (3,)
    execution = run()
    assert execution.failure == "reset_arm: dropped"


def test_place_beside_the_goal(run, skills):
    def beside(world, argument):
        world.state.object_position[0, argument.slot] = np.add(argument.position, (0.31, 0, 0))
        world.state.held_object[0] = NOTHING

    skills["place"].misses = (0,)
    skills["place"].wrong = beside
    execution = run()
    assert execution.failure == "place: missed the goal"
    assert [i.once for i in execution.interactions] == [True] + [False] * 9


def test_place_within_the_goal_radius_counts(run, skills):
    def nearly(world, argument):
        world.state.object_position[0, argument.slot] = np.add(argument.position, (0.29, 0, 0))
        world.state.held_object[0] = NOTHING

    skills["place"].misses = (0,)
    skills["place"].wrong = nearly
    assert run().success_at_end


def test_moving_a_placed_object_breaks_the_chain(run, skills):
    def knock(world, argument):
        world.state.held_object[0] = argument.slot
        world.state.object_position[0, 3] = (50.0, 50.0, 0.0)

    skills["pick"].misses = (2,)
    skills["pick"].wrong = knock
    execution = run()
    assert execution.failure == "pick: moved a placed object"
    (hand_off,) = [h for h in execution.hand_offs if h.deviation == "moved a placed object"]
    assert (hand_off.label, hand_off.targets) == ("object_2", (0,))
    once = [i.once for i in execution.interactions]
    at_end = [i.at_end for i in execution.interactions]
    assert once == [True] * 4 + [False] * 6
    assert at_end == [True] + [False] * 9  # object 0 was picked, but did not stay in place


def test_success_once_without_success_at_end(run, skills, world):
    # The last place succeeds but never ends, so no stop is called.
    skills["place"].never_done = (4,)
    execution = run()
    assert execution.success_once
    assert not execution.success_at_end
    assert execution.failure == "place: time-out"


def test_force_limit_ends_the_episode(run, world):
    world.force_limit_at = 8
    execution = run()
    assert execution.steps == 8
    assert execution.failure == "pick: force limit"


def test_a_force_limit_while_waiting_ends_the_episode(run, world):
    steps = 39 * SKILL_STEPS
    world.force_limit_at = steps + 5
    execution = run()
    assert execution.steps == steps + 5
    assert execution.success_once
    assert not execution.success_at_end
    assert execution.failure == "wait: force limit"
    last = execution.hand_offs[-1]
    assert (last.plan_index, last.ending, last.steps) == (19, "force limit", 5)


def test_step_limit_ends_the_episode(run):
    execution = run(max_steps=20)
    assert execution.steps == 20
    assert execution.failure.endswith("step limit")


def test_hand_off_says_where_the_robot_stands(run):
    hand_off = run().hand_offs[0]
    assert (hand_off.plan_index, hand_off.label) == (0, "object_0")
    assert hand_off.base_pose == pytest.approx((0.4, 0.0, 0.0))
    assert hand_off.distance == pytest.approx(0.6)
    assert hand_off.heading == pytest.approx(0.0)
    assert hand_off.held is None


def test_heading_is_relative_and_wrapped(run, skills):
    def behind(world, argument):
        x, y, _ = argument.position
        world.state.base_pose[0] = (x, y - 1.0, -3.0)  # target at +90 degrees in the world

    skills["navigate"].misses = (0,)
    skills["navigate"].wrong = behind
    assert run().hand_offs[0].heading == pytest.approx(math.pi / 2 + 3.0 - 2 * math.pi)


def test_observer_sees_every_step(world, skills, task_and_plan):
    task, plan = task_and_plan
    seen = []
    execution = Executive(skills).run(
        world, plan, task.arguments, [lambda world, moment: seen.append(moment)]
    )
    assert len(seen) == execution.steps
    assert (seen[0].skill, seen[0].plan_index, seen[0].skill_step) == ("navigate", 0, 1)
    assert seen[-1].skill == "wait"


def test_action_of_wrong_shape_says_what_was_expected(run, skills):
    skills["navigate"].act = lambda world: np.zeros(8)
    with pytest.raises(ValueError, match=r"'navigate': expected .*\(10,\), found \(8,\)"):
        run()


def test_record_is_plain_data(run):
    record = run().as_json()
    assert set(record) == {f.name for f in dataclasses.fields(run())}
    assert isinstance(record["hand_offs"][0], dict)


def test_observers_are_told_which_steps_went_wrong(world, skills, task_and_plan):
    task, plan = task_and_plan
    skills["pick"].misses = (1,)  # nothing held; the plan goes on
    seen = []
    executive = Executive(skills)
    execution = executive.run(world, plan, task.arguments, [lambda _, moment: seen.append(moment)])
    wrong = {h.plan_index for h in execution.hand_offs if h.deviation is not None}
    pick = 5  # navigate, pick, navigate, place, navigate, pick
    assert min(wrong) == pick
    assert all(not moment.missed for moment in seen if moment.plan_index < pick)
    assert all(pick in moment.missed for moment in seen if moment.plan_index > pick)
    assert seen[-1].missed == missed_steps(execution.hand_offs) == wrong


def foresee(skill, *chances):
    """Lets a fake skill tell these chances, one each time it is asked; returns what it was asked."""
    asked, left = [], list(chances)

    def chance(world, argument):
        asked.append((tuple(world.state.base_pose[0]), argument.target_index))
        return left.pop(0)

    skill.chance = chance
    return asked


def test_it_drives_anew_until_the_skill_would_succeed(run, world, skills):
    asked = foresee(skills["pick"], 0.9, 0.1, 0.4, 0.5, *[None] * 3)
    execution = run(redrives=3)
    assert execution.success_at_end
    assert [target for _, target in asked] == [0, 1, 1, 1, 2, 3, 4]
    assert all(pose[0] == pytest.approx(0.4 + target) for pose, target in asked)  # by the thing
    drives = [h.label for h in execution.hand_offs if h.skill == "navigate"]
    assert drives[:6] == ["object_0", "goal_0", "object_1", "object_1", "object_1", "goal_1"]
    backing = sum(action[8] < 0.0 for action in world.actions)
    assert backing == 2 * round(BACK_OFF_WAY / BACK_OFF_STEP)
    texts = [d.text for d in execution.decisions]
    assert texts == [
        f"pick object_1: chance {chance} from here; drives anew" for chance in ("0.10", "0.40")
    ]
    assert all(d.drives_anew and d.plan is None for d in execution.decisions)
    assert [d.plan_index for d in execution.decisions] == [5, 5]


def test_it_begins_all_the_same_when_no_drive_is_left(run, skills):
    asked = foresee(skills["pick"], *[0.0] * 10)
    execution = run(redrives=2)
    assert execution.success_at_end
    assert len(asked) == 10  # before each new drive; after the last there is nothing to choose
    assert names(execution).count("navigate") == 20


def test_how_likely_it_has_to_be_is_a_setting(run, skills):
    foresee(skills["pick"], 0.6, 0.8, *[0.75] * 4)
    assert [d.plan_index for d in run(redrives=1, least_chance=0.75).decisions] == [1]


def test_a_drive_out_of_time_is_driven_anew(run, world, skills):
    navigate, done = skills["navigate"], skills["navigate"].done
    navigate.done = lambda world: len(navigate.resets) not in (2, 3) and done(world)
    execution = run(redrives=2)
    assert execution.success_at_end
    drives = [(h.label, h.ending) for h in execution.hand_offs if h.skill == "navigate"]
    assert drives[:5] == [
        ("object_0", "done"),
        *[("goal_0", "time-out")] * 2,
        ("goal_0", "done"),
        ("object_1", "done"),
    ]
    texts = [d.text for d in execution.decisions]
    assert texts == ["navigate goal_0: time-out after 10 steps; drives anew"] * 2
    backing = sum(action[8] < 0.0 for action in world.actions)
    assert backing == 2 * round(BACK_OFF_WAY / BACK_OFF_STEP)


def test_the_last_drive_out_of_time_ends_the_episode(run, skills):
    skills["navigate"].never_done = (1,)
    execution = run(redrives=2)
    assert execution.failure == "navigate: time-out"
    assert names(execution).count("navigate") == 2 + 3
    assert len(execution.decisions) == 2


def test_nobody_is_asked_without_new_drives(run, skills):
    asked = foresee(skills["pick"])
    assert run().success_at_end
    assert asked == []


def test_a_new_drive_out_of_time_ends_nothing(run, skills):
    foresee(skills["pick"], 0.1, 0.9, *[1.0] * 4)
    navigate, done = skills["navigate"], skills["navigate"].done
    navigate.done = lambda world: len(navigate.resets) != 2 and done(world)
    execution = run(redrives=2)
    assert [h.ending for h in execution.hand_offs if h.skill == "navigate"][:3] == [
        "done",
        "time-out",
        "done",
    ]
    assert execution.success_at_end


def test_a_blow_in_a_new_drive_ends_the_episode(run, world, skills):
    foresee(skills["pick"], 0.1)
    world.force_limit_at = 2 * SKILL_STEPS + 5
    execution = run(redrives=2)
    assert (execution.failure, execution.steps) == ("back_off: force limit", 2 * SKILL_STEPS + 5)


def test_a_skill_that_follows_no_drive_begins_where_it_is(run, world, skills):
    asked = foresee(skills["navigate"])  # drives follow what the arm did, or nothing
    assert run(redrives=2).success_at_end
    assert asked == []
