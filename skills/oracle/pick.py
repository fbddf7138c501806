"""Pick with privileged state: stage, unfold, drive in, come down, lift, back out, fold."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from rearrange.robot.actions import HOLD, LET_GO
from rearrange.sim.base import NOTHING, SimState
from skills.oracle.collision import load_spheres
from skills.oracle.descents import EXACT, LOOSE, RISE_STEP, SHORT, Aim, Way
from skills.oracle.finger_grasp import (
    closing_directions,
    finger_ways,
    pads_over,
    tolerance,
    turning,
)
from skills.oracle.oracle import ATTEMPTS, Actions, Oracle
from skills.oracle.reach import Reach, ReachPlanner

PATIENCE = 15  # steps of waiting for contact at the lowest point
OVERSHOOT = 0.03  # [m] below the expected contact
# Tilts of the hand, forwards from straight down [rad]. What is taken with a tilted hand can be set
# down upright on high surfaces, which an arm reaching straight down cannot; so those come first.
STEEP, FLAT, LEVEL = (0.6, 0.9), (0.3, 0.0), (1.2, 1.4)
# End effector from world for a hand that points down: its x is the world's -z.
HANGING = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])


def _aims(tilts: tuple[float, ...]) -> tuple[Aim, ...]:
    return tuple(
        Aim(np.zeros(3), np.array([1.0, 0.0, 0.0]), (math.sin(tilt), 0.0, -math.cos(tilt)))
        for tilt in tilts
    )


PICK_WAYS = (
    Way(_aims(STEEP), *EXACT),
    Way(_aims(FLAT), *EXACT),
    Way(_aims(STEEP + FLAT), *LOOSE),
    Way(_aims(LEVEL), *SHORT),
)


BESIDE = 4  # of the postures up from a thing, those in which fingers are beside it, and the next
LAG = 8  # steps of waiting for an arm that lags on the way down
CLOSING = 45  # steps in which fingers have closed on something, or never will


class PickOracle(Oracle):
    """Takes one object with the suction cup, or the fingers, and brings the hand back to rest."""

    def reset(self, state: SimState, slot: int) -> None:
        """Begin in a world.

        Args:
            state: Of the world.
            slot: Object to pick.
        """
        self.slot = slot
        self._begin(state, self._run())

    def _run(self) -> Actions:
        for attempt in range(ATTEMPTS):
            if self.held == NOTHING:
                reach = yield from self._approach(attempt)
                if reach is None:
                    continue
                take = self._take if self.spec.fingers is None else self._grasp
                taken = yield from take(reach)
                yield from self.follow(reach.heights, settle=False)
                yield from self._straight(-reach.retreat)
                if not taken:
                    yield from self._fold(NOTHING)
                    continue
            if (yield from self._fold(self.slot)) and self.held == self.slot:
                return True
        self.failure = self.failure or "pick: gave up"
        return False

    def _approach(self, attempt: int) -> Generator[np.ndarray, None, Reach | None]:
        """Go to the stage, unfold and drive in; returns the Reach or None."""
        planner, target = pick_planner(self, self.slot)
        reach = planner.find(self.base_pose, target, effort=60 + 60 * attempt, skip=attempt // 2)
        if reach is None:
            self.failure = "pick: no reach"
            return None
        if not (yield from self._go_to(planner.base, reach.stage)):
            self.failure = "pick: no way"
            return None
        yield from self.follow(reach.unfold)
        yield from self._straight(reach.retreat)
        return reach

    def _take(self, reach: Reach) -> Actions:
        """Come down until the cup touches the object, and hold it; True if it is held."""
        yield from self.settle(reach.heights[-1])
        down = reach.heights[::-1]
        below = down[-1] + (down[-1] - down[-2]) * (OVERSHOOT / RISE_STEP)
        for reference in self.slowly(np.vstack([down, below])):
            if (yield from self._grasp_if_touching(reference)):
                return True
        for _ in range(PATIENCE):
            if (yield from self._grasp_if_touching(below)):
                return True
        self.failure = "pick: no contact"
        return False

    def _grasp(self, reach: Reach) -> Actions:
        """Come down with the open fingers around the object, and close them; True if they hold it."""
        yield from self.settle(reach.heights[-1])
        assert self.spec.fingers is not None
        contact, close = reach.heights[0], tolerance(self.spec.fingers, self.kind_of(self.slot))
        down = reach.heights[::-1]
        for reference in self.slowly(down[: 1 - BESIDE]):
            yield self.toward(reference, LET_GO)
        yield from self.settle(down[-BESIDE:][0], still=True)
        for reference in self.slowly(down[-BESIDE:]):
            for _ in range(LAG):
                yield self.toward(reference, LET_GO)
                if self.spec.swing(reference - self.joints) < close:
                    break
        yield from self.settle(contact, still=True)
        for _ in range(CLOSING):
            if self.held == self.slot:
                return True
            yield self.toward(contact, HOLD)
        self.failure = "pick: no hold"
        return False

    def _grasp_if_touching(self, reference: np.ndarray) -> Actions:
        """One step towards a posture, or of holding on where the cup touches; True if it holds."""
        if self.held == self.slot:
            return True
        if int(self.state.touched_object[0]) == self.slot:
            yield self.command(grip=HOLD)
        else:
            yield self.toward(reference, LET_GO)
        return self.held == self.slot


def pick_planner(oracle: Oracle, slot: int) -> tuple[ReachPlanner, np.ndarray]:
    """Planner for taking an object from above, and where the tip comes, world frame [3], m."""
    kind = oracle.kind_of(slot)
    position, rotation = oracle.object_pose(slot)
    upright = load_spheres(oracle.spec, kind, np.zeros(3), rotation)
    top = float((upright[:, 3] + upright[:, 4]).max())
    fingers, turns, ways = oracle.spec.fingers, None, PICK_WAYS
    if fingers is not None:
        bottom = float((upright[:, 3] - upright[:, 4]).min())
        middle = pads_over(fingers, oracle.spec.tip_offset, top, bottom)
        ways = finger_ways(fingers, oracle.spec.tip_offset, kind, middle < top)
        turns = turning(oracle.spec, closing_directions(fingers, kind, rotation))
        top = middle
    load = load_spheres(oracle.spec, kind, HANGING @ (0.0, 0.0, -top), HANGING @ rotation)
    around = oracle.obstacles(slot)
    planner = ReachPlanner(
        oracle.spec, oracle.grid, around, oracle.joints, ways, load, loaded=False, turns=turns
    )
    return planner, position + np.array([0.0, 0.0, top])
