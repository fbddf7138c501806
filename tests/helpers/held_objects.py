"""Worlds that begin with an object in the hand."""

import dataclasses

from rearrange.robot.fetch import FETCH
from rearrange.testing.tools import (
    in_the_open,
)


def holding(episode, slot=0, arm=FETCH.resting_arm):
    return dataclasses.replace(in_the_open(FETCH, episode), held_slot=slot, arm_joints=arm)
