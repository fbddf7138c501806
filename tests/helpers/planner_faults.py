"""Faults of fake skills, eyes for a fake world, and short questions about an execution."""

from __future__ import annotations

import math

from rearrange.scenes.apartment_kind import APARTMENT
from rearrange.sim.base import NOTHING
from skills.knowledge import Observed
from skills.knowledge.senses import object_position
from tests.helpers.planner_fakes import FIRST_SLOT

FRIDGE = APARTMENT.joints.index("fridge_door")


class NearSighted(Observed):
    """What `Observed` knows, with eyes for a world that draws no images."""

    def find(self, world, slot, near):
        place = object_position(world.state, slot)
        return place if self.shows(world, place) else None

    def shows(self, world, position):
        return math.dist(world.state.base_pose[0, :2], position[:2]) < 2.0


def fail_once(skill, target, fault=lambda world, argument: None):
    """The first use for this target has the fault, all others work."""
    faults = [fault]
    skill.misses = (target,)
    skill.wrong = lambda world, argument: (
        faults.pop()(world, argument) if faults else skill.effect(world, argument)
    )


def fail_each(skill, faults):
    """As `fail_once`, for several targets: target -> fault."""
    skill.misses, faults = tuple(faults), dict(faults)
    skill.wrong = lambda world, argument: faults.pop(argument.target_index, skill.effect)(
        world, argument
    )


def knocks(target):
    """A fault of Pick: it takes its object, but pushes what was placed for another target."""

    def knock(world, argument):
        world.state.held_object[0] = argument.slot
        world.state.object_position[0, FIRST_SLOT + target, 1] += 1.0

    return knock


def drop(world, argument):
    world.state.held_object[0] = NOTHING


def take_a_can(world, argument):
    """A fault of Pick: it takes what lies in the first slot."""
    world.state.held_object[0] = 0


def fall_shut(world, argument):
    world.move_joint("fridge_door", 0.0)


def disturbances(execution):
    found = [h for h in execution.hand_offs if h.deviation == "moved a placed object"]
    return [(h.skill, h.label, h.targets) for h in found]


def texts(execution):
    return [decision.text for decision in execution.decisions]


def used(execution, skill):
    return [h.label for h in execution.hand_offs if h.skill == skill]


def assert_all_done(execution):
    assert execution.success_at_end
    assert execution.success_once
    assert execution.failure is None
    assert all(i.once and i.at_end for i in execution.interactions)
