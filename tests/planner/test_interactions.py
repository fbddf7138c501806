"""What actions of plans ask of skills, and when their effect is there."""

import pytest

from planner.interactions import InteractionTracker, SkillCall, achieved, bind
from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING
from tests.helpers.planner_fakes import planned

FRIDGE, DRAWER = (APARTMENT.joints.index(name) for name in ("fridge_door", "drawer_right_top"))


def calls(close=False) -> list[SkillCall]:
    task, plan = planned(close)
    return [bind(step, task.arguments, APARTMENT) for step in plan.steps]


@pytest.mark.parametrize(
    ("joint", "value", "opened", "closed"),
    [
        ("drawer_right_top", 0.34, False, False),
        ("drawer_right_top", 0.36, True, False),
        ("drawer_right_top", 0.14, False, True),
        ("fridge_door", 1.06, False, False),
        ("fridge_door", 1.08, True, False),
        ("fridge_door", -0.16, False, False),
        ("fridge_door", 0.14, False, True),
    ],
)
def test_opened_and_closed_are_habs(table_world, joint, value, opened, closed):
    table_world.move_joint(joint, value)
    kind = {"drawer_right_top": "cab", "fridge_door": "fridge"}[joint]
    by_skill = {call.skill: call for call in calls(close=True)}
    assert achieved(by_skill[f"open_{kind}"], table_world.state) == opened
    assert achieved(by_skill[f"close_{kind}"], table_world.state) == closed


def test_what_is_shut_before_it_was_opened_was_not_closed(table_world):
    tracker = InteractionTracker(calls(close=True), any_order=True)
    told = []
    for value in (0.0, 0.5, 0.0, 0.5):  # at the start, opened, closed, and opened again
        table_world.move_joint("drawer_right_top", value)
        tracker.update(table_world.state)
        told.append([call.skill for call in tracker.disturbed(table_world.state)])
    assert told == [[], [], [], ["close_cab"]]


def test_driving_has_no_effect_to_be_judged(table_world):
    with pytest.raises(ValueError, match=r"nav-to-receptacle .* has no effect"):
        achieved(calls()[0], table_world.state)


def test_place_needs_an_empty_hand(table_world):
    place = next(call for call in calls() if call.skill == "place")
    table_world.state.object_position[0, place.argument.slot] = place.argument.position
    assert achieved(place, table_world.state)
    table_world.state.held_handle[0] = FRIDGE
    assert not achieved(place, table_world.state)
    table_world.state.held_handle[0] = NOTHING
    table_world.state.held_object[0] = 0
    assert not achieved(place, table_world.state)
