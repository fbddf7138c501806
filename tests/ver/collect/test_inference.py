"""The engine and the buffer, driven by hypothesis in the environments' place: no process but ours."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.drawn import part_of
from tests.helpers.engine_world import ACTIONS, OBSERVATIONS, World
from tests.helpers.true_steps import Step, check_rollout
from ver.collect.in_flight import newest_steps, put_newest_steps
from ver.collect.inference import BatchLimits, InferenceEngine
from ver.collect.mailboxes import make_mailboxes
from ver.config import NetworkConfig
from ver.networks.policy import ActorCritic
from ver.rollout import RolloutBuffer
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED


def lose_some_held_back(world, engine, rng, rate: float) -> None:
    """Workers die although none of their environments has an action: a neighbour's step killed them."""
    rows = world.mailboxes.arrays
    for environment in np.flatnonzero(engine.held_back & (rows["request_ready"] == 0)):
        if rng.random() < rate:
            key = (int(environment), world.serial[environment])
            world.steps[key] = Step(0.0, 0.0, LOST)
            engine.held_back[environment] = 0
            world.begin(int(environment), LOST)


def make(n: int, length: int, rollouts: int, system: str = "ver"):
    torch.manual_seed(0)
    policy = ActorCritic(OBSERVATIONS, ACTIONS, NetworkConfig(hidden_size=4, memory="lstm"))
    fixed = system != "ver"
    buffers = [
        RolloutBuffer(OBSERVATIONS, ACTIONS, n, length, policy.state_size, fixed_length=fixed)
        for _ in range(rollouts)
    ]
    mailboxes = make_mailboxes(OBSERVATIONS, ACTIONS, n, n)
    world = World(n, mailboxes, [0] * n)
    held_back = np.zeros(n, np.uint8)
    lockstep = system == "ddppo"
    limits = BatchLimits(n if lockstep else 1, n, 0.0, wake_first=lockstep)
    version = np.zeros(1, np.int64)
    engine = InferenceEngine(policy, buffers[0], mailboxes, limits, held_back, version)
    return policy, buffers, mailboxes, world, engine


@pytest.mark.parametrize("system", ["ver", "nover", "ddppo"])  # nover with overlap is htsrl
@settings(max_examples=part_of(40))
@given(data=st.data())
def test_each_step_is_learned_from_once_with_its_true_reward_whatever_is_lost(system, data):
    n = data.draw(st.integers(1, 4), label="environments")
    length = data.draw(st.integers(2, 10), label="length")
    overlap = data.draw(st.booleans(), label="overlap")
    rng = np.random.default_rng(data.draw(st.integers(0, 9999), label="seed"))
    fault_rate = data.draw(st.sampled_from([0.0, 0.1, 0.4]), label="fault rate")
    speeds = rng.uniform(0.1, 1.0, n)
    early = 0.0 if overlap else data.draw(st.sampled_from([0.0, 0.05]), label="early end")
    _, buffers, mailboxes, world, engine = make(n, length, 2 if overlap else 1, system)
    for environment in range(n):
        world.begin(environment, NO_ACTION)
    seen: set[tuple[int, int]] = set()
    for rollout in range(4):
        buffer = engine.buffer
        if rollout and overlap:
            # The other rollout takes over while the learner would learn from this one.
            buffer = buffers[rollout % 2]
            put_newest_steps(buffer, newest_steps(engine.buffer))
            engine.buffer = buffer
        buffer.begin()
        engine.replay()
        while not buffer.full:
            asked = mailboxes.arrays["request_ready"].copy()
            lost = mailboxes.arrays["outcome"] == LOST
            served = engine.serve(0.0)
            if system == "ddppo" and served:
                assert asked.all()  # nobody is served before all have answered
                assert served == (n if not lost.any() else lost.sum())
            without_quota = buffer.quota <= 0
            assert not mailboxes.arrays["action_ready"][without_quota].any()  # by an old policy
            lose_some_held_back(world, engine, rng, 0.2 * fault_rate)
            if rng.random() < early:
                assert buffer.end_early() == (rollout > 0 or not buffer.remaining)
            for environment in np.flatnonzero(mailboxes.arrays["action_ready"]):
                if rng.random() < speeds[environment]:
                    odds = [0.8 * (1 - fault_rate), 0.1, 0.1, 0.8 * fault_rate]
                    outcome = rng.choice([CONTINUES, TERMINATED, TRUNCATED, LOST], p=odds)
                    world.respond(int(environment), int(outcome), float(rng.normal()))
        check_rollout(buffer, world, seen, rng)
        counts = buffer.fresh_slots()[1]
        if system != "ver":
            assert counts.max() <= length + 1
            if not early:
                assert (counts == length + 1).all()
    assert (mailboxes.arrays["claimed"] == 0).all()


def test_a_worker_that_is_woken_finds_everything_done(monkeypatch):
    """It may take the core at once: nothing that others wait for may still be to do."""
    _, (buffer,), mailboxes, world, engine = make(3, 4, 1)
    woken = []

    def wake(environments):
        rows = mailboxes.arrays
        assert rows["action_ready"][environments].all()
        assert not rows["claimed"].any()
        assert buffer.written[0] == buffer.pointer[0]
        woken.extend(environments.tolist())

    monkeypatch.setattr(mailboxes, "wake_workers", wake)
    for environment in range(3):
        world.begin(environment, NO_ACTION)
    buffer.begin()
    engine.serve(0.0)
    world.respond(1, LOST, 0.0)
    engine.serve(0.0)
    assert woken == [0, 1, 2, 1]


def test_in_lockstep_workers_wake_before_their_steps_are_written(monkeypatch):
    _, (buffer,), mailboxes, world, engine = make(2, 4, 1, "ddppo")
    woken = []

    def wake(environments):
        assert mailboxes.arrays["action_ready"][environments].all()
        assert (mailboxes.arrays["action"][environments] != 0.0).all()
        assert not buffer.written[0]
        woken.extend(environments.tolist())

    monkeypatch.setattr(mailboxes, "wake_workers", wake)
    for environment in range(2):
        world.begin(environment, NO_ACTION)
    buffer.begin()
    engine.serve(0.0)
    assert woken == [0, 1]
    assert buffer.written[0] == 2


def test_a_lost_step_leaves_the_value_of_its_observation_as_the_bootstrap():
    _, (buffer,), _, world, engine = make(1, 3, 1)
    buffer.begin()
    world.begin(0, NO_ACTION)
    engine.serve(0.0)
    world.respond(0, CONTINUES, 1.0)
    engine.serve(0.0)
    value = buffer.values[1]
    world.respond(0, LOST, 99.0)
    engine.serve(0.0)
    assert buffer.pointer[0] == buffer.written[0] == 2
    assert list(buffer.outcomes[:2]) == [TRUNCATED, CONTINUES]
    assert buffer.final_values[0] == value != buffer.values[1]
    assert buffer.rewards[0] == 1.0
    assert list(buffer.first[:2]) == [True, True]
    assert buffer.observations["x"][1].tolist() == [0, 3]
    assert not buffer.states[1].any()
