"""Where and how two fingers take a thing from above: over its narrow side, the hand turned to suit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from rearrange.robot import RobotSpec
from rearrange.robot.fingers import ROOM, Fingers
from rearrange.robot.kinematics import forward
from rearrange.scenes.objects import ObjectKind
from skills.oracle.descents import EXACT, Aim, Way

DEPTH = 0.02  # [m], by which the pads' middles go below the top of a thing
FREE = 0.008  # [m], between the fingers' ends and what the thing stands on
LEVEL = 0.1  # sine of the angle to the horizontal up to which a side counts as upright
# Cosines of angles between the direction in which the fingers close and a side's. Pads that lean by 3 degrees
# squeeze a sugar box out of the hand; along the floor 10 degrees do no harm, since the thing turns with them
LEANING, ASKEW = 0.9999, 0.985
ACROSS = np.array(
    [0.0, 1.0, 0.0]
)  # base frame: the one level direction in which a tilted hand can close
# Level directions in which an upright can is taken, from straight ahead [rad]; a tilted hand gets to the first
ROUND = (math.pi / 2, 0.0, math.pi / 4, -math.pi / 4)
ARM = 1.0  # [m], length of arms, roughly
PALM_ROOM = 0.005  # [m], between the palm and the edge of a thing
# Tilts of the hand, forwards from straight down [rad]: the palm comes to the edge of a thing the sooner the
# more it tilts. Only what is high can be taken by a hand that is nearly level, as in a fridge
DOWN, STEEP, FLAT = (0.0, 0.2), (0.6, 0.9), (1.2, 1.4)
LOW_RISE = (3e-3, 0.04, 0.15)  # limits of a way for what cannot come from high above

Turns = Callable[[np.ndarray, np.ndarray], Iterator[np.ndarray]]


def pads_over(fingers: Fingers, tip: float, top: float, bottom: float) -> float:
    """Height at which the middle between the pads holds a thing from above [m].

    Args:
        fingers: Of the hand.
        tip: x of the middle between the pads in the hand's frame [m].
        top: Height of the thing's top [m].
        bottom: Of its underside [m].
    """
    return max(top - DEPTH, bottom + fingers.end - tip + FREE)


def finger_ways(fingers: Fingers, tip: float, kind: ObjectKind, high: bool) -> tuple[Way, ...]:
    """Ways in which fingers come to a thing, the best first.

    Args:
        fingers: Of the hand.
        tip: x of the middle between the pads in the hand's frame [m].
        kind: What is taken.
        high: It is so high that the pads' middles come below its top.
    """

    def aims(tilts: tuple[float, ...]) -> tuple[Aim, ...]:
        return tuple(
            Aim(
                np.array([_short_of(fingers, tip, kind, tilt), 0.0, 0.0]),
                np.array([1.0, 0.0, 0.0]),
                (math.sin(tilt), 0.0, -math.cos(tilt)),
            )
            for tilt in tilts
        )

    ways = (Way(aims(DOWN), *EXACT), Way(aims(STEEP), *EXACT), Way(aims(DOWN), *LOW_RISE))
    return (*ways, Way(aims(FLAT), *LOW_RISE)) if high else ways


def tolerance(fingers: Fingers, kind: ObjectKind) -> float:
    """The lag that an arm may have that brings fingers around a thing [rad]: wide ones leave little room."""
    room = 0.5 * (fingers.opening - min(kind.widths))
    return min(0.012, 0.7 * room / ARM)


def _short_of(fingers: Fingers, tip: float, kind: ObjectKind, tilt: float) -> float:
    """The gap to a thing's middle at which a tilted hand stops, for its palm not to meet the near edge [m]."""
    edge = 0.5 * max(kind.widths) * math.sin(tilt) + DEPTH * math.cos(tilt)
    return max(0.0, edge + PALM_ROOM - (tip - fingers.palm))


def closing_directions(
    fingers: Fingers, kind: ObjectKind, rotation: np.ndarray
) -> list[np.ndarray] | None:
    """Level directions [3] along which the fingers can close on a thing, the narrowest side first, world frame.

    None of an upright can: all are alike.

    Args:
        fingers: Of the hand.
        kind: What is taken.
        rotation: World from it [3, 3].
    """
    across, height = kind.widths, 2.0 * kind.half_height
    axis = rotation[:, 2]
    if all(part.kind == "cylinder" for part in kind.parts):
        if abs(axis[2]) >= LEVEL:
            return None
        sides = [(across[0], np.cross((0.0, 0.0, 1.0), axis))]
    else:
        sides = list(zip((*across, height), rotation.T, strict=True))
    room = fingers.opening - 2.0 * ROOM
    fitting = [side for side in sides if side[0] <= room and abs(side[1][2]) < LEVEL]
    return [direction for _, direction in sorted(fitting, key=lambda side: side[0])]


def turning(robot: RobotSpec, directions: list[np.ndarray] | None) -> Turns:
    """A function that turns the hand of postures [K, J] at a base pose [3] towards each direction in turn.

    `directions` are those of `closing_directions`.

    The robot's last joint turns the hand about the axis along which it points, so the hand stays where it is.
    Directions that the hand cannot get to so, as it points, are left out.
    """

    def turns(heights: np.ndarray, stand: np.ndarray) -> Iterator[np.ndarray]:
        cosine, sine = math.cos(stand[2]), math.sin(stand[2])
        local = [np.array([math.cos(a), math.sin(a), 0.0]) for a in ROUND]
        if directions is not None:
            local = [
                np.array([cosine * x + sine * y, cosine * y - sine * x, z])
                for x, y, z in directions
            ]
        for direction in local:
            turned = _turned(robot, heights, direction)
            if turned is not None:
                yield turned

    return turns


def _turned(robot: RobotSpec, heights: np.ndarray, direction: np.ndarray) -> np.ndarray | None:
    """Postures [K, J] with the hand's y along a direction [3] in the base frame, or against it."""
    out = forward(robot, heights[0])[1][:, 0]
    if 1.0 - float(out @ direction) ** 2 < LEANING**2:
        if abs(float(ACROSS @ direction)) < ASKEW:
            return None
        direction = ACROSS
    result, last = heights.copy(), 0.0
    for k, joints in enumerate(heights):
        hand = forward(robot, joints)[1]
        y, z = float(hand[:, 1] @ direction), float(hand[:, 2] @ direction)
        # Fingers are alike: half a turn is as good as none, and the turn goes on from the height before
        turn = last + math.remainder(math.atan2(z, y) - last, math.pi)
        result[k, -1] += turn
        last = turn
    return result
