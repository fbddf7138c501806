"""The numbers of an action: their names, and where they stand."""

from __future__ import annotations

from rearrange.robot.kinematics import JOINT_NAMES

# Of a policy's whole action, in [-1, 1]: changes of the joint targets; from 0 on hold or try to grasp,
# below let go; motion of the base; above 0 the episode is over. The simulator takes all but the last
ACTION_NAMES = (*JOINT_NAMES, "grip", "forward", "turn", "stop")
GRIP = ACTION_NAMES.index("grip")
FORWARD = ACTION_NAMES.index("forward")
TURN = ACTION_NAMES.index("turn")
STOP = ACTION_NAMES.index("stop")
BASE = slice(FORWARD, TURN + 1)
FULL_ACTION_SIZE = len(ACTION_NAMES)
PHYSICAL_ACTION_SIZE = FULL_ACTION_SIZE - 1
HOLD, LET_GO = 1.0, -1.0  # grips
