"""Fills slots of a rollout by hand, each with what names its environment and step."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, TERMINATED

OBSERVATIONS = spaces.Dict({"x": spaces.Box(-1, 1, (2,), np.float32)})
ACTIONS = spaces.Box(-1, 1, (1,), np.float32)


def fill(buffer: RolloutBuffer, order: list[int], ends: set[int], clock: dict[int, int]) -> None:
    """Plays collection: `order` says whose request comes next; states name their step."""
    for environment in order:
        slot = int(buffer.claim(1)[0])
        previous = buffer.newest[environment]
        ended = previous >= 0 and clock[environment] in ends
        if previous >= 0:
            buffer.outcomes[previous] = TERMINATED if ended else CONTINUES
        first = previous < 0 or ended
        clock[environment] = clock.get(environment, 0) + 1
        buffer.first[slot] = first
        buffer.environments[slot] = environment
        buffer.steps[slot] = clock[environment]
        buffer.outcomes[slot] = CONTINUES
        # An episode starts from a zero state; other steps from one that names the step.
        label = 0.0 if first else environment * 1000.0 + clock[environment]
        buffer.states[slot] = label
        buffer.observations["x"][slot] = environment * 1000.0 + clock[environment]
        buffer.newest[environment] = slot
        buffer.written[0] += 1
