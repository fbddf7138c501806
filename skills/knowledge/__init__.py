"""Knowledge of the robot: the only door between decisions and the simulator's state.

Policies, the ends of skills, the executive, the replanner and the sense-plan-act skills read the
world through this package alone. `table.py` says who reads what at each level and who is exempt;
`docs/knowledge.md` is made of it, and tests/skills/knowledge/test_table.py fails where code reads more.

- `body.py`: the robot itself, by odometry, joints and the suction cup's own sense.
- `policy.py`: the observations of a policy's own task.
- `senses.py`: objects, doors and the hand at a hand-off, as the head camera shows them.
- `knowledge.py`: all of it in one episode, and where the robot is told that objects are.
"""

from skills.knowledge.body import Body
from skills.knowledge.knowledge import DEFAULT_LEVEL, LEVELS, Knowledge, check_level
from skills.knowledge.policy import PolicySenses
from skills.knowledge.senses import HANDLE, Observed, Position, Senses, Truth

__all__ = [
    "DEFAULT_LEVEL",
    "HANDLE",
    "LEVELS",
    "Body",
    "Knowledge",
    "Observed",
    "PolicySenses",
    "Position",
    "Senses",
    "Truth",
    "check_level",
]
