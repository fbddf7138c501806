"""Outcome codes of an action, stored as uint8 beside it."""

# After LOST, a fault, nobody will ever know what became of the action: the first observation of a
# new episode follows, and the action's step is dropped. NO_ACTION precedes a run's first request.
CONTINUES, TERMINATED, TRUNCATED, NO_ACTION, LOST = 0, 1, 2, 3, 4
