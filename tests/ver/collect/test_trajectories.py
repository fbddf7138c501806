"""The ring of trajectories, driven by hypothesis in the place of environments and learner."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.drawn import part_of
from tests.helpers.engine_world import ACTIONS, OBSERVATIONS, World
from tests.helpers.true_steps import GAMMA, LAMBDA, reference_returns
from ver.collect.inference import BatchLimits, InferenceEngine
from ver.collect.mailboxes import make_mailboxes
from ver.collect.trajectories import TrajectoryBuffer
from ver.config import NetworkConfig
from ver.experience import make_experience
from ver.networks.policy import ActorCritic
from ver.shared.outcomes import CONTINUES, LOST, NO_ACTION, TERMINATED, TRUNCATED

NOBODY_CLAIMED = np.zeros(9, np.uint8)


def make(n: int, length: int, batch: int):
    torch.manual_seed(0)
    policy = ActorCritic(
        OBSERVATIONS,
        ACTIONS,
        NetworkConfig(hidden_size=4, memory="lstm", previous_action_features=3),
    )
    buffer = TrajectoryBuffer(OBSERVATIONS, ACTIONS, n, length, policy.state_size, batch)
    mailboxes = make_mailboxes(OBSERVATIONS, ACTIONS, n, n)
    world = World(n, mailboxes, [0] * n)
    held_back, version = np.zeros(n, np.uint8), np.zeros(1, np.int64)
    limits = BatchLimits(1, n, 0.0)
    engine = InferenceEngine(policy, buffer, mailboxes, limits, held_back, version)
    for environment in range(n):
        world.begin(environment, NO_ACTION)
    return policy, buffer, world, engine


def play(engine, world, environment: int, times: int, outcome: int = CONTINUES) -> None:
    for _ in range(times):
        engine.serve(0.0)
        assert world.mailboxes.arrays["action_ready"][environment]
        world.respond(environment, outcome, 1.0)


def test_a_batch_is_taken_as_soon_as_its_trajectories_are_complete_whoever_made_them():
    _, buffer, world, engine = make(3, 2, 2)
    play(engine, world, 1, 4)  # four steps, the fourth's result is not read yet
    assert not buffer.take(0, 0, NOBODY_CLAIMED)
    engine.serve(0.0)
    assert not buffer.take(0, 0, np.array([0, 1, 0]))  # its newest step may be in work
    assert buffer.take(0, 0, NOBODY_CLAIMED)
    slots, _ = buffer.complete_slots()
    assert (buffer.environments[slots] == 1).all()
    assert buffer.steps[slots].tolist() == [0, 0, 0, 0]  # the world leaves them at zero
    assert buffer.observations["x"][slots, 1].tolist() == [1, 2, 3, 4]


def test_old_trajectories_are_dropped_and_a_learner_that_waits_never_starves():
    _, buffer, world, engine = make(1, 3, 1)
    play(engine, world, 0, 1)
    engine.version[0] = 5
    play(engine, world, 0, 2)
    engine.serve(0.0)
    assert not buffer.take(5, 4, NOBODY_CLAIMED)  # its first step is older by five
    assert buffer.dropped == 1
    world.respond(0, CONTINUES, 1.0)
    play(engine, world, 0, 2)
    engine.serve(0.0)
    assert buffer.take(5, 4, NOBODY_CLAIMED)
    assert buffer.observations["x"][buffer.complete_slots()[0], 1].tolist() == [4, 5, 6]


def test_a_slow_learner_makes_collection_wait_for_its_slots():
    _, buffer, world, engine = make(2, 3, 2)
    served = 0
    for _ in range(100):
        served += engine.serve(0.0)
        for environment in np.flatnonzero(world.mailboxes.arrays["action_ready"]):
            world.respond(int(environment), CONTINUES, 0.0)
    assert served == buffer.ring == 2 * 2 * 4
    assert buffer.take(0, 0, NOBODY_CLAIMED)
    assert engine.serve(0.0) == 0
    buffer.give_back()
    assert engine.serve(0.0) == 2


@settings(max_examples=part_of(25))
@given(data=st.data())
def test_each_step_is_learned_from_once_dropped_or_still_under_way(data):
    n = data.draw(st.integers(1, 4), label="environments")
    length = data.draw(st.integers(1, 6), label="length")
    batch = data.draw(st.integers(1, 5), label="batch")
    max_lag = data.draw(st.sampled_from([0, 2, 6, 99]), label="largest lag")
    rng = np.random.default_rng(data.draw(st.integers(0, 9999), label="seed"))
    fault_rate = data.draw(st.sampled_from([0.0, 0.1, 0.4]), label="fault rate")
    patience = data.draw(st.sampled_from([0.05, 0.5]), label="how quick the learner is")
    speeds = rng.uniform(0.1, 1.0, n)
    policy, buffer, world, engine = make(n, length, batch)
    seen: set[tuple[int, int]] = set()
    states: dict[tuple[int, int], np.ndarray] = {}
    learning = False
    for _ in range(20000):
        engine.serve(0.0)
        for environment in np.flatnonzero(world.mailboxes.arrays["action_ready"]):
            if rng.random() < speeds[environment]:
                odds = [0.8 * (1 - fault_rate), 0.1, 0.1, 0.8 * fault_rate]
                outcome = rng.choice([CONTINUES, TERMINATED, TRUNCATED, LOST], p=odds)
                world.respond(int(environment), int(outcome), float(rng.normal()))
        version = int(engine.version[0])
        if not learning:
            learning = buffer.take(version, max_lag, NOBODY_CLAIMED)
            taken_at = version
        elif rng.random() < 0.5:
            engine.version[0] += 1  # acts with newer weights at once
        if learning and rng.random() < patience:
            # Only now: whatever went on meanwhile has left the batch alone.
            _check_batch(buffer, world, policy, seen, states, taken_at - max_lag)
            _check_slots(buffer, seen)
            buffer.give_back()
            learning = False
            _check_slots(buffer, seen)
            if buffer.batches == 5:
                return
    raise AssertionError("collection stands still")


def _check_batch(buffer, world, policy, seen, states, oldest) -> None:
    experience = make_experience(buffer, GAMMA, LAMBDA, 1.0, 3)
    slots, counts = buffer.chains()
    assert (counts == buffer.length + 1).all()
    assert len(experience.slots) == buffer.batch * buffer.length == buffer.fresh_steps
    assert (experience.weights == 1).all()
    assert not experience.stale.any()
    assert (buffer.versions[experience.slots] >= oldest).all()
    names = buffer.observations["x"].numpy().astype(int)
    returns = {}
    for own in slots.reshape(-1, buffer.length + 1):
        for slot in own[:-1]:
            key = tuple(names[slot])
            assert key not in seen
            seen.add(key)
            step = world.steps[key]
            assert step.outcome != LOST
            assert buffer.environments[slot] == key[0]
            assert buffer.rewards[slot] == np.float32(step.reward)
            assert buffer.actions[slot, 0] == np.float32(step.action)
            assert buffer.first[slot] == (key in world.first)
        returns |= reference_returns(buffer, world, own)
        _check_states(buffer, policy, own, states)
    expected = [returns[slot] for slot in experience.slots]
    np.testing.assert_allclose(experience.returns, expected, atol=1e-4)


def _check_states(buffer, policy, own, states) -> None:
    """Each state is what the policy made of the step before, also from one batch to another."""
    masks = torch.as_tensor(~buffer.first[own]).float()
    with torch.no_grad():
        features = policy.features(
            {"x": buffer.observations["x"][own]}, buffer.previous_actions[own], masks
        )
        _, following = policy.core.step(features, buffer.states[own])
    for slot, after, state in zip(own, own[1:], following, strict=False):
        expected = torch.zeros_like(state) if buffer.first[after] else state
        torch.testing.assert_close(buffer.states[after], expected)
        name, key = (tuple(buffer.observations["x"][i].int().tolist()) for i in (after, slot))
        states[name] = buffer.states[after].clone()
        if key in states:
            torch.testing.assert_close(buffer.states[slot], states[key])


def _check_slots(buffer, seen) -> None:
    """Every slot is free, under way or the learner's, and no step has vanished."""
    under_way = np.flatnonzero(buffer.rollouts == 0)
    order = np.arange(int(buffer.pointer[0]), int(buffer.limit[0]))
    free = buffer.free[: buffer.ring][order % buffer.ring]
    everything = [*under_way, *free, *buffer.complete_slots()[0]]
    assert sorted(everything) == list(range(buffer.ring))
    done = len(seen) + buffer.dropped * buffer.length
    assert done + len(under_way) == buffer.handed_out[0]
