"""Riding with a part: the base moves as if it were bolted to a drawer or a door that the hand is at.

How fast it goes, where it has to be, and how far it has come. Who knows poses by odometry alone uses it, too.
"""

from __future__ import annotations

import math

import numpy as np

from skills.oracle.base_planner import FORWARD_STEP, TURN_STEP
from skills.oracle.fixtures import Fixture
from skills.oracle.handle_planner import Grasp

OVERSHOOT = 0.04  # [m], how far the hand may go on beyond the expected contact or end
CRUISE = 0.05  # [m per action] of the hand along with a part
TOUCH = 0.012  # [m per action] near the handle
GAIN = 0.012  # [m per action], change of speed from one action to the next
BRAKE = 0.12  # speed per distance that is left


def lever(fixture: Fixture, opening: float) -> float:
    """Metres that the handle moves per unit of the opening [m or rad]."""
    if not fixture.is_door:
        return 1.0
    return float(np.linalg.norm(fixture.handle(opening)[:2] - fixture.hinge))


def progress(fixture: Fixture, grasp: Grasp, pose: np.ndarray) -> float:
    """The opening [m or rad] to which a base pose [3] belongs."""
    if fixture.is_door:
        turned = math.remainder(pose[2] - grasp.contact[2], 2 * math.pi)
        return grasp.opening + fixture.door.sense * turned
    return grasp.opening + float((pose - grasp.contact)[:2] @ fixture.outward(0.0))


def next_speed(speed: float, left: float, cruise: float, gain: float) -> float:
    """Motion of the hand in the next action [m], after one of `speed` and with so much left [m]."""
    return min(speed + gain, cruise, TOUCH + BRAKE * left, left)


def bolted(pose: np.ndarray, goal: np.ndarray) -> tuple[float, float]:
    """Forward motion [m] and turn [rad] of one action from a base pose [3] towards another near by."""
    offset = goal - pose
    turn = float(np.clip(math.remainder(offset[2], 2 * math.pi), -TURN_STEP, TURN_STEP))
    heading = pose[2] + 0.5 * turn
    forward = float(offset[0] * math.cos(heading) + offset[1] * math.sin(heading))
    return float(np.clip(forward, -FORWARD_STEP, FORWARD_STEP)), turn
