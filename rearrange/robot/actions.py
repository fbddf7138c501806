"""The numbers of an action: their names, and where they stand.

Every robot's action begins with its joints; grip, forward, turn and stop follow. A policy's whole action
is in [-1, 1]: changes of the joint targets; from 0 on hold or try to grasp, below let go; motion of the
base; above 0 the episode is over. The simulator takes all but the last, in its own units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rearrange.caching import cached_njit

HOLD, LET_GO = 1.0, -1.0  # grips
OTHERS = ("grip", "forward", "turn", "stop")  # numbers that follow the joints'


class ActionLayout:
    """Where the numbers of a robot's action stand.

    Attributes:
        names: Of all of them.
        arm: The joints.
        units: What counts as one radian of each joint [J], rad, of slides m.
        grip: Hold or let go.
        forward: Motion of the base.
        turn: Likewise.
        base: Both of these.
        stop: The episode is over.
        full_size: How many numbers a policy's whole action has.
        physical_size: How many of them the simulator takes.
    """

    def __init__(self, joints: Sequence[str], units: np.ndarray) -> None:
        """Lay out the action of a robot with these joints, of these units [J]."""
        self.units = units
        self.names = (*joints, *OTHERS)
        self.grip = len(joints)
        self.arm = slice(0, self.grip)
        self.forward, self.turn, self.stop = self.grip + 1, self.grip + 2, self.grip + 3
        self.base = slice(self.forward, self.stop)
        self.full_size, self.physical_size = self.stop + 1, self.stop

    def part(self, names: Sequence[str]) -> slice:
        """Where neighbouring parts stand.

        Args:
            names: Some of arm, grip, base and stop, in this order and without a gap.

        Raises:
            ValueError: They are not.
        """
        parts = {
            "arm": self.arm,
            "grip": slice(self.grip, self.grip + 1),
            "base": self.base,
            "stop": slice(self.stop, self.stop + 1),
        }
        chosen = [parts[name] for name in names if name in parts]
        ends = [part.stop for part in chosen[:-1]]
        if not names or len(chosen) < len(names) or ends != [part.start for part in chosen[1:]]:
            raise ValueError(f"an action's parts are neighbours among {list(parts)}, not {names}")
        return slice(chosen[0].start, chosen[-1].stop)

    def physical(
        self,
        arm: np.ndarray | None = None,
        grip: float = LET_GO,
        forward: float = 0.0,
        turn: float = 0.0,
    ) -> np.ndarray:
        """The simulator's action [physical_size] from its parts.

        Args:
            arm: Changes of the joint targets [J], rad, of slides m; None leaves them.
            grip: HOLD or LET_GO.
            forward: Motion of the base, m.
            turn: Likewise, rad.
        """
        action = np.zeros(self.physical_size)
        if arm is not None:
            action[self.arm] = arm
        action[self.grip], action[self.forward], action[self.turn] = grip, forward, turn
        return action


@cached_njit
def grip_of(world: Any) -> int:
    """Index of the grip in the action of a robot, for compiled tasks.

    Args:
        world: Its record, see `rearrange.sim.base.world_state`: it is compiled for the number of joints.
    """
    return len(world.arm_joints)


@cached_njit
def forward_of(world: Any) -> int:
    """Likewise of the motion forward."""
    return len(world.arm_joints) + 1


@cached_njit
def turn_of(world: Any) -> int:
    """Likewise of the turn."""
    return len(world.arm_joints) + 2


@cached_njit
def stop_of(world: Any) -> int:
    """Likewise of the stop, in a policy's whole action."""
    return len(world.arm_joints) + 3
