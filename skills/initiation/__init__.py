"""Initiation sets: from where a skill succeeds, told by what its policy sees before it begins.

An option has a set of states in which it may begin (Sutton, Precup and Singh 1999), which can be learned
(Konidaris and Barto 2009). A skill's policy has a critic that knows the true state, and values a start by it.
A small network learns to tell that value from what the policy itself sees in its first step, and
how often starts of such a value succeed is counted by playing some. No robot needs the true state for
it afterwards.

- `network.py`: the network, its file, and the chance that it tells.
- `starts.py`: starts to learn from: the task's own, and from anywhere near the thing.
- `fitting.py`: the value by what is seen, and the chance by the value.

`python -m skills.initiation pick` makes the one of a policy and writes it beside that.
"""

from skills.initiation.network import (
    LEAST_STARTS,
    STARTS,
    InitiationSet,
    initiation_path,
    load_initiation,
)

__all__ = ["LEAST_STARTS", "STARTS", "InitiationSet", "initiation_path", "load_initiation"]
