import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.drawn import part_of
from tests.helpers.played_rollouts import make_player
from ver.config import PPOConfig
from ver.experience import make_experience
from ver.mini_batches import cut_mini_batches
from ver.ppo import PPO


def change(policy) -> None:
    """What learning does, as far as these tests are concerned."""
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.2)


@settings(max_examples=part_of(30))
@given(st.data())
def test_whatever_the_preemption_points(data):
    n = data.draw(st.integers(1, 4), label="environments")
    length = data.draw(st.integers(2, 8), label="length")
    ends = data.draw(st.lists(st.integers(0, n * length), max_size=5), label="rollouts end after")
    batches = data.draw(st.integers(1, 3), label="mini-batches")
    longest = data.draw(st.sampled_from([0, 3]), label="longest sequence")
    player = make_player(n, length, data.draw(st.integers(0, 99), label="seed"))
    buffer, policy = player.buffer, player.policy
    fresh_before: set[int] = set()
    kept: dict[int, tuple[float, float]] = {}
    for version, most in enumerate([None, *ends]):
        player.version = version
        held = {
            id(step): (step.version, player.steps.index(step)) for step in player.slots.values()
        }
        player.collect(most)
        experience = make_experience(buffer, 0.9, 0.8, 1.0, longest)
        steps = [player.slots[slot] for slot in experience.slots]
        # As many steps as ever, none twice, and none whose outcome is not known yet.
        assert len({id(step) for step in steps}) == len(steps) == n * length
        assert all(step.after is not None for step in steps)
        # Fresh is what was never learned from; all that is complete and was collected now is.
        fresh = [step for step, old in zip(steps, experience.stale, strict=True) if not old]
        stale = [step for step, old in zip(steps, experience.stale, strict=True) if old]
        assert not fresh_before & {id(step) for step in fresh}
        assert {id(step) for step in stale} <= fresh_before
        assert buffer.fresh_steps == len(fresh) == (n * length if most is None else most)
        fresh_before |= {id(step) for step in fresh}
        assert fresh_before == {id(step) for step in player.steps if step.after is not None}
        # Of what the buffer held, the stale steps are the newest policy's, and the latest of it.
        dropped = [
            key for number, key in held.items() if number not in map(id, player.slots.values())
        ]
        assert not stale or not dropped or max(dropped) < min(held[id(step)] for step in stale)
        # The returns of stale steps are those that were computed when they were fresh.
        for step, advantage, value in zip(
            steps, experience.advantages, experience.returns, strict=True
        ):
            assert kept.setdefault(id(step), (advantage, value)) == (advantage, value)
        parts = cut_mini_batches(experience.starts, experience.lengths, batches, player.rng)
        sizes = [len(part.positions) for part in parts]
        assert sum(sizes) == n * length
        assert max(sizes) - min(sizes) <= 1
        for part in parts:
            _check_forward(player, experience, part)
        change(policy)


def _check_forward(player, experience, batch) -> None:
    """The packed forward pass is what a loop from each sequence's stored state computes."""
    buffer, policy = player.buffer, player.policy
    rows = experience.slots[batch.positions]
    with torch.no_grad():
        packed = policy.evaluate(
            {"x": buffer.observations["x"][rows]},
            buffer.states[experience.slots[batch.heads]],
            buffer.previous_actions[rows],
            torch.as_tensor(~buffer.first[rows]),
            buffer.actions[rows],
            torch.as_tensor(batch.batch_sizes),
        )
    offsets = np.concatenate([[0], np.cumsum(batch.batch_sizes)])
    for column, length in enumerate(batch.lengths):
        step = player.slots[rows[column]]
        state = step.state[None]
        for t in range(length):
            place = offsets[t] + column
            assert player.slots[rows[place]] is step
            with torch.no_grad():
                features = policy.features(
                    {"x": step.observation[None]},
                    step.previous_action[None],
                    torch.tensor([float(not step.first)]),
                )
                assert t == 0 or not step.first
                output, state = policy.core.step(features, state)
                assert float(policy.critic(output)) == pytest.approx(
                    float(packed.values[place]), abs=1e-4
                )
                assert float(policy.head(output).log_prob(step.action[None])) == pytest.approx(
                    float(packed.log_probs[place]), abs=1e-3
                )
            step = step.after


def test_the_normaliser_counts_a_step_once():
    player = make_player(3, 10)
    ppo = PPO(player.policy, PPOConfig(epochs=1))
    for version, most in enumerate([None, 7, 12]):
        player.version = version
        player.collect(most)
        numbers = ppo.learn(player.buffer, player.rng)
    assert numbers["stale_fraction"] == pytest.approx(18 / 30)
    seen = torch.stack([step.observation for step in player.steps if step.after is not None])
    normaliser = player.policy.normaliser
    assert float(normaliser.count) == len(seen) == 30 + 7 + 12
    torch.testing.assert_close(normaliser.mean, seen.mean(0))
    torch.testing.assert_close(normaliser.variance, seen.var(0, unbiased=False))
