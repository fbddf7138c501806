"""Oracles at work until they are done, and what they see of their goal."""

import math

import numpy as np
import pytest

from skills.oracle.arm import ARM_STEP
from skills.oracle.base_planner import FORWARD_STEP, TURN_STEP
from skills.oracle.reach import to_base


def run(env, oracle, *arguments, limit=400):
    """Let an oracle act until it is done; returns the steps and the largest contact force [N]."""
    state = env.state
    oracle.reset(state, *arguments)
    force = 0.0
    for step in range(limit):
        action = oracle.act(state)
        if oracle.done:
            return step, force
        assert action.shape == (10,)
        assert np.abs(action[:7]).max() <= ARM_STEP + 1e-9
        assert abs(action[8]) <= FORWARD_STEP + 1e-9
        assert abs(action[9]) <= TURN_STEP + 1e-9
        _, terminated, _, _ = env.step_physical(action)
        assert not terminated
        force = max(force, float(state.contact_force[0]))
    pytest.fail(f"not done after {limit} steps")


def faces(pose, point):
    x, y, _ = to_base(pose, np.asarray(point, float))
    return math.hypot(x, y), abs(math.atan2(y, x))


def run_free(env, oracle, joint, limit=600):
    """As `run`, but what the task thinks of it does not count."""
    oracle.reset(env.state, joint)
    for _ in range(limit):
        action = oracle.act(env.state)
        if oracle.done:
            return
        env.simulator.step(action[None])
        assert env.state.contact_force[0] < 10_000.0
    pytest.fail(f"not done after {limit} steps")
