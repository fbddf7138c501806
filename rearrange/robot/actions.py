"""The numbers of an action: their names, and where they stand."""

from __future__ import annotations

import numpy as np

from rearrange.robot.kinematics import JOINT_NAMES

# Of a policy's whole action, in [-1, 1]: changes of the joint targets; from 0 on hold or try to grasp,
# below let go; motion of the base; above 0 the episode is over. The simulator takes all but the last
ACTION_NAMES = (*JOINT_NAMES, "grip", "forward", "turn", "stop")
GRIP = ACTION_NAMES.index("grip")
ARM = slice(0, GRIP)
FORWARD = ACTION_NAMES.index("forward")
TURN = ACTION_NAMES.index("turn")
STOP = ACTION_NAMES.index("stop")
BASE = slice(FORWARD, TURN + 1)
FULL_ACTION_SIZE = len(ACTION_NAMES)
PHYSICAL_ACTION_SIZE = FULL_ACTION_SIZE - 1
HOLD, LET_GO = 1.0, -1.0  # grips


def physical_action(
    arm: np.ndarray | None = None, grip: float = LET_GO, forward: float = 0.0, turn: float = 0.0
) -> np.ndarray:
    """The simulator's action [10] from its parts.

    Args:
        arm: Changes of the joint targets [7], rad; None leaves them.
        grip: HOLD or LET_GO.
        forward: Motion of the base, m.
        turn: Likewise, rad.
    """
    action = np.zeros(PHYSICAL_ACTION_SIZE)
    if arm is not None:
        action[ARM] = arm
    action[GRIP], action[FORWARD], action[TURN] = grip, forward, turn
    return action
